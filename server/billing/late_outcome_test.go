package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/tests/harness"
)

// heard finds out what has become of every charge of which nothing was heard.
func (w *world) heard() {
	w.t.Helper()
	w.provider.lost.Store(false)
	harness.OpenDatabase(w.t, w.url).Must(w.t, `UPDATE payments SET lease_until = 0 WHERE status = 'pending'`)
	require.NoError(w.t, w.Reconcile(w.t.Context()))
}

// TestSubscription_WaitsForTheOutcomeOfItsPeriod does not hear of a renewal for longer than its period. The next one is billed
// only when the outcome is known. After a payment all periods since are billed. After a decline it is only the one that runs
// when the period is paid.
func TestSubscription_WaitsForTheOutcomeOfItsPeriod(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, declined := range []bool{false, true} {
			sub := w.subscribe(w.variant(recurring(900, "day")), "pm_card_visa")
			w.provider.lost.Store(true)
			w.provider.declines.Store(declined)
			w.advance.Add(int64(day + time.Minute))
			require.Error(t, w.Work(t.Context()))
			w.wait(3 * day)
			require.Len(t, w.ordersOf(sub), 2, "its charge is under way")
			w.heard()
			w.provider.declines.Store(false)
			if declined {
				require.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
				w.wait(2*day + time.Minute)
			}
			require.NoError(t, w.Work(t.Context()))
			assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
			orders := w.ordersOf(sub)
			if last := orders[len(orders)-1]; declined {
				assert.Len(t, orders, 3, "of the days since, the one that runs is billed")
				assert.LessOrEqual(t, *last.PeriodStart, w.Now())
				assert.Less(t, w.Now(), *last.PeriodEnd)
			} else {
				assert.Greater(t, len(orders), 4, "the days since are billed")
			}
			for i, o := range orders {
				assert.Equal(t, order.StatusPaid, o.Status)
				assert.True(t, i == 0 || declined || *o.PeriodStart == *orders[i-1].PeriodEnd)
			}
			_, err := w.Store.CancelSubscription(t.Context(), w.account, sub.ID, store.CancelSubscription{Now: true})
			require.NoError(t, err)
		}
	})
}

// Whether a period was paid decides what becomes of the subscription: nothing else may before.
func TestSubscription_IsNotChangedBeforeTheOutcomeOfItsPeriod(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub, other := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa"), w.variant(recurring(5000, "month"))
		w.provider.lost.Store(true)
		w.provider.declines.Store(true)
		w.advance.Add(int64(31*day + time.Minute))
		require.Error(t, w.Work(t.Context()))
		for name, do := range map[string]func() (*subscription.Subscription, error){
			"pause": func() (*subscription.Subscription, error) {
				return w.PauseSubscription(t.Context(), w.account, sub.ID, store.PauseSubscription{Now: true})
			},
			"change": func() (*subscription.Subscription, error) {
				return w.Billing.ChangeSubscription(t.Context(), w.account, sub.ID, store.ChangeSubscription{PriceVariant: other.ID})
			},
			"change the quantity": func() (*subscription.Subscription, error) {
				return w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Quantity: new(int64(3))})
			},
			"cancel": func() (*subscription.Subscription, error) {
				return w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, atOnce)
			},
		} {
			_, err := do()
			refused(t, err, "status")
			assert.ErrorContains(t, err, "being charged", name)
		}
		w.heard()
		assert.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
	})
}
