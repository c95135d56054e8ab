package billing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
)

// neverPaused switches off that declines pause the account's payments.
func (w *world) neverPaused() {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) { a.DeclineLimit = nil })
	require.NoError(w.t, err)
}

// TestConfirmCheckout_PausesAnAccount tries cards from everywhere.
func TestConfirmCheckout_PausesAnAccount(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas, v := w.replicas(), w.handbook()
		limit := func(n int64) {
			_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.DeclineLimit = &n })
			require.NoError(t, err)
		}
		stranger := 0
		from := func(method string) error {
			stranger++
			_, err := replicas[stranger%3].from(fmt.Sprintf("203.%d.%d.1", stranger/200, stranger%200), w.of(v).ID, method)
			return err
		}
		limit(10)
		tried := recurring(900, "month")
		tried.TrialDays = 7
		trial := w.variant(tried)
		for i := range 12 { // a good card pays for nothing
			_, err := w.from(fmt.Sprintf("192.0.%d.1", i), w.of(trial).ID, "pm_card_visa")
			require.NoError(t, err)
		}
		for range 10 {
			assert.False(t, isSlowed(t, from(declined)))
		}
		require.NotNil(t, w.seller().PaymentsPausedUntil, "trials keep nothing open")
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.PaymentsPausedUntil = nil })
		require.NoError(t, err)
		for range 12 { // more is sold than declined
			require.NoError(t, from("pm_card_visa"))
			assert.False(t, isSlowed(t, from(declined)))
		}
		assert.Nil(t, w.seller().PaymentsPausedUntil)
		assert.False(t, isSlowed(t, from(declined)))
		require.NoError(t, from("pm_card_visa"), "the first of those who take turns")
		slowed(t, from("pm_card_visa"), time.Second, 20*time.Second)
		asked := confirmed(replicas)
		for range 10 {
			assert.True(t, isSlowed(t, from(declined)))
		}
		assert.Equal(t, asked, confirmed(replicas))
		_, err = w.pay(w.of(v).ID, "pm_card_visa")
		require.NoError(t, err, "the seller's own program")
		free := w.of(w.variant(catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree}))
		_, err = w.ConfirmCheckout(t.Context(), w.account, free.ID, billing.CheckoutConfirm{From: payment.Buyer{Address: "203.0.113.7"}})
		require.NoError(t, err, "no card is tried on what is free")

		require.NotNil(t, w.seller().PaymentsPausedUntil)
		_, err = w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.PaymentsPausedUntil = new(w.Now().Add(time.Hour)) })
		refused(t, err, "payments_paused_until")
		_, err = w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.PaymentsPausedUntil = nil })
		require.NoError(t, err)
		require.NoError(t, from("pm_card_visa"), "the seller has ended it")

		pause := func() {
			t.Helper()
			for i := 0; w.seller().PaymentsPausedUntil == nil; i++ {
				require.Less(t, i, 40)
				require.Error(t, from(declined))
			}
		}
		pause()
		for _, r := range replicas {
			r.advance.Add(int64(15*time.Minute + time.Second))
		}
		require.NoError(t, from("pm_card_visa"), "it has an end")
		assert.Nil(t, w.seller().PaymentsPausedUntil)
		w.neverPaused()
		for range 40 {
			assert.False(t, isSlowed(t, from(declined)))
		}
	})
}

func (w *world) seller() *tenant.Account {
	w.t.Helper()
	a, err := w.Tenant.GetAccount(w.t.Context(), w.account)
	require.NoError(w.t, err)
	return a
}

// TestConfirmCheckout_APauseStopsTestersOnly has five addresses in two networks declined until the account is paused.
func TestConfirmCheckout_APauseStopsTestersOnly(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		replicas, v := w.replicas(), w.handbook()
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.DeclineLimit = new(int64(10)) })
		require.NoError(t, err)
		for i := range 10 {
			_, err := w.from(fmt.Sprintf("203.0.%d.%d", i%2, i%5), w.of(v).ID, declined)
			refused(t, err, "payment_method")
		}
		require.NotNil(t, w.seller().PaymentsPausedUntil)
		_, err = w.from("203.0.1.77", w.of(v).ID, "pm_card_visa")
		slowed(t, err, 14*time.Minute, 15*time.Minute)

		asked := confirmed(replicas)
		for i, err := range parallel(12, func(i int) error { // fresh networks, all at once
			_, err := replicas[i%3].from(fmt.Sprintf("198.51.%d.1", i), w.of(v).ID, declined)
			return err
		}) {
			require.Error(t, err, i)
		}
		assert.Equal(t, asked+1, confirmed(replicas), "one at a time")

		named, err := w.Checkout.Create(t.Context(), w.account, checkout.Draft{
			Checkout: &checkout.Checkout{CustomerID: &w.customer("known@example.com", nil).ID}, Lines: []offer.NewLine{one(v)},
		})
		require.NoError(t, err)
		_, err = w.from("203.0.1.77", named.ID, "pm_card_visa")
		require.NoError(t, err, "the seller named them")
		_, err = w.from("192.0.2.7", w.of(v).ID, "pm_card_visa")
		slowed(t, err, time.Second, 20*time.Second)
		w.advance.Add(int64(20 * time.Second))
		_, err = w.from("192.0.2.7", w.of(v).ID, "pm_card_visa")
		require.NoError(t, err, "their turn")
	})
}

