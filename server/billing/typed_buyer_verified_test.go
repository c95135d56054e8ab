package billing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestTypedBuyer_BecomesTheCustomerOnceSomebodyVouches(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		victim := w.victim()
		sub := w.typedSubscription(w.variant(recurring(900, "month")), "pm_card_visa")
		w.wait(32 * day)
		sub, err := w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{
			Change: func(*subscription.Subscription) {}, IsVerified: new(true), PaymentMethod: victim.DefaultPaymentMethodID,
		})
		require.NoError(t, err)
		assert.True(t, sub.CustomerVerified)
		for _, o := range w.ordersOf(sub) {
			assert.True(t, o.CustomerVerified)
		}
		assert.Len(t, w.methodsOf(victim), 1, "the card that it was bought with stays the purchase's")
		assert.Equal(t, "Mallory", *w.customerNow(victim).Name, "nothing was known")
		w.wait(31 * day)
		assert.EqualValues(t, 400, w.ordersOf(sub)[2].PaidAmount, "from the credit, and from the card")
	})
}

// smallBill is a subscription that a stranger bought under the victim's address, and the last bill of it, which is too little to be charged.
func (w *world) smallBill() (*subscription.Subscription, *order.Order) {
	w.t.Helper()
	w.monthOf30()
	sub := w.typedSubscription(w.variant(recurring(1000, "month")), "pm_card_visa")
	w.rewound(sub, 15*day)
	sub = w.change(sub, w.variant(recurring(1060, "month")), tenant.ProrationBehaviorNextInvoice)
	_, err := w.Billing.CancelSubscription(w.t.Context(), w.account, sub.ID, store.CancelSubscription{})
	require.NoError(w.t, err)
	w.rewound(sub, 31*day)
	require.NoError(w.t, w.Work(w.t.Context()))
	last := w.ordersOf(sub)[1]
	require.EqualValues(w.t, 30, last.BalanceApplied)
	return sub, &last
}

// A last bill that is too little to be charged is taken off the balance when it is known whose it is. Only that is given back.
func TestTypedBuyer_OwesASmallBillOnceVerified(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		victim := w.victim()
		sub, last := w.smallBill()
		w.spared(victim)
		before := w.balanceOf(sub)

		_, err := w.Checkout.Verify(t.Context(), w.account, *sub.CheckoutID)
		require.NoError(t, err)
		assert.Equal(t, before-30, w.balanceOf(sub))
		_, err = w.refund(last.ID, 0)
		require.NoError(t, err)
		assert.Equal(t, before, w.balanceOf(sub))
	})
}

// Who accepts a purchase does not owe anything by that. No more is taken than there is, and no more is given back than was taken.
func TestTypedBuyer_OwesNoMoreThanThereIs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		victim := w.victim()
		_, err := w.Customer.CreateTransaction(t.Context(), w.account, victim.ID, customer.NewBalanceTransaction{Currency: "usd", Amount: -488, Description: "Spent"})
		require.NoError(t, err)
		sub, last := w.smallBill()
		require.EqualValues(t, 12, w.balanceOf(sub))
		_, err = w.Checkout.Verify(t.Context(), w.account, *sub.CheckoutID)
		require.NoError(t, err)
		assert.EqualValues(t, 0, w.balanceOf(sub))
		_, err = w.refund(last.ID, 13)
		refused(t, err, "amount")
		refund, err := w.refund(last.ID, 0)
		require.NoError(t, err)
		assert.EqualValues(t, 12, refund.Amount)
		assert.EqualValues(t, 12, w.balanceOf(sub))
		assert.Equal(t, order.StatusRefunded, w.ordersOf(sub)[1].Status)
	})
}

// A small bill that was verified before anything was taken for it was paid by nobody.
func TestTypedBuyer_IsGivenNothingForWhatNobodyPaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.victim()
		sub, last := w.smallBill()
		before := w.balanceOf(sub)
		for _, table := range []string{"orders", "subscriptions"} {
			harness.OpenDatabase(t, w.url).Must(t, `UPDATE `+table+` SET customer_verified = TRUE`)
		}
		_, err := w.refund(last.ID, 0)
		refused(t, err, "order")
		assert.Equal(t, before, w.balanceOf(sub))
	})
}
