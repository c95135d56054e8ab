package billing_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

func (p *player) subscribe() error {
	c, err := p.customer()
	if err != nil {
		return err
	}
	all, more, err := p.Catalog.ListPriceVariants(everywhere, p.account, catalog.ListPriceVariants{Page: latest, Type: catalog.PriceVariantTypeRecurring})
	v, err := some(p, all, more, err)
	if err != nil {
		return err
	}
	method, err := p.method(&c.ID)
	if err != nil {
		return err
	}
	draft, err := p.draftOf(c, v)
	if err != nil {
		return err
	}
	made, err := request(p, func(ctx context.Context) (*subscription.Subscription, error) {
		return p.CreateSubscription(ctx, p.account, billing.CreateSubscription{Method: method, Draft: draft})
	})
	return errors.Join(p.answered(fmt.Sprintf("subscribe %s to %s with %v", c.ID, v.ID, method), err), p.subscribed(&draft, made))
}

// draftOf is what a seller says of a subscription: sometimes until when it is free, at what discount, and for how much.
func (p *player) draftOf(c *customer.Customer, v *catalog.PriceVariant) (checkout.Draft, error) {
	line := offer.NewLine{PriceVariant: v.ID, Quantity: int64(1 + p.roll(3))}
	if p.odds(3) {
		end, err := p.in(time.Duration(p.roll(30)-1) * day)
		if err != nil {
			return checkout.Draft{}, err
		}
		line.TrialEnd = &end
	}
	if v.AmountType == catalog.PriceVariantAmountTypeCustom || p.odds(12) {
		line.CustomAmount = new(pick(p, append([]int64{0}, amountsOf...)))
	}
	bought := &checkout.Checkout{CustomerID: &c.ID}
	if d, err := p.discount(); err == nil && p.odds(2) {
		bought.DiscountID = &d.ID
	}
	return checkout.Draft{Checkout: bought, Lines: []offer.NewLine{line}}, nil
}

// subscribed makes sure that a subscription is what was asked for.
func (p *player) subscribed(draft *checkout.Draft, made *subscription.Subscription) error {
	if made == nil || p.crowded {
		return nil
	}
	asked := draft.Lines[0]
	if end := asked.TrialEnd; end != nil && (made.Status != subscription.StatusTrialing || made.CurrentPeriodEnd < *end) ||
		made.Quantity != asked.Quantity || asked.CustomAmount != nil && made.UnitAmount != *asked.CustomAmount {
		return fmt.Errorf("%+v was asked for, and %s is %+v", asked, made.ID, made)
	}
	c, err := p.Checkout.Get(everywhere, p.account, *made.CheckoutID)
	if err != nil {
		return err
	}
	o, err := p.Order.Get(everywhere, p.account, *c.OrderID)
	if err == nil && o.PaidAmount != c.AmountDueNow {
		err = fmt.Errorf("order %s of %s was paid with %d, and not %d", o.ID, made.ID, o.PaidAmount, c.AmountDueNow)
	}
	return errors.Join(err, p.shown(c))
}

func (p *player) subscription() (*subscription.Subscription, error) {
	in := subscription.List{Page: latest}
	if !p.odds(3) {
		in.Status = subscription.StatusActive
	}
	all, more, err := p.Subscription.List(everywhere, p.account, in)
	return some(p, all, more, err)
}

func (p *player) change() error {
	sub, err := p.subscription()
	if err != nil {
		return err
	}
	in := store.ChangeSubscription{Quantity: maybe(p, 2, func() int64 { return int64(1 + p.roll(5)) })}
	if p.odds(2) {
		in.Behavior = p.behavior()
	}
	if in.Quantity == nil || p.odds(2) {
		all, more, err := p.Catalog.ListPriceVariants(everywhere, p.account, catalog.ListPriceVariants{Page: latest, Type: catalog.PriceVariantTypeRecurring})
		v, err := some(p, all, more, err)
		if err != nil {
			return err
		}
		in.PriceVariant = v.ID
	}
	due, err := p.reckon(sub, in)
	if err != nil {
		return err
	}
	foreseen, _ := p.PreviewSubscriptionChange(everywhere, p.account, sub.ID, in)
	if err := p.agrees(sub, due, foreseen); err != nil {
		return err
	}
	if foreseen != nil && p.odds(2) { // the customer asks, who agrees to what they were shown
		in.Shown = new(foreseen.Shown())
		if p.odds(4) {
			in.Shown.Each--
		}
	}
	changed, err := request(p, func(ctx context.Context) (*subscription.Subscription, error) {
		return p.Billing.ChangeSubscription(ctx, p.account, sub.ID, in)
	})
	if err == nil {
		if in.Shown != nil && in.Shown.Each < foreseen.Price && !p.crowded {
			return fmt.Errorf("%s changes to %+v, which was shown as %+v", sub.ID, foreseen.Plan, *in.Shown)
		}
		due.answered()
		if err := p.foreseen(sub, foreseen, changed); err != nil {
			return err
		}
	}
	return p.answered(fmt.Sprintf("change %s to %+v", sub.ID, in), err)
}

