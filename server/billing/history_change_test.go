package billing_test

import (
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// asking is a change of plan that somebody asks for, with what the rules say of it.
type asking struct {
	proration
	to       plan
	at       core.Time
	restarts bool
	waits    bool   // what it costs more is billed later
	done     bool   // the answer said so
	order    string // the bill
}

// answered notes that the change was granted.
func (a *asking) answered() {
	if a != nil {
		a.done = true
	}
}

// resolve finds out what became of a change of plan: it takes place when it is paid.
func (h *history) resolve(s *shop, l *life, row *subscription.Subscription) error {
	a := l.asked
	switch {
	case a == nil:
		return nil
	case a.order != "":
		o, err := h.Order.Get(everywhere, s.account, a.order)
		if err != nil || o.PaidAt == nil && o.Status != order.StatusVoid {
			return err
		}
		if o.Status == order.StatusVoid {
			l.asked = nil
			return nil
		}
	case !a.done:
		l.asked = nil
		return nil
	case a.bill() > 0 && !a.waits:
		return fmt.Errorf("nothing is billed for a change of plan: %+v", a)
	}
	left := a.proration
	if a.order != "" { // something may have been given back until it was paid
		var err error
		if left, err = h.prorated(s, l, a.at, a.remaining); err != nil {
			return err
		}
		if err := h.tookOff(s, row, a.order, left.parts); err != nil {
			return err
		}
	}
	l.asked = nil
	l.parts, l.debits = left.settled(a.order, a.bill(), a.at)
	if l.plan = a.to; a.restarts {
		l.anchor = a.at.Time().Day()
		l.start, l.end, l.vague, l.cycles = a.at, l.ends(a.at, l.anchor), true, l.cycles+1
	}
	return nil
}

// prorated is what is left of a period at a moment, and what the rest is to cost. It counts what was paid and neither refunded nor
// credited.
func (h *history) prorated(s *shop, l *life, at core.Time, remaining int64) (proration, error) {
	c := proration{remaining: remaining}
	var ids []string
	for _, f := range l.parts {
		ids = append(ids, f.order)
	}
	orders, err := h.Order.ByID(everywhere, s.account, ids)
	if err != nil {
		return c, err
	}
	for _, f := range l.parts {
		kept, charged := keptOf(orders[f.order])
		f = f.at(at, l.end)
		f.left, f.charged = min(f.left, kept), charged*1000/max(kept, 1)
		c.parts = append(c.parts, f)
	}
	for _, f := range l.debits {
		c.debits = append(c.debits, f.at(at, l.end))
	}
	return c, nil
}

// tookOff takes off parts of a period what refunds had taken off them when a change of plan was paid, and which have failed since. What the
// subscription keeps says which of them had: nobody sees what happens in between.
func (h *history) tookOff(s *shop, row *subscription.Subscription, paid string, parts []funds) error {
	for i, f := range parts {
		var failed []struct {
			Amount  int64 `db:"amount"`
			Balance int64 `db:"balance_amount"`
		}
		err := h.rows.Select(&failed, h.rows.Rebind(`
			SELECT r.amount, r.balance_amount FROM refunds r JOIN orders o ON o.account_id = r.account_id AND o.id = ?
			WHERE r.account_id = ? AND r.order_id = ? AND r.status IN ('failed', 'canceled') AND r.created_at <= o.paid_at AND r.updated_at >= o.paid_at`),
			paid, s.account, f.order)
		if err != nil {
			return err
		}
		now, err := h.Order.Get(everywhere, s.account, f.order)
		if err != nil {
			return err
		}
		then := []order.Order{*now} // as it may have been, with each of them taken off or not
		for _, r := range failed {
			for _, o := range slices.Clone(then) {
				o.RefundedAmount, o.RefundedBalance = o.RefundedAmount+r.Amount-r.Balance, o.RefundedBalance+r.Balance
				then = append(then, o)
			}
		}
		for _, o := range then[1:] {
			kept, charged := keptOf(&o)
			left := subscription.PaidPart{OrderID: f.order, Start: f.since, Amount: min(f.left, kept)}
			if slices.Contains(row.Carried.V, left) {
				parts[i].left, parts[i].charged = left.Amount, charged*1000/max(kept, 1)
			}
		}
	}
	return nil
}

// keptOf is what was paid for an order and not given back, and how much of it can go back to a card.
func keptOf(o *order.Order) (kept, charged int64) {
	if o.PaidAt == nil || o.Status == order.StatusVoid {
		return 0, 0
	}
	kept = max(o.PaidAmount+o.BalanceTaken-o.GivenBack()-o.CreditedAmount, 0)
	return kept, max(min(o.PaidAmount-o.RefundedAmount, kept), 0)
}

// reckon says what a change of plan comes to now, nil if it moves no money yet.
func (p *player) reckon(sub *subscription.Subscription, in store.ChangeSubscription) (*asking, error) {
	l := p.lives[sub.ID]
	if p.crowded || l == nil || l.asked != nil || sub.Status != subscription.StatusActive {
		return nil, nil
	}
	if in.Behavior == "" {
		account, err := p.Tenant.GetAccount(everywhere, p.account)
		if err != nil {
			return nil, err
		}
		in.Behavior = account.ProrationBehavior
	}
	a := &asking{to: l.plan}
	if in.Quantity != nil {
		a.to.quantity = *in.Quantity
	}
	if in.PriceVariant != "" && in.PriceVariant != l.variant {
		v, err := p.Catalog.GetPriceVariant(everywhere, p.account, in.PriceVariant)
		if err != nil || v.AmountType == catalog.PriceVariantAmountTypeCustom {
			return nil, err
		}
		amount, known := v.Amount, v.Currency == sub.Currency
		if !known {
			amount = v.CurrencyAmounts.V[sub.Currency]
		}
		a.to = plan{v.ProductID, v.ID, amount, a.to.quantity, *v.Interval, max(core.Deref(v.IntervalCount), 1)}
	}
	if a.to == l.plan || in.Behavior == tenant.ProrationBehaviorNextPeriod {
		return nil, nil
	}
	now, err := p.in(0)
	if err != nil {
		return nil, err
	}
	a.at, a.restarts = now-now%1000, a.to.interval != l.interval || a.to.count != l.count
	next, terms := *sub, inForce(sub)
	next.ProductID, next.PriceVariantID, next.UnitAmount, next.Quantity = a.to.product, a.to.variant, a.to.unit, a.to.quantity
	if a.restarts {
		if terms = sub.Discount.V; sub.DiscountEndsAt != nil && a.at >= *sub.DiscountEndsAt {
			terms = nil
		}
	}
	tax, err := p.taxOf(p.shop, sub, a.to.variant)
	if err != nil {
		return nil, err
	}
	whole := tax.gross(a.to.unit*a.to.quantity - takenOff(&next, terms))
	if !a.restarts {
		whole = funds{left: whole, since: l.start}.at(a.at, l.end).left
	}
	if a.proration, err = p.prorated(p.shop, l, a.at, whole); err != nil {
		return nil, err
	}
	a.remaining -= (a.remaining - a.unused()) % tens(sub.Currency) // the difference is rounded down
	balance := int64(0)
	if sub.CustomerVerified {
		if balance, err = p.balance(p.shop, sub.CustomerID, sub.Currency, "~_~"); err != nil {
			return nil, err
		}
	}
	least := core.CurrencyOf(sub.Currency).Minimum
	a.waits = in.Behavior == tenant.ProrationBehaviorNextInvoice && !a.restarts || a.bill() < least && max(balance, 0) < a.bill()
	return a, nil
}

// agrees compares what a change is said to come to with what the rules say. What is asked for is noted.
func (p *player) agrees(sub *subscription.Subscription, a *asking, preview *store.SubscriptionChange) error {
	if a == nil {
		return nil
	}
	p.lives[sub.ID].asked = a
	if preview == nil {
		return nil
	}
	said, want := [4]int64{preview.Unused, preview.Remaining, preview.Credit, preview.Amounts.Total}, [4]int64{a.unused(), a.remaining, a.credit(), a.bill()}
	if said != want {
		return fmt.Errorf("a change of %s comes to %v (unused, remaining, credit, bill), and not %v: %+v", sub.ID, said, want, p.lives[sub.ID])
	}
	return nil
}
