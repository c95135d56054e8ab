package store

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// unpaidPause is how long chargeAgain waits before it looks again, if another payment of the invoice is under way.
const unpaidPause = time.Hour

// SubscriptionStep is the result of AdvanceSubscription. Payment, if there is one, is to be charged now.
type SubscriptionStep struct {
	Done    bool // false: there was nothing to do, or not yet, or somebody else was first
	Payment *payment.Payment
}

// AdvanceSubscription does what is due for a subscription. It bills the next period, tries again to collect an invoice, or ends, pauses or resumes
// the subscription. Of several replicas that ask one does it. The order and the invoice of a period, with order.created and invoice.created, commit
// together with the intent to charge. If the server crashes after that, the reconciler charges it. As long as the outcome of a period's charge is not
// known nothing is done, however late the next step is.
func (s *Store) AdvanceSubscription(ctx context.Context, account, id string) (*SubscriptionStep, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*SubscriptionStep, error) {
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		sub, err := db.Get[subscription.Subscription](ctx, u, subscription.Columns.SelectSQL+` WHERE account_id = ? AND id = ? AND due_at <= ?`+u.LockSkip(), account, id, now)
		if err != nil || sub == nil {
			return &SubscriptionStep{}, err
		}
		if disabled, err := s.Tenant.IsDisabledIn(ctx, u, account); err != nil || disabled {
			return &SubscriptionStep{}, err
		}
		if sub.ChangeIsBeingPaid() {
			return &SubscriptionStep{}, nil
		}
		if waits, err := s.Subscription.IsBeingCharged(ctx, u, sub); err != nil || waits {
			return &SubscriptionStep{}, err
		}
		before := *sub
		payment, err := s.advance(ctx, u, sub, now)
		if err != nil {
			return nil, fmt.Errorf("subscription %s: %w", sub.ID, err)
		}
		if err := s.noteStatus(ctx, u, &before, sub); err != nil {
			return nil, err
		}
		return &SubscriptionStep{true, payment}, s.saveSubscription(ctx, u, sub, now)
	})
}

// advance does what is due for a locked subscription, and returns the payment that is to be charged, nil if there is none. The
// caller stores the subscription.
func (s *Store) advance(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) (*payment.Payment, error) {
	switch {
	case sub.Status == subscription.StatusPastDue:
		return s.chargeAgain(ctx, u, sub, now)
	case sub.CancelAtPeriodEnd && sub.CurrentPeriodEnd <= now:
		return s.finish(ctx, u, sub, subscription.StatusCanceled, sub.CurrentPeriodEnd, now)
	case sub.Status == subscription.StatusPaused:
		return s.resume(ctx, u, sub, now)
	case sub.PauseAtPeriodEnd:
		sub.Pause(sub.CurrentPeriodEnd)
		return nil, nil
	case sub.IsComplete():
		return s.finish(ctx, u, sub, subscription.StatusCompleted, sub.CurrentPeriodEnd, now)
	}
	return s.renew(ctx, u, sub, sub.CurrentPeriodEnd, now)
}

// finish ends a locked subscription because its period is over and there is no next one, and bills what waited for that. It returns the
// payment to charge, nil if there is none. The caller stores the subscription.
func (s *Store) finish(ctx context.Context, u *db.Unit, sub *subscription.Subscription, status subscription.Status, at, now core.Time) (*payment.Payment, error) {
	payment, err := s.billLast(ctx, u, sub, now)
	if err == nil {
		sub.End(status, at)
	}
	return payment, err
}

