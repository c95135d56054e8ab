package store

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// unpaidPause is how long an attempt waits for another payment of its invoice that is under way.
const unpaidPause = time.Hour

// SubscriptionStep is what the due step of a subscription did. Payment, if there is one, is to be charged now.
type SubscriptionStep struct {
	Done    bool // false: somebody else was first
	Payment *Payment
}

// DueSubscriptions names subscriptions that have something to do by now, at most limit.
func (s *Store) DueSubscriptions(ctx context.Context, account string, limit int) ([]core.Due, error) {
	return s.db.Due(ctx, account, `SELECT account_id, id FROM subscriptions WHERE due_at <= ? AND `+db.EnabledAccount, `due_at`, limit)
}

// SubscribedAccounts names the accounts that have subscriptions with something to do by now, the longest waiting first.
func (s *Store) SubscribedAccounts(ctx context.Context) ([]string, error) {
	return db.PlanningAnew(ctx, s.db, func(ctx context.Context) ([]string, error) {
		return db.Select[string](ctx, s.db, `SELECT account_id FROM subscriptions WHERE due_at <= ? AND `+db.EnabledAccount+` GROUP BY account_id ORDER BY MIN(due_at)`, s.Now())
	})
}

// AdvanceSubscription does the due step of a subscription: bills the next period, tries again to collect, ends it,
// pauses it or resumes it. Of several replicas that ask one does it. The order and the invoice of a period, with
// order.created and invoice.created, and the intent to charge commit together: a crash after that is the reconciler's. As
// long as the outcome of a period's charge is not known, nothing is done, however late the next step is.
func (s *Store) AdvanceSubscription(ctx context.Context, account, id string) (*SubscriptionStep, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*SubscriptionStep, error) {
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		sub, err := db.Get[Subscription](ctx, s.db, subscriptionColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND due_at <= ?`+u.LockSkip(), account, id, now)
		if err != nil || sub == nil {
			return &SubscriptionStep{}, err
		}
		if disabled, err := s.isDisabled(ctx, account); err != nil || disabled {
			return &SubscriptionStep{}, err
		}
		if change := sub.PendingChange.V; change != nil && change.InvoiceID != nil {
			return &SubscriptionStep{}, nil // its invoice is being paid
		}
		if waits, err := s.isBeingCharged(ctx, sub); err != nil || waits {
			return &SubscriptionStep{}, err
		}
		payment, err := u.advance(ctx, sub, now)
		if err != nil {
			return nil, fmt.Errorf("subscription %s: %w", sub.ID, err)
		}
		return &SubscriptionStep{true, payment}, u.saveSubscription(ctx, sub, now)
	})
}

// advance does the due step of a locked subscription, which the caller stores.
func (u *unit) advance(ctx context.Context, sub *Subscription, now core.Time) (*Payment, error) {
	switch {
	case sub.Status == SubscriptionStatusPastDue:
		return u.collect(ctx, sub, now)
	case sub.CancelAtPeriodEnd && sub.CurrentPeriodEnd <= now:
		sub.end(SubscriptionStatusCanceled, sub.CurrentPeriodEnd)
		return nil, nil
	case sub.Status == SubscriptionStatusPaused:
		return u.resume(ctx, sub, now)
	case sub.PauseAtPeriodEnd:
		sub.pause(sub.CurrentPeriodEnd)
		return nil, nil
	case sub.BillingCycles != nil && sub.CyclesBilled >= *sub.BillingCycles:
		sub.end(SubscriptionStatusCompleted, sub.CurrentPeriodEnd)
		return nil, nil
	}
	return u.renew(ctx, sub, sub.CurrentPeriodEnd, now)
}

// renew begins a period and bills it.
func (u *unit) renew(ctx context.Context, sub *Subscription, start, now core.Time) (*Payment, error) {
	customer, err := u.store.anyCustomer(ctx, sub.AccountID, sub.CustomerID, u.Lock())
	if err != nil {
		return nil, err
	}
	if customer.DeletedAt != nil {
		sub.end(SubscriptionStatusCanceled, start)
		return nil, nil
	}
	if err := sub.turn(start); err != nil {
		return nil, err
	}
	seller, err := u.store.seller(ctx, sub.AccountID)
	if err != nil {
		return nil, err
	}
	if err := sub.catchUp(seller); err != nil {
		return nil, err
	}
	in, err := u.store.periodBill(ctx, sub, customer)
	if err != nil {
		return nil, err
	}
	sub.billed(in)
	b, err := u.placeBill(ctx, sub, customer, in, BillingReasonSubscriptionCycle)
	if err != nil {
		return nil, err
	}
	sub.LatestInvoiceID = &b.Invoice.ID
	if b.Order.Status == OrderStatusPaid {
		return nil, nil
	}
	method, err := u.billingMethod(ctx, sub)
	if err != nil {
		return nil, err
	}
	if method == nil {
		return nil, u.notCollected(ctx, sub, b, now)
	}
	return u.chargeBill(ctx, b, method, core.NewID(core.KindPayment))
}

// turn makes the subscription's period the one that begins at start, under the plan that was to begin with it. Its days
// are those of the trial's end, or of whenever it was resumed.
func (s *Subscription) turn(start core.Time) error {
	if change := s.PendingChange.V; change != nil {
		s.follow(change.Plan)
		s.PendingChange = core.JSON[*PendingChange]{}
	}
	if start != s.CurrentPeriodEnd || s.Status == SubscriptionStatusTrialing {
		s.AnchorDay = int64(start.Time().Day())
	}
	s.Status = SubscriptionStatusActive
	return s.begin(start)
}

// catchUp goes past the periods that began and ended while the account was disabled: nobody is billed for those. What fell due
// before is billed, however late.
func (s *Subscription) catchUp(seller *Account) error {
	for seller.slept(s.CurrentPeriodStart, s.CurrentPeriodEnd) {
		if err := s.begin(s.CurrentPeriodEnd); err != nil {
			return err
		}
	}
	return nil
}

// billed notes that the current period is billed. A discount for once is used up by what it takes off.
func (s *Subscription) billed(in *subscriptionBill) {
	s.CyclesBilled++
	s.PeriodAmount = in.Period
	s.Prorations = core.JSON[[]Proration]{}
	s.use(in.Items[0].SubtotalAmount)
}

// use ends a discount for once with the first period that costs something.
func (s *Subscription) use(subtotal int64) {
	if d := s.Discount.V; d != nil && d.Duration == DiscountDurationOnce && subtotal > 0 {
		s.Discount = core.JSON[*DiscountTerms]{}
	}
}

// collect begins another attempt at the latest invoice of a subscription that is past due.
func (u *unit) collect(ctx context.Context, sub *Subscription, now core.Time) (*Payment, error) {
	b, err := u.lockBill(ctx, sub.AccountID, *sub.LatestInvoiceID)
	if err != nil {
		return nil, err
	}
	busy, err := u.isBeingPaid(ctx, b)
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
	if !extra {
		sub.NextAttemptAt = nil
	}
	method, err := u.billingMethod(ctx, sub)
	if err != nil {
		return nil, err
	}
	if method == nil {
		return nil, u.notCollected(ctx, sub, b, now)
	}
	return u.chargeBill(ctx, b, method, core.NewID(core.KindPayment))
}

// isBeingPaid reports whether a payment of the bill is under way.
func (u *unit) isBeingPaid(ctx context.Context, b *bill) (bool, error) {
	return u.store.isPaying(ctx, b.Invoice.AccountID, b.Invoice.ID)
}

func (s *Store) isPaying(ctx context.Context, account, invoice string) (bool, error) {
	n, err := db.Get[int](ctx, s.db, `SELECT count(*) FROM payments WHERE account_id = ? AND invoice_id = ? AND status IN ('pending', 'requires_action')`,
		account, invoice)
	return err == nil && *n > 0, err
}

// isBeingCharged reports whether the outcome of what a locked subscription last billed is still to come. One that is past
// due sees for itself at a planned attempt; one with a new payment method waits for its turn.
func (s *Store) isBeingCharged(ctx context.Context, sub *Subscription) (bool, error) {
	if sub.LatestInvoiceID == nil || sub.Status == SubscriptionStatusPastDue && !sub.ExtraAttempt {
		return false, nil
	}
	return s.isPaying(ctx, sub.AccountID, *sub.LatestInvoiceID)
}

// collected makes a subscription whose latest invoice is paid active again.
func (s *Subscription) collected() {
	if s.Status != SubscriptionStatusPastDue {
		return
	}
	s.Status = SubscriptionStatusActive
	s.PastDueAt, s.NextAttemptAt, s.AttemptCount, s.ExtraAttempt = nil, nil, 0, false
}

// forgive lets a locked subscription go on without its latest invoice, which the seller has given up.
func (u *unit) forgive(ctx context.Context, sub *Subscription, i *Invoice, now core.Time) error {
	if sub == nil || sub.Status != SubscriptionStatusPastDue || core.Deref(sub.LatestInvoiceID) != i.ID {
		return nil
	}
	sub.collected()
	return u.saveSubscription(ctx, sub, now)
}

// notCollected is an attempt at the latest invoice that failed: the invoice and the subscription are past due, and the
// next attempt is when the account's schedule says. After the last one the subscription is canceled and its order
// and invoice are void. An attempt beside the schedule leaves it alone.
func (u *unit) notCollected(ctx context.Context, sub *Subscription, b *bill, now core.Time) error {
	if sub.Status == SubscriptionStatusPastDue && sub.NextAttemptAt != nil {
		return nil
	}
	if sub.PastDueAt == nil {
		sub.PastDueAt = &now
	}
	if sub.Status == SubscriptionStatusActive {
		sub.Status = SubscriptionStatusPastDue
	}
	sub.AttemptCount++
	account, err := u.store.findAccount(ctx, sub.AccountID, "")
	if err != nil {
		return err
	}
	if sub.NextAttemptAt = account.nextAttempt(*sub.PastDueAt, now, sub.AttemptCount); sub.NextAttemptAt != nil {
		return u.markPastDue(ctx, b, sub.NextAttemptAt, now)
	}
	return u.giveUp(ctx, sub, b, now)
}

// nextAttempt is Dunning.next, but once the account has rested in between, each attempt keeps its distance from the one before,
// which may have been late.
func (a *Account) nextAttempt(first, now core.Time, failed int64) *core.Time {
	at := a.Dunning.V.next(first, failed)
	if at != nil && a.hasRestedSince(first) {
		at = new(now.Add(day * time.Duration(a.Dunning.V.IntervalsDays[failed-1])))
	}
	return at
}

// next is when the attempt after so many failed ones is due, counted from the first of them; nil if that was the last.
func (d Dunning) next(first core.Time, failed int64) *core.Time {
	if failed > int64(len(d.IntervalsDays)) {
		return nil
	}
	at := first
	for _, days := range d.IntervalsDays[:failed] {
		at = at.Add(day * time.Duration(days))
	}
	return &at
}

// giveUp ends a subscription that nothing could be collected for.
func (u *unit) giveUp(ctx context.Context, sub *Subscription, b *bill, now core.Time) error {
	reason := CancellationReasonPaymentFailed
	sub.cancel(&Cancellation{Reason: &reason, By: cancelledBySystem}, now)
	sub.end(SubscriptionStatusCanceled, now)
	return u.voidBill(ctx, b, "dunning_exhausted", now)
}
