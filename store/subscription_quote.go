package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// quoteChange computes what a change of plan costs at this moment, and changes nothing. A subscription that is not active or
// trialing, or for which a payment is under way, is CodeInvalid on status.
func (s *Store) quoteChange(ctx context.Context, r db.Reader, sub *subscription.Subscription, customer *customer.Customer, in ChangeSubscription, now core.Time) (*SubscriptionChange, error) {
	if sub.Status != subscription.StatusActive && sub.Status != subscription.StatusTrialing {
		return nil, core.Invalid("status", fmt.Sprintf("The subscription is %s. Only an active or trialing one can change.", sub.Status)).Because("no_change")
	}
	if err := s.Subscription.CheckFree(ctx, r, sub); err != nil {
		return nil, err
	}
	now -= now % core.Time(time.Millisecond.Microseconds()) // a subscription.PendingChange is stored as JSON, whose times have milliseconds: computing with the same moment later gives the same figures
	plan, variant, err := s.planFor(ctx, r, sub, in)
	if err != nil {
		return nil, err
	}
	seller, err := s.Tenant.Seller(ctx, r, sub.AccountID)
	if err != nil {
		return nil, err
	}
	c := &SubscriptionChange{
		Subscription: sub, Plan: plan, Behavior: cmp.Or(in.Behavior, seller.ProrationBehavior), EffectiveAt: now,
		PeriodStart: sub.CurrentPeriodStart, PeriodEnd: sub.CurrentPeriodEnd, byCustomer: in.Shown != nil,
	}
	if c.Price, err = (subscription.PlanOf{Subscription: sub, Plan: plan}).PeriodPrice(seller, customer, variant); err != nil {
		return nil, err
	}
	switch {
	case core.SameJSON(plan, sub.CurrentPlan()):
		return c, nil
	case sub.Status == subscription.StatusTrialing:
		return c, s.Checkout.CheckTrial(ctx, r, sub, customer, plan.ProductID)
	case c.Behavior == tenant.ProrationBehaviorNextPeriod:
		c.EffectiveAt = sub.CurrentPeriodEnd
		return c, nil
	}
	return c, s.prorate(ctx, r, c, customer, now)
}

// planFor returns the plan that is asked for, priced in the subscription's currency, and its price variant. A subscription that keeps its price
// variant keeps the unit amount that it was sold with, whatever the variant costs by now. What cannot be bought is CodeInvalid
// on quantity or price_variant; a price variant that does not exist is CodeMissing.
func (s *Store) planFor(ctx context.Context, r db.Reader, sub *subscription.Subscription, in ChangeSubscription) (subscription.Plan, *catalog.PriceVariant, error) {
	plan, param := sub.CurrentPlan(), "quantity"
	plan.Quantity = max(core.Deref(in.Quantity), 0)
	if in.Quantity == nil {
		plan.Quantity = sub.Quantity
	}
	o, err := s.planOffer(ctx, r, sub, cmp.Or(in.PriceVariant, sub.PriceVariantID))
	if err != nil {
		return plan, nil, err
	}
	var p core.Problems
	if o.Variant.ID != sub.PriceVariantID {
		param = "price_variant"
		problem, amount := unplannable(o, sub.Currency), int64(0)
		if problem == "" {
			if amount, problem = o.UnitAmount(sub.Currency, nil); problem == "" {
				plan = planOf(o, plan.Quantity, amount)
			}
		}
		p.Check(problem == "", param, problem)
	}
	problem := refusesPlan(o, sub, plan)
	p.Check(problem == "", "quantity", problem)
	if err := p.Err(); err != nil {
		return plan, nil, err
	}
	return plan, o.Variant, sub.CheckRest(plan, param)
}

// planOffer returns a price variant as a plan of a subscription, with its product. One that does not exist is CodeMissing on price_variant.
func (s *Store) planOffer(ctx context.Context, r db.Reader, sub *subscription.Subscription, variant string) (offer.Offer, error) {
	v, err := s.Catalog.PriceVariantNamed(ctx, r, sub.AccountID, variant, "price_variant")
	if err != nil {
		return offer.Offer{}, err
	}
	products, err := s.Catalog.OffersByIDIn(ctx, r, sub.AccountID, []string{v.ProductID})
	return offer.Offer{Variant: v, Product: products[v.ProductID]}, err
}

// refusesPlan says in a sentence why a subscription cannot have a plan of the offer in its quantity, and returns nothing if it can.
func refusesPlan(o offer.Offer, sub *subscription.Subscription, plan subscription.Plan) string {
	if problem := o.Allowed(plan.Quantity); problem != "" {
		return problem
	}
	if plan.Quantity > core.MaxAmount/max(plan.UnitAmount, 1) {
		return "The total is more than an order can come to."
	}
	return lacks(o, sub, plan.Quantity)
}

