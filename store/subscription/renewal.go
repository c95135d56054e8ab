package subscription

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/pricing"
)

// Renewal says what the next period of a subscription is going to cost. Balance is the part of it that the
// customer's credit pays.
type Renewal struct {
	Subscription *Subscription // as it will be in the next period
	Items        []lineitem.Item
	Amounts      pricing.Amounts
	Balance      int64
}

// Recurs reports whether the periods after that one cost what its plan does, the first of Items, as far as it is known now. They do not if it
// has a discount that does not last. Prorations are of that period alone.
func (r *Renewal) Recurs() bool {
	terms := r.Subscription.Discount.V
	return r.Amounts.Discount == 0 || terms != nil && terms.Duration == discount.DurationForever
}

// RestsOpen reports whether the subscription is or will be paused until somebody resumes it, so that nobody knows when its next period begins.
func (s *Subscription) RestsOpen() bool {
	return s.ResumesAt == nil && (s.PauseAtPeriodEnd || s.Status == StatusPaused)
}

// IsLast reports whether there is no period after that one.
func (r *Renewal) IsLast() bool {
	cycles := r.Subscription.BillingCycles
	return cycles != nil && r.Subscription.cyclesPaid()+1 >= *cycles
}

// LastBillAmount returns what a subscription that ends with its period, or is complete then, charges its customer with a last bill. As things
// stand that is debits that wait, without what their balance pays. It is 0 if there is no last bill.
func (s *Store) LastBillAmount(ctx context.Context, account, ref string) (int64, error) {
	sub, customer, _, err := s.Subscriber(ctx, account, ref)
	if err != nil || sub.HasEnded() || sub.Status == StatusPastDue || len(sub.Prorations.V) == 0 {
		return 0, err
	}
	b, err := s.LastBill(ctx, s.db, sub, customer)
	if err != nil {
		return 0, err
	}
	return b.Amounts.Total - b.Balance, nil
}

// PreviewRenewal returns what the next period is going to cost as things stand. That of a paused subscription begins when
// it is resumed. A subscription that will not be renewed, because it has ended or ends with its period, is CodeInvalid on status. That error says
// what a last bill charges.
func (s *Store) PreviewRenewal(ctx context.Context, account, ref string) (*Renewal, error) {
	sub, customer, now, err := s.Subscriber(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	if err := sub.EndPastDue(now); err != nil { // as if it were paid now
		return nil, err
	}
	if sub.HasEnded() || sub.CancelAtPeriodEnd || sub.IsComplete() {
		return nil, s.notRenewed(ctx, sub)
	}
	start := sub.nextStart()
	if sub.Status == StatusPaused && sub.ResumesAt == nil {
		start = max(start, now) // as if it were resumed now
	}
	if err := sub.BeginPeriod(start); err != nil {
		return nil, err
	}
	b, err := s.PeriodBill(ctx, s.db, sub, customer)
	if err != nil {
		return nil, err
	}
	return &Renewal{sub, b.Items, b.Amounts, b.Balance}, nil
}

// notRenewed returns CodeInvalid on status for a subscription that has no next period, with what its last bill charges.
func (s *Store) notRenewed(ctx context.Context, sub *Subscription) error {
	if sub.HasEnded() {
		return core.Invalid("status", fmt.Sprintf("The subscription is %s: it will not be renewed.", sub.Status))
	}
	last, err := s.LastBillAmount(ctx, sub.AccountID, sub.ID)
	if err != nil {
		return err
	}
	why := "The subscription ends with its period: it will not be renewed."
	if last > 0 {
		why += " A last invoice charges " + core.FormatAmount(last, sub.Currency) + " then, for changes that wait to be billed."
	}
	return core.Invalid("status", why)
}