// billLast bills the debits that wait for the next period of a locked subscription, if there are some, because there is none. It returns the payment
// to charge, nil if nothing is left to charge. It is also nil if there is no payment method: then the invoice is past due. It is not the
// subscription's latest invoice, which bills a period, and is charged once: if that fails it is paid by hand. Of a customer who was deleted nothing
// is billed.
func (s *Store) billLast(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) (*payment.Payment, error) {
	if len(sub.Prorations.V) == 0 {
		return nil, nil
	}
	customer, err := s.Customer.LockAny(ctx, u, sub.AccountID, sub.CustomerID)
	if err != nil || customer.DeletedAt != nil {
		return nil, err
	}
	if _, err := s.Discount.ReleaseUnused(ctx, u, sub.Discounted()); err != nil { // before the numbers of the account, which come after discounts everywhere
		return nil, err
	}
	in, err := s.Subscription.LastBill(ctx, u, sub, customer)
	if err != nil {
		return nil, err
	}
	b, err := s.placeBill(ctx, u, sub, customer, in, order.BillingReasonSubscriptionUpdate)
	if err != nil || b.Order.Status == order.StatusPaid {
		return nil, err
	}
	method, err := s.Subscription.MethodIn(ctx, u, sub)
	if err != nil {
		return nil, err
	}
	if method == nil {
		return nil, s.lastNotCollected(ctx, u, sub, b, now)
	}
	return s.chargeBill(ctx, u, b, method, core.NewID(core.KindPayment))
}

// lastNotCollected makes the last invoice of a locked subscription past due, which is not tried again: the customer is told to pay it by hand.
// The caller stores the subscription.
func (s *Store) lastNotCollected(ctx context.Context, u *db.Unit, sub *subscription.Subscription, b *invoice.Bill, now core.Time) error {
	sub.Owes = true
	if err := s.writeLastFailed(ctx, u, sub, b); err != nil {
		return err
	}
	return s.Invoice.MarkPastDue(ctx, u, b, nil, now)
}

// renew begins the period of a locked subscription that starts at start, and bills it. It returns the payment to charge. That is nil if nothing is
// left to charge. It is also nil if there is no payment method: then the subscription is past due. It is nil, too, if the customer was deleted: then
// the subscription is canceled. The caller stores the subscription.
func (s *Store) renew(ctx context.Context, u *db.Unit, sub *subscription.Subscription, start, now core.Time) (*payment.Payment, error) {
	customer, err := s.Customer.LockAny(ctx, u, sub.AccountID, sub.CustomerID)
	if err != nil {
		return nil, err
	}
	if customer.DeletedAt != nil {
		sub.End(subscription.StatusCanceled, start)
		return nil, nil
	}
	if err := sub.BeginPeriod(start); err != nil {
		return nil, err
	}
	if err := s.Subscription.Deliver(ctx, u, sub); err != nil { // the order shows what it pays for
		return nil, err
	}
	seller, err := s.Tenant.Seller(ctx, u, sub.AccountID)
	if err != nil {
		return nil, err
	}
	if err := sub.CatchUp(seller); err != nil {
		return nil, err
	}
	in, err := s.Subscription.PeriodBill(ctx, u, sub, customer)
	if err != nil {
		return nil, err
	}
	sub.Billed(in)
	b, err := s.placeBill(ctx, u, sub, customer, in, order.BillingReasonSubscriptionCycle)
	if err != nil {
		return nil, err
	}
	sub.LatestInvoiceID = &b.Invoice.ID
	if b.Order.Status == order.StatusPaid {
		sub.IsPaid = true
		return nil, nil
	}
	method, err := s.Subscription.MethodIn(ctx, u, sub)
	if err != nil {
		return nil, err
	}
	if method == nil {
		return nil, s.notCollected(ctx, u, sub, b, now)
	}
	return s.chargeBill(ctx, u, b, method, core.NewID(core.KindPayment))
}

// chargeAgain begins another attempt to collect the latest invoice of a locked subscription that is past due, and returns the
// payment to charge. That is nil if another payment of the invoice is under way, which is looked at again after unpaidPause. It is also nil if there
// is no payment method, which counts as a failed attempt. The caller stores the subscription.
func (s *Store) chargeAgain(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) (*payment.Payment, error) {
	b, err := s.Invoice.LockBill(ctx, u, sub.AccountID, *sub.LatestInvoiceID)
	if err != nil {
		return nil, err
	}
	busy, err := s.isBeingPaid(ctx, u, b)
	if err != nil {
		return nil, err
	}
	extra := sub.ExtraAttempt
	sub.ExtraAttempt = false
	if busy { // look again with the outcome
		next := now.Add(unpaidPause)
		sub.NextAttemptAt = &next
		return nil, nil
	}
	if !extra { // nil marks an attempt of the schedule: see notCollected
		sub.NextAttemptAt = nil
	}
	method, err := s.Subscription.MethodIn(ctx, u, sub)
	if err != nil {
		return nil, err
	}
	if method == nil {
		return nil, s.notCollected(ctx, u, sub, b, now)
	}
	return s.chargeBill(ctx, u, b, method, core.NewID(core.KindPayment))
}

