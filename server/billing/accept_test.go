package billing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/tests/harness"
)

// The owner says so on the portal twice, the reader of the mail and the seller say so too, all at once.
func TestAcceptPurchase_ByManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas := w.replicas()
		for range 5 {
			victim := w.victim()
			sub := w.typedSubscription(w.variant(recurring(900, "month")), "pm_card_visa")
			before := w.customerNow(victim)
			vouch := func(s *world, id string) error {
				_, err := s.UpdateSubscription(t.Context(), w.account, id, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, IsVerified: new(true)})
				return err
			}
			says := []func(s *world) error{
				func(s *world) error {
					_, err := s.Checkout.AcceptPurchase(t.Context(), w.account, victim.ID, *sub.CheckoutID)
					return err
				},
				func(s *world) error {
					_, err := s.Checkout.Verify(t.Context(), w.account, *sub.CheckoutID)
					return err
				},
				func(s *world) error { return vouch(s, sub.ID) },
				func(s *world) error {
					_, err := s.UpdateOrder(t.Context(), w.account, w.ordersOf(sub)[0].ID, store.OrderPatch{IsVerified: new(true), Change: func(*order.Order) {}})
					return err
				},
			}
			for _, err := range parallel(2*len(says), func(i int) error { return says[i%len(says)](replicas[i%len(replicas)]) }) {
				require.NoError(t, err)
			}
			assert.True(t, w.now(sub).CustomerVerified)
			for _, o := range w.ordersOf(sub) {
				assert.True(t, o.CustomerVerified)
			}
			now := w.customerNow(victim)
			assert.Equal(t, "Mallory", *now.Name)
			assert.Equal(t, before.OrdersCount, now.OrdersCount)
			assert.Len(t, w.methodsOf(victim), 1)
			left, err := w.Checkout.UnverifiedPurchases(t.Context(), w.account, victim.ID, 10)
			require.NoError(t, err)
			assert.Empty(t, left)
			require.NoError(t, w.vanish(victim))
		}
	})
}

// vanish deletes a customer with all that goes on.
func (w *world) vanish(c *customer.Customer) error {
	_, err := w.DeleteCustomer(w.t.Context(), w.account, c.ID, true)
	return err
}

// A server of the last release, which still sells while the new one starts, says nothing of who bought.
func TestOldServer_WhatItSellsIsChargedOnceTheSellerVouches(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		victim := w.victim()
		named := w.checkoutFor(checkout.Checkout{CustomerID: &victim.ID}, w.variant(recurring(900, "month")))
		_, err := w.pay(named.ID, *victim.DefaultPaymentMethodID)
		require.NoError(t, err)
		sub, err := w.Subscription.OfCheckout(t.Context(), w.account, named.ID)
		require.NoError(t, err)
		db := harness.OpenDatabase(t, w.url)
		db.Must(t, `UPDATE subscriptions SET customer_verified = FALSE`)
		w.wait(32 * day)
		require.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
		require.Equal(t, 2, db.Count(t, "payments"), "nothing was charged: the other one is the victim's, of before")
		_, err = w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, IsVerified: new(true)})
		require.NoError(t, err)
		w.wait(3 * day)
		require.Equal(t, subscription.StatusActive, w.now(sub).Status)
	})
}