// foreseen makes sure that a change did what its preview said, and notes what it gave the customer.
func (p *player) foreseen(before *subscription.Subscription, preview *store.SubscriptionChange, after *subscription.Subscription) error {
	if p.crowded {
		return nil
	}
	if preview == nil {
		return fmt.Errorf("the change of %s was refused when it was asked about", before.ID)
	}
	p.credits[before.CustomerID+" "+before.Currency] += preview.Credit
	isBilled := after.LatestInvoiceID != nil && (before.LatestInvoiceID == nil || *before.LatestInvoiceID != *after.LatestInvoiceID)
	if !isBilled {
		return nil
	}
	i, err := p.Invoice.Get(everywhere, p.account, *after.LatestInvoiceID)
	if err != nil {
		return err
	}
	if i.TotalAmount != preview.Amounts.Total || i.BalanceApplied != preview.Balance {
		return fmt.Errorf("the change of %s cost %d, %d of it from the balance; foreseen were %+v", before.ID, i.TotalAmount, i.BalanceApplied, preview)
	}
	return nil
}

// adjust changes a subscription without a change of plan.
func (p *player) adjust() error {
	sub, err := p.subscription()
	if err != nil {
		return err
	}
	in := store.SubscriptionPatch{Change: func(*subscription.Subscription) {}}
	var foreseen *store.SubscriptionChange
	var due *asking
	switch p.roll(4) {
	case 0:
		in.Quantity = new(int64(1 + p.roll(5)))
		if *in.Quantity != sub.Quantity {
			as := store.ChangeSubscription{Quantity: in.Quantity, Behavior: tenant.ProrationBehaviorNextInvoice}
			if due, err = p.reckon(sub, as); err != nil {
				return err
			}
			foreseen, _ = p.PreviewSubscriptionChange(everywhere, p.account, sub.ID, as)
			if err := p.agrees(sub, due, foreseen); err != nil {
				return err
			}
		}
	case 1:
		in.TrialEnd = new(sub.CurrentPeriodEnd.Add(time.Duration(1+p.roll(5)) * day))
	case 2:
		in.CancelAtPeriodEnd = new(p.odds(2))
	default:
		methods, more, err := p.Payment.ListMethods(everywhere, p.account, sub.CustomerID, latest)
		if isRefusal(err) {
			return errIdle
		}
		m, err := some(p, methods, more, err)
		if err != nil {
			return err
		}
		in.PaymentMethod = &m.ID
	}
	_, err = p.UpdateSubscription(everywhere, p.account, sub.ID, in)
	if err == nil {
		due.answered()
	}
	if err == nil && foreseen != nil && !p.crowded {
		p.credits[sub.CustomerID+" "+sub.Currency] += foreseen.Credit
	}
	return p.answered("adjust "+sub.ID, err)
}

// thank gives a subscription a discount, or takes one away.
func (p *player) thank() error {
	sub, err := p.subscription()
	if err != nil {
		return err
	}
	in := store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Discount: new("")}
	if d, err := p.discount(); err == nil && !p.odds(3) {
		in.Discount = &d.ID
	}
	_, err = p.UpdateSubscription(everywhere, p.account, sub.ID, in)
	return p.answered("discount "+sub.ID, err)
}

// stop pauses, resumes, cancels or keeps a subscription.
func (p *player) stop() error {
	sub, err := p.subscription()
	if err != nil {
		return err
	}
	now, refund := p.odds(3), pick(p, []store.CancellationRefund{store.CancellationRefundNone, store.CancellationRefundProrated})
	switch p.roll(5) {
	case 0:
		in := store.PauseSubscription{Now: now, ByCustomer: !now && p.odds(2)}
		if p.odds(2) {
			in.ResumesAt = new(sub.CurrentPeriodEnd.Add(time.Duration(p.roll(60)-20) * day))
		}
		_, err = p.PauseSubscription(everywhere, p.account, sub.ID, in)
	case 1:
		resume := p.ResumeSubscription
		if p.odds(2) {
			resume = p.EndOwnPause
		}
		_, err = resume(everywhere, p.account, sub.ID)
	case 2:
		_, err = p.UncancelSubscription(everywhere, p.account, sub.ID)
	default:
		want, wantErr := p.unused(sub)
		if wantErr != nil {
			return wantErr
		}
		var ended *subscription.Subscription
		ended, err = request(p, func(ctx context.Context) (*subscription.Subscription, error) {
			return p.Billing.CancelSubscription(ctx, p.account, sub.ID, store.CancelSubscription{Now: now, Refund: refund})
		})
		if err == nil && now && refund == store.CancellationRefundProrated {
			if err := p.returned(sub, ended, want); err != nil {
				return err
			}
		}
	}
	return p.answered("stop or keep "+sub.ID, err)
}
