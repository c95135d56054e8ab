package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/pricing"
	"github.com/tillwright/tillwright/store/tenant"
)

// PaidPart is what one order has paid for the current period of a subscription, counted from some moment of the period on.
// After a change of plan several orders may have paid for one period.
type PaidPart struct {
	OrderID string `json:"order"`
	Amount  int64  `json:"amount"` // charged through a provider, tax included: what a refund can give back
	Net     int64  `json:"net"`    // share of the period's price, before tax on top, however it was paid
}

// refundUnused begins the refunds for the rest of the current period of a locked subscription, as far as a provider took money
// for it. There is one refund for each order that paid for the period. It returns their ids, none if there is nothing to give
// back. The first refund gets the given id, so that a request that is sent again finds it.
func (u *unit) refundUnused(ctx context.Context, sub *Subscription, id string, now core.Time) ([]string, error) {
	parts, err := u.store.unusedParts(ctx, sub, now, "")
	if err != nil {
		return nil, err
	}
	// Orders are locked by id, so that two of these never wait for each other.
	slices.SortFunc(parts, func(a, b PaidPart) int { return cmp.Compare(a.OrderID, b.OrderID) })
	var ids []string
	for _, part := range parts {
		if len(ids) > 0 {
			id = core.NewID(core.KindRefund)
		}
		begun, err := u.refundPart(ctx, sub, id, part)
		if err != nil {
			return nil, err
		}
		if begun {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// refundPart begins a refund of one part, rounded down to an amount that its provider can give back. It reports false if
// nothing can be given back: no provider took money for the order, or nothing is left of it.
func (u *unit) refundPart(ctx context.Context, sub *Subscription, id string, part PaidPart) (bool, error) {
	o, err := u.lockRefunded(ctx, sub.AccountID, part.OrderID)
	if err != nil {
		return false, err
	}
	payment, err := u.refundable(ctx, o)
	if refused, ok := errors.AsType[*core.Error](err); ok && refused.Code == core.CodeInvalid {
		return false, nil // no provider took money for it
	}
	if err != nil {
		return false, err
	}
	amount := tenant.PaymentsProvider(payment.Provider).Takes(min(part.Amount, o.RefundableAmount()), o.Currency)
	if amount < 1 {
		return false, nil
	}
	_, err = u.beginRefund(ctx, o, payment, id, NewRefund{Amount: &amount, Reason: RefundReasonCustomerRequest, subscription: &sub.ID})
	return err == nil, err
}

// unusedParts returns what is left, at the moment at, of what was paid for the current period of a subscription, one part for
// each order. The order named by but is left out: it pays for what comes after that moment.
//
// Together the parts are worth no more than the rest of the period under the current plan, because after a change to a cheaper
// plan the difference is in the customer's balance already. Where they have to be cut, money that was charged is kept before
// what the balance paid.
func (s *Store) unusedParts(ctx context.Context, sub *Subscription, at core.Time, but string) ([]PaidPart, error) {
	left, err := sub.unused(sub.PeriodAmount, at)
	if err != nil {
		return nil, err
	}
	parts := slices.Clone(sub.Carried.V)
	for i := range parts {
		if err := parts[i].leave(sub.CurrentPeriodStart, sub.CurrentPeriodEnd, at); err != nil {
			return nil, err
		}
	}
	lines, err := s.paidLines(ctx, sub)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		// What was carried into this period from an order is among the parts already.
		if line.OrderID == but || slices.ContainsFunc(sub.Carried.V, func(p PaidPart) bool { return p.OrderID == line.OrderID }) {
			continue
		}
		part, err := line.unused(at)
		if err != nil {
			return nil, fmt.Errorf("what is left of order %s: %w", line.OrderID, err)
		}
		parts = append(parts, part)
	}
	return limited(parts, left)
}

// paidLine is a line of an order that bills a subscription's period, or the rest of it from a change of plan on.
type paidLine struct {
	OrderID     string    `db:"order_id"`
	PeriodStart core.Time `db:"period_start"`
	PeriodEnd   core.Time `db:"period_end"`
	Net         int64     `db:"net"`
	Total       int64     `db:"total_amount"`
	Paid        int64     `db:"paid_amount"`  // of the order
	OrderTotal  int64     `db:"order_amount"` // of the order
}

// paidLines returns the order lines that bill the current period and of whose order something was charged, the oldest first. A
// proration that was billed with this period belongs to the one before, and is left out.
func (s *Store) paidLines(ctx context.Context, sub *Subscription) ([]paidLine, error) {
	lines, err := db.Select[paidLine](ctx, s.db, `
		SELECT l.order_id, l.period_start, l.period_end, l.subtotal_amount - l.discount_amount AS net, l.total_amount, o.paid_amount,
			o.total_amount AS order_amount
		FROM line_items l JOIN orders o ON o.account_id = l.account_id AND o.id = l.order_id
		WHERE l.account_id = ? AND l.subscription_id = ? AND l.period_end = ? AND l.total_amount > 0 AND o.paid_amount > 0
			AND (l.kind = 'price' OR o.billing_reason = 'subscription_update')
		ORDER BY l.order_id`, sub.AccountID, sub.ID, sub.CurrentPeriodEnd)
	if err != nil {
		return nil, fmt.Errorf("read what was paid for the period: %w", err)
	}
	return lines, nil
}

// unused returns what is left of the line's payment at a moment. If the customer's balance paid a part of the order, only the
// share of the line that was charged counts as Amount.
func (l *paidLine) unused(at core.Time) (PaidPart, error) {
	charged, err := pricing.Prorate(l.Total, l.Paid, l.OrderTotal)
	if err != nil {
		return PaidPart{}, err
	}
	part := PaidPart{OrderID: l.OrderID, Amount: charged, Net: l.Net}
	return part, part.leave(l.PeriodStart, l.PeriodEnd, at)
}

// leave reduces the part to what is left of it at a moment between start and end. Start and end in the same second leave
// nothing.
func (p *PaidPart) leave(start, end, at core.Time) error {
	period := pricing.Period{Start: start.Time(), End: end.Time()}
	if period.Start.Unix() == period.End.Unix() {
		p.Amount, p.Net = 0, 0
		return nil
	}
	var err error
	if p.Amount, err = period.Unused(p.Amount, at.Time()); err == nil {
		p.Net, err = period.Unused(p.Net, at.Time())
	}
	return err
}

// limited cuts the parts until their Net adds up to no more than most, and returns them. Parts of which more was charged come
// first, so that what the balance paid is cut before.
func limited(parts []PaidPart, most int64) ([]PaidPart, error) {
	slices.SortStableFunc(parts, func(a, b PaidPart) int { return cmp.Compare(b.charged(), a.charged()) })
	for i := range parts {
		p := &parts[i]
		if p.Net > most {
			var err error
			if p.Amount, err = pricing.Prorate(p.Amount, most, p.Net); err != nil {
				return nil, err
			}
			p.Net = most
		}
		most -= p.Net
	}
	return parts, nil
}

// charged returns, in thousandths of Net, how much of the part was charged through a provider.
func (p PaidPart) charged() int64 { return p.Amount * 1000 / max(p.Net, 1) }

// carry returns what was paid for the current period and now pays for the new one that a change of plan begins; by is the order
// that pays for the change. It returns nil if the change begins no new period. What the new period does not need is not among
// it: that is in the customer's balance.
func (u *unit) carry(ctx context.Context, sub *Subscription, change *PendingChange, by string) ([]PaidPart, error) {
	if !change.Restarts {
		return nil, nil
	}
	parts, err := u.store.unusedParts(ctx, sub, change.EffectiveAt, by)
	if err != nil {
		return nil, err
	}
	return limited(parts, change.Amount)
}