// pause has one payment declined in each of ten networks.
func (w *world) pause(v *catalog.PriceVariant) {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) { a.DeclineLimit = new(int64(10)) })
	require.NoError(w.t, err)
	for i := range 10 {
		_, err := w.from(fmt.Sprintf("203.0.%d.1", i), w.of(v).ID, declined)
		refused(w.t, err, "payment_method")
	}
	require.NotNil(w.t, w.seller().PaymentsPausedUntil)
}

// TestConfirmCheckout_OneAddressTakesNoTurnsOfOthers begins payments that wait for a bank and cancels them, before everybody else.
func TestConfirmCheckout_OneAddressTakesNoTurnsOfOthers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.handbook()
		w.pause(v)
		bought, begun := 0, 0
		for turn := range 12 {
			c := w.of(v)
			if _, err := w.from(fmt.Sprintf("198.51.100.%d", turn), c.ID, consents); err == nil {
				begun++
				require.NoError(t, w.CancelCheckoutPayment(t.Context(), w.account, c.ID))
			} else {
				slowed(t, err, time.Second, 15*time.Minute)
			}
			if _, err := w.from(fmt.Sprintf("192.0.%d.1", turn), w.of(v).ID, "pm_card_visa"); err == nil {
				bought++
			}
			w.advance.Add(int64(20 * time.Second))
		}
		assert.Equal(t, 1, begun, "one turn for a network in a pause")
		assert.Equal(t, 11, bought, "all turns but that one")
	})
}

// TestConfirmCheckout_WhoPaidLeavesATurnToNeighbours buys twice from one network in a pause.
func TestConfirmCheckout_WhoPaidLeavesATurnToNeighbours(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.handbook()
		w.pause(v)
		for i := range 3 {
			_, err := w.from(fmt.Sprintf("198.51.100.%d", i), w.of(v).ID, "pm_card_visa")
			require.NoError(t, err, "buyer %d", i)
			w.advance.Add(int64(20 * time.Second))
		}
		c := w.of(v)
		_, err := w.from("198.51.100.7", c.ID, consents)
		require.NoError(t, err)
		w.advance.Add(int64(20 * time.Second))
		_, err = w.from("198.51.100.8", w.of(v).ID, "pm_card_visa")
		slowed(t, err, 13*time.Minute, 15*time.Minute)
		_, err = w.from("192.0.2.7", w.of(v).ID, "pm_card_visa")
		require.NoError(t, err)
		require.NoError(t, w.CancelCheckoutPayment(t.Context(), w.account, c.ID))
		w.advance.Add(int64(15 * time.Minute))
		_, err = w.from("198.51.100.8", w.of(v).ID, "pm_card_visa")
		require.NoError(t, err, "after the pause")
	})
}

// TestConfirmCheckout_ATrialLeavesNoTurnToNeighbours sets up cards for trials in a pause, which cost nothing.
func TestConfirmCheckout_ATrialLeavesNoTurnToNeighbours(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.tried()
		w.pause(w.handbook())
		_, err := w.from("198.51.100.1", w.of(v).ID, "pm_card_visa")
		require.NoError(t, err)
		w.advance.Add(int64(20 * time.Second))
		_, err = w.from("198.51.100.2", w.of(v).ID, "pm_card_visa")
		slowed(t, err, 13*time.Minute, 15*time.Minute)
		_, err = w.from("192.0.2.7", w.of(v).ID, "pm_card_visa")
		require.NoError(t, err)
	})
}

// TestConfirmCheckout_OneNetworkPausesNobody is declined more often than the account bears.
func TestConfirmCheckout_OneNetworkPausesNobody(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.handbook()
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.DeclineLimit = new(int64(10)) })
		require.NoError(t, err)
		for i := range 30 {
			_, err := w.from(fmt.Sprintf("203.0.113.%d", i), w.of(v).ID, declined)
			refused(t, err, "payment_method")
		}
		require.Nil(t, w.seller().PaymentsPausedUntil)
		for i := range 5 {
			_, err := w.from(fmt.Sprintf("198.51.100.%d", i), w.of(v).ID, declined)
			refused(t, err, "payment_method")
		}
		require.NotNil(t, w.seller().PaymentsPausedUntil, "two networks of which each counts five")
	})
}
