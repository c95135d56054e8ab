package view

import (
	"time"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/report"
)

// Metrics renders the figures of an account.
func Metrics(m *report.Metrics) api.Metrics {
	periods := make([]api.MetricsPeriod, len(m.Periods))
	active, totals := m.Before.Active, m.Before
	for i, p := range m.Periods {
		periods[i] = metricsPeriod(p, active)
		active = p.Figures.Active
		p.Figures.MRR, p.Figures.Active = p.Figures.MRR-totals.MRR, p.Figures.Active-totals.Active
		totals.Add(p.Figures)
	}
	return api.Metrics{
		Object: "metrics", From: m.From.Format(time.DateOnly), To: m.To.Format(time.DateOnly), Interval: api.MetricsInterval(m.Interval),
		Timezone: m.Timezone, Currency: m.Currency, Periods: periods, Totals: metricsFigures(totals, m.Before.Active),
	}
}

// metricsPeriod renders a period. Active is how many subscriptions were active at its start.
func metricsPeriod(p report.Period, active int64) api.MetricsPeriod {
	f := metricsFigures(p.Figures, active)
	return api.MetricsPeriod{
		Start: p.From.Format(time.DateOnly), End: p.To.Format(time.DateOnly),
		Revenue: f.Revenue, Refunds: f.Refunds, NetRevenue: f.NetRevenue, Orders: f.Orders, AverageOrderValue: f.AverageOrderValue,
		Mrr: f.Mrr, Arr: f.Arr, ActiveSubscriptions: f.ActiveSubscriptions, NewSubscriptions: f.NewSubscriptions,
		RenewedSubscriptions: f.RenewedSubscriptions, ChurnedSubscriptions: f.ChurnedSubscriptions, ChurnRateBps: f.ChurnRateBps,
		Checkouts: f.Checkouts, CheckoutConversionBps: f.CheckoutConversionBps,
	}
}

// metricsFigures renders figures of which MRR and Active are those at the end. Active is how many subscriptions were active at the start.
func metricsFigures(f report.Figures, active int64) api.MetricsFigures {
	return api.MetricsFigures{
		Revenue: f.Revenue, Refunds: f.Refunds, NetRevenue: f.NetRevenue, Orders: f.Orders, AverageOrderValue: share(f.Revenue, f.Orders, 1),
		Mrr: f.MRR, Arr: 12 * f.MRR, ActiveSubscriptions: f.Active, NewSubscriptions: f.Started,
		RenewedSubscriptions: f.Renewed, ChurnedSubscriptions: f.Churned, ChurnRateBps: share(f.Churned, active, 10_000),
		Checkouts: f.Checkouts, CheckoutConversionBps: share(f.Completed, f.Checkouts, 10_000),
	}
}

// share returns how often of goes into a part, in parts of one, rounded half up, or nil if it is 0.
func share(part, of, one int64) *int64 {
	if of == 0 {
		return nil
	}
	return new((2*part*one + of) / (2 * of))
}

// GetMetrics reads the query of the metrics.
func GetMetrics(q api.GetMetricsParams) report.GetMetrics {
	return report.GetMetrics{
		From: value(q.From), To: value(q.To), Interval: report.Interval(value(q.Interval)), Timezone: value(q.Timezone), Currency: value(q.Currency),
	}
}
