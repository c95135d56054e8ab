package store

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/pricing"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/store/throttle"
)

// ChangeSubscription asks for another plan of a subscription. An empty field leaves its part of the plan as it is. Without a
// Behavior the one of the account applies. Shown is what a customer who asks for it was shown of its cost. They ask mostChanges times a day. It is
// nil if the seller asks.
type ChangeSubscription struct {
	PriceVariant string
	Quantity     *int64
	Behavior     tenant.ProrationBehavior
	Shown        *ShownChange
}

// ShownChange is what a customer is shown of the cost of a change.
type ShownChange struct {
	Now  int64 // what is charged at once
	Rest int64 // what the rest of the period costs more: at once, with the next payment, or of their credit
	Each int64 // what each period costs after that, with its tax and without discounts

	IntervalCount int64 // how long such a period is
	Interval      string

	EffectiveAt core.Time // when the plan changes; 0: at once
	PeriodEnd   core.Time // when the first such period begins; 0: at once
	Begins      core.Time // the moment for which this was computed, if it begins a period; else 0
}

// shownHolds is how long what a customer was shown holds of a change that begins a period. It costs more each second, since less of what was paid is left.
const shownHolds = 10 * time.Minute

// mostChanges is how often a customer may change a subscription within a day. Each time may leave an order, a letter, or a charge that is declined.
const mostChanges = 20

// SubscriptionChange says what a change of plan costs and when it takes place. Items, Amounts and Balance are what is billed
// for it, now or with the next period. Credit is what goes to the customer's balance instead, when the new plan costs less. If
// there is a Payment, it has to be charged, and the plan changes only when it succeeds.
type SubscriptionChange struct {
	Subscription *subscription.Subscription
	Plan         subscription.Plan
	Behavior     tenant.ProrationBehavior
	EffectiveAt  core.Time
	PeriodStart  core.Time
	PeriodEnd    core.Time
	Price        int64 // of each period of the plan, with its tax and without discounts
	Unused       int64 // what is left of what was paid for the period, and of debits that wait, tax included
	Remaining    int64 // the part of the new plan's price that the rest of the period is worth, tax included
	Credit       int64
	Items        []lineitem.Item
	Amounts      pricing.Amounts
	Balance      int64
	Payment      *payment.Payment

	amount     int64 // what the whole period costs under the new plan, after its discount
	discounted bool  // the subscription's discount made that less
	byCustomer bool
	restarts   bool
	waits      bool               // it is too little to be charged now, and waits for the next bill
	rest       *subscription.Rest // what pays for the rest of the period after the change, beside what is billed for it
	credits    []subscription.OrderCredit
}

// ChangeSubscription changes the plan of a subscription. It locks the subscription and its customer.
//
// If the new plan costs more for the rest of the period, the difference is billed. That is at once, or with the next invoice, as its Behavior says.
// If it is billed at once, order.created and invoice.created follow, and the returned Payment is to be charged. The plan changes when that succeeds.
// When it fails, the bill is made void and the plan stays. If the new plan costs less, the difference is taken off debits that wait. What is left of
// it, which was paid, goes to the customer's balance at once. A difference that is too little to be charged waits for the next bill. A change that
// takes place with the next period, and any change during a trial, moves no money. A request that is sent again gets the payment of the first time.
//
// A plan that cannot be bought is CodeInvalid, and so is any change while the subscription is neither active nor trialing. A customer who changes it
// too often is CodeRateLimit. One without a payment method who wants a dearer plan is CodeInvalid on payment_method. What would cost them more than
// they were shown, or take place at another time, is CodeInvalid on shown. A period that begins with the change begins when it was shown, if
// isAsShown. A subscription that only the seller changes by now is CodeInvalid on status.
func (s *Store) ChangeSubscription(ctx context.Context, account, ref string, in ChangeSubscription) (*SubscriptionChange, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*SubscriptionChange, error) {
		sub, err := s.Subscription.Lock(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		id := core.KindPayment.Prefix() + s.db.Effect(ctx)
		begun, err := s.Payment.ByIDIn(ctx, u, account, []string{id})
		if err != nil || begun[id] != nil {
			return &SubscriptionChange{Subscription: sub, Payment: begun[id]}, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		customer, err := s.Customer.LockAny(ctx, u, sub.AccountID, sub.CustomerID)
		if err != nil {
			return nil, err
		}
		before := sub.CurrentPlan()
		c, err := s.quoteChange(ctx, u, sub, customer, in, now)
		if err != nil {
			return nil, err
		}
		if in.Shown != nil {
			if c.isAsShown(*in.Shown, now) {
				if c, err = s.quoteChange(ctx, u, sub, customer, in, in.Shown.Begins); err != nil {
					return nil, err
				}
			}
			if err := c.checkShown(*in.Shown); err != nil {
				return nil, err
			}
			if err := s.checkMethod(ctx, u, c); err != nil {
				return nil, err
			}
			if err := s.countChange(ctx, sub); err != nil {
				return nil, err
			}
		}
		if err := s.changePlan(ctx, u, c, customer, id, now); err != nil {
			return nil, err
		}
		if err := s.saveSubscription(ctx, u, sub, now); err != nil {
			return nil, err
		}
		return c, s.notePlan(ctx, u, sub, before, c.Plan)
	})
}

