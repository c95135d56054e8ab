package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/pricing"
)

// unusedPart is what is left of the money that an order took for the current period of a subscription.
type unusedPart struct {
	order  string
	amount int64 // tax included
	net    int64 // without tax on top
}

// refundUnused begins to give back what is left of the current period of a locked subscription, as far as a provider took
// money for it, and returns the ids of the refunds. The first has the id that is given.
func (u *unit) refundUnused(ctx context.Context, sub *Subscription, id string, now Time) ([]string, error) {
	parts, err := u.store.unusedParts(ctx, sub, now)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, part := range parts {
		if len(ids) > 0 {
			id = NewID(KindRefund)
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

// refundPart begins to give a part back, and reports whether there is anything of it to be given back.
func (u *unit) refundPart(ctx context.Context, sub *Subscription, id string, part unusedPart) (bool, error) {
	o, err := u.lockRefunded(ctx, sub.AccountID, part.order)
	if err != nil {
		return false, err
	}
	amount := min(part.amount, o.RefundableAmount())
	if amount < 1 {
		return false, nil
	}
	_, err = u.beginRefund(ctx, o, id, NewRefund{Amount: &amount, Reason: RefundReasonCustomerRequest, subscription: &sub.ID})
	if refused, ok := errors.AsType[*Error](err); ok && refused.Code == CodeInvalid {
		return false, nil // no provider took money for it
	}
	return err == nil, err
}

// unusedParts are what is left of what the orders of a subscription took for its current period, the oldest first: those of
// the period, and those of one that a change of plan cut short, whose rest pays for this one. Together they are no more
// than what is left of the period under the current plan: the difference of a change to a cheaper one is in the
// customer's balance already.
func (s *Store) unusedParts(ctx context.Context, sub *Subscription, now Time) ([]unusedPart, error) {
	orders, err := selectAll[Order](ctx, s, orderColumns.selectSQL+`
		WHERE account_id = ? AND customer_id = ? AND (subscription_id = ? OR checkout_id = ?) AND (created_at >= ? OR period_end > ?) AND paid_amount > 0
		ORDER BY id`, sub.AccountID, sub.CustomerID, sub.ID, sub.CheckoutID, sub.CurrentPeriodStart, sub.CurrentPeriodStart)
	if err != nil {
		return nil, fmt.Errorf("read the orders of the period: %w", err)
	}
	lines, err := s.OrderLines(ctx, sub.AccountID, orders)
	if err != nil {
		return nil, err
	}
	nth, err := get[int](ctx, s, `SELECT COUNT(*) FROM subscriptions WHERE account_id = ? AND checkout_id = ? AND id < ?`, sub.AccountID, sub.CheckoutID, sub.ID)
	if err != nil {
		return nil, fmt.Errorf("count the subscriptions of the checkout: %w", err)
	}
	left, err := sub.unused(sub.PeriodAmount, now)
	if err != nil {
		return nil, err
	}
	var parts []unusedPart
	for i := range orders {
		line := sub.billedBy(&orders[i], lines[orders[i].ID], *nth)
		if line == nil {
			continue
		}
		part, err := sub.unusedOf(&orders[i], line, now)
		if err != nil {
			return nil, fmt.Errorf("what is left of order %s: %w", orders[i].ID, err)
		}
		if err := part.limit(left); err != nil {
			return nil, err
		}
		left -= part.net
		parts = append(parts, part)
	}
	return parts, nil
}

// billedBy is the line of an order that took money for the current period of the subscription, nil if there is none. Of a
// checkout's order it is the line that made the subscription, the nth of those that made one: ids ascend.
func (s *Subscription) billedBy(o *Order, items []LineItem, nth int) *LineItem {
	kind := LineItemKindPrice
	if o.BillingReason == BillingReasonSubscriptionUpdate {
		kind = LineItemKindProration
	}
	if o.CheckoutID == nil {
		nth = 0
	}
	for i := range items {
		item := &items[i]
		if item.Kind != kind || item.PeriodStart == nil || item.PeriodEnd == nil {
			continue
		}
		if nth == 0 && item.TotalAmount > 0 && (*item.PeriodEnd == s.CurrentPeriodEnd || s.cutShort(item)) {
			return item
		}
		nth--
	}
	return nil
}

// cutShort reports whether the current period began, by a change of plan, in the middle of what a line is for.
func (s *Subscription) cutShort(item *LineItem) bool {
	return *item.PeriodStart < s.CurrentPeriodStart && s.CurrentPeriodStart < *item.PeriodEnd
}

// unusedOf is what is left of what was paid for a line of an order.
func (s *Subscription) unusedOf(o *Order, item *LineItem, now Time) (unusedPart, error) {
	paid, err := pricing.Prorate(item.TotalAmount, o.PaidAmount, o.TotalAmount)
	part := unusedPart{order: o.ID, amount: paid, net: item.SubtotalAmount - item.DiscountAmount}
	if err == nil && s.cutShort(item) {
		err = part.leave(*item.PeriodStart, *item.PeriodEnd, s.CurrentPeriodStart)
		item = &LineItem{PeriodStart: &s.CurrentPeriodStart, PeriodEnd: &s.CurrentPeriodEnd}
	}
	if err == nil {
		err = part.leave(*item.PeriodStart, *item.PeriodEnd, now)
	}
	return part, err
}

// leave makes the part what is left of it at a moment of its period. Nothing is left of a period of no second.
func (p *unusedPart) leave(start, end, now Time) error {
	period := pricing.Period{Start: start.Time(), End: end.Time()}
	if period.Start.Unix() == period.End.Unix() {
		p.amount, p.net = 0, 0
		return nil
	}
	var err error
	if p.amount, err = period.Unused(p.amount, now.Time()); err == nil {
		p.net, err = period.Unused(p.net, now.Time())
	}
	return err
}

// limit makes the part no more than what is left, without tax on top.
func (p *unusedPart) limit(left int64) error {
	if p.net <= left {
		return nil
	}
	var err error
	p.amount, err = pricing.Prorate(p.amount, left, p.net)
	p.net = left
	return err
}
