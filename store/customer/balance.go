package customer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/tillwright/tillwright/store/core"
)

// Absorb adds to a customer what another one has: counts and sums are added up, and fields that are empty are filled in. Where
// both say something, the customer's own word stands. Consent to marketing is not taken over: it was given for an address that
// is not theirs. But if the other one is of the same mailbox and unsubscribed, the customer is too.
func (c *Customer) Absorb(o *Customer, now core.Time) {
	c.OrdersCount += o.OrdersCount
	c.TotalSpent = core.JSONOf(Sum(c.TotalSpent.V, o.TotalSpent.V))
	if o.Type == TypeCustomer {
		c.Type = o.Type
	}
	if o.FirstPaidAt != nil && (c.FirstPaidAt == nil || *o.FirstPaidAt < *c.FirstPaidAt) {
		c.FirstPaidAt = o.FirstPaidAt
	}
	if o.LastOrderAt != nil && (c.LastOrderAt == nil || *o.LastOrderAt > *c.LastOrderAt) {
		c.LastOrderAt = o.LastOrderAt
	}
	if o.IsUnsubscribed() && !c.IsUnsubscribed() && o.Email != nil && core.MailboxKey(core.Deref(o.Email)) == core.MailboxKey(core.Deref(c.Email)) {
		c.MarketingConsent = o.MarketingConsent
	}
	if o.EmailKey != nil && *o.EmailKey == core.EmailKey(core.Deref(c.Email)) {
		c.EmailKey = o.EmailKey
	}
	c.Name, c.Phone, c.ExternalID = cmp.Or(c.Name, o.Name), cmp.Or(c.Phone, o.Phone), cmp.Or(c.ExternalID, o.ExternalID)
	c.AvatarURL, c.PreferredLocale, c.Notes = cmp.Or(c.AvatarURL, o.AvatarURL), cmp.Or(c.PreferredLocale, o.PreferredLocale), cmp.Or(c.Notes, o.Notes)
	c.BillingAddress.V, c.TaxID.V = cmp.Or(c.BillingAddress.V, o.BillingAddress.V), cmp.Or(c.TaxID.V, o.TaxID.V)
	c.DefaultPaymentMethodID = cmp.Or(c.DefaultPaymentMethodID, o.DefaultPaymentMethodID)
	for _, tag := range o.Tags.V {
		if len(c.Tags.V) < MaxTags && !slices.Contains(c.Tags.V, tag) {
			c.Tags.V = append(c.Tags.V, tag)
		}
	}
	c.Metadata = c.Metadata.Fill(o.Metadata)
	c.UpdatedAt = now
}

// AbsorbBalance adds the balances of a customer whose transactions become this one's. A sum of more than a balance can be is CodeInvalid on from.
func (c *Customer) AbsorbBalance(o *Customer) error {
	sum := Sum(c.Balance.V, o.Balance.V)
	for _, currency := range slices.Sorted(maps.Keys(sum)) {
		if sum[currency] > core.MaxAmount {
			return core.Invalid("from", fmt.Sprintf("Together they have %d %s to their credit, and a balance can be %d at most. Take some off one of them first, with POST /customers/{id}/balance_transactions.",
				sum[currency], currency, core.MaxAmount))
		}
	}
	c.Balance = core.JSONOf(sum)
	return nil
}

// Sum returns the sums of two amounts by currency.
func Sum(a, b map[string]int64) map[string]int64 {
	sum := maps.Clone(a)
	if sum == nil {
		sum = map[string]int64{}
	}
	for currency, amount := range b {
		sum[currency] += amount
	}
	return sum
}

// OwnedBy returns the SQL condition on a customer's rows in a table, and its arguments. Payments have no index by customer, but
// one by invoice, so that they are found by the customer's invoices.
func (c *Customer) OwnedBy(table string) (string, []any) {
	if table == "payments" {
		return `account_id = ? AND customer_id = ? AND invoice_id IN (SELECT id FROM invoices WHERE account_id = ? AND customer_id = ?)`,
			[]any{c.AccountID, c.ID, c.AccountID, c.ID}
	}
	return `account_id = ? AND customer_id = ?`, []any{c.AccountID, c.ID}
}

// Credit returns how much of a total the customer's balance pays. It never leaves an amount to charge that is above 0 but too little to be
// charged. Then it pays less, so that enough is left. So it does if thousandths would be left that cards are not charged: see core.Currency.Step. A
// total that is itself too little is paid by the balance as a whole. The balance may go below 0 by that: the customer then owes what was not there.
func (c *Customer) Credit(currency string, total int64) int64 {
	of := core.CurrencyOf(currency)
	applied, least, step := min(max(c.Balance.V[currency], 0), total), of.Minimum, of.Step()
	switch rest := total - applied; {
	case rest == 0:
		return applied
	case rest >= least:
		if less := (step - rest%step) % step; less <= applied {
			applied -= less
		}
		return applied
	case total < least:
		return total
	default:
		return total - least
	}
}

// Ordered counts an order for the customer.
func (c *Customer) Ordered(now core.Time) {
	c.OrdersCount++
	c.LastOrderAt, c.UpdatedAt = &now, now
}

// Spend adds an amount that was paid.
func (c *Customer) Spend(currency string, amount int64, now core.Time) {
	spent := maps.Clone(c.TotalSpent.V)
	if spent == nil {
		spent = map[string]int64{}
	}
	spent[currency] += amount
	c.TotalSpent = core.JSONOf(spent)
	if c.FirstPaidAt == nil {
		c.FirstPaidAt = &now
	}
}

// Refund takes an amount that is given back off what was paid. A negative one adds it again, because it is not given back after
// all.
func (c *Customer) Refund(currency string, amount int64, now core.Time) {
	if c.UpdatedAt = now; amount == 0 {
		return
	}
	spent := maps.Clone(c.TotalSpent.V)
	spent[currency] -= amount
	c.TotalSpent = core.JSONOf(spent)
}

// MaxTags bounds the tags of a customer.
const MaxTags = 50
