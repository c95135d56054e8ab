package billing_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
)

// The process dies between the cancellation and the provider, and nobody asks again.
func TestReconcile_RefundsACancellationWhoseProcessDied(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		o := w.ordersOf(sub)[0].ID
		_, err := w.Store.CancelSubscription(t.Context(), w.account, sub.ID, atOnce)
		require.NoError(t, err)
		require.NoError(t, w.Reconcile(t.Context()), "whoever began it is left alone")
		require.Equal(t, store.RefundStatusPending, w.refunds(o)[0].Status)
		w.refundDue(o)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, store.RefundStatusSucceeded, w.refunds(o)[0].Status)
		assert.Equal(t, order.StatusRefunded, w.order(o).Status)
	})
}

// A request whose process died outside is sent again: it goes on with the same refund.
func TestCancelSubscription_SentAgainUnderItsKeyResumes(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		order := w.ordersOf(sub)[0].ID
		key := &core.Key{Account: w.account, Key: "cancel-1", External: true}
		send := func(through *world, dies bool) (answer *core.Answer, replayed bool, err error) {
			return through.Request(t.Context(), key, func(ctx context.Context) (*core.Answer, error) {
				if dies { // between the commit and the call
					_, err := through.Store.CancelSubscription(ctx, w.account, sub.ID, atOnce)
					return nil, errors.Join(err, through.Leave(ctx), errLine)
				}
				ended, err := through.Billing.CancelSubscription(ctx, w.account, sub.ID, atOnce)
				if err != nil {
					return nil, err
				}
				body, err := json.Marshal(ended.Cancellation)
				return &core.Answer{Status: 200, Body: body}, err
			})
		}
		_, _, err := send(w, true)
		require.ErrorIs(t, err, errLine)
		require.Equal(t, subscription.StatusCanceled, w.now(sub).Status)
		require.Equal(t, store.RefundStatusPending, w.refunds(order)[0].Status)
		other := open(t, w.url) // another process on the same database
		other.advance.Store(w.advance.Load())
		first, replayed, err := send(other, false)
		require.NoError(t, err)
		assert.False(t, replayed)
		again, replayed, err := send(w, false)
		require.NoError(t, err)
		assert.True(t, replayed)
		assert.Equal(t, first.Body, again.Body)
		require.Len(t, w.refunds(order), 1)
		assert.Equal(t, store.RefundStatusSucceeded, w.refunds(order)[0].Status)
	})
}

// The subscription ends whatever the provider says. What is to be given back is the reconciler's.
func TestReconcile_RefundsACancellationWhoseProviderWasDown(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		order := w.ordersOf(sub)[0].ID
		w.provider.down.Store(true)
		ended, err := w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, atOnce)
		require.NoError(t, err)
		assert.Equal(t, subscription.StatusCanceled, ended.Status)
		require.Equal(t, store.RefundStatusPending, w.refunds(order)[0].Status)
		w.provider.down.Store(false)
		w.refundDue(order)
		require.NoError(t, w.Reconcile(t.Context()))
		require.Len(t, w.refunds(order), 1)
		assert.Equal(t, store.RefundStatusSucceeded, w.refunds(order)[0].Status)
	})
}
