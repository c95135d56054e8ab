package billing_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
)

// bought is an order of one handbook, paid with the method.
func (w *world) bought(method string) *order.Order {
	w.t.Helper()
	c, err := w.pay(w.checkout(one(w.handbook())).ID, method)
	require.NoError(w.t, err)
	return w.order(*c.OrderID)
}

func (w *world) order(id string) *order.Order {
	w.t.Helper()
	o, err := w.Order.Get(w.t.Context(), w.account, id)
	require.NoError(w.t, err)
	return o
}

// refund gives an amount of an order back, all that is left for 0.
func (w *world) refund(order string, amount int64) (*store.Refund, error) {
	in := store.NewRefund{Order: order, Reason: store.RefundReasonCustomerRequest}
	if amount > 0 {
		in.Amount = &amount
	}
	return w.CreateRefund(w.t.Context(), w.account, in)
}

// refunds are those of an order, newest first.
func (w *world) refunds(order string) []store.Refund {
	w.t.Helper()
	refunds, _, err := w.ListRefunds(w.t.Context(), w.account, store.ListRefunds{Page: core.Page{Limit: 100}, Order: order})
	require.NoError(w.t, err)
	return refunds
}

// refundDue ends the lease on an order's pending refund, as time does.
func (w *world) refundDue(order string) {
	w.t.Helper()
	require.NoError(w.t, w.YieldRefund(w.t.Context(), w.account, w.refunds(order)[0].ID, -time.Second))
}

// spent is what the customer of an order has paid and not got back.
func (w *world) spent(o *order.Order) int64 {
	w.t.Helper()
	customer, err := w.Customer.Get(w.t.Context(), w.account, o.CustomerID)
	require.NoError(w.t, err)
	return customer.TotalSpent.V["usd"]
}

func TestCreateRefund_GivesMoneyBackUntilNothingIsLeft(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		o := w.bought("pm_card_visa")
		first, err := w.refund(o.ID, 500)
		require.NoError(t, err)
		assert.Equal(t, store.RefundStatusSucceeded, first.Status)
		assert.NotNil(t, first.SucceededAt)
		assert.False(t, first.RevokeAccess)
		after := w.order(o.ID)
		assert.Equal(t, order.StatusPartiallyRefunded, after.Status)
		assert.EqualValues(t, 1400, after.RefundableAmount())
		assert.EqualValues(t, 1400, w.spent(o))

		_, err = w.refund(o.ID, 1401)
		refused(t, err, "amount")
		rest, err := w.refund(o.ID, 0)
		require.NoError(t, err)
		assert.EqualValues(t, 1400, rest.Amount)
		assert.True(t, rest.RevokeAccess)
		after = w.order(o.ID)
		assert.Equal(t, order.StatusRefunded, after.Status)
		assert.Equal(t, []string{first.ID, rest.ID}, after.RefundIDs.V)
		assert.Zero(t, w.spent(o))
		_, err = w.refund(o.ID, 0)
		refused(t, err, "amount")
	})
}

func TestCreateRefund_RefusesWhatNobodyWasChargedFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c, err := w.ConfirmCheckout(t.Context(), w.account, w.checkout(one(w.variant(catalog.PriceVariant{AmountType: catalog.PriceVariantAmountTypeFree}))).ID, billingWithout)
		require.NoError(t, err)
		_, err = w.refund(*c.OrderID, 0)
		refused(t, err, "order")
		_, err = w.refund("order_01k0000000000000000000000a", 0)
		var missing *core.Error
		require.ErrorAs(t, err, &missing)
		assert.Equal(t, core.CodeMissing, missing.Code)
		assert.Equal(t, "order", missing.Param)
	})
}

// Fifty at once want a hundred each of nineteen hundred: nineteen get it.
func TestCreateRefund_ParallelOnesNeverGiveBackTooMuch(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		order := w.bought("pm_card_visa")
		made := 0
		for _, err := range parallel(50, func(int) error {
			_, err := w.refund(order.ID, 100)
			return err
		}) {
			if err == nil {
				made++
				continue
			}
			refused(t, err, "amount")
		}
		assert.Equal(t, 19, made)
		assert.Len(t, w.refunds(order.ID), 19)
		assert.Zero(t, w.order(order.ID).RefundableAmount())
		assert.Zero(t, w.spent(order))
	})
}

// The provider gives the money back and its answer is lost: the reconciler finds the refund, and makes no second one.
func TestReconcile_FindsALostRefund(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		order := w.bought("pm_card_visa")
		w.provider.lost.Store(true)
		_, err := w.refund(order.ID, 500)
		require.Error(t, err)
		assert.Equal(t, core.Unknown, core.OutcomeOf(err))
		assert.Equal(t, store.RefundStatusPending, w.refunds(order.ID)[0].Status)
		assert.EqualValues(t, 500, w.order(order.ID).RefundedAmount, "nobody else gets it meanwhile")
		require.NoError(t, w.Reconcile(t.Context()), "it is too early to ask again")
		assert.Equal(t, store.RefundStatusPending, w.refunds(order.ID)[0].Status)

		w.provider.lost.Store(false)
		w.refundDue(order.ID)
		for _, err := range parallel(4, func(int) error { return w.Reconcile(t.Context()) }) {
			require.NoError(t, err)
		}
		refunds := w.refunds(order.ID)
		require.Len(t, refunds, 1)
		assert.Equal(t, store.RefundStatusSucceeded, refunds[0].Status)
		assert.EqualValues(t, 500, w.order(order.ID).RefundedAmount)
	})
}

