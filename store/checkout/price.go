package checkout

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/pricing"
	"github.com/tillwright/tillwright/store/tenant"
)

// A checkout is priced in two layers. The first makes lines of what is asked for and fixes what a unit costs: that
// holds until the lines are asked for again. The second adds discount and tax. It is gone through whenever something changes that they depend on,
// and once more under the lock of whoever begins to pay.

// lineChange holds the lines of a checkout as they are stored, and as they are to be stored.
type lineChange struct {
	stored, items []lineitem.Item
}

// quote holds the amounts of a checkout: all that the buyer sees, and the part of it that is due at once.
type quote struct {
	shown    pricing.Amounts
	dueNow   int64
	taxKnown bool

	needsMethod bool
}

// newLines makes the lines that are asked for, without discount and tax, and sets the checkout's currency. If a line asks for
// the same as the stored one in its place, it is that one, with its id.
func (s *Store) newLines(ctx context.Context, r db.Reader, c, before *Checkout, l offer.Lineup, stored []lineitem.Item, now core.Time) ([]lineitem.Item, error) {
	asksCurrency := c.Currency != before.Currency
	if _, known := core.LookupCurrency(c.Currency); asksCurrency && !known {
		return nil, core.Invalid("currency", fmt.Sprintf("Currency '%s' is not supported. Send a lower-case ISO 4217 code such as usd.", c.Currency))
	}
	seller, err := s.rooms.Tenant.Seller(ctx, r, c.AccountID)
	if err != nil {
		return nil, err
	}
	items, err := l.Lines(c.Currency, asksCurrency, &seller.Tax.V)
	if err != nil {
		return nil, err
	}
	if err := s.rooms.Lines.CheckLicenses(ctx, r, c.AccountID, items); err != nil {
		return nil, err
	}
	ids := make([]string, len(items))
	for i := range items {
		item := &items[i]
		item.AccountID, item.CheckoutID, item.Position = c.AccountID, &c.ID, int64(i)
		if i < len(stored) && item.SellsAs(stored[i]) {
			*item = stored[i]
		} else {
			item.ID, item.CreatedAt, item.UpdatedAt = core.NewID(core.KindLineItem), now, now
		}
		ids[i] = item.ID
	}
	c.LineItemIDs, c.Currency = core.JSONOf(ids), items[0].Currency
	return items, nil
}

// isPricedAs reports whether discount and tax still go by the same things as before: the buyer, their address and tax id, and
// the discount.
func (c *Checkout) isPricedAs(before *Checkout) bool {
	inputs := func(c *Checkout) []any {
		return []any{c.CustomerID, c.ExternalCustomerID, c.CustomerEmail, c.EmailVerified, c.BillingAddress, c.TaxID, c.DiscountID}
	}
	return core.SameJSON(inputs(c), inputs(before))
}

// reprice works out trials, discount and tax of lines whose unit amounts are fixed, as they are now, and gives the checkout their sums.
// As long as the tax is not known it is nil, and the total is without it. A discount that cannot be used is CodeInvalid on the
// field by which it came.
func (s *Store) reprice(ctx context.Context, r db.Reader, c *Checkout, items []lineitem.Item, now core.Time) error {
	if err := s.dropUsedTrials(ctx, r, c, items); err != nil {
		return err
	}
	known, err := s.taxLines(ctx, r, c, items)
	if err != nil {
		return err
	}
	discounts, err := s.discountsOf(ctx, r, c, items, now)
	if err != nil {
		return err
	}
	shown, err := lineitem.Price(items, discounts...)
	if err != nil {
		return err
	}
	due := dueNow(items)
	needsMethod, err := s.needsMethod(ctx, r, c, items, due)
	if err != nil {
		return err
	}
	return c.setAmounts(items, quote{shown, due, known, needsMethod})
}

