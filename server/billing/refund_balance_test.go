package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
)

// giveTo gives the customer of a subscription something by hand.
func (w *world) giveTo(sub *subscription.Subscription, amount int64) {
	w.t.Helper()
	_, err := w.Customer.CreateTransaction(w.t.Context(), w.account, sub.CustomerID, customer.NewBalanceTransaction{Currency: "usd", Amount: amount, Description: "Sorry"})
	require.NoError(w.t, err)
}

// renewed has a subscription renewed that comes to 1000, of which the customer's balance pays an amount, and returns the order.
func (w *world) renewed(price, balance int64, method string) (*subscription.Subscription, *order.Order) {
	w.t.Helper()
	w.monthOf30()
	sub := w.subscribe(w.variant(recurring(price, "month")), method)
	w.giveTo(sub, balance)
	w.rewound(sub, 30*day+time.Second)
	require.NoError(w.t, w.Work(w.t.Context()))
	orders := w.ordersOf(sub)
	order := w.order(orders[len(orders)-1].ID)
	require.Equal(w.t, []int64{balance, 1000 - balance}, []int64{order.BalanceApplied, order.PaidAmount})
	return w.now(sub), order
}

// settle has the bank decide about a pending refund.
func (w *world) settle(r *store.Refund, to payments.RefundStatus) {
	w.t.Helper()
	_, err := w.provider.Provider.(*testpay.Provider).SettleRefund(w.t.Context(), w.account, *r.ProviderRef, to)
	require.NoError(w.t, err)
	_, err = w.SettleRefund(w.t.Context(), r, store.RefundResult{Ref: *r.ProviderRef, Status: store.RefundStatus(to)}, time.Second)
	require.NoError(w.t, err)
}

func TestCreateRefund_GivesWhatTheBalancePaidBackToIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.taxed()
		sub, o := w.renewed(800, 1000, "pm_card_visa")
		require.EqualValues(t, 1000, o.RefundableAmount())
		part, err := w.refund(o.ID, 300)
		require.NoError(t, err)
		assert.Equal(t, []int64{300, 300, 60}, []int64{part.Amount, part.BalanceAmount, part.TaxAmount})
		assert.Equal(t, store.RefundStatusSucceeded, part.Status)
		assert.NotNil(t, part.SucceededAt)
		assert.EqualValues(t, 300, w.balanceOf(sub))
		assert.Equal(t, order.StatusPartiallyRefunded, w.order(o.ID).Status)
		_, err = w.refund(o.ID, 701)
		refused(t, err, "amount")
		rest, err := w.refund(o.ID, 0)
		require.NoError(t, err)
		assert.Equal(t, []int64{700, 700, 140}, []int64{rest.Amount, rest.BalanceAmount, rest.TaxAmount})
		after := w.order(o.ID)
		assert.Equal(t, order.StatusRefunded, after.Status)
		assert.Zero(t, after.RefundableAmount())
		assert.EqualValues(t, 1000, w.balanceOf(sub))
		assert.EqualValues(t, 1000, w.spent(o), "what the card paid")
		invoice := w.invoice(*o.InvoiceID)
		assert.Equal(t, []int64{0, 1000}, []int64{invoice.CreditNotes, invoice.RefundedBalance})
		changes, _, err := w.Customer.ListTransactions(t.Context(), w.account, sub.CustomerID, customer.ListBalanceTransactions{Page: core.Page{Limit: 10}, Reason: customer.BalanceReasonRefunded})
		require.NoError(t, err)
		require.Len(t, changes, 2)
		assert.Equal(t, []any{int64(700), rest.ID}, []any{changes[0].Amount, *changes[0].SourceID})
		_, err = w.CancelRefund(t.Context(), w.account, rest.ID)
		refused(t, err, "status")
		_, err = w.refund(o.ID, 1)
		refused(t, err, "amount")
	})
}

func TestCreateRefund_GivesBackToTheCardFirst(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub, o := w.renewed(1000, 400, "pm_card_visa")
		first, err := w.refund(o.ID, 500)
		require.NoError(t, err)
		assert.Equal(t, []int64{500, 0}, []int64{first.Amount, first.BalanceAmount})
		second, err := w.refund(o.ID, 300)
		require.NoError(t, err)
		assert.Equal(t, []int64{300, 200}, []int64{second.Amount, second.BalanceAmount})
		assert.EqualValues(t, 200, w.balanceOf(sub))
		third, err := w.refund(o.ID, 0)
		require.NoError(t, err)
		assert.Equal(t, []int64{200, 200}, []int64{third.Amount, third.BalanceAmount})
		assert.Empty(t, third.PaymentID)
		assert.EqualValues(t, 400, w.balanceOf(sub))
		after := w.order(o.ID)
		assert.Equal(t, []int64{600, 400}, []int64{after.RefundedAmount, after.RefundedBalance})
		assert.Equal(t, order.StatusRefunded, after.Status)
		assert.EqualValues(t, 1000, w.spent(o))
	})
}

// What goes to the balance waits until it is known that the rest goes to the card, and is taken back if that comes back.
func TestCreateRefund_GivesToTheBalanceOnceTheCardHasItsPart(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub, order := w.renewed(1000, 400, "pm_card_pendingRefund")
		pending, err := w.refund(order.ID, 0)
		require.NoError(t, err)
		assert.Equal(t, store.RefundStatusPending, pending.Status)
		assert.Equal(t, []int64{1000, 400}, []int64{pending.Amount, pending.BalanceAmount})
		assert.Zero(t, w.balanceOf(sub))
		_, err = w.refund(order.ID, 1)
		refused(t, err, "amount")
		w.settle(pending, payments.RefundSucceeded)
		assert.EqualValues(t, 400, w.balanceOf(sub))
	})
}

func TestCreateRefund_GivesNothingToTheBalanceIfTheCardGetsNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub, o := w.renewed(1000, 400, "pm_card_pendingRefund")
		pending, err := w.refund(o.ID, 0)
		require.NoError(t, err)
		w.settle(pending, payments.RefundFailed)
		assert.Zero(t, w.balanceOf(sub))
		assert.EqualValues(t, 1000, w.order(o.ID).RefundableAmount())
		assert.Equal(t, order.StatusPaid, w.order(o.ID).Status)
	})
}

func TestCreateRefund_GivesNothingToTheBalanceOfNobody(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub, order := w.renewed(1000, 1000, "pm_card_visa")
		_, err := w.DeleteCustomer(t.Context(), w.account, sub.CustomerID, true)
		require.NoError(t, err)
		_, err = w.refund(order.ID, 0)
		refused(t, err, "order")
	})
}

// What is left of a period that the balance has paid goes back to the balance.
func TestCancelSubscription_GivesTheBalanceItsShareBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub, order := w.renewed(1000, 400, "pm_card_visa")
		w.rewound(sub, 31*day/2)
		assert.Equal(t, map[string]int64{order.ID: 500}, w.dropped(sub))
		refund := w.refunds(order.ID)[0]
		assert.Equal(t, []int64{500, 200}, []int64{refund.Amount, refund.BalanceAmount})
		assert.EqualValues(t, 200, w.balanceOf(sub))
	})
}
