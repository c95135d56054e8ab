package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/pricing"
	"github.com/tillwright/tillwright/store/tenant"
)

// PaidPart is what one order has paid for the current period of a subscription, from a moment of the period to its end. After a change of
// plan several orders may have paid for one period.
type PaidPart struct {
	OrderID string    `json:"order"`
	Start   core.Time `json:"start"`         // 0 only for one from before every change of plan wrote it: then it is that of the period
	Amount  int64     `json:"amount"`        // tax included, however it was paid
	Net     int64     `json:"net,omitempty"` // of one without a Start, its share of the period's price
}

// orderCredit is what a change of plan gives of one order to its customer's balance.
type orderCredit struct {
	order  string
	amount int64
}

// rest is what pays for the rest of a subscription's period: what is left of paid orders, and debits that wait for a bill.
type rest struct {
	parts  []PaidPart
	debits []Proration
}

// sum returns what all of it comes to, tax included.
func (r *rest) sum() int64 {
	sum := int64(0)
	for _, p := range r.parts {
		sum += p.Amount
	}
	for _, d := range r.debits {
		sum += d.Left
	}
	return sum
}

// cut takes an amount off the rest, which is no more than its sum: off debits that wait first, because nobody has paid them, and then
// off what was paid, the last parts first. It returns what it took of each order.
func (r *rest) cut(amount int64) []orderCredit {
	for i := range r.debits {
		d := &r.debits[i]
		off := min(d.Left, amount)
		d.Amount, d.Left, amount = d.Amount-off, d.Left-off, amount-off
	}
	r.debits = slices.DeleteFunc(r.debits, func(d Proration) bool { return d.Amount == 0 })
	var credits []orderCredit
	for i := len(r.parts) - 1; i >= 0 && amount > 0; i-- {
		p := &r.parts[i]
		off := min(p.Amount, amount)
		p.Amount, amount = p.Amount-off, amount-off
		if off > 0 {
			credits = append(credits, orderCredit{p.OrderID, off})
		}
	}
	return credits
}

// giveCredits gives parts of orders to the balance of a locked customer, whom the caller stores. It locks the orders, by id. Of an order
// that was refunded meanwhile it gives no more than is left.
func (s *Store) giveCredits(ctx context.Context, u *db.Unit, c *customer.Customer, account string, credits []orderCredit, now core.Time) error {
	slices.SortFunc(credits, func(a, b orderCredit) int { return cmp.Compare(a.order, b.order) })
	for _, credit := range credits {
		o, err := s.lockRefunded(ctx, u, account, credit.order)
		if err != nil {
			return err
		}
		amount := max(min(credit.amount, o.KeptAmount()), 0)
		if err := s.Customer.MoveOrderBalance(ctx, u, c, o.ID, o.Currency, amount, customer.BalanceReasonCredit, now); err != nil {
			return err
		}
		o.CreditedAmount += amount
		o.UpdatedAt = now
		if err := u.Update(ctx, orderColumns, o); err != nil {
			return err
		}
	}
	return nil
}

// refundUnused begins the refunds for the rest of the current period of a locked subscription, as far as a provider took money for it or the
// customer's balance paid it. There is one refund for each order that paid for the period. Cancellation names them, none if there is nothing to
// give back, and says what cannot be given back. The first refund gets the given id, so that a request that is sent again finds it.
func (s *Store) refundUnused(ctx context.Context, u *db.Unit, sub *Subscription, c *Cancellation, id string, now core.Time) error {
	left, err := s.restAt(ctx, sub, now, "")
	if err != nil {
		return err
	}
	parts := left.parts
	customer, err := s.Customer.LockAny(ctx, u, sub.AccountID, sub.CustomerID)
	if err != nil {
		return err
	}
	// Orders are locked by id, so that two of these never wait for each other.
	slices.SortFunc(parts, func(a, b PaidPart) int { return cmp.Compare(a.OrderID, b.OrderID) })
	for _, part := range parts {
		if len(c.RefundIDs) > 0 {
			id = core.NewID(core.KindRefund)
		}
		amount, rest, err := s.refundPart(ctx, u, sub, customer, id, part)
		if err != nil {
			return err
		}
		if amount > 0 {
			c.RefundIDs = append(c.RefundIDs, id)
		}
		c.Unrefunded += rest
	}
	return nil
}

