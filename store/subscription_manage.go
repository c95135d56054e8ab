package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// maxTrial is the greatest length of a trial, from its start to its end, extensions included.
const maxTrial = 730 * core.Day

// PauseSubscription says how a subscription is to be paused. A nil ResumesAt means until somebody resumes it.
type PauseSubscription struct {
	Now        bool // not at the end of the period
	ResumesAt  *core.Time
	ByCustomer bool
}

// SubscriptionPatch says what to change of a subscription. A nil field changes nothing. Change is always called, and sets
// fields that do not depend on the state, such as the metadata.
type SubscriptionPatch struct {
	Change            func(*subscription.Subscription)
	CancelAtPeriodEnd *bool
	TrialEnd          *core.Time
	Quantity          *int64
	Discount          *string // id; an empty one takes the discount away
	PaymentMethod     *string
	IsVerified        *bool // the seller knows that the customer bought it
}

// changeSubscription locks a subscription, lets change change it, and stores it if anything differs. Change gets the account's
// time. It must check itself whether the subscription has ended. Nothing is charged here: what falls due by the change is done
// by the worker.
func (s *Store) changeSubscription(ctx context.Context, account, ref string, change func(context.Context, *db.Unit, *subscription.Subscription, core.Time) error) (*subscription.Subscription, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*subscription.Subscription, error) {
		sub, err := s.Subscription.Lock(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		before := *sub
		if err := change(ctx, u, sub, now); err != nil || core.SameJSON(before, *sub) {
			return sub, err
		}
		if err := s.saveSubscription(ctx, u, sub, now); err != nil {
			return nil, err
		}
		return sub, s.noteSubscription(ctx, u, &before, sub, "")
	})
}

// PauseSubscription stops the billing of a subscription, at the end of its period or now. Only one that is active or trialing, and not going to end
// with its period, can be paused. Any other is CodeInvalid on status, and so is one that is being charged. A moment to resume that is not after the
// pause begins is CodeInvalid on resumes_at. A customer changes nothing of a pause that is going to begin.
func (s *Store) PauseSubscription(ctx context.Context, account, ref string, in PauseSubscription) (*subscription.Subscription, error) {
	return s.changeSubscription(ctx, account, ref, func(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) error {
		if sub.Status != subscription.StatusActive && sub.Status != subscription.StatusTrialing {
			return core.Invalid("status", fmt.Sprintf("The subscription is %s. Only an active or trialing one can be paused.", sub.Status)).Because("no_pause")
		}
		if sub.CancelAtPeriodEnd {
			return core.Invalid("status", "The subscription ends with its period. Take that back before you pause it.").Because("no_pause")
		}
		if err := s.Subscription.CheckFree(ctx, u, sub); err != nil {
			return err
		}
		from := sub.CurrentPeriodEnd
		if in.Now {
			from = now
		}
		if in.ResumesAt != nil && *in.ResumesAt <= from {
			return core.Invalid("resumes_at", fmt.Sprintf("The subscription is paused from %s on: send a later moment.", from))
		}
		if in.ByCustomer && sub.PauseAtPeriodEnd {
			return nil // a wish of the seller's stays
		}
		sub.ResumesAt, sub.PauseAtPeriodEnd, sub.PausedByCustomer = in.ResumesAt, true, in.ByCustomer
		if in.Now {
			sub.Pause(now)
		}
		return nil
	})
}

// ResumeSubscription ends the pause of a subscription, or takes back that it is going to pause. In the middle of a period the subscription goes on as
// before. After the end of it, the worker begins a new period and charges it. A subscription that neither is paused nor is going to be is CodeInvalid
// on status.
func (s *Store) ResumeSubscription(ctx context.Context, account, ref string) (*subscription.Subscription, error) {
	return s.changeSubscription(ctx, account, ref, func(_ context.Context, _ *db.Unit, sub *subscription.Subscription, now core.Time) error {
		return endPause(sub, now)
	})
}

