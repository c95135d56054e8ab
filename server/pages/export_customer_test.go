package pages_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// customers returns the rows of an export by column.
func (w *shop) customers(query any) []map[string]string {
	w.t.Helper()
	lines := w.exported("customers", query)
	rows := make([]map[string]string, len(lines)-1)
	for i, line := range lines[1:] {
		rows[i] = map[string]string{}
		for j, name := range lines[0] {
			rows[i][name] = line[j]
		}
	}
	return rows
}

func TestCustomersFile_HasARowForEveryCustomerThatTheFiltersLetThrough(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		lead, err := w.Customer.Create(t.Context(), w.account, customer.Customer{
			Email: new("lead@example.com"), Name: new("=1+1"), Notes: new("two\nlines"), ExternalID: new("@4711"),
			Tags: core.JSONOf([]string{"vip", "early"}), BillingAddress: core.JSONOf(&core.Address{Country: new("GB"), Company: new("=Lovelace Ltd")}),
			TaxID: core.JSONOf(&customer.TaxID{Type: "gb_vat", Value: "GB1"}), MarketingConsent: core.JSONOf(&customer.MarketingConsent{Status: "subscribed"}),
		})
		require.NoError(t, err)
		order := w.bought(nil)

		rows := w.customers(nil)
		require.Len(t, rows, 2)
		for column, want := range map[string]string{
			"id": order.CustomerID, "type": "customer", "email": "grace@example.com", "orders_count": "1", "total_spent": "38.00 eur", "balance_amount": "",
			"first_paid_at": order.PaidAt.String(), "tax_exempt": "false", "marketing_consent": "",
		} {
			assert.Equal(t, want, rows[0][column], column)
		}
		for column, want := range map[string]string{
			"id": lead.ID, "type": "lead", "name": "'=1+1", "external_id": "'@4711", "notes": "two\nlines", "tags": "vip; early", "billing_country": "GB",
			"tax_id": "GB1", "marketing_consent": "subscribed", "orders_count": "0", "total_spent": "", "first_paid_at": "", "billing_company": "'=Lovelace Ltd", "created_at": lead.CreatedAt.String(),
		} {
			assert.Equal(t, want, rows[1][column], column)
		}
		assert.Len(t, w.customers(api.ExportCustomersParams{Type: new(api.CustomerType("lead"))}), 1)
		assert.Empty(t, w.customers(api.ExportCustomersParams{HasActiveSubscription: new(true)}), "an empty file has its head")
		assert.Len(t, w.customers(api.ExportCustomersParams{HasActiveSubscription: new(false)}), 2)
	})
}

// An export is read page by page.
func TestCustomersFile_WalksManyPages(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	for range 450 {
		_, err := w.Customer.Create(t.Context(), w.account, customer.Customer{Email: new(strings.ToLower(core.NewID(core.KindCustomer)) + "@example.com")})
		require.NoError(t, err)
	}
	seen := map[string]bool{}
	for _, row := range w.customers(nil) {
		assert.False(t, seen[row["id"]], row["id"])
		seen[row["id"]] = true
	}
	assert.Len(t, seen, 450)
}