// planOf returns the plan of a recurring offer, with what one unit costs.
func planOf(o offer.Offer, quantity, amount int64) subscription.Plan {
	v := o.Variant
	return subscription.Plan{
		ProductID: v.ProductID, PriceVariantID: v.ID, ProductName: o.Product.Name, PriceVariantName: v.Name, Quantity: quantity, UnitAmount: amount,
		Interval: *v.Interval, IntervalCount: max(core.Deref(v.IntervalCount), 1), BillingCycles: v.BillingCycles,
	}
}

// unplannable returns the reason why a subscription in this currency cannot change to the offer, or "" if it can.
func unplannable(o offer.Offer, currency string) string {
	switch {
	case o.Product == nil || o.Product.Status != catalog.ProductStatusActive:
		return "The product of this price variant is not active."
	case o.Variant.Status != catalog.PriceVariantStatusActive:
		return fmt.Sprintf("Price variant %s is archived.", o.Variant.ID)
	case o.Variant.Type != catalog.PriceVariantTypeRecurring:
		return fmt.Sprintf("Price variant %s is not recurring.", o.Variant.ID)
	}
	return o.Foreign(currency)
}

// lacks says in a sentence why so many units of the offer cannot be had by a subscription now, and returns nothing if they can.
func lacks(o offer.Offer, sub *subscription.Subscription, quantity int64) string {
	v := o.Variant
	had := sub.UnitsOf(v.ID)
	if v.Stock == nil {
		return ""
	}
	return subscription.TooFew(v.ID, *v.Stock-v.SoldCount-v.ReservedCount, quantity-had.Most-had.Held)
}

// prorate compares what the rest of the period costs under the new plan with what is left of what was paid for it. It fills in the difference: as a
// line to bill if the new plan costs more, as credit if it costs less. Both have their tax in them, so that the buyer pays the difference of what
// they would pay. A plan with another interval begins a new period now, which is billed in full.
func (s *Store) prorate(ctx context.Context, r db.Reader, c *SubscriptionChange, customer *customer.Customer, now core.Time) error {
	sub, next := c.Subscription, *c.Subscription
	next.Follow(c.Plan)
	next.Prorations = core.JSON[[]subscription.Proration]{}
	c.restarts = c.Plan.Interval != sub.Interval || c.Plan.IntervalCount != sub.IntervalCount
	if c.restarts {
		next.AnchorDay = int64(now.Time().Day())
		if err := next.Begin(now); err != nil {
			return err
		}
		c.PeriodStart, c.PeriodEnd = next.CurrentPeriodStart, next.CurrentPeriodEnd
	}
	whole, err := s.Subscription.PeriodBill(ctx, r, &next, customer)
	if err == nil {
		err = lineitem.PriceError("quantity", "an order", nil, whole.Amounts)
	}
	if err != nil {
		return err
	}
	c.amount, c.discounted = whole.Period, whole.Amounts.Discount > 0 && next.DiscountWaits.V == nil
	if c.rest, err = s.restAt(ctx, r, sub, now, ""); err != nil {
		return err
	}
	c.Unused = c.rest.Sum()
	if c.Remaining, err = next.Unused(whole.Items[0].TotalAmount, now); err != nil {
		return err
	}
	step := core.CurrencyOf(sub.Currency).Step() // the difference is charged, or taken off debits that are
	c.Remaining -= (c.Remaining - c.Unused) % step
	if c.Remaining <= c.Unused {
		c.credits = c.rest.Cut(c.Unused - c.Remaining)
		for _, credit := range c.credits {
			c.Credit += credit.Amount
		}
		return nil
	}
	item := next.Line(lineitem.KindProration, 1, c.Remaining-c.Unused)
	item.TaxInclusive = true
	seller, err := s.Tenant.Seller(ctx, r, sub.AccountID)
	if err != nil {
		return err
	}
	had := sub.CurrentPlan()
	change := lineitem.PlanChange{From: had.Describe(), To: c.Plan.Describe(), Until: seller.Local(next.CurrentPeriodEnd)}
	if c.Plan.Quantity != sub.Quantity {
		change.From, change.To = fmt.Sprintf("%d × %s", sub.Quantity, change.From), fmt.Sprintf("%d × %s", c.Plan.Quantity, change.To)
	}
	if c.Plan.HasNameOf(had) {
		change.FromPrice, change.ToPrice = had.Price(sub.Currency), c.Plan.Price(sub.Currency)
	}
	item.DescribeChange(change)
	item.PeriodStart = &now
	b, err := s.Subscription.PriceBillIn(ctx, r, &next, customer, []lineitem.Item{item}, nil)
	if err != nil {
		return err
	}
	c.Items, c.Amounts, c.Balance = b.Items, b.Amounts, b.Balance
	// The balance pays more than it has only for a total that is too little to be charged: see credit.
	if c.Balance > max(sub.Payer(customer).Balance.V[sub.Currency], 0) {
		c.Behavior, c.Balance, c.waits = tenant.ProrationBehaviorNextInvoice, 0, true
	}
	return nil
}
