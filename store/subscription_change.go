package store

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/pricing"
)

// ChangeSubscription asks for another plan. What is empty stays as it is; without a Behavior the account's counts.
type ChangeSubscription struct {
	PriceVariant string
	Quantity     *int64
	Behavior     ProrationBehavior
}

// SubscriptionChange is what a change of plan comes to. Items and the figures of Bill are what is billed for it, now or with the next
// period; Credit goes to the customer's balance instead. Payment, if there is one, has to succeed before the plan changes.
type SubscriptionChange struct {
	Subscription *Subscription
	Plan         SubscriptionPlan
	Behavior     ProrationBehavior
	EffectiveAt  core.Time
	PeriodStart  core.Time
	PeriodEnd    core.Time
	Unused       int64 // of what the period has cost
	Remaining    int64 // of what it costs under the plan
	Credit       int64
	Items        []LineItem
	Amounts      pricing.Amounts
	Balance      int64
	Payment      *Payment

	amount   int64 // what the period costs then, after its discount
	restarts bool
	waits    bool // it comes to less than can be charged
}

// SubscriptionRenewal is what the next period of a subscription is going to cost.
type SubscriptionRenewal struct {
	Subscription *Subscription // as it will be
	Items        []LineItem
	Amounts      pricing.Amounts
	Balance      int64
}

// ChangeSubscription changes the plan of a subscription. More than what was paid is billed, with order.created and
// invoice.created, and Payment is to be charged: the plan changes when it succeeds, and the bill is void when it fails. Less goes to the
// customer's balance, and what is too little to be charged waits for the next bill. A change that waits for the next period,
// and one of a trial, moves no money. What cannot be bought is CodeInvalid, and so is a change while the subscription is not active or trialing.
func (s *Store) ChangeSubscription(ctx context.Context, account, ref string, in ChangeSubscription) (*SubscriptionChange, error) {
	return step(ctx, s, func(ctx context.Context, u *unit) (*SubscriptionChange, error) {
		sub, err := s.findSubscription(ctx, account, ref, "", u.Lock())
		if err != nil {
			return nil, err
		}
		id := core.KindPayment.Prefix() + s.db.Effect(ctx)
		begun, err := s.PaymentsByID(ctx, account, []string{id})
		if err != nil || begun[id] != nil {
			return &SubscriptionChange{Subscription: sub, Payment: begun[id]}, err
		}
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		customer, err := u.store.anyCustomer(ctx, sub.AccountID, sub.CustomerID, u.Lock())
		if err != nil {
			return nil, err
		}
		c, err := s.quoteChange(ctx, sub, customer, in, now)
		if err != nil {
			return nil, err
		}
		return c, u.changePlan(ctx, c, customer, id, now)
	})
}

