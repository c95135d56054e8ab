package store

import (
	"context"

	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/order"
)

// A letter speaks the language of the checkout at which what it tells of was bought, or else the one that its customer prefers.

// LetterLocale returns the language in which a buyer is written to: that of their checkout, which may be nil, or else the one they prefer. It is nil if
// neither is known.
func (s *Store) LetterLocale(ctx context.Context, account string, checkout *string, customer string) (*string, error) {
	spoken, err := s.checkoutLocale(ctx, account, checkout)
	if err != nil || spoken != nil {
		return spoken, err
	}
	found, err := s.Customer.ByID(ctx, account, []string{customer})
	if err != nil || found[customer] == nil {
		return nil, err
	}
	return found[customer].PreferredLocale, nil
}

// orderCheckout returns the checkout that an order comes from: its own, or that of the subscription that it bills. It is nil if there is none.
func (s *Store) orderCheckout(ctx context.Context, o *order.Order) (*string, error) {
	if o.CheckoutID != nil || o.SubscriptionID == nil {
		return o.CheckoutID, nil
	}
	sub, err := s.Subscription.Get(ctx, o.AccountID, *o.SubscriptionID)
	if err != nil {
		return nil, err
	}
	return sub.CheckoutID, nil
}

// grantCheckout returns the checkout at which the product of a grant was bought, nil if there is none.
func (s *Store) grantCheckout(ctx context.Context, g *grant.Grant) (*string, error) {
	switch g.SourceType {
	case grant.SourceTypeOrder:
		o, err := s.Order.Get(ctx, g.AccountID, g.SourceID)
		if err != nil {
			return nil, err
		}
		return o.CheckoutID, nil
	case grant.SourceTypeSubscription:
		sub, err := s.Subscription.Get(ctx, g.AccountID, g.SourceID)
		if err != nil {
			return nil, err
		}
		return sub.CheckoutID, nil
	case grant.SourceTypeManual:
	}
	return nil, nil
}

// checkoutLocale returns the language of a checkout, nil if it has none or there is no checkout.
func (s *Store) checkoutLocale(ctx context.Context, account string, checkout *string) (*string, error) {
	if checkout == nil {
		return nil, nil
	}
	found, err := s.Checkout.ByID(ctx, account, []string{*checkout})
	if err != nil || found[*checkout] == nil {
		return nil, err
	}
	return found[*checkout].Locale, nil
}
