package billing_test

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// renewed checks what a period costs that begins: the plan, less its discount, with the tax of today.
func (h *history) renewed(s *shop, l *life, row *subscription.Subscription, o *order.Order, price lineitem.Item) error {
	if l.next != nil {
		if l.interval == "day" || l.interval == "week" {
			l.anchor = l.end.Time().Day()
		}
		l.vague = l.vague || l.months > 0 && (l.next.interval != l.interval || l.next.count != l.count)
		l.plan, l.next = *l.next, nil
	}
	if price.UnitAmount != l.unit || price.Quantity != l.quantity || *price.PriceVariantID != l.variant {
		return fmt.Errorf("a period costs %+v, and %d times %d is billed", l.plan, price.Quantity, price.UnitAmount)
	}
	l.vague = l.vague || l.months > 0 && *price.PeriodStart != l.end
	if l.trial { // its end is the first day, also of periods that nobody is billed for
		l.anchor = l.end.Time().Day()
	}
	if *price.PeriodStart != l.end && !l.rested(*price.PeriodStart, *price.PeriodEnd) {
		l.anchor = price.PeriodStart.Time().Day()
	}
	l.trial = false
	sub := *row
	sub.ProductID, sub.PriceVariantID, sub.UnitAmount, sub.Quantity = l.product, l.variant, l.unit, l.quantity
	off, has := takenOff(&sub, l.terms), true
	if l.terms != nil && l.terms.Duration == discount.DurationRepeating {
		if l.months++; l.vague || l.interval != "month" || l.count != 1 {
			has = price.DiscountAmount > 0 // its months end by the calendar
		} else {
			has = l.months <= l.terms.DurationInMonths
		}
	}
	if !has {
		off = 0
	}
	if price.DiscountAmount != off {
		return fmt.Errorf("a period has %d off, and not %d: %+v", price.DiscountAmount, off, l.terms)
	}
	if off > 0 && l.terms.Duration == discount.DurationOnce {
		l.terms = nil
	}
	tax, err := h.taxOf(s, row, l.variant)
	if err != nil {
		return err
	}
	if want := tax.gross(l.unit*l.quantity - off); price.TotalAmount != want || price.TaxAmount != tax.of(l.unit*l.quantity-off) {
		return fmt.Errorf("a period costs %d with %d tax, and not %d: %+v", price.TotalAmount, price.TaxAmount, want, tax)
	}
	return nil
}

// of is the tax on a price, or in it.
func (r rate) of(price int64) int64 {
	if r.inclusive {
		return r.inside(price)
	}
	return r.gross(price) - price
}

// taxOf is what the shop asks of a subscriber for a price variant today.
func (h *history) taxOf(s *shop, sub *subscription.Subscription, variant string) (rate, error) {
	account, err := h.Tenant.GetAccount(everywhere, s.account)
	if err != nil {
		return rate{}, err
	}
	var own string
	if err := h.rows.Get(&own, h.rows.Rebind(`SELECT COALESCE(tax_behavior, '') FROM price_variants WHERE account_id = ? AND id = ?`), s.account, variant); err != nil {
		return rate{}, err
	}
	customer, err := h.Customer.Get(everywhere, s.account, sub.CustomerID)
	if err != nil {
		return rate{}, err
	}
	address := sub.BillingAddress.V
	if sub.CustomerVerified && customer.BillingAddress.V != nil {
		address = customer.BillingAddress.V
	}
	if address == nil {
		address = &core.Address{}
	}
	tax, best := account.Tax.V, -1
	found := rate{inclusive: cmp.Or(own, tax.Behavior) == tenant.TaxBehaviorInclusive}
	for _, r := range tax.Rates {
		where := 0 // how much of the place it names
		for _, names := range []struct{ rate, place *string }{{r.Country, address.Country}, {r.Region, address.State}} {
			switch {
			case names.rate == nil:
			case names.place != nil && *names.rate == *names.place:
				where++
			default:
				where = -9
			}
		}
		if where > best {
			best, found.bps = where, r.RateBps
		}
	}
	if tax.Mode == tenant.TaxModeNone || best < 0 || sub.CustomerVerified && customer.TaxExempt {
		return rate{}, nil
	}
	return found, nil
}

// renew lets a period of a subscription end, and compares the next one with what was foreseen of it.
func (p *player) renew() error {
	sub, err := p.subscription()
	if err != nil {
		return err
	}
	if change := sub.PendingChange.V; change != nil && change.InvoiceID != nil {
		return errIdle // nobody knows yet what it is going to be
	}
	foreseen, err := p.Subscription.PreviewRenewal(everywhere, p.account, sub.ID)
	now, clockErr := p.in(0)
	if clockErr != nil || err != nil || sub.CurrentPeriodEnd < now || sub.Status == subscription.StatusPaused {
		return errors.Join(clockErr, p.answered("look ahead of "+sub.ID, err))
	}
	had, err := p.balance(p.shop, sub.CustomerID, sub.Currency, "~_~")
	if err != nil {
		return err
	}
	if err := p.forward(sub.CurrentPeriodEnd.Time().Sub(now.Time()) + time.Second); err != nil || p.crowded {
		return err
	}
	return p.cameTrue(sub, foreseen, had)
}

// cameTrue makes sure that a period costs what was foreseen when the customer had so much to their credit, if it has begun.
func (p *player) cameTrue(sub *subscription.Subscription, foreseen *subscription.Renewal, had int64) error {
	var bills []string
	err := p.rows.Select(&bills, p.rows.Rebind(`
		SELECT id FROM orders WHERE account_id = ? AND subscription_id = ? AND billing_reason = 'subscription_cycle' AND period_start = ?`),
		p.account, sub.ID, foreseen.Subscription.CurrentPeriodStart)
	if err != nil || len(bills) == 0 {
		return err
	}
	o, err := p.Order.Get(everywhere, p.account, bills[0])
	if err != nil {
		return err
	}
	got := fmt.Sprint(o.SubtotalAmount, o.DiscountAmount, o.NetAmount, o.TaxAmount, o.TotalAmount, core.Deref(o.PeriodEnd))
	a := foreseen.Amounts
	want := fmt.Sprint(a.Subtotal, a.Discount, a.Net, a.Tax, a.Total, foreseen.Subscription.CurrentPeriodEnd)
	has, err := p.balance(p.shop, o.CustomerID, o.Currency, o.ID) // others may have had some of it
	if err == nil && (got != want || has == had && o.BalanceApplied != foreseen.Balance) {
		err = fmt.Errorf("a period of %s costs %s with %d of the balance, and foreseen were %s and %d", sub.ID, got, o.BalanceApplied, want, foreseen.Balance)
	}
	return err
}
