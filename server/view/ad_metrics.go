package view

import (
	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
)

// AdMetricsPeriod renders the figures of a period.
func AdMetricsPeriod(p *ads.ShownPeriod) api.AdMetricsPeriod {
	breakdown := map[string]string{}
	if p.Value != "" {
		breakdown[string(p.Breakdown)] = p.Value
	}
	return api.AdMetricsPeriod{
		Object:    "ad_metrics",
		DateStart: p.Row.From.String(),
		DateEnd:   p.Row.To.String(),
		Timezone:  p.Timezone,
		Breakdown: breakdown,
		Metrics:   *metrics(&p.Reported),
	}
}

// ListMetrics reads the query of figures over time, which is the same on every level.
func ListMetrics(q api.ListAdMetricsParams) ads.ListMetrics {
	return ads.ListMetrics{
		Platform: string(value(q.Platform)), From: value(q.From), To: value(q.To), Interval: string(value(q.Interval)), Breakdown: string(value(q.Breakdown)),
		Limit: int(value(q.Limit)), Cursor: value(q.Cursor),
	}
}
