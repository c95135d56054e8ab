package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/pricing"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// giveCredits gives parts of orders to the balance of a locked customer, whom the caller stores. It locks the orders, by id. Of an order
// that was refunded meanwhile it gives no more than is left.
func (s *Store) giveCredits(ctx context.Context, u *db.Unit, c *customer.Customer, account string, credits []subscription.OrderCredit, now core.Time) error {
	slices.SortFunc(credits, func(a, b subscription.OrderCredit) int { return cmp.Compare(a.Order, b.Order) })
	for _, credit := range credits {
		o, err := s.lockRefunded(ctx, u, account, credit.Order)
		if err != nil {
			return err
		}
		amount := max(min(credit.Amount, o.KeptAmount()), 0)
		if err := s.Customer.MoveOrderBalance(ctx, u, c, o.ID, o.Currency, amount, customer.BalanceReasonCredit, now); err != nil {
			return err
		}
		o.CreditedAmount += amount
		o.UpdatedAt = now
		if err := u.Update(ctx, order.Columns, o); err != nil {
			return err
		}
	}
	return nil
}

// refundUnused begins the refunds for the rest of the current period of a locked subscription. They give back what a provider took money for, and
// what the customer's balance paid. There is one refund for each order that paid for the period. Cancellation names them, none if there is nothing to
// give back, and says what cannot be given back. The first refund gets the given id, so that a request that is sent again finds it.
func (s *Store) refundUnused(ctx context.Context, u *db.Unit, sub *subscription.Subscription, c *subscription.Cancellation, id string, now core.Time) error {
	left, err := s.restAt(ctx, u, sub, now, "")
	if err != nil {
		return err
	}
	parts := left.Parts
	customer, err := s.Customer.LockAny(ctx, u, sub.AccountID, sub.CustomerID)
	if err != nil {
		return err
	}
	// Orders are locked by id, so that two of these never wait for each other.
	slices.SortFunc(parts, func(a, b subscription.PaidPart) int { return cmp.Compare(a.OrderID, b.OrderID) })
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

// refundPart begins a refund of one part, and returns its amount and what of the part is not in it. The share that was charged is rounded down to an
// amount that its provider can give back. It is left out if it was paid out of band. The share that the balance of the locked customer paid goes
// there. If nothing can be given back there is no refund. An order that cannot have another refund is CodeInvalid on refund.
func (s *Store) refundPart(ctx context.Context, u *db.Unit, sub *subscription.Subscription, customer *customer.Customer, id string, part subscription.PaidPart) (amount, rest int64, err error) {
	o, err := s.lockRefunded(ctx, u, sub.AccountID, part.OrderID)
	if err != nil {
		return 0, 0, err
	}
	kept := o.KeptAmount()
	if part.Amount < 1 || kept < 1 {
		return 0, 0, nil
	}
	most := min(part.Amount, kept)
	share, err := pricing.Prorate(most, o.ChargedLeft(), kept)
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
	if len(o.RefundIDs.V) >= order.MaxRefunds {
		return 0, 0, core.Invalid("refund", fmt.Sprintf(
			"Order %s has %d refunds, and cannot have more. Send refund none, and give what is left to the customer's balance, or another way.", o.ID, order.MaxRefunds))
	}
	payment, err := s.refundable(ctx, u, o)
	if err != nil {
		return 0, 0, err
	}
	in := NewRefund{Amount: &amount, Reason: RefundReasonCustomerRequest, subscription: &sub.ID, balance: &balance}
	_, err = s.beginRefund(ctx, u, o, customer, payment, id, in)
	return amount, most - amount, err
}

// restAt returns what is left, at the moment at, of what pays for the current period of a subscription. That is one part for each paid order, and the
// debits that wait. The order named by but is left out: it pays for what comes after that moment.
//
// Parts of which more was charged come first, so that what the balance paid is cut before.
func (s *Store) restAt(ctx context.Context, r db.Reader, sub *subscription.Subscription, at core.Time, but string) (*subscription.Rest, error) {
	parts, err := s.Subscription.PaidParts(ctx, r, sub, but)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(parts))
	for i := range parts {
		ids[i] = parts[i].OrderID
	}
	orders, err := s.Order.ByIDIn(ctx, r, sub.AccountID, ids)
	if err != nil {
		return nil, err
	}
	for i := range parts {
		o := orders[parts[i].OrderID]
		if o == nil {
			return nil, core.Missing("order", "", parts[i].OrderID)
		}
		if err := parts[i].Leave(o.KeptAmount(), sub.CurrentPeriodEnd, at); err != nil {
			return nil, fmt.Errorf("what is left of order %s: %w", o.ID, err)
		}
	}
	charged := func(p subscription.PaidPart) int64 { // in thousandths
		o := orders[p.OrderID]
		return o.ChargedLeft() * 1000 / max(o.KeptAmount(), 1)
	}
	slices.SortStableFunc(parts, func(a, b subscription.PaidPart) int { return cmp.Compare(charged(b), charged(a)) })
	if !sub.KeepsParts() {
		most, err := sub.Unused(sub.PeriodAmount, at)
		if err != nil {
			return nil, err
		}
		if err := subscription.Limit(parts, most); err != nil {
			return nil, err
		}
	}
	debits := slices.Clone(sub.Prorations.V)
	for i := range debits {
		if err := debits[i].Leave(sub, at); err != nil {
			return nil, err
		}
	}
	return &subscription.Rest{Parts: parts, Debits: debits}, nil
}
