package billing_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// left refunds all that an order says can be refunded, and returns it. If that is nothing, a refund is refused, for the reason that it returns.
func (w *world) left(order string) (refundable int64, reason string) {
	w.t.Helper()
	o := w.order(order)
	most := o.RefundableAmount()
	_, err := w.refund(order, most+1)
	refusal, ok := errors.AsType[*core.Error](err)
	require.True(w.t, ok, "more than is refundable: %v", err)
	_, err = w.refund(order, 0)
	if most == 0 {
		require.Error(w.t, err)
	} else {
		require.NoError(w.t, err, "%d are refundable", most)
		assert.Equal(w.t, o.GivenBack()+most, w.order(order).GivenBack())
		assert.Zero(w.t, w.order(order).RefundableAmount())
	}
	return most, refusal.Message
}

// forgotten deletes the customer of a subscription.
func (w *world) forgotten(sub *subscription.Subscription) {
	w.t.Helper()
	_, err := w.DeleteCustomer(w.t.Context(), w.account, sub.CustomerID, true)
	require.NoError(w.t, err)
}

// What is shown as refundable can be refunded, and what cannot says why.
func TestRefundableAmount_CanBeRefunded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub, order := w.renewed(1000, 400, "pm_card_visa")
		w.forgotten(sub)
		amount, reason := w.left(order.ID)
		assert.EqualValues(t, 600, amount, "the card's part of 1000")
		assert.Contains(t, reason, "deleted")
		_, err := w.refund(order.ID, 0)
		require.ErrorContains(t, err, "deleted")

		sub, order = w.renewed(1000, 1000, "pm_card_visa")
		w.forgotten(sub)
		amount, reason = w.left(order.ID)
		assert.Zero(t, amount, "the balance is gone")
		assert.Contains(t, reason, "deleted")

		sub, order = w.renewed(1000, 1000, "pm_card_visa")
		_, err = w.refund(order.ID, 300)
		require.NoError(t, err)
		w.forgotten(sub)
		amount, reason = w.left(order.ID)
		assert.Zero(t, amount)
		assert.Contains(t, reason, "deleted")
	})
}

// subscribedOutOfBand is a subscription whose current period was paid by hand but for what the balance paid.
func (w *world) subscribedOutOfBand(balance int64) (*subscription.Subscription, *order.Order) {
	w.t.Helper()
	w.monthOf30()
	sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
	if balance > 0 {
		w.giveTo(sub, balance)
	}
	w.rewound(sub, 30*day+time.Second)
	w.provider.declines.Store(true)
	require.NoError(w.t, w.Work(w.t.Context()))
	w.provider.declines.Store(false)
	bill := w.ordersOf(sub)[1]
	_, err := w.PayInvoice(w.t.Context(), w.account, *bill.InvoiceID, billing.PayInvoice{OutOfBand: true})
	require.NoError(w.t, err)
	return w.now(sub), w.order(bill.ID)
}

func TestRefundableAmount_IsWithoutWhatWasPaidOutOfBand(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		_, all := w.subscribedOutOfBand(0)
		amount, reason := w.left(all.ID)
		assert.Zero(t, amount)
		assert.Contains(t, reason, "out of band")

		sub, part := w.subscribedOutOfBand(400)
		amount, reason = w.left(part.ID)
		assert.EqualValues(t, 400, amount, "what the balance paid")
		assert.Contains(t, reason, "out of band")
		assert.EqualValues(t, 400, w.balanceOf(sub))

		sub, part = w.subscribedOutOfBand(400)
		w.forgotten(sub)
		amount, reason = w.left(part.ID)
		assert.Zero(t, amount)
		assert.Contains(t, reason, "out of band")
		assert.Contains(t, reason, "deleted")
	})
}

func TestRefundableAmount_IsWithoutWhatStripeCannotGiveBack(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, _ *stripefake.Fake) {
		w.monthOf30()
		v, _ := w.dinars(recurring(5000, "month"))
		cheap := recurring(1000, "month")
		cheap.Currency = "kwd"
		sub := w.subscribe(v, "pm_card_visa")
		w.rewound(sub, 10*day)
		w.change(sub, w.variant(cheap), tenant.ProrationBehaviorInvoiceImmediately)
		order := w.ordersOf(sub)[0]
		require.EqualValues(t, 2660, order.CreditedAmount)
		credited := func(amount string) {
			_, err := database.Behind(t, w.url).Exec(`UPDATE orders SET credited_amount = ` + amount)
			require.NoError(t, err)
		}
		credited("2666") // as a server of before did
		amount, reason := w.left(order.ID)
		assert.EqualValues(t, 2330, amount, "of 2334")
		assert.Contains(t, reason, "steps of 10")
		_, err := w.refund(order.ID, 0)
		require.ErrorContains(t, err, "steps of 10")
		credited("2660")
	})
}

// manyRefunds makes an order have all the refunds that one can have.
func (w *world) manyRefunds(order string) {
	w.t.Helper()
	for range 100 {
		_, err := w.refund(order, 1)
		require.NoError(w.t, err)
	}
}

// Nothing that is to be given back is left out silently.
func TestCancelSubscription_RefusesWhatAnotherRefundWouldBeNeededFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		order := w.ordersOf(sub)[0]
		w.manyRefunds(order.ID)
		w.rewound(sub, 10*day)
		amount, reason := w.left(order.ID)
		assert.Zero(t, amount)
		assert.Contains(t, reason, "100 refunds")
		_, err := w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, atOnce)
		refused(t, err, "refund")
		require.ErrorContains(t, err, order.ID)
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
		ended, err := w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, store.CancelSubscription{Now: true})
		require.NoError(t, err)
		assert.Zero(t, ended.Cancellation.V.Unrefunded)
	})
}

func TestCancelSubscription_SaysWhatIsNotGivenBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub, order := w.subscribedOutOfBand(400)
		w.rewound(sub, 20*day)
		ended, err := w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, atOnce)
		require.NoError(t, err)
		length := sub.CurrentPeriodEnd - sub.CurrentPeriodStart
		unused := (1000*int64(sub.CurrentPeriodEnd-w.Now()) + int64(length)/2) / int64(length)
		assert.EqualValues(t, unused, ended.Cancellation.V.Unrefunded+w.order(order.ID).RefundedBalance)
		assert.Equal(t, w.order(order.ID).RefundedBalance, w.balanceOf(sub))
		assert.NotZero(t, w.balanceOf(sub))
	})
}