// isAsShown reports whether the change begins its period at the moment for which it was shown. That is so for shownHolds, if it costs something, and
// nothing became of the subscription since.
func (c *SubscriptionChange) isAsShown(shown ShownChange, now core.Time) bool {
	isRecent := shown.Begins <= now && now < shown.Begins.Add(shownHolds)
	return c.restarts && c.Amounts.Total > 0 && isRecent && shown.Begins > c.Subscription.UpdatedAt
}

// checkShown refuses what a customer did not agree to. That is what costs more than they were shown, or takes place at another time. So is a change
// in the place of the seller's.
func (c *SubscriptionChange) checkShown(shown ShownChange) error {
	if !c.Subscription.IsTheirsToChange() {
		return core.Invalid("status", "Only the seller changes the subscription as it stands.").Because("no_change")
	}
	is := c.Shown()
	costsMore := is.Now > shown.Now || is.Rest > shown.Rest || is.Each > shown.Each
	if costsMore || is.IntervalCount != shown.IntervalCount || is.Interval != shown.Interval || is.EffectiveAt != shown.EffectiveAt || is.PeriodEnd != shown.PeriodEnd {
		return core.Invalid("shown", "It would cost more than was shown, or change at another time.").Because("less")
	}
	return nil
}

var errNoMethod = core.Invalid("payment_method", "The subscription has no payment method to charge the change to.").Because("none")

// checkMethod refuses a customer a plan that costs more than the one they have if there is nothing to charge it to, now or later. They would have it
// unpaid until its bill is given up.
func (s *Store) checkMethod(ctx context.Context, r db.Reader, c *SubscriptionChange) error {
	if c.Plan.UnitAmount*c.Plan.Quantity <= c.Subscription.Amount() {
		return nil
	}
	method, err := s.Subscription.MethodIn(ctx, r, c.Subscription)
	if err == nil && method == nil {
		err = errNoMethod
	}
	return err
}

// Shown returns what its customer is to be shown of the cost of the change.
func (c *SubscriptionChange) Shown() ShownChange {
	shown := ShownChange{Now: c.DueNow(), Rest: c.Amounts.Total, Each: c.Price, IntervalCount: c.Plan.IntervalCount, Interval: c.Plan.Interval}
	if c.IsLater() {
		shown.EffectiveAt = c.EffectiveAt
	}
	if c.restarts {
		shown.Begins = c.EffectiveAt
	} else {
		shown.PeriodEnd = c.PeriodEnd
	}
	return shown
}

// IsLater reports whether the plan changes only when the period is over.
func (c *SubscriptionChange) IsLater() bool { return c.EffectiveAt == c.Subscription.CurrentPeriodEnd }

// countChange counts a change that a customer makes of a locked subscription. Nobody else locks what is counted, so it may come before what is
// locked later.
func (s *Store) countChange(ctx context.Context, sub *subscription.Subscription) error {
	return s.Throttle.Count(ctx, sub.AccountID, func(over *throttle.Over) error {
		return over.Refuse("base", "You have changed this subscription too often. Try again in")
	}, throttle.Limit{Subject: "changes:" + sub.ID, Most: mostChanges, Window: 24 * time.Hour})
}

