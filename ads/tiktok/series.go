package tiktok

import (
	"context"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// day is the dimension of days.
const day = "stat_time_day"

// dimensions are TikTok's words for what figures are divided by. Of devices it tells apart their operating systems.
var dimensions = map[ads.Breakdown]string{
	ads.BreakdownAge: "age", ads.BreakdownGender: "gender", ads.BreakdownCountry: "country_code", ads.BreakdownPlacement: "placement", ads.BreakdownDevice: "platform",
}

// Series implements ads.Network. TikTok is asked for days, of which weeks and months are made here. The reach of these is not known then;
// nor is that of a part of the audience.
func (d *Driver) Series(ctx context.Context, c ads.Conn, adAccount string, q ads.SeriesQuery) ([]ads.PeriodFigures, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	wanted, most, more := metrics, mostDailies, []string{day}
	if q.Interval == ads.IntervalTotal {
		most, more = mostDays, nil
	}
	if q.Breakdown != "" {
		wanted, more = audienceMetrics, append(more, dimensions[q.Breakdown])
	}
	var rows []row
	for _, p := range spans(q.Days().From, q.Days().To, most) {
		some, err := d.rows(ctx, c, adAccount, q.Level, []string{q.ID}, p, wanted, more...)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	if q.Breakdown != "" {
		return divided(rows, q), nil
	}
	var all []ads.PeriodFigures
	for _, p := range q.Periods {
		one := ads.PeriodFigures{Period: p, Metrics: noMetrics()}
		if m := total(rows, p); m != nil {
			one.Metrics = *m
		}
		all = append(all, one)
	}
	return all, nil
}

// divided returns the figures of periods by each value that occurs.
func divided(rows []row, q ads.SeriesQuery) []ads.PeriodFigures {
	dimension := dimensions[q.Breakdown]
	of := map[string][]row{}
	for _, one := range rows {
		of[one.of(dimension)] = append(of[one.of(dimension)], one)
	}
	values := distinct(rows, func(one row) string { return one.of(dimension) })
	var all []ads.PeriodFigures
	for _, p := range q.Periods {
		for _, value := range values {
			if m := total(of[value], p); m != nil {
				all = append(all, ads.PeriodFigures{Period: p, Value: value, Metrics: *m})
			}
		}
	}
	return all
}

// total returns the figures of the days of a period, nil if none of the rows is of one. A row without a day is of all of them.
func total(rows []row, p ads.Period) *advert.Metrics {
	var sum *advert.Metrics
	for _, one := range rows {
		if text := one.of(day); text != "" {
			at, err := ads.ParseDate(text[:min(len(text), len("2006-01-02"))])
			if err != nil || at.Compare(p.From) < 0 || at.Compare(p.To) > 0 {
				continue
			}
		}
		m := one.Metrics.metrics()
		if sum == nil {
			sum = &m
			continue
		}
		sum.Add(m)
	}
	return sum
}
