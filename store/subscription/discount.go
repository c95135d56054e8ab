package subscription

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/pricing"
)

// WaitingDiscount says what the current period of a subscription has off, if that is not what the next one has. The discount was changed in the
// middle of the period, or was for this one alone. Until the period is over, a change of plan is priced with that. Nil is nothing.
type WaitingDiscount struct {
	Former *discount.Terms `json:"former"`
}

// discountAt returns the terms of the discount for the current period, or one that begins at a later start, nil if it gets none.
func (s *Subscription) discountAt(start core.Time) *discount.Terms {
	if waits := s.DiscountWaits.V; waits != nil && start == s.CurrentPeriodStart {
		return waits.Former
	}
	if s.DiscountEndsAt != nil && start >= *s.DiscountEndsAt {
		return nil
	}
	return s.Discount.V
}

// keepFormer has the current period priced as before, whatever discount is given, used up or taken away now.
func (s *Subscription) keepFormer() {
	s.DiscountWaits = core.JSONOf(&WaitingDiscount{s.discountAt(s.CurrentPeriodStart)})
}

// setDiscount gives the subscription a discount, whose months begin with the next period that begins.
func (s *Subscription) setDiscount(terms *discount.Terms) {
	s.DiscountID, s.Discount, s.DiscountEndsAt = &terms.DiscountID, core.JSONOf(terms), nil
}

// DiscountAs gives a new subscription what the discount of its checkout took off its line, for as long as the discount lasts.
func (s *Subscription) DiscountAs(line lineitem.Item, lines []lineitem.Item, terms *discount.Terms) {
	share := terms.ShareOf(line, lines)
	if share == nil {
		return
	}
	s.setDiscount(share)
	if s.CyclesBilled == 0 { // its months begin, and it is used, when the trial is over
		return
	}
	s.beginDiscount()
	if line.DiscountAmount > 0 {
		s.useDiscount()
	}
}

// beginDiscount has the months of the discount begin with the current period, if they have not begun yet.
func (s *Subscription) beginDiscount() {
	if terms := s.Discount.V; terms != nil && s.DiscountEndsAt == nil {
		s.DiscountEndsAt = terms.EndsAt(s.CurrentPeriodStart, s.monthDay(s.CurrentPeriodStart))
	}
}

// monthDay returns the day of the month on which months begin that begin with the period at start. It is that of all periods, or of this one if
// the periods until now are not counted in months.
func (s *Subscription) monthDay(start core.Time) int64 {
	switch pricing.IntervalUnit(s.Interval) {
	case pricing.IntervalUnitDay, pricing.IntervalUnitWeek:
		return int64(start.Time().Day())
	case pricing.IntervalUnitMonth, pricing.IntervalUnitYear:
	}
	return s.AnchorDay
}

// beginLater begins the period at start, in place of one at from that nobody is billed for. Periods begin on the anchor day from now on.
func (s *Subscription) beginLater(from, start core.Time, anchorDay int64) error {
	if err := s.postponeDiscount(s.CurrentPlan(), from, start, anchorDay); err != nil {
		return err
	}
	s.AnchorDay = anchorDay
	return s.Begin(start)
}

// postponeDiscount moves the end of the discount. From to on, on another anchor day, it has as many periods of the plan as it would have had from
// from on. So it is at monthly billing, if its months have begun. Else it changes nothing.
func (s *Subscription) postponeDiscount(plan Plan, from, to core.Time, anchorDay int64) (err error) {
	if s.DiscountEndsAt == nil || pricing.IntervalUnit(plan.Interval) != pricing.IntervalUnitMonth || plan.IntervalCount != 1 {
		return nil
	}
	left := int64(0)
	for ; err == nil && from < *s.DiscountEndsAt; left++ {
		from, err = plan.PeriodEnd(from, s.AnchorDay)
	}
	if left > 0 {
		s.DiscountEndsAt = discount.MonthsAfter(to, left, anchorDay)
	}
	return err
}

