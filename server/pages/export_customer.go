package pages

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// customers exports the customers that match a filter, newest first.
func (p *Pages) customers(c echo.Context, account string, filter store.ListCustomers) error {
	return p.export(c, account, "customers", customerHead, func(ctx context.Context, after string) ([][]string, string, error) {
		filter.Page = core.Page{Limit: exportPage, StartingAfter: after, Exhaustive: true}
		customers, more, err := p.store.ListCustomers(ctx, account, filter)
		if err != nil {
			return nil, "", err
		}
		page, last := written(customers, more, func(c *store.Customer) (string, []string) { return c.ID, customerRow(c) })
		return page, last, nil
	})
}

var customerHead = []string{
	"id", "type", "created_at", "email", "name", "phone", "external_id", "billing_country", "tax_id", "tax_exempt", "preferred_locale",
	"marketing_consent", "orders_count", "total_spent", "balance_amount", "first_paid_at", "last_order_at", "tags", "notes",
}

// customerRow returns a customer as a row of the file, in the order of customerHead.
func customerRow(c *store.Customer) []string {
	country, taxID, consent := "", "", ""
	if a := c.BillingAddress.V; a != nil {
		country = text(a.Country)
	}
	if id := c.TaxID.V; id != nil {
		taxID = id.Value
	}
	if m := c.MarketingConsent.V; m != nil {
		consent = m.Status
	}
	return []string{
		c.ID, string(c.Type), c.CreatedAt.String(), harmless(text(c.Email)), harmless(text(c.Name)), harmless(text(c.Phone)),
		harmless(text(c.ExternalID)), harmless(country), harmless(taxID), strconv.FormatBool(c.TaxExempt), harmless(text(c.PreferredLocale)),
		consent, strconv.FormatInt(c.OrdersCount, 10), sums(c.TotalSpent.V), sums(c.Balance.V), moment(c.FirstPaidAt), moment(c.LastOrderAt),
		harmless(strings.Join(c.Tags.V, "; ")), harmless(text(c.Notes)),
	}
}

// sums returns amounts of several currencies, in one cell. Those that are zero are left out.
func sums(amounts map[string]int64) string {
	var all []string
	for _, currency := range slices.Sorted(maps.Keys(amounts)) {
		if amounts[currency] != 0 {
			all = append(all, core.DecimalAmount(amounts[currency], currency)+" "+currency)
		}
	}
	return strings.Join(all, "; ")
}
