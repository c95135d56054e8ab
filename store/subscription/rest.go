package subscription

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/pricing"
)

// PaidPart is what one order has paid for the current period of a subscription, from a moment of the period to its end. After a change of
// plan several orders may have paid for one period.
type PaidPart struct {
	OrderID string    `json:"order"`
	Start   core.Time `json:"start"`         // 0 only for one from before every change of plan wrote it: then it is that of the period
	Amount  int64     `json:"amount"`        // tax included, however it was paid
	Net     int64     `json:"net,omitempty"` // of one without a Start, its share of the period's price
}

// OrderCredit is what a change of plan gives of one order to its customer's balance.
type OrderCredit struct {
	Order  string
	Amount int64
}

// Rest is what pays for the rest of a subscription's period: what is left of paid orders, and debits that wait for a bill.
type Rest struct {
	Parts  []PaidPart
	Debits []Proration
}

// Sum returns what all of it comes to, tax included.
func (r *Rest) Sum() int64 {
	sum := int64(0)
	for _, p := range r.Parts {
		sum += p.Amount
	}
	for _, d := range r.Debits {
		sum += d.Left
	}
	return sum
}

// Cut takes an amount off the rest, which is no more than its sum. It takes it off debits that wait first, because nobody has paid them, and then
// off what was paid, the last parts first. It returns what it took of each order.
func (r *Rest) Cut(amount int64) []OrderCredit {
	for i := range r.Debits {
		d := &r.Debits[i]
		off := min(d.Left, amount)
		d.Amount, d.Left, amount = d.Amount-off, d.Left-off, amount-off
	}
	r.Debits = slices.DeleteFunc(r.Debits, func(d Proration) bool { return d.Amount == 0 })
	var credits []OrderCredit
	for i := len(r.Parts) - 1; i >= 0 && amount > 0; i-- {
		p := &r.Parts[i]
		off := min(p.Amount, amount)
		p.Amount, amount = p.Amount-off, amount-off
		if off > 0 {
			credits = append(credits, OrderCredit{p.OrderID, off})
		}
	}
	return credits
}

// CheckRest returns CodeInvalid on param if the subscription's discount would leave so little of the plan's price that it
// cannot be charged.
func (s *Subscription) CheckRest(plan Plan, param string) error {
	next, terms := *s, s.discountAt(s.CurrentPeriodEnd)
	if terms == nil || core.SameJSON(plan, s.CurrentPlan()) {
		return nil
	}
	next.Follow(plan)
	if problem := terms.LeavesTooLittle(next.lines()[0]); problem != "" {
		return core.Invalid(param, problem)
	}
	return nil
}

// Unused returns the share of amount, the price of the whole current period, that falls on the time from now to its end.
func (s *Subscription) Unused(amount int64, now core.Time) (int64, error) {
	return pricing.Period{Start: s.CurrentPeriodStart.Time(), End: s.CurrentPeriodEnd.Time()}.Unused(amount, now.Time())
}

// Apply gives the subscription the plan of the change. If the change restarts the period, a new one begins. What pays for the rest of the
// period is kept with it, so that the next change and a later refund find it.
func (s *Subscription) Apply(change *PendingChange, left *Rest) error {
	s.Follow(change.Plan)
	s.PendingChange = core.JSON[*PendingChange]{}
	s.PeriodAmount = change.Amount
	if change.Restarts {
		s.CyclesBilled++
		s.Restarts++
		s.AnchorDay = int64(change.EffectiveAt.Time().Day())
		if err := s.Begin(change.EffectiveAt); err != nil {
			return err
		}
	}
	s.Carried, s.Prorations = core.JSONOf(left.Parts), core.JSONOf(left.Debits)
	if change.Discounted {
		s.useDiscount()
	}
	return nil
}

// Subscriber reads a subscription and its customer, and returns them with the account's time. Neither is locked.
func (s *Store) Subscriber(ctx context.Context, account, ref string) (*Subscription, *customer.Customer, core.Time, error) {
	sub, err := s.Named(ctx, s.db, account, ref, "")
	if err != nil {
		return nil, nil, 0, err
	}
	customer, err := s.rooms.Customer.Named(ctx, s.db, account, sub.CustomerID, "")
	if err != nil {
		return nil, nil, 0, err
	}
	now, err := db.BusinessNow(ctx, s.db, account)
	return sub, customer, now, err
}