// The provider cannot be reached: the refund is made when it can.
func TestReconcile_RefundsWhenTheProviderIsBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		order := w.bought("pm_card_visa")
		w.provider.down.Store(true)
		_, err := w.refund(order.ID, 0)
		require.Error(t, err)
		_, err = w.CancelRefund(t.Context(), w.account, w.refunds(order.ID)[0].ID)
		refused(t, err, "status")
		w.refundDue(order.ID)
		require.Error(t, w.Reconcile(t.Context()), "still down")

		w.provider.down.Store(false)
		w.refundDue(order.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, store.RefundStatusSucceeded, w.refunds(order.ID)[0].Status)
	})
}

// A request whose process died outside is sent again: it goes on with the same refund.
func TestCreateRefund_SentAgainUnderItsKeyResumes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		order := w.bought("pm_card_visa")
		key := &core.Key{Account: w.account, Key: "refund-1", External: true}
		send := func(through *world) (*core.Answer, bool, error) {
			return through.Request(t.Context(), key, func(ctx context.Context) (*core.Answer, error) {
				refund, err := through.CreateRefund(ctx, w.account, store.NewRefund{Order: order.ID, Amount: new(int64(500))})
				if err != nil {
					return nil, err
				}
				body, err := json.Marshal(refund.ID)
				return &core.Answer{Status: 201, Body: body}, err
			})
		}
		w.provider.lost.Store(true)
		_, _, err := send(w)
		require.Error(t, err)
		first, replayed, err := send(open(t, w.url)) // another process on the same database
		require.NoError(t, err)
		assert.False(t, replayed)
		second, replayed, err := send(w)
		require.NoError(t, err)
		assert.True(t, replayed)
		assert.Equal(t, first.Body, second.Body)
		assert.Len(t, w.refunds(order.ID), 1)
		assert.EqualValues(t, 500, w.order(order.ID).RefundedAmount)
	})
}

func TestReconcile_AsksWhatBecameOfAPendingRefund(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		slow, failing := w.bought("pm_card_pendingRefund"), w.bought("pm_card_refundFail")
		for _, o := range []*order.Order{slow, failing} {
			refund, err := w.refund(o.ID, 0)
			require.NoError(t, err)
			assert.Equal(t, store.RefundStatusPending, refund.Status)
			assert.NotNil(t, refund.ProviderRef)
			assert.Equal(t, order.StatusRefunded, w.order(o.ID).Status)
			_, err = w.refund(o.ID, 0)
			refused(t, err, "amount")
		}
		assert.EqualValues(t, 3800, w.spent(slow), "nothing has come back yet")
		w.advance.Store(int64(time.Minute))
		w.refundDue(slow.ID)
		w.refundDue(failing.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, store.RefundStatusSucceeded, w.refunds(slow.ID)[0].Status)
		failed := w.refunds(failing.ID)[0]
		assert.Equal(t, store.RefundStatusFailed, failed.Status)
		assert.Equal(t, "expired_or_canceled_card", *failed.FailureReason)
		o := w.order(failing.ID)
		assert.Equal(t, order.StatusPaid, o.Status)
		assert.EqualValues(t, 1900, o.RefundableAmount())
		assert.EqualValues(t, 1900, w.spent(slow))
	})
}

func TestCancelRefund_GivesUpAPendingOne(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		o := w.bought("pm_card_pendingRefund")
		refund, err := w.refund(o.ID, 700)
		require.NoError(t, err)
		canceled, err := w.CancelRefund(t.Context(), w.account, refund.ID)
		require.NoError(t, err)
		assert.Equal(t, store.RefundStatusCanceled, canceled.Status)
		assert.Equal(t, order.StatusPaid, w.order(o.ID).Status)
		again, err := w.CancelRefund(t.Context(), w.account, refund.ID)
		require.NoError(t, err)
		assert.Equal(t, canceled, again)

		done, err := w.refund(w.bought("pm_card_visa").ID, 0)
		require.NoError(t, err)
		_, err = w.CancelRefund(t.Context(), w.account, done.ID)
		refused(t, err, "status")
	})
}

// What the provider says counts: a refund that it has made meanwhile is settled as such, and the request is told so.
func TestCancelRefund_ComesTooLate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		order := w.bought("pm_card_pendingRefund")
		refund, err := w.refund(order.ID, 700)
		require.NoError(t, err)
		_, err = w.provider.Provider.(*testpay.Provider).SettleRefund(t.Context(), w.account, *refund.ProviderRef, payments.RefundSucceeded)
		require.NoError(t, err)
		_, err = w.CancelRefund(t.Context(), w.account, refund.ID)
		refused(t, err, "status")
		assert.Equal(t, core.Recorded, core.OutcomeOf(err))
		assert.Equal(t, store.RefundStatusSucceeded, w.refunds(order.ID)[0].Status)
		assert.EqualValues(t, 1200, w.spent(order))
	})
}

// A customer who is deleted leaves orders behind, which can be refunded.
func TestCreateRefund_ToACustomerWhoWasDeleted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		order := w.bought("pm_card_visa")
		_, err := w.DeleteCustomer(t.Context(), w.account, order.CustomerID, false)
		require.NoError(t, err)
		refund, err := w.refund(order.ID, 0)
		require.NoError(t, err)
		assert.Equal(t, store.RefundStatusSucceeded, refund.Status)
	})
}