// taxLines gives the lines the tax rate for the buyer's address, and reports whether the rate is known. If it is not, the lines
// have none.
func (s *Store) taxLines(ctx context.Context, r db.Reader, c *Checkout, items []lineitem.Item) (known bool, err error) {
	source, err := s.taxSourceOf(ctx, r, c)
	if err != nil {
		return false, err
	}
	rate, known := source.RateAt(c.BillingAddress.V)
	for i := range items {
		items[i].TaxRateBps, items[i].TaxName = 0, nil
		if rate != nil && known {
			items[i].TaxRateBps, items[i].TaxName = rate.RateBps, &rate.Name
		}
	}
	return known, nil
}

// taxSourceOf returns what knows the tax rate for the buyer of a checkout: the seller's settings, or NoTax for a customer who is
// exempt. A buyer who only typed the address of such a customer is not exempt, and does not learn that its owner is.
func (s *Store) taxSourceOf(ctx context.Context, r db.Reader, c *Checkout) (tenant.TaxSource, error) {
	seller, err := s.rooms.Tenant.Seller(ctx, r, c.AccountID)
	if err != nil {
		return nil, err
	}
	if seller.Tax.V.Mode != tenant.TaxModeNone && !c.isTyped() {
		buyer, isKnown, err := s.GetBuyer(ctx, r, c)
		if err != nil || buyer != nil && isKnown && buyer.TaxExempt {
			return tenant.NoTax{}, err
		}
	}
	return seller.Tax.V.Source(), nil
}

// needsMethod reports whether a checkout needs a payment method. It does if something is due at once, or if a subscription will cost something
// later. In the second case mayRelyOnSaved says who may leave it out.
func (s *Store) needsMethod(ctx context.Context, r db.Reader, c *Checkout, items []lineitem.Item, due int64) (bool, error) {
	var ids []string
	for _, item := range lineitem.Sales(items) {
		if item.UnitAmount > 0 {
			ids = append(ids, core.Deref(item.PriceVariantID))
		}
	}
	if due > 0 || len(ids) == 0 {
		return due > 0, nil
	}
	variants, err := s.rooms.Catalog.PriceVariantsByIDIn(ctx, r, c.AccountID, ids)
	for _, v := range variants {
		if v.Type == catalog.PriceVariantTypeRecurring {
			return true, err
		}
	}
	return false, err
}

// dueNow returns the sum of the lines without a trial. A line with a trial is paid when the trial is over.
func dueNow(items []lineitem.Item) int64 {
	var due int64
	for _, item := range items {
		if !item.HasTrial() {
			due += item.TotalAmount
		}
	}
	return due
}

// setAmounts sets the amounts of a checkout to those of the quote. An amount due at once that is too small to be charged is
// CodeInvalid on the discount: nothing else leaves so little.
func (c *Checkout) setAmounts(items []lineitem.Item, q quote) error {
	c.SubtotalAmount, c.DiscountAmount, c.NetAmount = q.shown.Subtotal, q.shown.Discount, q.shown.Net
	c.TaxAmount, c.TotalAmount, c.AmountDueNow = &q.shown.Tax, q.shown.Total, q.dueNow
	breakdown, err := lineitem.Breakdown(items)
	if err != nil {
		return err
	}
	c.TaxBreakdown = core.JSONOf(breakdown)
	if !q.taxKnown {
		c.TaxAmount = nil
	}
	c.PaymentMethodRequired = q.needsMethod
	if least := core.CurrencyOf(c.Currency).Minimum; c.AmountDueNow > 0 && c.AmountDueNow < least && c.DiscountID != nil {
		return core.Invalid(c.discountField(), fmt.Sprintf("This discount leaves %d to pay. Less than %d %s cannot be charged.", c.AmountDueNow, least, c.Currency))
	}
	return nil
}

