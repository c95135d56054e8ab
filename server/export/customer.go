package export

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
)

// customers are the customers, with amounts as decimals.
func customers(s *store.Store) *List {
	return list(s.Customer.List, view.ListCustomers, customerHead, each(customerRow))
}

var customerHead = []string{
	"id", "type", "created_at", "email", "name", "phone", "external_id", "billing_country", "tax_id", "tax_exempt", "preferred_locale",
	"marketing_consent", "orders_count", "total_spent", "balance_amount", "first_paid_at", "last_order_at", "tags", "notes",
	"billing_company",
}

// customerRow returns a customer as a row of the file, in the order of customerHead.
func customerRow(c *customer.Customer) []string {
	country, company, taxID, consent := "", "", "", ""
	if a := c.BillingAddress.V; a != nil {
		country, company = core.Deref(a.Country), core.Deref(a.Company)
	}
	if id := c.TaxID.V; id != nil {
		taxID = id.Value
	}
	if m := c.MarketingConsent.V; m != nil {
		consent = m.Status
	}
	return []string{
		c.ID, string(c.Type), c.CreatedAt.String(), Harmless(core.Deref(c.Email)), Harmless(core.Deref(c.Name)), Harmless(core.Deref(c.Phone)),
		Harmless(core.Deref(c.ExternalID)), Harmless(country), Harmless(taxID), strconv.FormatBool(c.TaxExempt), Harmless(core.Deref(c.PreferredLocale)),
		consent, strconv.FormatInt(c.OrdersCount, 10), sums(c.TotalSpent.V), sums(c.Balance.V), moment(c.FirstPaidAt), moment(c.LastOrderAt),
		Harmless(strings.Join(c.Tags.V, "; ")), Harmless(core.Deref(c.Notes)),
		Harmless(company),
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