// PreviewSubscriptionChange returns what ChangeSubscription would do now, without doing it.
func (s *Store) PreviewSubscriptionChange(ctx context.Context, account, ref string, in ChangeSubscription) (*SubscriptionChange, error) {
	sub, customer, now, err := s.Subscription.Subscriber(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	return s.quoteChange(ctx, s.db, sub, customer, in, now)
}

// changePlan carries out a change that quoteChange has computed. The subscription and the customer are locked. If the change
// has to be charged, payment becomes the id of its payment, which is then in c.Payment. The change takes the place of one that waits;
// one to the plan that there is takes that back. The caller stores the subscription.
func (s *Store) changePlan(ctx context.Context, u *db.Unit, c *SubscriptionChange, customer *customer.Customer, payment string, now core.Time) error {
	sub := c.Subscription
	sub.IsAsked = true
	switch {
	case sub.Status == subscription.StatusTrialing:
		if c.Plan.ProductID != sub.ProductID && sub.CustomerVerified {
			isNew, err := s.Checkout.NoteTrial(ctx, u, customer, c.Plan.ProductID, sub.CheckoutID, now)
			if err == nil && !isNew { // a checkout may have been first
				err = s.Checkout.CheckTrial(ctx, u, sub, customer, c.Plan.ProductID)
			}
			if err != nil {
				return err
			}
		}
		isNew := !core.SameJSON(c.Plan, sub.CurrentPlan())
		sub.Follow(c.Plan)
		sub.PendingChange = core.JSON[*subscription.PendingChange]{}
		if !isNew {
			return nil
		}
		return s.writePlanChanged(ctx, u, sub)
	case core.SameJSON(c.Plan, sub.CurrentPlan()):
		if sub.PendingChange.V == nil {
			return nil
		}
		sub.PendingChange = core.JSON[*subscription.PendingChange]{}
		return s.writePlanChanged(ctx, u, sub)
	case c.Behavior == tenant.ProrationBehaviorNextPeriod:
		sub.PendingChange = core.JSONOf(&subscription.PendingChange{Plan: c.Plan, EffectiveAt: c.EffectiveAt, ByCustomer: c.byCustomer})
		return s.writePlanChanged(ctx, u, sub)
	case !c.IsBilledNow():
		return s.changeUnbilled(ctx, u, c, customer, now)
	}
	return s.billChange(ctx, u, c, customer, payment)
}

// IsBilledNow reports whether what the change costs is billed at once. A period that it begins always is, unless that is too little to be charged.
func (c *SubscriptionChange) IsBilledNow() bool {
	return c.Amounts.Total > 0 && (c.Behavior != tenant.ProrationBehaviorNextInvoice || c.restarts && !c.waits)
}

// DueNow returns what is charged as soon as the change is asked for.
func (c *SubscriptionChange) DueNow() int64 {
	if !c.IsBilledNow() {
		return 0
	}
	return c.Amounts.Total - c.Balance
}

// pending returns the change in the form in which the subscription keeps it until it takes place.
func (c *SubscriptionChange) pending() *subscription.PendingChange {
	return &subscription.PendingChange{Plan: c.Plan, EffectiveAt: c.EffectiveAt, Restarts: c.restarts, Amount: c.amount, Discounted: c.discounted}
}

// changeUnbilled changes the plan at once without a bill. If the new plan costs more, the difference is billed with the next period. If it costs
// less, what was paid of the difference goes to the customer's balance. Subscription and customer are locked, and the customer is stored here.
func (s *Store) changeUnbilled(ctx context.Context, u *db.Unit, c *SubscriptionChange, buyer *customer.Customer, now core.Time) error {
	sub := c.Subscription
	for _, item := range c.Items {
		c.rest.Debits = append(c.rest.Debits, subscription.Proration{
			Description: *item.Description, Amount: item.TotalAmount, TaxIncluded: true, Start: c.EffectiveAt, Left: item.TotalAmount,
		})
	}
	if err := s.apply(ctx, u, sub, c.pending(), c.rest, nil); err != nil {
		return err
	}
	if c.Credit > 0 {
		if err := s.giveCredits(ctx, u, buyer, sub.AccountID, c.credits, now); err != nil {
			return err
		}
		buyer.UpdatedAt = now
		return u.Update(ctx, customer.Columns, buyer)
	}
	return nil
}

// billChange makes the order and the invoice of a change of plan. If the customer's credit pays all of it, the plan changes at
// once. Otherwise the subscription keeps the change as pending, with the one that waited, and c.Payment is the payment to charge. A
// subscription without a payment method is CodeInvalid on payment_method. Subscription and customer are locked.
func (s *Store) billChange(ctx context.Context, u *db.Unit, c *SubscriptionChange, customer *customer.Customer, payment string) error {
	sub := c.Subscription
	change := c.pending()
	if c.Amounts.Total == c.Balance { // it is paid at once, and the order shows what it pays for
		if err := s.Subscription.SwitchProduct(ctx, u, sub, c.Plan); err != nil {
			return err
		}
	}
	b, err := s.placeBill(ctx, u, sub, customer, &subscription.Bill{Items: c.Items, Amounts: c.Amounts, Balance: c.Balance}, order.BillingReasonSubscriptionUpdate)
	if err != nil {
		return err
	}
	if b.Order.Status == order.StatusPaid {
		sub.LatestInvoiceID = &b.Invoice.ID
		return s.apply(ctx, u, sub, change, c.rest, b.Order)
	}
	method, err := s.Subscription.MethodIn(ctx, u, sub)
	if err != nil {
		return err
	}
	if method == nil {
		return errNoMethod
	}
	change.InvoiceID, change.Replaces = &b.Invoice.ID, sub.PendingChange.V
	sub.PendingChange = core.JSONOf(change)
	c.Payment, err = s.chargeBill(ctx, u, b, method, payment)
	return err
}

// apply makes a change of a locked subscription take place. Left is what pays for the rest of the period as of the change. The order pays for the
// change itself, and is nil if that cost nothing. The caller stores the subscription.
func (s *Store) apply(ctx context.Context, u *db.Unit, sub *subscription.Subscription, change *subscription.PendingChange, left *subscription.Rest, order *order.Order) error {
	if order != nil {
		left.Parts = append(left.Parts, subscription.PaidPart{OrderID: order.ID, Start: change.EffectiveAt, Amount: order.TotalAmount})
	}
	if change.Discounted {
		// No order shows it: the change is billed as the difference of two prices after discount.
		if err := s.Discount.NoteUse(ctx, u, sub.Discounted(), nil, 0, change.EffectiveAt); err != nil {
			return err
		}
	}
	sub.IsPaid, sub.IsCovered = order != nil, order == nil && change.Restarts
	if err := sub.Apply(change, left); err != nil {
		return err
	}
	return s.writePlanChanged(ctx, u, sub)
}

// applyPaid makes a change take place that waited for the payment of its order.
func (s *Store) applyPaid(ctx context.Context, u *db.Unit, sub *subscription.Subscription, change *subscription.PendingChange, order *order.Order) error {
	left, err := s.restAt(ctx, u, sub, change.EffectiveAt, order.ID)
	if err != nil {
		return err
	}
	return s.apply(ctx, u, sub, change, left, order)
}

// changeQuantity changes how many pieces a locked subscription is for, and how many it will be for by a change that waits. What more pieces cost
// until the end of the period is billed with the next one. If fewer pieces cost less, what was paid of the difference goes to the customer's balance.
// What either plan does not allow is CodeInvalid on quantity. The caller stores the subscription.
func (s *Store) changeQuantity(ctx context.Context, u *db.Unit, sub *subscription.Subscription, quantity int64, now core.Time) error {
	customer, err := s.Customer.LockAny(ctx, u, sub.AccountID, sub.CustomerID)
	if err != nil {
		return err
	}
	c, err := s.quoteChange(ctx, u, sub, customer, ChangeSubscription{Quantity: &quantity, Behavior: tenant.ProrationBehaviorNextInvoice}, now)
	if err != nil {
		return err
	}
	waits := sub.PendingChange.V
	if err := s.changePlan(ctx, u, c, customer, "", now); err != nil || waits == nil {
		return err
	}
	next := *waits
	next.Plan.Quantity = quantity
	if core.SameJSON(next.Plan, sub.CurrentPlan()) {
		return nil // that was about the quantity alone
	}
	o, err := s.planOffer(ctx, u, sub, next.Plan.PriceVariantID)
	if err != nil {
		return err
	}
	if problem := refusesPlan(o, sub, next.Plan); problem != "" {
		return core.Invalid("quantity", "A change of plan waits, whose quantity changes too. "+problem)
	}
	sub.PendingChange = core.JSONOf(&next)
	return sub.CheckRest(next.Plan, "quantity")
}
