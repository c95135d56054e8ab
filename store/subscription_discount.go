package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/pricing"
)

// WaitingDiscount says what the current period of a subscription has off, if that is not what the next one has: the discount was
// changed in the middle of the period, or was for this one alone. Until the period is over, a change of plan is priced with that.
// Nil is nothing.
type WaitingDiscount struct {
	Former *DiscountTerms `json:"former"`
}

// discountAt returns the terms of the discount for the current period, or one that begins at a later start, nil if it gets none.
func (s *Subscription) discountAt(start core.Time) *DiscountTerms {
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
func (s *Subscription) setDiscount(terms *DiscountTerms) {
	s.DiscountID, s.Discount, s.DiscountEndsAt = &terms.DiscountID, core.JSONOf(terms), nil
}

// discountAs gives a new subscription what the discount of its checkout took off its line, for as long as the discount lasts.
func (s *Subscription) discountAs(line lineitem.Item, lines []lineitem.Item, terms *DiscountTerms) {
	share := terms.shareOf(line, lines)
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
		s.DiscountEndsAt = terms.endsAt(s.CurrentPeriodStart, s.monthDay(s.CurrentPeriodStart))
	}
}

// monthDay returns the day of the month on which months begin that begin with the period at start: that of all periods, or of this one if the
// periods until now are not counted in months.
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
	if err := s.postponeDiscount(s.currentPlan(), from, start, anchorDay); err != nil {
		return err
	}
	s.AnchorDay = anchorDay
	return s.begin(start)
}

// postponeDiscount has the discount have as many periods of the plan from to on, on another anchor day, as it would have had from from on. So
// it is at monthly billing, if its months have begun. Else it changes nothing.
func (s *Subscription) postponeDiscount(plan SubscriptionPlan, from, to core.Time, anchorDay int64) (err error) {
	if s.DiscountEndsAt == nil || pricing.IntervalUnit(plan.Interval) != pricing.IntervalUnitMonth || plan.IntervalCount != 1 {
		return nil
	}
	left := int64(0)
	for ; err == nil && from < *s.DiscountEndsAt; left++ {
		from, err = plan.periodEnd(from, s.AnchorDay)
	}
	if left > 0 {
		s.DiscountEndsAt = monthsAfter(to, left, anchorDay)
	}
	return err
}

// DiscountEnd returns from when on no period has the discount any more that begins then, nil if it does not end by itself. As long as its
// months have not begun, that is the moment which follows from when the next period is to begin.
func (s *Subscription) DiscountEnd() *core.Time {
	if s.DiscountEndsAt != nil || s.Discount.V == nil || s.hasEnded() {
		return s.DiscountEndsAt
	}
	next := *s
	if next.beginPeriod(s.nextStart()) != nil {
		return nil
	}
	return next.DiscountEndsAt
}

// useDiscount takes a discount for one period away, because it has taken something off the current one.
func (s *Subscription) useDiscount() {
	if d := s.Discount.V; d != nil && d.Duration == DiscountDurationOnce {
		s.keepFormer()
		s.Discount = core.JSON[*DiscountTerms]{}
	}
}

// next returns the line for the plan of the next period, without prorations and before tax.
func (s *Subscription) next() []lineitem.Item {
	next := *s
	next.follow(s.nextPlan())
	return next.lines()[:1]
}

// discountSubscription gives a locked subscription a discount from its next period on. A nil ref changes nothing, an empty one
// takes the discount away.
//
// Giving it counts as a use of the discount, by the same rules as at a checkout: what they refuse is CodeInvalid on discount,
// and a discount that does not exist is CodeMissing. The use of the former discount is given back if it has never taken
// anything off. The discount that the subscription has already is left alone, unless it would take nothing off the next period
// any more: then it is given again. While a change of plan is being paid, which was priced with the discount that there was, it is
// CodeInvalid on status. The caller stores the subscription.
func (s *Store) discountSubscription(ctx context.Context, u *db.Unit, sub *Subscription, ref *string, now core.Time) error {
	if ref == nil || *ref == core.Deref(sub.DiscountID) && (*ref == "" || sub.discountAt(sub.CurrentPeriodEnd) != nil) {
		return nil
	}
	if sub.changeIsBeingPaid() {
		return errChangeIsBeingPaid
	}
	isUnused, err := s.releaseUnused(ctx, u, sub)
	if err != nil {
		return err
	}
	if isUnused { // somebody else can have it now, so it takes nothing off the rest of a free period either
		sub.Discount = core.JSON[*DiscountTerms]{}
	}
	sub.keepFormer()
	if *ref == "" {
		sub.DiscountID, sub.Discount, sub.DiscountEndsAt = nil, core.JSON[*DiscountTerms]{}, nil
		return nil
	}
	d, err := s.getDiscount(ctx, sub.AccountID, *ref, "discount")
	if err != nil {
		return err
	}
	if problem := d.refusesNext(sub, now); problem != "" {
		return core.Invalid("discount", problem)
	}
	customer, err := s.getAnyCustomer(ctx, sub.AccountID, sub.CustomerID)
	if err != nil {
		return err
	}
	by := customer.redeemer()
	if err := s.redeem(ctx, u, sub.redemption(d, by), d, by, "discount"); err != nil {
		return err
	}
	sub.setDiscount(d.terms())
	return nil
}