// Placed returns copies of the lines of a checkout as its order will have them. A line with a trial costs nothing yet, and says until when, in
// the seller's time zone. Without a trial nothing is read.
func (s *Store) Placed(ctx context.Context, r db.Reader, account string, items []lineitem.Item, now core.Time) ([]lineitem.Item, error) {
	placed := slices.Clone(items)
	for i := range placed {
		item := &placed[i]
		end := item.TrialEndsAt(now)
		if end == nil {
			continue
		}
		seller, err := s.rooms.Tenant.Seller(ctx, r, account)
		if err != nil {
			return nil, err
		}
		item.DescribeTrial(seller.Local(*end))
		item.UnitAmount, item.SubtotalAmount, item.DiscountAmount = 0, 0, 0
		item.NetAmount, item.TaxAmount, item.TotalAmount = 0, 0, 0
	}
	return placed, nil
}

// requote prices a checkout once more, just before it is paid. Nobody is ever charged anything but what they were shown. If an amount that they
// were shown has changed, the new one is stored, and the payment is refused with CodeInvalid on line_items. That error is recorded, so that the
// new total outlives it. If the tax is still not known it is CodeInvalid on billing_address.
func (s *Store) requote(ctx context.Context, u *db.Unit, c *Checkout, stored []lineitem.Item, now core.Time) ([]lineitem.Item, error) {
	before, items := *c, slices.Clone(stored)
	if err := s.reprice(ctx, u, c, items, now); err != nil {
		return nil, err
	}
	if c.TaxAmount == nil {
		return nil, core.Invalid("billing_address", "The tax depends on where the buyer is: the checkout needs a billing address with its country, and the state where that has taxes of its own.").Because("tax")
	}
	if core.SameJSON(before.TaxAmount, c.TaxAmount) && before.TotalAmount == c.TotalAmount && before.AmountDueNow == c.AmountDueNow {
		return items, s.replaceLines(ctx, u, lineChange{stored, items}, now)
	}
	c.UpdatedAt = now
	if err := u.Update(ctx, Columns, c); err != nil {
		return nil, err
	}
	if err := s.replaceLines(ctx, u, lineChange{stored, items}, now); err != nil {
		return nil, err
	}
	what, from, to := "The total", before.TotalAmount, c.TotalAmount
	switch {
	case from != to:
	case before.AmountDueNow != c.AmountDueNow:
		what, from, to = "What is due now", before.AmountDueNow, c.AmountDueNow
	default:
		what, from, to = "The tax in the total", core.Deref(before.TaxAmount), *c.TaxAmount
	}
	message := fmt.Sprintf("%s has changed from %s to %s. Show it to the buyer, and confirm again.",
		what, core.FormatAmount(from, c.Currency), core.FormatAmount(to, c.Currency))
	return nil, errChanged(message)
}

// errChanged refuses a payment because its buyer has seen other amounts than there are. It is recorded.
func errChanged(message string) error {
	return &core.Error{Code: core.CodeInvalid, Param: "line_items", Message: message, Outcome: core.Recorded, Reason: "changed", Fields: map[string][]string{"line_items": {message}}}
}

// isEmpty reports whether the lines stay as they are stored.
func (l *lineChange) isEmpty() bool { return l == nil || core.SameJSON(l.stored, l.items) }

// replaceLines inserts the lines that are new, updates those that have changed and deletes those that are gone. A line that
// stays keeps its id.
func (s *Store) replaceLines(ctx context.Context, u *db.Unit, l lineChange, now core.Time) error {
	gone := map[string]lineitem.Item{}
	for _, item := range l.stored {
		gone[item.ID] = item
	}
	for i := range l.items {
		item := &l.items[i]
		stored, stays := gone[item.ID]
		delete(gone, item.ID)
		switch {
		case !stays:
			if err := u.Insert(ctx, lineitem.Columns, item); err != nil {
				return err
			}
		case !core.SameJSON(stored, *item):
			item.UpdatedAt = now
			if err := u.Update(ctx, lineitem.Columns, item); err != nil {
				return err
			}
		}
	}
	for id, item := range gone {
		if _, err := u.Exec(ctx, `DELETE FROM line_items WHERE account_id = ? AND id = ?`, item.AccountID, id); err != nil {
			return fmt.Errorf("delete line: %w", err)
		}
	}
	return nil
}
