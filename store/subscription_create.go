package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/report"
	"github.com/tillwright/tillwright/store/subscription"
)

// BeginSubscription makes the checkout by which a subscription is bought on behalf of a customer. The draft has one line, of a
// recurring price variant. A request that is sent again gets the checkout of the first time. A price variant that cannot be
// sold is CodeInvalid on price_variant; a wrong amount or trial is CodeInvalid on custom_amount or trial_end.
func (s *Store) BeginSubscription(ctx context.Context, account string, draft checkout.Draft) (*checkout.Checkout, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*checkout.Checkout, error) {
		draft.AccountID, draft.ID = account, core.KindCheckout.Prefix()+s.db.Effect(ctx)
		begun, err := s.Checkout.ByIDIn(ctx, u, account, []string{draft.ID})
		if err != nil || begun[draft.ID] != nil {
			return begun[draft.ID], err
		}
		variant, err := s.Catalog.PriceVariantNamed(ctx, u, account, draft.Lines[0].PriceVariant, "price_variant")
		if err != nil {
			return nil, err
		}
		if variant.Type != catalog.PriceVariantTypeRecurring {
			return nil, core.Invalid("price_variant", fmt.Sprintf("Price variant %s is not recurring. Sell it through a checkout.", variant.ID))
		}
		if err := s.checkSubscribed(ctx, u, variant, draft); err != nil {
			return nil, err
		}
		c, err := s.Checkout.Create(ctx, account, draft)
		if e, ok := errors.AsType[*core.Error](err); ok && e.Param == "line_items" {
			err = core.Invalid("price_variant", e.Message)
		}
		return c, err
	})
}

// checkSubscribed returns CodeInvalid on trial_end or custom_amount if the first line of the draft does not fit its price
// variant.
func (s *Store) checkSubscribed(ctx context.Context, r db.Reader, variant *catalog.PriceVariant, draft checkout.Draft) error {
	now, err := db.BusinessNow(ctx, r, variant.AccountID)
	if err != nil {
		return err
	}
	var p core.Problems
	line := draft.Lines[0]
	if end := line.TrialEnd; end != nil {
		p.Check(*end > now && *end <= now.Add(maxTrial), "trial_end", "A trial ends in the future, at most 730 days from now.")
		had, err := s.Checkout.TrialsOfBuyer(ctx, r, draft.Checkout, []string{variant.ProductID})
		if err != nil {
			return err
		}
		p.Check(len(had) == 0, "trial_end", "The customer has had a trial of this product, and the account gives each one. Leave trial_end out: the first period is charged at once.")
	}
	o, currency := offer.Offer{Variant: variant}, cmp.Or(draft.Currency, variant.Currency)
	if o.Foreign(currency) == "" {
		_, problem := o.UnitAmount(currency, line.CustomAmount)
		p.Check(problem == "", "custom_amount", problem)
	}
	return p.Err()
}

// owner is the customer of a new subscription. With isKnown more than a typed address says that they bought it.
type owner struct {
	*customer.Customer
	isKnown bool
}

// newSubscriptions makes a subscription for each recurring line of a checkout. It returns them with the index of the line that each of them is from.
// They are not stored yet: insertSubscriptions does that. Variants are the price variants of the lines, by id.
func (s *Store) newSubscriptions(ctx context.Context, r db.Reader, c *checkout.Checkout, items []lineitem.Item, variants map[string]*catalog.OfferedVariant, by owner, method *payment.BillingMethod, now core.Time) ([]subscription.Subscription, []int, error) {
	terms, err := s.Discount.TermsOf(ctx, r, c.AccountID, c.DiscountID)
	if err != nil {
		return nil, nil, err
	}
	var made []subscription.Subscription
	var lines []int
	for i, item := range items {
		variant := variants[core.Deref(item.PriceVariantID)]
		if item.Kind != lineitem.KindPrice || variant == nil || variant.Type != catalog.PriceVariantTypeRecurring {
			continue
		}
		sub, err := newSubscription(c, item, &variant.PriceVariant, now)
		if err != nil {
			return nil, nil, err
		}
		sub.CustomerID, sub.CustomerVerified, sub.Method = by.ID, by.isKnown, core.JSONOf(method)
		if !by.isKnown && method != nil {
			sub.Method.V.ID = nil // by id, another method of the customer could be charged once this one is removed
		}
		if terms != nil && terms.Rate(item) != nil {
			sub.DiscountAs(item, items, terms)
		}
		made, lines = append(made, *sub), append(lines, i)
	}
	return made, lines, nil
}

// newSubscription makes the subscription of one line of a checkout. It begins with the trial of the line, if that has one, or
// else with a period that the checkout has paid for.
func newSubscription(c *checkout.Checkout, item lineitem.Item, variant *catalog.PriceVariant, now core.Time) (*subscription.Subscription, error) {
	sub := &subscription.Subscription{
		AccountID: c.AccountID, ID: core.NewID(core.KindSubscription), Status: subscription.StatusActive, Currency: item.Currency,
		AnchorDay: int64(now.Time().Day()), StartedAt: now, CustomFieldData: c.CustomFieldData, BillingName: c.CustomerName,
		BillingAddress: c.BillingAddress, TaxID: c.TaxID, CheckoutID: &c.ID, Metadata: c.Metadata, CreatedAt: now, UpdatedAt: now,
	}
	sub.Follow(subscription.Plan{
		ProductID: variant.ProductID, PriceVariantID: variant.ID, ProductName: item.ProductName, PriceVariantName: item.PriceVariantName,
		Quantity: item.Quantity, UnitAmount: item.UnitAmount, Interval: *variant.Interval, IntervalCount: max(core.Deref(variant.IntervalCount), 1), BillingCycles: variant.BillingCycles,
	})
	if end := item.TrialEndsAt(now); end != nil { // what the buyer was shown
		sub.Status, sub.TrialStart, sub.TrialEnd = subscription.StatusTrialing, &now, end
		sub.CurrentPeriodStart, sub.CurrentPeriodEnd = now, *end
		return sub, nil
	}
	sub.CyclesBilled, sub.PeriodAmount = 1, item.SubtotalAmount-item.DiscountAmount
	return sub, sub.Begin(now)
}

// insertSubscriptions stores the subscriptions that a checkout made. The invoice of the checkout becomes their latest one.
func (s *Store) insertSubscriptions(ctx context.Context, u *db.Unit, subs []subscription.Subscription, invoice string) error {
	for i := range subs {
		sub := &subs[i]
		sub.LatestInvoiceID = &invoice
		sub.Schedule()
		s.Subscription.Count(u, sub, sub.StartedAt)
		s.Report.Count(u, sub.AccountID, sub.Currency, sub.StartedAt, report.Figures{Started: 1})
		if err := u.Insert(ctx, subscription.Columns, sub); err != nil {
			return err
		}
		if err := s.writeTrialEnding(ctx, u, sub, sub.StartedAt); err != nil {
			return err
		}
		if err := s.writePeriod(ctx, u, sub, sub.StartedAt); err != nil {
			return err
		}
	}
	return nil
}
