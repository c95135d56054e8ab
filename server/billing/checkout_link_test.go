package billing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
)

// linked makes a link that is good for so many purchases of a variant.
func (w *world) linked(v *catalog.PriceVariant, uses int64) *checkout.Link {
	w.t.Helper()
	l, err := w.Checkout.CreateLink(w.t.Context(), w.account, checkout.Link{
		Active: true, PriceVariantIDs: core.JSONOf([]string{v.ID}), MaxUses: &uses,
	})
	require.NoError(w.t, err)
	return l
}

// follow opens a link.
func (w *world) follow(l *checkout.Link) *checkout.Checkout {
	w.t.Helper()
	c, err := w.Checkout.FollowLink(w.t.Context(), l.ID, checkout.FollowLink{})
	require.NoError(w.t, err)
	c, err = w.Checkout.Update(w.t.Context(), w.account, c.ID, func(d *checkout.Draft) {
		d.CustomerEmail = new(core.NewID(core.KindCustomer) + "@example.com")
	})
	require.NoError(w.t, err)
	return c
}

func (w *world) uses(l *checkout.Link) int64 {
	w.t.Helper()
	now, err := w.Checkout.GetLink(w.t.Context(), w.account, l.ID)
	require.NoError(w.t, err)
	return now.Uses
}

// TestCheckoutLink_TwentyBuyersOfTheLastTwoUsesAtThreeReplicas charges two of them.
func TestCheckoutLink_TwentyBuyersOfTheLastTwoUsesAtThreeReplicas(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas, l := w.replicas(), w.linked(w.handbook(), 2)
		checkouts := make([]*checkout.Checkout, 20)
		for i := range checkouts {
			checkouts[i] = w.follow(l)
		}
		assert.Zero(t, w.uses(l), "opening it uses nothing")
		sold := 0
		for _, err := range parallel(len(checkouts), func(i int) error {
			_, err := replicas[i%3].pay(checkouts[i].ID, "pm_card_visa")
			return err
		}) {
			if err == nil {
				sold++
				continue
			}
			refused(t, err, "line_items")
		}
		assert.Equal(t, 2, sold)
		assert.Equal(t, 2, confirmed(replicas), "nobody else was charged")
		assert.EqualValues(t, 2, w.uses(l))
		_, err := w.Checkout.FollowLink(t.Context(), l.ID, checkout.FollowLink{})
		assert.True(t, missing(err))
	})
}

// TestCheckoutLink_AUseIsHeldWhileSomebodyPays frees it when the payment fails, or its buyer leaves.
func TestCheckoutLink_AUseIsHeldWhileSomebodyPays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l := w.linked(w.handbook(), 1)
		declines, leaves, buys := w.follow(l), w.follow(l), w.follow(l)
		_, err := w.pay(declines.ID, declined)
		refused(t, err, "payment_method")
		assert.Zero(t, w.uses(l))

		_, err = w.pay(leaves.ID, consents)
		require.NoError(t, err)
		assert.EqualValues(t, 1, w.uses(l))
		_, err = w.pay(buys.ID, "pm_card_visa")
		refused(t, err, "line_items")
		_, err = w.Billing.ExpireCheckout(t.Context(), w.account, leaves.ID)
		require.NoError(t, err)
		_, err = w.pay(buys.ID, "pm_card_visa")
		require.NoError(t, err)
		assert.EqualValues(t, 1, w.uses(l))

		free := w.linked(w.variant(catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree}), 1)
		first, second := w.follow(free), w.follow(free)
		_, err = w.ConfirmCheckout(t.Context(), w.account, first.ID, billingWithout)
		require.NoError(t, err)
		_, err = w.ConfirmCheckout(t.Context(), w.account, second.ID, billingWithout)
		refused(t, err, "line_items")

		gone := w.linked(w.handbook(), 1)
		late := w.follow(gone)
		_, err = w.Checkout.DeleteLink(t.Context(), w.account, gone.ID)
		require.NoError(t, err)
		_, err = w.pay(late.ID, "pm_card_visa")
		require.NoError(t, err, "what it has offered is sold")
	})
}

// TestCheckoutLink_OpensSoManyForOneAddress has a flood at three replicas.
func TestCheckoutLink_OpensSoManyForOneAddress(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas, l := w.replicas(), w.linked(w.handbook(), 1000)
		open := func(i int, address string) error {
			_, err := replicas[i%3].Checkout.FollowLink(t.Context(), l.ID, checkout.FollowLink{From: payment.Buyer{Address: address}})
			return err
		}
		for _, err := range parallel(8, func(i int) error {
			for n := range 20 {
				if err := open(i+n, "203.0.113.7"); err != nil {
					return fmt.Errorf("after %d: %w", n, err)
				}
			}
			return nil
		}) {
			if err != nil {
				slowed(t, err, 55*time.Minute, time.Hour)
			}
		}
		made, _, err := w.Checkout.List(t.Context(), w.account, checkout.List{Page: core.Page{Limit: 1000}})
		require.NoError(t, err)
		assert.Len(t, made, 120)
		slowed(t, open(0, "203.0.113.7"), 55*time.Minute, time.Hour)
		require.NoError(t, open(0, "203.0.113.8"), "a neighbour")
		w.advance.Add(int64(time.Hour))
		require.NoError(t, open(0, "203.0.113.7"), "an hour later")
	})
}