// EndOwnPause does what ResumeSubscription does, for the customer: any pause but their own is CodeInvalid on status. One whose pause is over
// already stays as it is.
func (s *Store) EndOwnPause(ctx context.Context, account, ref string) (*subscription.Subscription, error) {
	return s.changeSubscription(ctx, account, ref, func(_ context.Context, _ *db.Unit, sub *subscription.Subscription, now core.Time) error {
		if sub.IsRunning(now) {
			return nil
		}
		if !sub.IsTheirPause() {
			return core.Invalid("status", "Only the seller can end this pause.").Because("others_pause")
		}
		return endPause(sub, now)
	})
}

// KeepPlan takes back a change of plan that waits for the end of the period, for the customer. Any change but their own is CodeInvalid on status, and so is
// one that is being paid. So is a subscription that has ended. If none waits, it was taken back already or has taken place, and nothing changes.
func (s *Store) KeepPlan(ctx context.Context, account, ref string) (*subscription.Subscription, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*subscription.Subscription, error) {
		sub, err := s.Subscription.Lock(ctx, u, account, ref)
		if err == nil {
			err = sub.GoesOn()
		}
		if err != nil || sub.PendingChange.V == nil {
			return sub, err
		}
		if err := s.Subscription.CheckFree(ctx, u, sub); err != nil {
			return nil, err
		}
		if !sub.IsTheirChange() {
			return nil, core.Invalid("status", "Only the seller can take this change back.").Because("others_change")
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		asked := sub.PendingChange.V.Plan
		sub.PendingChange = core.JSON[*subscription.PendingChange]{}
		if err := s.writePlanChanged(ctx, u, sub); err != nil {
			return nil, err
		}
		if err := s.saveSubscription(ctx, u, sub, now); err != nil {
			return nil, err
		}
		return sub, s.notePlan(ctx, u, sub, asked, sub.CurrentPlan())
	})
}

// endPause ends the pause of a locked subscription, as ResumeSubscription describes.
func endPause(sub *subscription.Subscription, now core.Time) error {
	switch {
	case sub.PauseAtPeriodEnd:
		sub.PauseAtPeriodEnd, sub.ResumesAt, sub.PausedByCustomer = false, nil, false
	case sub.Status != subscription.StatusPaused:
		return core.Invalid("status", fmt.Sprintf("The subscription is %s. Only a paused one can be resumed.", sub.Status))
	case sub.CurrentPeriodEnd > now:
		sub.GoOn()
	default:
		sub.ResumesAt = &now // the worker begins the period
	}
	return nil
}

// resume goes on with a locked subscription whose pause is over. In the middle of a period nothing is billed. After its end a new period begins, and
// the payment to charge for it is returned, nil if there is none. If all billing cycles are over the subscription is completed instead. The caller
// stores the subscription.
func (s *Store) resume(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) (*payment.Payment, error) {
	if sub.CurrentPeriodEnd > now {
		sub.GoOn()
		return nil, nil
	}
	start := max(core.Deref(sub.ResumesAt), sub.CurrentPeriodEnd)
	sub.GoOn()
	if sub.IsComplete() {
		return s.finish(ctx, u, sub, subscription.StatusCompleted, now, now)
	}
	return s.renew(ctx, u, sub, start, now)
}

// UpdateSubscription applies a patch to a subscription. What its state does not allow is CodeInvalid; a discount or payment
// method that does not exist is CodeMissing.
func (s *Store) UpdateSubscription(ctx context.Context, account, ref string, in SubscriptionPatch) (*subscription.Subscription, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*subscription.Subscription, error) {
		if in.IsVerified != nil {
			sub, err := s.Subscription.Named(ctx, u, account, ref, "")
			if err == nil {
				err = s.Checkout.SetVerified(ctx, account, sub.CheckoutID, sub.CustomerVerified, *in.IsVerified)
			}
			if err != nil {
				return nil, err
			}
		}
		return s.updateSubscription(ctx, account, ref, in)
	})
}

