package pages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/catalog"
)

func TestExportSubscriptions_WritesThoseOfTheFilter(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{Amount: 1900, Currency: "eur", Type: catalog.PriceVariantTypeRecurring, Interval: new("month"), Name: new("=1+1")})
	w.pay(c, "pm_card_visa")
	sub, err := w.Subscription.OfCheckout(t.Context(), w.account, c.ID)
	require.NoError(t, err)
	assert.Len(t, w.exported("subscriptions", api.ExportSubscriptionsParams{Status: new(api.SubscriptionStatus("canceled"))}), 1, "a head, and nothing below it")
	rows := w.exported("subscriptions", api.ExportSubscriptionsParams{Customer: &sub.CustomerID})
	require.Len(t, rows, 2)
	row := map[string]string{}
	for i, name := range rows[0] {
		row[name] = rows[1][i]
	}
	assert.Equal(t, sub.ID, row["id"])
	assert.Equal(t, "active", row["status"])
	assert.Equal(t, "19.00", row["unit_amount"])
	assert.Equal(t, "'=1+1", row["price_variant_name"], "no spreadsheet runs it")
	assert.Equal(t, sub.CurrentPeriodEnd.String(), row["current_period_end"])
	assert.Contains(t, row["customer_email"], "@")
	assert.Equal(t, "1", row["cycles_billed"])
	assert.Empty(t, row["billing_cycles"])
}