// isBeingPaid reports whether a payment of the bill is under way.
func (s *Store) isBeingPaid(ctx context.Context, r db.Reader, b *invoice.Bill) (bool, error) {
	return s.Payment.IsPaying(ctx, r, b.Invoice.AccountID, b.Invoice.ID)
}

// forgive makes a locked subscription active again whose latest invoice the seller has given up, and stores it. What one gave that is complete
// is not suspended any more if none of its bills is unpaid now. It does nothing if sub is nil, is not past due, or if the invoice is not its
// latest one.
func (s *Store) forgive(ctx context.Context, u *db.Unit, sub *subscription.Subscription, i *invoice.Invoice, now core.Time) error {
	if sub != nil && sub.Status == subscription.StatusCompleted {
		var err error
		if sub.IsSettled, err = s.isSettledBy(ctx, u, sub, i); err != nil || !sub.IsSettled {
			return err
		}
		return s.saveSubscription(ctx, u, sub, now)
	}
	if sub == nil || sub.Status != subscription.StatusPastDue || core.Deref(sub.LatestInvoiceID) != i.ID {
		return nil
	}
	if err := sub.EndPastDue(now); err != nil {
		return err
	}
	sub.IsCovered = true
	return s.saveSubscription(ctx, u, sub, now)
}

// isSettledBy reports whether no invoice of a subscription but this one is unpaid. Those that the seller has given up do not count.
func (s *Store) isSettledBy(ctx context.Context, u *db.Unit, sub *subscription.Subscription, i *invoice.Invoice) (bool, error) {
	other, err := db.Get[string](ctx, u, `SELECT id FROM invoices WHERE account_id = ? AND subscription_id = ? AND id <> ? AND status IN ('open', 'past_due') LIMIT 1`,
		sub.AccountID, sub.ID, i.ID)
	if err != nil {
		return false, fmt.Errorf("look for unpaid invoices: %w", err)
	}
	return other == nil, nil
}

// notCollected records a failed attempt to collect the latest invoice of a locked subscription. The invoice and the subscription become past due, the
// next attempt is planned by the account's schedule, and the customer is told. The first time, invoice.past_due follows. After the last attempt the
// subscription is canceled, and its order and invoice are void: invoice.voided follows. A failed attempt beside the schedule, with a new payment
// method, changes nothing. The caller stores the subscription.
func (s *Store) notCollected(ctx context.Context, u *db.Unit, sub *subscription.Subscription, b *invoice.Bill, now core.Time) error {
	if sub.Status == subscription.StatusPastDue && sub.NextAttemptAt != nil {
		return nil
	}
	if sub.PastDueAt == nil {
		sub.PastDueAt = &now
	}
	if sub.Status == subscription.StatusActive {
		sub.Status = subscription.StatusPastDue
	}
	sub.AttemptCount++
	account, err := s.Tenant.Seller(ctx, u, sub.AccountID)
	if err != nil {
		return err
	}
	if sub.NextAttemptAt = account.NextAttempt(*sub.PastDueAt, now, sub.AttemptCount); sub.NextAttemptAt != nil {
		if err := s.writePaymentFailed(ctx, u, sub, b.Invoice); err != nil {
			return err
		}
		return s.Invoice.MarkPastDue(ctx, u, b, sub.NextAttemptAt, now)
	}
	return s.giveUp(ctx, u, sub, b, now)
}

// giveUp cancels a locked subscription because no attempt could collect its latest invoice, and voids that bill. The caller
// stores the subscription.
func (s *Store) giveUp(ctx context.Context, u *db.Unit, sub *subscription.Subscription, b *invoice.Bill, now core.Time) error {
	reason := subscription.CancellationReasonPaymentFailed
	sub.Cancel(&subscription.Cancellation{Reason: &reason, By: subscription.CancelledBySystem}, now)
	sub.End(subscription.StatusCanceled, now)
	return s.Invoice.VoidBill(ctx, u, b, "dunning_exhausted", now)
}