// updateSubscription applies all of a patch but IsVerified. A subscription that has ended takes nothing but the fields that
// Change sets: anything else is CodeInvalid on status.
func (s *Store) updateSubscription(ctx context.Context, account, ref string, in SubscriptionPatch) (*subscription.Subscription, error) {
	return s.changeSubscription(ctx, account, ref, func(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) error {
		in.Change(sub)
		var p core.Problems
		sub.Metadata.Check(&p)
		if err := p.Err(); err != nil {
			return err
		}
		if in.CancelAtPeriodEnd == nil && in.TrialEnd == nil && in.Quantity == nil && in.Discount == nil && in.PaymentMethod == nil {
			return nil
		}
		if err := sub.GoesOn(); err != nil {
			return err
		}
		if err := s.endLater(ctx, u, sub, in.CancelAtPeriodEnd, now); err != nil {
			return err
		}
		if err := s.extendTrial(ctx, u, sub, in.TrialEnd, now); err != nil {
			return err
		}
		if err := s.chargeTo(ctx, u, sub, in.PaymentMethod, now); err != nil {
			return err
		}
		if in.Quantity != nil && *in.Quantity != sub.Quantity {
			if err := s.changeQuantity(ctx, u, sub, *in.Quantity, now); err != nil {
				return err
			}
		}
		return s.Subscription.GiveDiscount(ctx, u, sub, in.Discount, now) // last, because others wait for the discount
	})
}

// endLater makes a locked subscription end with its period, or takes that back; nil wants no change. One that is past due or whose
// period is over can only be cancelled now: CodeInvalid on status.
func (s *Store) endLater(ctx context.Context, u *db.Unit, sub *subscription.Subscription, wanted *bool, now core.Time) error {
	if wanted == nil || *wanted == sub.CancelAtPeriodEnd {
		return nil
	}
	if !*wanted {
		sub.Keep(subscription.CancelledByMerchant)
		return nil
	}
	if sub.Status == subscription.StatusPastDue || sub.CurrentPeriodEnd <= now {
		return core.Invalid("status", fmt.Sprintf("The subscription is %s: cancel it now instead.", sub.Status))
	}
	sub.Cancel(&subscription.Cancellation{By: subscription.CancelledByMerchant}, now)
	sub.CancelAtPeriodEnd = true
	return s.writeCanceled(ctx, u, sub)
}

// extendTrial moves the end of a locked subscription's trial to a later moment; nil wants no change. A subscription that is not trialing, an earlier
// end, or a trial of more than 730 days is CodeInvalid on trial_end.
func (s *Store) extendTrial(ctx context.Context, u *db.Unit, sub *subscription.Subscription, end *core.Time, now core.Time) error {
	if end == nil || sub.TrialEnd != nil && *end == *sub.TrialEnd {
		return nil
	}
	if sub.Status != subscription.StatusTrialing {
		return core.Invalid("trial_end", fmt.Sprintf("The subscription is %s: it has no trial to extend.", sub.Status))
	}
	if *end < sub.CurrentPeriodEnd || *end <= now || *end > sub.TrialStart.Add(maxTrial) {
		return core.Invalid("trial_end", fmt.Sprintf("A trial is only extended: it ends after %s, and lasts up to 730 days.", sub.CurrentPeriodEnd))
	}
	sub.TrialEnd, sub.CurrentPeriodEnd, sub.IsCovered = end, *end, true
	return s.writeTrialEnding(ctx, u, sub, now)
}

// chargeTo makes one of the customer's saved methods the one that a locked subscription is charged with, as Subscription.ChargeWith
// describes. A nil ref, or the method that it has already, changes nothing. CodeInvalid on payment_method if only a typed
// address says that the subscription is this customer's, CodeMissing if the customer has no such method.
func (s *Store) chargeTo(ctx context.Context, u *db.Unit, sub *subscription.Subscription, ref *string, now core.Time) error {
	if ref == nil || sub.Method.V != nil && *ref == core.Deref(sub.Method.V.ID) {
		return nil
	}
	if !sub.CustomerVerified {
		return subscription.ErrUnverified
	}
	m, err := s.Payment.MethodIn(ctx, u, sub.AccountID, sub.CustomerID, *ref)
	if err != nil {
		return err
	}
	return s.Subscription.ChargeWith(ctx, u, sub, m, now)
}