// KeepsParts reports whether a change of plan has written down what paid for the rest of the current period.
func (s *Subscription) KeepsParts() bool { return len(s.Carried.V) > 0 && s.Carried.V[0].Start != 0 }

// PaidParts returns what paid for the current period: what its latest change of plan has kept, or else what its own bill paid.
func (s *Store) PaidParts(ctx context.Context, r db.Reader, sub *Subscription, but string) ([]PaidPart, error) {
	parts := slices.Clone(sub.Carried.V)
	if sub.KeepsParts() {
		return parts, nil
	}
	for i := range parts {
		parts[i].Start = sub.CurrentPeriodStart
	}
	lines, err := s.paidLines(ctx, r, sub)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		// What was carried into this period from an order is among the parts already.
		if l.OrderID != but && !slices.ContainsFunc(sub.Carried.V, func(p PaidPart) bool { return p.OrderID == l.OrderID }) {
			parts = append(parts, PaidPart{OrderID: l.OrderID, Start: l.PeriodStart, Amount: l.Total, Net: l.Net})
		}
	}
	return parts, nil
}

// paidLine is a line of a paid order that bills a subscription's period, or the rest of it from a change of plan on.
type paidLine struct {
	OrderID     string    `db:"order_id"`
	PeriodStart core.Time `db:"period_start"`
	Net         int64     `db:"net"`
	Total       int64     `db:"total_amount"`
}

// paidLines returns the order lines that bill the current period and whose order is paid, the oldest first. A proration that was billed
// with this period belongs to the one before, and is left out.
func (s *Store) paidLines(ctx context.Context, r db.Reader, sub *Subscription) ([]paidLine, error) {
	lines, err := db.Select[paidLine](ctx, r, `
		SELECT l.order_id, l.period_start, l.subtotal_amount - l.discount_amount AS net, l.total_amount
		FROM line_items l JOIN orders o ON o.account_id = l.account_id AND o.id = l.order_id
		WHERE l.account_id = ? AND l.subscription_id = ? AND l.period_end = ? AND l.total_amount > 0 AND o.paid_at IS NOT NULL
			AND (l.kind = 'price' OR o.billing_reason = 'subscription_update')`, sub.AccountID, sub.ID, sub.CurrentPeriodEnd)
	if err != nil {
		return nil, fmt.Errorf("read what was paid for the period: %w", err)
	}
	// Sorted by the database they would be looked for by order, without statistics: among all lines of the account.
	slices.SortStableFunc(lines, func(a, b paidLine) int { return cmp.Compare(a.OrderID, b.OrderID) })
	return lines, nil
}

// Leave reduces the part to what is left of it at a moment. Its amount is no more than is kept of the order: what was paid for it and neither
// refunded nor credited.
func (p *PaidPart) Leave(kept int64, end, at core.Time) error {
	var err error
	if p.Amount, err = shareLeft(p.Amount, p.Start, end, at); err != nil {
		return err
	}
	if p.Net, err = shareLeft(p.Net, p.Start, end, at); err != nil {
		return err
	}
	p.Start, p.Amount = at, max(min(p.Amount, kept), 0)
	return nil
}

// Leave reduces what is left of the debit to its share of the time from a moment on.
func (d *Proration) Leave(sub *Subscription, at core.Time) error {
	start, worth := d.Start, d.Left
	if start == 0 {
		start, worth = sub.CurrentPeriodStart, d.Amount
	}
	var err error
	d.Left, err = shareLeft(worth, start, sub.CurrentPeriodEnd, at)
	d.Start = at
	return err
}

// shareLeft returns the share of an amount, which is worth from start to end, that falls on the time from a moment on. Start and end in
// the same second leave nothing.
func shareLeft(amount int64, start, end, at core.Time) (int64, error) {
	period := pricing.Period{Start: start.Time(), End: end.Time()}
	if period.End.Unix() <= period.Start.Unix() {
		return 0, nil
	}
	return period.Unused(amount, at.Time())
}

// Limit cuts the parts until their Net adds up to no more than most, the last ones first. It matters to a period in which a cheaper plan
// was credited before changes of plan wrote down the parts.
func Limit(parts []PaidPart, most int64) error {
	for i := range parts {
		p := &parts[i]
		if p.Net > most {
			var err error
			if p.Amount, err = pricing.Prorate(p.Amount, most, p.Net); err != nil {
				return err
			}
			p.Net = most
		}
		most, p.Net = most-p.Net, 0
	}
	return nil
}
