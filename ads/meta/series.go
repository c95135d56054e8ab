package meta

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// breakdowns are the network's words for what figures are divided by ("Insights, Breakdowns").
var breakdowns = map[ads.Breakdown][]string{
	ads.BreakdownAge: {"age"}, ads.BreakdownGender: {"gender"}, ads.BreakdownCountry: {"country"},
	ads.BreakdownPlacement: {"publisher_platform", "platform_position"}, ads.BreakdownDevice: {"device_platform"},
}

// dated is a row of figures of a period.
type dated struct {
	insight
	Start string `json:"date_start"`
	Stop  string `json:"date_stop"`

	Age, Gender, Country string
	Platform             string `json:"publisher_platform"`
	Position             string `json:"platform_position"`
	Device               string `json:"device_platform"`
}

// value returns what a row was divided by.
func (d dated) value() string {
	return strings.TrimSpace(d.Age + d.Gender + d.Country + d.Device + d.Platform + " " + d.Position)
}

// Series implements ads.Network. Meta divides days itself; other periods are named to it one by one.
func (n *Network) Series(ctx context.Context, c ads.Conn, adAccount string, q ads.SeriesQuery) ([]ads.PeriodFigures, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	nodes, err := n.nodes(ctx, c, adAccount, q.Level, []string{q.ID})
	if err != nil {
		return nil, err
	}
	wanted, err := n.wanted(ctx, c, adAccount, q.Level, nodes)
	if err != nil {
		return nil, err
	}
	rows, err := list[dated](ctx, n.graph, c.Token, place{adAccount, "insights"}, seriesParams(q))
	if err != nil {
		return nil, err
	}
	var all []ads.PeriodFigures
	for _, p := range q.Periods {
		found := false
		for _, row := range rows {
			if row.Start != p.From.String() || row.Stop != p.To.String() {
				continue
			}
			m := row.metrics()
			m.Conversions = wanted[q.ID].among(m.Actions)
			all, found = append(all, ads.PeriodFigures{Period: p, Value: row.value(), Metrics: m}), true
		}
		if !found && q.Breakdown == "" {
			m := advert.NoMetrics()
			m.Conversions = wanted[q.ID].among(m.Actions)
			all = append(all, ads.PeriodFigures{Period: p, Metrics: m})
		}
	}
	slices.SortStableFunc(all, func(a, b ads.PeriodFigures) int {
		if a.Period == b.Period {
			return strings.Compare(a.Value, b.Value)
		}
		return a.From.Compare(b.From)
	})
	return all, nil
}

// seriesParams are the parameters of insights about one thing.
func seriesParams(q ads.SeriesQuery) url.Values {
	name := levels[q.Level].name
	span := func(p ads.Period) map[string]string {
		return map[string]string{"since": p.From.String(), "until": p.To.String()}
	}
	params := insightParams(q.Level, []string{q.ID})
	params.Set("fields", name+"_id,"+insightFields)
	if q.Interval == ads.IntervalDay {
		params.Set("time_range", jsonText(span(q.Days())))
		params.Set("time_increment", "1")
	} else {
		spans := make([]map[string]string, len(q.Periods))
		for i, p := range q.Periods {
			spans[i] = span(p)
		}
		params.Set("time_ranges", jsonText(spans))
	}
	if q.Breakdown != "" {
		params.Set("breakdowns", jsonText(breakdowns[q.Breakdown]))
	}
	return params
}
