package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
)

// No bank takes 38 cents: the renewal is paid by a customer who owes them.
func TestSubscription_IsNotChargedTooLittle(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		price := recurring(1900, "month")
		price.TrialDays = 7
		v := w.variant(price)
		d, err := w.CreateDiscount(t.Context(), w.account, store.Discount{
			Name: "Friends", Type: store.DiscountTypePercent, PercentBps: new(int64(9800)), Duration: store.DiscountDurationForever,
		})
		require.NoError(t, err)
		c := w.checkoutFor(store.Checkout{CustomerEmail: new("grace@example.com"), DiscountID: &d.ID}, v)
		_, err = w.pay(c.ID, "pm_card_visa")
		require.NoError(t, err)
		sub, err := w.SubscriptionOfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		charges := w.provider.confirms.Load()

		w.wait(8 * day)
		sub = w.now(sub)
		assert.Equal(t, store.SubscriptionStatusActive, sub.Status)
		renewal := w.ordersOf(sub)[1]
		assert.Equal(t, store.OrderStatusPaid, renewal.Status)
		assert.EqualValues(t, 38, renewal.TotalAmount)
		assert.EqualValues(t, 38, renewal.BalanceApplied)
		assert.Equal(t, charges, w.provider.confirms.Load(), "nothing was charged")
		customer, err := w.GetCustomer(t.Context(), w.account, sub.CustomerID)
		require.NoError(t, err)
		assert.EqualValues(t, -38, customer.Balance.V["usd"])

		// What they owe waits for a credit: the next renewal is charged as it is.
		_, err = w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{
			Change: func(*store.Subscription) {}, Discount: new(""), Quantity: new(int64(2)),
		})
		require.NoError(t, err)
		w.wait(31*day + time.Second)
		assert.Equal(t, store.SubscriptionStatusActive, w.now(sub).Status)
		assert.Greater(t, w.ordersOf(sub)[2].PaidAmount, int64(3000), "what can be charged is charged")
		assert.Zero(t, w.ordersOf(sub)[2].BalanceApplied)
	})
}
