package subscription

import (
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// anchorNext has the months or years of a plan that waits begin on the day of the month of its first period. That is so if it follows on days or
// weeks, which are on no such day.
func (s *Subscription) anchorNext() {
	if s.PendingChange.V != nil {
		s.AnchorDay = s.monthDay(s.CurrentPeriodEnd)
	}
}

// BeginPeriod moves the subscription on to the period that begins at start, with the plan of a pending change if there is one. After a trial or a
// pause the period does not follow on the one before. Then its first day becomes the day of the month on which periods begin. So it does if it
// follows on weeks or days: see anchorNext.
func (s *Subscription) BeginPeriod(start core.Time) error {
	s.anchorNext()
	if change := s.PendingChange.V; change != nil {
		s.Follow(change.Plan)
		s.PendingChange = core.JSON[*PendingChange]{}
	}
	isTrial := s.Status == StatusTrialing
	s.Status = StatusActive
	if start != s.CurrentPeriodEnd || isTrial {
		return s.beginLater(s.CurrentPeriodEnd, start, int64(start.Time().Day()))
	}
	return s.Begin(start)
}

// nextStart returns when the next period begins as things stand. That of a subscription that is or will be paused begins with its end
// at the earliest.
func (s *Subscription) nextStart() core.Time {
	return max(core.Deref(s.ResumesAt), s.CurrentPeriodEnd)
}

// CatchUp skips the periods that both began and ended while the account was disabled: nobody is billed for those. A period that
// began before is billed, however late.
func (s *Subscription) CatchUp(seller *tenant.Account) error {
	for seller.Slept(s.CurrentPeriodStart, s.CurrentPeriodEnd) {
		if err := s.beginLater(s.CurrentPeriodStart, s.CurrentPeriodEnd, s.AnchorDay); err != nil {
			return err
		}
	}
	return nil
}

// Billed notes that the current period is billed, with the prorations that waited for it. It uses up a discount for one period that
// it has something off for.
func (s *Subscription) Billed(in *Bill) {
	s.CyclesBilled++
	s.PeriodAmount = in.Period
	s.Prorations = core.JSON[[]Proration]{}
	if in.Amounts.Discount > 0 {
		s.useDiscount()
	}
}

// EndPastDue makes a subscription that is past due active again, because its latest invoice is paid or given up. The next period that
// is billed is the one that runs now, if another one follows. Any other stays as it is.
func (s *Subscription) EndPastDue(now core.Time) error {
	if s.Status != StatusPastDue {
		return nil
	}
	s.Status = StatusActive
	s.PastDueAt, s.NextAttemptAt, s.AttemptCount, s.ExtraAttempt = nil, nil, 0, false
	return s.skipPassed(now)
}

// skipPassed skips the periods that have both begun and ended since the current one. Nobody is billed for those in which the subscription was
// past due, and at monthly billing they are no months of its discount. A subscription that ends or pauses with its period skips none.
func (s *Subscription) skipPassed(now core.Time) error {
	if s.CancelAtPeriodEnd || s.PauseAtPeriodEnd || s.IsComplete() {
		return nil
	}
	s.anchorNext()
	for {
		end, err := s.nextPlan().PeriodEnd(s.CurrentPeriodEnd, s.AnchorDay)
		if err != nil || end > now {
			return err
		}
		if err := s.postponeDiscount(s.nextPlan(), s.CurrentPeriodEnd, end, s.AnchorDay); err != nil {
			return err
		}
		s.CurrentPeriodStart, s.CurrentPeriodEnd, s.Begins = s.CurrentPeriodEnd, end, true
		s.Carried, s.DiscountWaits = core.JSON[[]PaidPart]{}, core.JSON[*WaitingDiscount]{}
	}
}

// IsRunning reports whether the subscription neither rests nor ends, or begins its next period now that its pause is over.
func (s *Subscription) IsRunning(now core.Time) bool {
	begins := s.Status == StatusPaused && s.ResumesAt != nil && *s.ResumesAt <= now
	return (s.Status == StatusActive || begins) && !s.PauseAtPeriodEnd && s.CancelAt() == nil
}

// IsTheirPause reports whether the subscription rests, or is going to, because its customer wanted that. Who paused it otherwise may have good reason
// to, and ends that.
func (s *Subscription) IsTheirPause() bool {
	return (s.Status == StatusPaused || s.PauseAtPeriodEnd) && s.PausedByCustomer && s.CancelAt() == nil
}

// IsTheirChange reports whether a change of plan waits for the end of the period because its customer wanted that. They may take it back.
func (s *Subscription) IsTheirChange() bool {
	next := s.PendingChange.V
	return next != nil && next.InvoiceID == nil && next.ByCustomer && !s.HasEnded()
}

// IsTheirsToChange reports whether its customer may ask for another plan. They may not while it is going to end or to pause, or while a change of the
// seller's waits. What is paid in instalments stays.
func (s *Subscription) IsTheirsToChange() bool {
	return s.CancelAt() == nil && !s.PauseAtPeriodEnd && s.BillingCycles == nil && (s.PendingChange.V == nil || s.IsTheirChange())
}

// Pause stops the billing at the given moment.
func (s *Subscription) Pause(at core.Time) {
	s.Status, s.PausedAt, s.PauseAtPeriodEnd = StatusPaused, &at, false
}

// GoesOn returns CodeInvalid on status for a subscription that has ended.
func (s *Subscription) GoesOn() error {
	if s.HasEnded() {
		return core.Invalid("status", fmt.Sprintf("The subscription is %s: it has ended.", s.Status)).Because("ended")
	}
	return nil
}

// GoOn resumes a paused subscription whose period is not over: it is trialing again if that period is its trial, else active.
func (s *Subscription) GoOn() {
	s.Status = StatusActive
	if s.TrialEnd != nil && *s.TrialEnd == s.CurrentPeriodEnd {
		s.Status = StatusTrialing
	}
	s.PausedAt, s.ResumesAt, s.PausedByCustomer = nil, nil, false
}

// Cancel notes who wants the subscription to end, why, and when they said so. It does not end it.
func (s *Subscription) Cancel(c *Cancellation, now core.Time) {
	s.Cancellation, s.CancellationReason, s.CanceledAt = core.JSONOf(c), c.Reason, &now
}

// Keep takes a cancellation back that was to take effect at the end of the period. By says who wants that, such as CancelledByCustomer.
func (s *Subscription) Keep(by string) {
	s.IsKept, s.IsOverruled = true, by == CancelledByMerchant && s.IsCustomersToKeep()
	s.CancelAtPeriodEnd, s.CanceledAt, s.CancellationReason = false, nil, nil
	s.Cancellation = core.JSON[*Cancellation]{}
}

// IsOf reports whether a subscription is known to be a customer's, and was not only bought by somebody who typed their address.
func (s *Subscription) IsOf(customer string) bool {
	return s.CustomerID == customer && s.CustomerVerified
}

// IsCustomersToKeep reports whether the subscription ends with its period because its customer cancelled it, so that they may
// take that back.
func (s *Subscription) IsCustomersToKeep() bool {
	return s.CancelAt() != nil && s.Cancellation.V != nil && s.Cancellation.V.By == CancelledByCustomer
}
