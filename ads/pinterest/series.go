package pinterest

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// targetingTypes are the network's words for what figures are divided by.
var targetingTypes = map[ads.Breakdown]string{
	ads.BreakdownAge: "AGE_BUCKET", ads.BreakdownGender: "GENDER", ads.BreakdownCountry: "COUNTRY", ads.BreakdownPlacement: "PLACEMENT",
	ads.BreakdownDevice: "APPTYPE",
}

// dayFigures are the figures of one day, or of all days of a report.
type dayFigures struct {
	figures
	Date string `json:"DATE"`
}

// divided is a row of figures that were divided by something. The value may be a number.
type divided struct {
	Type    string          `json:"targeting_type"`
	Value   json.RawMessage `json:"targeting_value"`
	Metrics dayFigures      `json:"metrics"`
}

// Series implements ads.Network. Pinterest is asked for days, of which weeks and months are made here: it would cut its own elsewhere.
// The reach of these is not known then.
func (d *Driver) Series(ctx context.Context, c ads.Conn, adAccount string, q ads.SeriesQuery) ([]ads.PeriodFigures, error) {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	days := q.Days()
	query := url.Values{
		"start_date": {days.From.String()}, "end_date": {days.To.String()}, filters[q.Level]: {q.ID},
		"columns": {strings.Join(columns, ",")}, "granularity": {"DAY"},
	}
	if q.Interval == ads.IntervalTotal {
		query.Set("granularity", "TOTAL")
	}
	at := inAccount(adAccount, kinds[q.Level], "analytics")
	if q.Breakdown != "" {
		return d.dividedSeries(ctx, c, adAccount, q, query)
	}
	var rows []dayFigures
	if err := d.read(ctx, c, at, query, &rows); err != nil {
		return nil, err
	}
	var all []ads.PeriodFigures
	for _, p := range q.Periods {
		if m := total(rows, q.ID, p); m != nil {
			all = append(all, ads.PeriodFigures{Period: p, Metrics: *m})
			continue
		}
		none := advert.NoMetrics()
		none.Actions = nil // Pinterest has no counts by other names
		all = append(all, ads.PeriodFigures{Period: p, Metrics: none})
	}
	return all, nil
}

// total returns the figures of a thing in the days of a period, nil if none of the rows is of one. A row without a day is of all of them.
func total(rows []dayFigures, id string, p ads.Period) *advert.Metrics {
	var sum *advert.Metrics
	for _, row := range rows {
		day, err := ads.ParseDate(row.Date)
		if row.CampaignID+row.AdGroupID+row.AdID != id || row.Date != "" && (err != nil || day.Compare(p.From) < 0 || day.Compare(p.To) > 0) {
			continue
		}
		m := row.metrics()
		if sum == nil {
			sum = &m
			continue
		}
		sum.Add(m)
	}
	return sum
}

// dividedSeries returns the figures of periods by one kind of targeting.
func (d *Driver) dividedSeries(ctx context.Context, c ads.Conn, adAccount string, q ads.SeriesQuery, query url.Values) ([]ads.PeriodFigures, error) {
	query.Set("targeting_types", targetingTypes[q.Breakdown])
	var answer struct{ Data []divided }
	if err := d.read(ctx, c, inAccount(adAccount, kinds[q.Level], "targeting_analytics"), query, &answer); err != nil {
		return nil, err
	}
	of := map[string][]dayFigures{}
	for _, row := range answer.Data {
		if value := strings.Trim(string(row.Value), `"`); row.Type == targetingTypes[q.Breakdown] {
			of[value] = append(of[value], row.Metrics)
		}
	}
	var values []string
	for value := range of {
		values = append(values, value)
	}
	slices.Sort(values)
	var all []ads.PeriodFigures
	for _, p := range q.Periods {
		for _, value := range values {
			if m := total(of[value], q.ID, p); m != nil {
				all = append(all, ads.PeriodFigures{Period: p, Value: value, Metrics: *m})
			}
		}
	}
	return all, nil
}
