package dashboard

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
)

const analyticsPage = "/app/analytics"

// spans are the stretches of time that analytics shows, and how long each of their periods is.
var spans = []struct {
	value, text string
	days        int
	interval    sdk.MetricsInterval
}{
	{"30", "30 days", 30, sdk.MetricsIntervalDay},
	{"7", "7 days", 7, sdk.MetricsIntervalDay},
	{"90", "90 days", 90, sdk.MetricsIntervalWeek},
	{"365", "A year", 365, sdk.MetricsIntervalMonth},
}

// analytics shows how the shop does over time.
func (d *Dashboard) analytics(v *visit) error {
	span := spans[0]
	for _, s := range spans {
		if s.value == v.QueryParam("days") {
			span = s
		}
	}
	currency := v.shop.DefaultCurrency
	if asked := v.QueryParam("currency"); slices.Contains(currencies, asked) {
		currency = asked
	}
	today := d.store.Now().Time().In(v.zone)
	from, to := today.AddDate(0, 0, 1-span.days).Format(time.DateOnly), today.Format(time.DateOnly)
	m, err := d.api.Metrics.Get(v.ctx(), &sdk.GetMetricsParams{From: &from, To: &to, Interval: &span.interval, Currency: &currency})
	if err != nil {
		return err
	}
	money := func(amount int64) string { return core.FormatAmount(amount, currency) }
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	var revenue, orders []ui.Point
	for i := range m.Periods {
		p := &m.Periods[i]
		day, err := time.Parse(time.DateOnly, p.Start)
		if err != nil {
			return err
		}
		name := day.Format("2 Jan 2006")
		revenue = append(revenue, ui.Point{Name: name, Value: p.Revenue, Shown: money(p.Revenue)})
		orders = append(orders, ui.Point{Name: name, Value: p.Orders, Shown: count(p.Orders)})
	}
	choice := ui.Control{Kind: "select", Name: "days", Label: "Time"}
	for _, s := range spans {
		choice.Options = append(choice.Options, ui.Option{Value: s.value, Text: s.text, Chosen: s.value == span.value})
	}
	each := map[sdk.MetricsInterval]string{sdk.MetricsIntervalDay: "day", sdk.MetricsIntervalWeek: "week", sdk.MetricsIntervalMonth: "month"}[span.interval]
	total := &m.Totals
	return v.show(http.StatusOK, ui.Page{Heading: "Analytics",
		Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{choice, {Kind: "select", Name: "currency", Label: "Currency", Options: currencyOptions(currency)}}},
		Stats: []ui.Stat{
			{Name: "Revenue", Figure: money(total.Revenue), Change: money(total.NetRevenue) + " after refunds"},
			{Name: "Orders", Figure: count(total.Orders), Change: averageOf(total, currency)},
			{Name: "Checkouts that were paid", Figure: share(total.CheckoutConversionBps), Change: "of " + count(total.Checkouts)},
			{Name: "Recurring a month", Figure: money(total.Mrr), Change: money(total.Arr) + " a year"},
			{Name: "Subscriptions", Figure: count(total.ActiveSubscriptions), Change: count(total.NewSubscriptions) + " new, " + count(total.ChurnedSubscriptions) + " ended"},
		},
		Sections: []ui.Section{
			{Title: "Revenue each " + each + ", " + strings.ToUpper(currency), Chart: ui.NewChart("Revenue each "+each, "Revenue", revenue, money)},
			{Title: "Orders each " + each, Chart: ui.NewChart("Orders each "+each, "Orders", orders, count)},
		},
	})
}

func averageOf(m *sdk.MetricsFigures, currency string) string {
	if m.AverageOrderValue == nil {
		return "None yet"
	}
	return core.FormatAmount(*m.AverageOrderValue, currency) + " on average"
}

// share returns hundredths of a percent in words.
func share(bps *int64) string {
	if bps == nil {
		return "No checkout yet"
	}
	return strconv.FormatFloat(float64(*bps)/100, 'f', 1, 64) + " %"
}
