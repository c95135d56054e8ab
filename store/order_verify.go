package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
)

// verifyOrder verifies the purchase that made an order, or began the subscription that it bills.
func (s *Store) verifyOrder(ctx context.Context, account, ref string, wanted bool) error {
	o, err := s.GetOrder(ctx, account, ref)
	if err != nil {
		return err
	}
	checkout := o.CheckoutID
	if checkout == nil && !o.CustomerVerified {
		sub, err := s.Subscription.Named(ctx, account, core.Deref(o.SubscriptionID), "")
		if err != nil {
			return err
		}
		checkout = sub.CheckoutID
	}
	return s.Checkout.SetVerified(ctx, account, checkout, o.CustomerVerified, wanted)
}