// PreviewSubscriptionChange says what ChangeSubscription would do now, and does nothing.
func (s *Store) PreviewSubscriptionChange(ctx context.Context, account, ref string, in ChangeSubscription) (*SubscriptionChange, error) {
	sub, customer, now, err := s.subscriber(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	return s.quoteChange(ctx, sub, customer, in, now)
}

// PreviewSubscriptionRenewal says what the next period is going to cost as things stand. One that will not be renewed
// is CodeInvalid on status.
func (s *Store) PreviewSubscriptionRenewal(ctx context.Context, account, ref string) (*SubscriptionRenewal, error) {
	sub, customer, _, err := s.subscriber(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	if sub.hasEnded() || sub.CancelAtPeriodEnd || sub.BillingCycles != nil && sub.CyclesBilled >= *sub.BillingCycles {
		return nil, core.Invalid("status", "The subscription ends with its period: it will not be renewed.")
	}
	if err := sub.turn(sub.CurrentPeriodEnd); err != nil {
		return nil, err
	}
	b, err := s.periodBill(ctx, sub, customer)
	if err != nil {
		return nil, err
	}
	return &SubscriptionRenewal{sub, b.Items, b.Amounts, b.Balance}, nil
}

// subscriber reads a subscription, its customer, and the time.
func (s *Store) subscriber(ctx context.Context, account, ref string) (*Subscription, *Customer, core.Time, error) {
	sub, err := s.findSubscription(ctx, account, ref, "", "")
	if err != nil {
		return nil, nil, 0, err
	}
	customer, err := s.findCustomer(ctx, account, sub.CustomerID, "", "")
	if err != nil {
		return nil, nil, 0, err
	}
	now, err := s.db.BusinessNow(ctx, account)
	return sub, customer, now, err
}

// quoteChange reckons what a change of plan comes to now.
func (s *Store) quoteChange(ctx context.Context, sub *Subscription, customer *Customer, in ChangeSubscription, now core.Time) (*SubscriptionChange, error) {
	if sub.Status != SubscriptionStatusActive && sub.Status != SubscriptionStatusTrialing {
		return nil, core.Invalid("status", fmt.Sprintf("The subscription is %s. Only an active or trialing one can change.", sub.Status))
	}
	if err := s.checkFree(ctx, sub); err != nil {
		return nil, err
	}
	now -= now % core.Time(time.Millisecond.Microseconds()) // what a change keeps of the moment until it is paid: see PendingChange
	plan, err := s.planFor(ctx, sub, in)
	if err != nil {
		return nil, err
	}
	c := &SubscriptionChange{Subscription: sub, Plan: plan, Behavior: in.Behavior, EffectiveAt: now, PeriodStart: sub.CurrentPeriodStart, PeriodEnd: sub.CurrentPeriodEnd}
	if c.Behavior == "" {
		account, err := s.findAccount(ctx, sub.AccountID, "")
		if err != nil {
			return nil, err
		}
		c.Behavior = account.ProrationBehavior
	}
	switch {
	case core.SameJSON(plan, sub.plan()), sub.Status == SubscriptionStatusTrialing:
		return c, nil
	case c.Behavior == ProrationBehaviorNextPeriod:
		c.EffectiveAt = sub.CurrentPeriodEnd
		return c, nil
	}
	return c, s.prorate(ctx, c, customer, now)
}

// planFor is the plan that is asked for, in the subscription's currency.
func (s *Store) planFor(ctx context.Context, sub *Subscription, in ChangeSubscription) (SubscriptionPlan, error) {
	plan := sub.plan()
	plan.Quantity = max(core.Deref(in.Quantity), 0)
	if in.Quantity == nil {
		plan.Quantity = sub.Quantity
	}
	ref := in.PriceVariant
	if ref == "" {
		ref = sub.PriceVariantID
	}
	variant, err := s.findPriceVariant(ctx, sub.AccountID, ref, "price_variant", "")
	if err != nil {
		return plan, err
	}
	products, err := s.ProductsByID(ctx, sub.AccountID, []string{variant.ProductID})
	if err != nil {
		return plan, err
	}
	o := offer{variant: variant, product: products[variant.ProductID]}
	var p core.Problems
	problem := o.allowed(plan.Quantity)
	p.Check(problem == "", "quantity", problem)
	p.Check(plan.Quantity <= MaxAmount/max(sub.UnitAmount, 1), "quantity", "The total is more than an order can come to.")
	if variant.ID != sub.PriceVariantID {
		problem = o.unplannable(sub.Currency)
		p.Check(problem == "", "price_variant", problem)
	}
	if err := p.Err(); err != nil {
		return plan, err
	}
	if variant.ID == sub.PriceVariantID {
		return plan, sub.checkRest(plan, "quantity")
	}
	amount, problem := o.unitAmount(sub.Currency, nil)
	if problem != "" {
		return plan, core.Invalid("price_variant", problem)
	}
	plan = SubscriptionPlan{variant.ProductID, variant.ID, o.product.Name, variant.Name, plan.Quantity, amount, *variant.Interval, max(core.Deref(variant.IntervalCount), 1), variant.BillingCycles}
	return plan, sub.checkRest(plan, "price_variant")
}

// checkRest is CodeInvalid on param if the subscription's discount leaves too little of a plan to be charged.
func (s *Subscription) checkRest(plan SubscriptionPlan, param string) error {
	next, terms := *s, s.discountAt(s.CurrentPeriodEnd)
	if terms == nil || core.SameJSON(plan, s.plan()) {
		return nil
	}
	next.follow(plan)
	if problem := terms.leavesTooLittle(next.lines()[0]); problem != "" {
		return core.Invalid(param, problem)
	}
	return nil
}

// unplannable says why a subscription cannot change to the offer; empty if it can.
func (o offer) unplannable(currency string) string {
	switch {
	case o.product == nil || o.product.Status != ProductStatusActive:
		return "The product of this price variant is not active."
	case o.variant.Status != PriceVariantStatusActive:
		return fmt.Sprintf("Price variant %s is archived.", o.variant.ID)
	case o.variant.Type != PriceVariantTypeRecurring:
		return fmt.Sprintf("Price variant %s is not recurring.", o.variant.ID)
	}
	return o.foreign(currency)
}

// prorate reckons what is left of the period under either plan. Another interval begins a period of its own, which is
// billed in full.
func (s *Store) prorate(ctx context.Context, c *SubscriptionChange, customer *Customer, now core.Time) error {
	sub, next := c.Subscription, *c.Subscription
	next.follow(c.Plan)
	next.Prorations = core.JSON[[]Proration]{}
	c.restarts = c.Plan.Interval != sub.Interval || c.Plan.IntervalCount != sub.IntervalCount
	if c.restarts {
		next.AnchorDay = int64(now.Time().Day())
		if err := next.begin(now); err != nil {
			return err
		}
		c.PeriodStart, c.PeriodEnd = next.CurrentPeriodStart, next.CurrentPeriodEnd
	}
	whole, err := s.periodBill(ctx, &next, customer)
	if err != nil {
		return err
	}
	c.amount = whole.Period
	if c.Unused, err = sub.unused(sub.PeriodAmount, now); err != nil {
		return err
	}
	if c.Remaining, err = next.unused(c.amount, now); err != nil || c.Remaining == c.Unused {
		return err
	}
	item := next.line(LineItemKindProration, 1, max(c.Remaining-c.Unused, c.Unused-c.Remaining))
	text := fmt.Sprintf("Change from %s to %s, until %s", sub.plan().describe(), c.Plan.describe(), next.CurrentPeriodEnd.Time().Format("2006-01-02"))
	item.Description, item.PeriodStart = &text, &now
	b, err := s.priceBill(ctx, &next, customer, []LineItem{item}, nil)
	if err != nil {
		return err
	}
	if c.Remaining < c.Unused {
		c.Credit = b.Amounts.Total
		return nil
	}
	c.Items, c.Amounts, c.Balance = b.Items, b.Amounts, b.Balance
	if c.Balance > max(customer.Balance.V[sub.Currency], 0) {
		c.Behavior, c.Balance, c.waits = ProrationBehaviorNextInvoice, 0, true
	}
	return nil
}

// unused is the part of the current period that is still to come, of an amount.
func (s *Subscription) unused(amount int64, now core.Time) (int64, error) {
	return pricing.Period{Start: s.CurrentPeriodStart.Time(), End: s.CurrentPeriodEnd.Time()}.Unused(amount, now.Time())
}

// changePlan does what was quoted to a locked subscription.
func (u *unit) changePlan(ctx context.Context, c *SubscriptionChange, customer *Customer, payment string, now core.Time) error {
	sub := c.Subscription
	switch {
	case sub.Status == SubscriptionStatusTrialing:
		sub.follow(c.Plan)
		sub.PendingChange = core.JSON[*PendingChange]{}
		return u.saveSubscription(ctx, sub, now)
	case core.SameJSON(c.Plan, sub.plan()):
		sub.PendingChange = core.JSON[*PendingChange]{}
		return u.saveSubscription(ctx, sub, now)
	case c.Behavior == ProrationBehaviorNextPeriod:
		sub.PendingChange = core.JSONOf(&PendingChange{Plan: c.Plan, EffectiveAt: c.EffectiveAt})
		return u.saveSubscription(ctx, sub, now)
	case len(c.Items) == 0 || c.Behavior == ProrationBehaviorNextInvoice && (c.waits || !c.restarts):
		return u.changeUnbilled(ctx, c, customer, now)
	}
	return u.billChange(ctx, c, customer, payment, now)
}

// pending is the change as the subscription keeps it until it takes place.
func (c *SubscriptionChange) pending() *PendingChange {
	return &PendingChange{Plan: c.Plan, EffectiveAt: c.EffectiveAt, Restarts: c.restarts, Amount: c.amount}
}

// changeUnbilled changes the plan at once. What it costs more is billed with the next period, what it costs less is the
// customer's.
func (u *unit) changeUnbilled(ctx context.Context, c *SubscriptionChange, customer *Customer, now core.Time) error {
	sub := c.Subscription
	if err := u.apply(ctx, sub, c.pending(), ""); err != nil {
		return err
	}
	for _, item := range c.Items {
		sub.Prorations = core.JSONOf(append(sub.Prorations.V, Proration{*item.Description, item.UnitAmount}))
	}
	if c.Credit > 0 {
		customer.addBalance(sub.Currency, c.Credit)
		customer.UpdatedAt = now
		if err := u.Update(ctx, customerColumns, customer); err != nil {
			return err
		}
	}
	return u.saveSubscription(ctx, sub, now)
}

// billChange bills a change. With nothing left to charge it takes place at once.
func (u *unit) billChange(ctx context.Context, c *SubscriptionChange, customer *Customer, payment string, now core.Time) error {
	sub := c.Subscription
	change := c.pending()
	b, err := u.placeBill(ctx, sub, customer, &subscriptionBill{Items: c.Items, Amounts: c.Amounts, Balance: c.Balance}, BillingReasonSubscriptionUpdate)
	if err != nil {
		return err
	}
	if b.Order.Status == OrderStatusPaid {
		sub.LatestInvoiceID = &b.Invoice.ID
		if err := u.apply(ctx, sub, change, b.Order.ID); err != nil {
			return err
		}
		return u.saveSubscription(ctx, sub, now)
	}
	method, err := u.billingMethod(ctx, sub)
	if err != nil {
		return err
	}
	if method == nil {
		return core.Invalid("payment_method", "The subscription has no payment method to charge the change to.")
	}
	change.InvoiceID = &b.Invoice.ID
	sub.PendingChange = core.JSONOf(change)
	if c.Payment, err = u.chargeBill(ctx, b, method, payment); err != nil {
		return err
	}
	return u.saveSubscription(ctx, sub, now)
}

// apply lets a change of a locked subscription take place, that an order pays for if it costs anything.
func (u *unit) apply(ctx context.Context, sub *Subscription, change *PendingChange, order string) error {
	carried, err := u.carry(ctx, sub, change, order)
	if err != nil {
		return err
	}
	return sub.apply(change, carried)
}

// apply makes a change take place. A period that it begins is paid for by what is carried into it, too.
func (s *Subscription) apply(change *PendingChange, carried []PaidPart) error {
	s.follow(change.Plan)
	s.PendingChange = core.JSON[*PendingChange]{}
	s.PeriodAmount = change.Amount
	if !change.Restarts {
		return nil
	}
	s.CyclesBilled++
	s.Restarts++
	s.use(change.Amount)
	s.AnchorDay = int64(change.EffectiveAt.Time().Day())
	err := s.begin(change.EffectiveAt)
	s.Carried = core.JSONOf(carried)
	return err
}

// changeQuantity changes how many pieces a subscription is for. What they cost more until the end of the period is billed
// with the next one.
func (u *unit) changeQuantity(ctx context.Context, sub *Subscription, quantity int64, now core.Time) error {
	customer, err := u.store.anyCustomer(ctx, sub.AccountID, sub.CustomerID, u.Lock())
	if err != nil {
		return err
	}
	c, err := u.store.quoteChange(ctx, sub, customer, ChangeSubscription{Quantity: &quantity, Behavior: ProrationBehaviorNextInvoice}, now)
	if err != nil {
		return err
	}
	return u.changePlan(ctx, c, customer, "", now)
}

// settled is the outcome of a payment of one of a locked subscription's invoices, whose bill is locked and, after a success, paid. It
// stores the subscription.
func (u *unit) settled(ctx context.Context, sub *Subscription, b *bill, status PaymentStatus, now core.Time) error {
	change := sub.PendingChange.V
	isChange := change != nil && core.Deref(change.InvoiceID) == b.Invoice.ID
	isLatest := core.Deref(sub.LatestInvoiceID) == b.Invoice.ID
	var err error
	switch {
	case status == PaymentStatusSucceeded && isChange:
		sub.LatestInvoiceID = &b.Invoice.ID
		err = u.apply(ctx, sub, change, b.Order.ID)
	case status == PaymentStatusSucceeded && isLatest:
		sub.collected()
	case status == PaymentStatusRequiresAction || status == PaymentStatusSucceeded:
		return nil
	case isChange:
		sub.PendingChange = core.JSON[*PendingChange]{}
		err = u.voidBill(ctx, b, "payment_failed", now)
	case isLatest && !sub.hasEnded():
		err = u.notCollected(ctx, sub, b, now)
	}
	if err != nil {
		return err
	}
	return u.saveSubscription(ctx, sub, now)
}