// DiscountEnd returns from when on no period has the discount any more that begins then, nil if it does not end by itself. As long as its
// months have not begun, that is the moment which follows from when the next period is to begin.
func (s *Subscription) DiscountEnd() *core.Time {
	if s.DiscountEndsAt != nil || s.Discount.V == nil || s.HasEnded() {
		return s.DiscountEndsAt
	}
	next := *s
	if next.BeginPeriod(s.nextStart()) != nil {
		return nil
	}
	return next.DiscountEndsAt
}

// useDiscount takes a discount for one period away, because it has taken something off the current one.
func (s *Subscription) useDiscount() {
	if d := s.Discount.V; d != nil && d.Duration == discount.DurationOnce {
		s.keepFormer()
		s.Discount = core.JSON[*discount.Terms]{}
	}
}

// next returns the line for the plan of the next period, without prorations and before tax.
func (s *Subscription) next() []lineitem.Item {
	next := *s
	next.Follow(s.nextPlan())
	return next.lines()[:1]
}

// GiveDiscount gives a locked subscription a discount from its next period on. A nil ref changes nothing, an empty one
// takes the discount away.
//
// Giving it counts as a use of the discount, by the same rules as at a checkout. What they refuse is CodeInvalid on discount, and a discount that
// does not exist is CodeMissing. The use of the former discount is given back if it has never taken anything off. The discount that the
// subscription has already is left alone, unless it would take nothing off the next period any more. Then it is given again. While a change of
// plan is being paid, which was priced with the discount that there was, it is CodeInvalid on status. The caller stores the subscription.
func (s *Store) GiveDiscount(ctx context.Context, u *db.Unit, sub *Subscription, ref *string, now core.Time) error {
	if ref == nil || *ref == core.Deref(sub.DiscountID) && (*ref == "" || sub.discountAt(sub.CurrentPeriodEnd) != nil) {
		return nil
	}
	if sub.ChangeIsBeingPaid() {
		return errChangeIsBeingPaid
	}
	isUnused, err := s.rooms.Discount.ReleaseUnused(ctx, u, sub.Discounted())
	if err != nil {
		return err
	}
	if isUnused { // somebody else can have it now, so it takes nothing off the rest of a free period either
		sub.Discount = core.JSON[*discount.Terms]{}
	}
	sub.keepFormer()
	if *ref == "" {
		sub.DiscountID, sub.Discount, sub.DiscountEndsAt = nil, core.JSON[*discount.Terms]{}, nil
		return nil
	}
	d, err := s.rooms.Discount.Named(ctx, u, sub.AccountID, *ref, "discount")
	if err != nil {
		return err
	}
	if problem := sub.refusesDiscount(d, now); problem != "" {
		return core.Invalid("discount", problem)
	}
	customer, err := s.rooms.Customer.Any(ctx, u, sub.AccountID, sub.CustomerID)
	if err != nil {
		return err
	}
	by := discount.RedeemerFor(customer)
	if err := s.rooms.Discount.Redeem(ctx, u, sub.redemption(d, by), d, by, "discount"); err != nil {
		return err
	}
	sub.setDiscount(d.Terms())
	return nil
}

// Discounted says which discount the subscription has.
func (s *Subscription) Discounted() discount.Holder {
	return discount.Holder{AccountID: s.AccountID, SubscriptionID: s.ID, CheckoutID: s.CheckoutID, DiscountID: s.DiscountID}
}

// refusesDiscount returns the reason why a discount cannot be used for the next period of the subscription, or "" if it can.
func (s *Subscription) refusesDiscount(d *discount.Discount, now core.Time) string {
	items := s.next()
	if problem := d.Refuses(items, s.Currency, now); problem != "" {
		return problem
	}
	return d.Terms().LeavesTooLittle(items[0])
}

// redemption returns the row that notes that the subscription uses the discount. It is not stored yet.
func (s *Subscription) redemption(d *discount.Discount, by discount.Redeemer) *discount.Redemption {
	return &discount.Redemption{
		AccountID: s.AccountID, DiscountID: d.ID, SubscriptionID: &s.ID, CustomerID: &s.CustomerID, BuyerKey: by.Key(s.AccountID), Currency: s.Currency,
	}
}