// refusesNext returns the reason why the discount cannot be used for the next period of a subscription, or "" if it can.
func (d *Discount) refusesNext(sub *Subscription, now core.Time) string {
	items := sub.next()
	if problem := d.refuses(items, sub.Currency, now); problem != "" {
		return problem
	}
	return d.terms().leavesTooLittle(items[0])
}

// leavesTooLittle returns a message if the discount leaves an amount of the line that is above 0 but too little to be charged,
// else "".
func (t *DiscountTerms) leavesTooLittle(item lineitem.Item) string {
	items := []lineitem.Item{item}
	amounts, err := lineitem.Price(items, t.pricing(items, item.Currency)...)
	if least := core.CurrencyOf(item.Currency).Minimum; err == nil && amounts.Total > 0 && amounts.Total < least {
		return fmt.Sprintf("This discount leaves %d to pay. Less than %d %s cannot be charged.", amounts.Total, least, item.Currency)
	}
	return ""
}

// redemption returns the row that notes that the subscription uses the discount. It is not stored yet.
func (s *Subscription) redemption(d *Discount, by redeemer) *DiscountRedemption {
	return &DiscountRedemption{
		AccountID: s.AccountID, DiscountID: d.ID, SubscriptionID: &s.ID, CustomerID: &s.CustomerID, BuyerKey: by.key(s.AccountID), Currency: s.Currency,
	}
}

// releaseUnused deletes the use of the discount that a locked subscription has, if the discount has not taken anything off yet, so that
// somebody else can have it. That is the use by which it was given, or that of the checkout that the subscription is from: another subscription
// of the checkout that goes on with the discount keeps that. It reports whether the discount has taken nothing off.
func (s *Store) releaseUnused(ctx context.Context, u *db.Unit, sub *Subscription) (bool, error) {
	if sub.DiscountID == nil {
		return false, nil
	}
	given, err := db.Get[string](ctx, u, `
		DELETE FROM discount_redemptions WHERE account_id = ? AND subscription_id = ? AND used_at IS NULL RETURNING discount_id`, sub.AccountID, sub.ID)
	if err != nil {
		return false, fmt.Errorf("delete redemption: %w", err)
	}
	if given != nil || sub.CheckoutID == nil {
		return given != nil, s.releaseDiscount(ctx, u, sub.AccountID, given)
	}
	// The lock has the subscriptions of the checkout look one after the other: the last one sees that no other goes on.
	bought, err := db.Get[string](ctx, u, `
		SELECT discount_id FROM discount_redemptions WHERE account_id = ? AND checkout_id = ? AND used_at IS NULL`+u.Lock(), sub.AccountID, *sub.CheckoutID)
	if err != nil || bought == nil || *bought != *sub.DiscountID {
		return false, err
	}
	bought, err = db.Get[string](ctx, u, `
		DELETE FROM discount_redemptions WHERE account_id = ? AND checkout_id = ? AND used_at IS NULL AND NOT EXISTS (
			SELECT 1 FROM subscriptions s WHERE s.account_id = ? AND s.checkout_id = ? AND s.id <> ? AND s.discount_id = ? AND s.ended_at IS NULL)
		RETURNING discount_id`, sub.AccountID, *sub.CheckoutID, sub.AccountID, *sub.CheckoutID, sub.ID, *sub.DiscountID)
	if err != nil {
		return false, fmt.Errorf("delete redemption of a checkout: %w", err)
	}
	return true, s.releaseDiscount(ctx, u, sub.AccountID, bought)
}

// noteUse notes in the use of a subscription's discount that it took something off: off an order, or with a nil order off a change of
// plan. Only the first time counts: later ones change nothing. That of a checkout keeps the checkout's own order.
func (s *Store) noteUse(ctx context.Context, u *db.Unit, sub *Subscription, order *string, off int64, now core.Time) error {
	rows, err := u.Exec(ctx, `
		UPDATE discount_redemptions SET order_id = ?, discount_amount = ?, used_at = ?, updated_at = ?
		WHERE account_id = ? AND subscription_id = ? AND used_at IS NULL`, order, off, now, now, sub.AccountID, sub.ID)
	if err != nil {
		return fmt.Errorf("use redemption: %w", err)
	}
	if rows > 0 || sub.CheckoutID == nil {
		return nil
	}
	_, err = u.Exec(ctx, `
		UPDATE discount_redemptions SET used_at = ?, updated_at = ? WHERE account_id = ? AND checkout_id = ? AND discount_id = ? AND used_at IS NULL`,
		now, now, sub.AccountID, *sub.CheckoutID, sub.DiscountID)
	if err != nil {
		return fmt.Errorf("use redemption of a checkout: %w", err)
	}
	return nil
}
