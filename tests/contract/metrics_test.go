package contract

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestGetMetrics_TellsWhatWasSoldToday(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		empty := ok[*sdk.Metrics](t)(c.Metrics.Get(background, &sdk.GetMetricsParams{}))
		assert.Zero(t, empty.Totals.Revenue)
		assert.Nil(t, empty.Totals.AverageOrderValue)
		assert.Nil(t, empty.Totals.ChurnRateBps)
		assert.Nil(t, empty.Totals.CheckoutConversionBps)
		assert.Len(t, empty.Periods, 30)
		order := paidWith(t, c, "pm_card_visa")
		ok[*sdk.Refund](t)(c.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(500))}))
		ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{{PriceVariant: onSale(t, c, 700).ID}}}))

		m := ok[*sdk.Metrics](t)(c.Metrics.Get(background, &sdk.GetMetricsParams{Interval: new(sdk.MetricsIntervalDay), Timezone: new("UTC")}))
		today := time.Now().UTC().Format(time.DateOnly)
		last := m.Periods[29]
		assert.Equal(t, last.End, m.To, "the metrics")
		assert.Equal(t, last.End, last.Start, "the metrics")
		assert.Equal(t, m.Periods[0].Start, m.From, "the metrics")
		assert.Equal(t, "usd", m.Currency, "the metrics")
		assert.Equal(t, "UTC", m.Timezone, "the metrics")
		assert.LessOrEqual(t, last.End, today, "the metrics")
		f := m.Totals
		switch {
		case f.Revenue != 1900, f.Refunds != 500, f.NetRevenue != 1400, f.Orders != 1, *f.AverageOrderValue != 1900:
			t.Errorf("what was sold is %+v", f)
		case f.Checkouts != 2, *f.CheckoutConversionBps != 5000, f.Mrr != 0, f.Arr != 0, f.ActiveSubscriptions != 0:
			t.Errorf("the totals are %+v", f)
		}
		euros := ok[*sdk.Metrics](t)(c.Metrics.Get(background, &sdk.GetMetricsParams{Currency: new("eur"), Interval: new(sdk.MetricsIntervalYear)}))
		assert.Zero(t, euros.Totals.Orders, "in euros the metrics")
		assert.Equal(t, "eur", euros.Currency, "in euros the metrics")
	})
}

func TestGetMetrics_CountsSubscriptions(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		read := func() sdk.MetricsFigures {
			return ok[*sdk.Metrics](t)(c.Metrics.Get(background, &sdk.GetMetricsParams{})).Totals
		}
		f := read()
		assert.Equal(t, sub.Amount, f.Mrr, "with a subscription the metrics")
		assert.Equal(t, 12*sub.Amount, f.Arr, "with a subscription the metrics")
		assert.EqualValues(t, 1, f.ActiveSubscriptions, "with a subscription the metrics")
		assert.EqualValues(t, 1, f.NewSubscriptions, "with a subscription the metrics")
		assert.Zero(t, f.ChurnedSubscriptions, "with a subscription the metrics")
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false)}))
		f = read()
		assert.Zero(t, f.Mrr, "after its end the metrics")
		assert.Zero(t, f.ActiveSubscriptions, "after its end the metrics")
		assert.EqualValues(t, 1, f.NewSubscriptions, "after its end the metrics")
		assert.EqualValues(t, 1, f.ChurnedSubscriptions, "after its end the metrics")
		assert.Nil(t, f.ChurnRateBps, "after its end the metrics")
	})
}

func TestGetMetrics_Refuses(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		for field, in := range map[string]sdk.GetMetricsParams{
			"timezone": {Timezone: new("Europe/Atlantis")}, "currency": {Currency: new("xxx")}, "to": {From: new("2026-01-02"), To: new("2026-01-01")},
			"interval": {From: new("2024-01-01"), To: new("2025-02-05")},
		} {
			_, err := c.Metrics.Get(background, &in)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, field)
		}
		for field, in := range map[string]sdk.GetMetricsParams{
			"from": {From: new("2026-02-30")}, "to": {To: new("yesterday")}, "interval": {Interval: new(sdk.MetricsInterval("hour"))},
		} {
			_, err := c.Metrics.Get(background, &in)
			refused(t, err, http.StatusBadRequest, sdk.CodeBadRequest, field)
		}
	})
}