// refundPart begins a refund of one part, and returns its amount and what of the part is not in it. The share that was charged is rounded
// down to an amount that its provider can give back, and left out if it was paid out of band. The share that the balance of the locked
// customer paid goes there. If nothing can be given back there is no refund. An order that cannot have another refund is CodeInvalid on refund.
func (s *Store) refundPart(ctx context.Context, u *db.Unit, sub *Subscription, customer *customer.Customer, id string, part PaidPart) (amount, rest int64, err error) {
	o, err := s.lockRefunded(ctx, u, sub.AccountID, part.OrderID)
	if err != nil {
		return 0, 0, err
	}
	kept := o.KeptAmount()
	if part.Amount < 1 || kept < 1 {
		return 0, 0, nil
	}
	most := min(part.Amount, kept)
	share, err := pricing.Prorate(most, o.chargedLeft(), kept)
	if err != nil {
		return 0, 0, err
	}
	charged, balance := int64(0), most-share
	if o.RefundProvider != nil {
		charged = tenant.PaymentsProvider(*o.RefundProvider).Takes(share, o.Currency)
	}
	if o.BalanceGone {
		balance = 0
	}
	if amount = charged + balance; amount < 1 {
		return 0, most, nil
	}
	if len(o.RefundIDs.V) >= maxRefunds {
		return 0, 0, core.Invalid("refund", fmt.Sprintf(
			"Order %s has %d refunds, and cannot have more. Send refund none, and give what is left to the customer's balance, or another way.", o.ID, maxRefunds))
	}
	payment, err := s.refundable(ctx, u, o)
	if err != nil {
		return 0, 0, err
	}
	in := NewRefund{Amount: &amount, Reason: RefundReasonCustomerRequest, subscription: &sub.ID, balance: &balance}
	_, err = s.beginRefund(ctx, u, o, customer, payment, id, in)
	return amount, most - amount, err
}

// restAt returns what is left, at the moment at, of what pays for the current period of a subscription: one part for each paid order,
// and the debits that wait. The order named by but is left out: it pays for what comes after that moment.
//
// Parts of which more was charged come first, so that what the balance paid is cut before.
func (s *Store) restAt(ctx context.Context, sub *Subscription, at core.Time, but string) (*rest, error) {
	parts, err := s.paidParts(ctx, sub, but)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(parts))
	for i := range parts {
		ids[i] = parts[i].OrderID
	}
	orders, err := s.OrdersByID(ctx, sub.AccountID, ids)
	if err != nil {
		return nil, err
	}
	for i := range parts {
		o := orders[parts[i].OrderID]
		if o == nil {
			return nil, core.Missing("order", "", parts[i].OrderID)
		}
		if err := parts[i].leave(o, sub.CurrentPeriodEnd, at); err != nil {
			return nil, fmt.Errorf("what is left of order %s: %w", o.ID, err)
		}
	}
	charged := func(p PaidPart) int64 { // in thousandths
		o := orders[p.OrderID]
		return o.chargedLeft() * 1000 / max(o.KeptAmount(), 1)
	}
	slices.SortStableFunc(parts, func(a, b PaidPart) int { return cmp.Compare(charged(b), charged(a)) })
	if !sub.keepsParts() {
		most, err := sub.unused(sub.PeriodAmount, at)
		if err != nil {
			return nil, err
		}
		if err := limit(parts, most); err != nil {
			return nil, err
		}
	}
	debits := slices.Clone(sub.Prorations.V)
	for i := range debits {
		if err := debits[i].leave(sub, at); err != nil {
			return nil, err
		}
	}
	return &rest{parts, debits}, nil
}

// keepsParts reports whether a change of plan has written down what paid for the rest of the current period.
func (s *Subscription) keepsParts() bool { return len(s.Carried.V) > 0 && s.Carried.V[0].Start != 0 }

// paidParts returns what paid for the current period: what its latest change of plan has kept, or else what its own bill paid.
func (s *Store) paidParts(ctx context.Context, sub *Subscription, but string) ([]PaidPart, error) {
	parts := slices.Clone(sub.Carried.V)
	if sub.keepsParts() {
		return parts, nil
	}
	for i := range parts {
		parts[i].Start = sub.CurrentPeriodStart
	}
	lines, err := s.paidLines(ctx, sub)
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
func (s *Store) paidLines(ctx context.Context, sub *Subscription) ([]paidLine, error) {
	lines, err := db.Select[paidLine](ctx, s.db, `
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

// leave reduces the part to what is left of it at a moment, which is no more than was paid for the order and neither refunded nor
// credited.
func (p *PaidPart) leave(o *Order, end, at core.Time) error {
	var err error
	if p.Amount, err = shareLeft(p.Amount, p.Start, end, at); err != nil {
		return err
	}
	if p.Net, err = shareLeft(p.Net, p.Start, end, at); err != nil {
		return err
	}
	p.Start, p.Amount = at, max(min(p.Amount, o.KeptAmount()), 0)
	return nil
}

// leave reduces what is left of the debit to its share of the time from a moment on.
func (d *Proration) leave(sub *Subscription, at core.Time) error {
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

// limit cuts the parts until their Net adds up to no more than most, the last ones first. It matters to a period in which a cheaper plan
// was credited before changes of plan wrote down the parts.
func limit(parts []PaidPart, most int64) error {
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
