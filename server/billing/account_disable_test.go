package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/subscription"
)

func (w *world) disable() {
	w.t.Helper()
	_, _, err := w.Tenant.DisableAccount(w.t.Context(), w.account)
	require.NoError(w.t, err)
}

func (w *world) enable() {
	w.t.Helper()
	_, _, err := w.Tenant.EnableAccount(w.t.Context(), w.account)
	require.NoError(w.t, err)
}

func TestDisabledAccount_BillsAMissedRenewalOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "week")), "pm_card_visa")
		begun := w.now(sub).CurrentPeriodStart
		w.disable()
		w.wait(24 * day) // three renewals
		require.Len(t, w.ordersOf(sub), 1)
		did, err := w.AdvanceSubscription(t.Context(), w.account, sub.ID) // one that was found before
		require.NoError(t, err)
		require.False(t, did.Done)

		w.enable()
		w.wait(time.Minute)
		w.wait(time.Minute)
		require.Len(t, w.ordersOf(sub), 2, "not for each period that was missed")
		after := w.now(sub)
		require.Equal(t, subscription.StatusActive, after.Status)
		require.Equal(t, begun.Add(21*day), after.CurrentPeriodStart, "the days of billing stay")
		w.wait(7 * day)
		require.Len(t, w.ordersOf(sub), 3)
		broken, err := w.Audit.Check(t.Context(), outbox.DeliveryRetention{Failed: 7 * day, Succeeded: day})
		require.NoError(t, err)
		require.Empty(t, broken)
	})
}

// Nobody loses a subscription because all attempts to collect came at once.
func TestDisabledAccount_TriesAgainInItsPace(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.provider.declines.Store(true)
		w.wait(32 * day)
		require.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
		failed := w.now(sub).AttemptCount
		w.disable()
		w.wait(60 * day)
		require.Equal(t, failed, w.now(sub).AttemptCount)
		w.enable()
		w.wait(time.Minute)
		w.wait(time.Minute)
		after := w.now(sub)
		require.Equal(t, failed+1, after.AttemptCount)
		require.Equal(t, subscription.StatusPastDue, after.Status)
		require.Greater(t, *after.NextAttemptAt, w.Now().Add(4*day))
	})
}

// Only periods that were slept through whole are forgiven, however often the account rested before a subscription went on.
func TestDisabledAccount_BillsWhatFellDueWhileItWasEnabled(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "day")), "pm_card_visa")
		pass := func(d time.Duration) { w.advance.Add(int64(d)) } // while nothing is billed, as if the server stood still
		pass(3*day + 12*time.Hour)
		for range 2 { // in the middle of the 3rd day to that of the 6th, and of the 10th to the 13th
			w.disable()
			pass(3 * day)
			w.enable()
			w.disable() // for a moment
			w.enable()
			pass(4 * day)
		}
		w.wait(time.Hour)
		require.Equal(t, subscription.StatusActive, w.now(sub).Status)
		var begun []time.Duration
		orders := w.ordersOf(sub)
		for _, o := range orders {
			require.Equal(t, order.StatusPaid, o.Status)
			begun = append(begun, o.PeriodStart.Time().Sub(orders[0].PeriodStart.Time())/day)
		}
		require.Equal(t, []time.Duration{0, 1, 2, 3, 6, 7, 8, 9, 10, 13, 14, 15, 16, 17}, begun)
	})
}

func TestDisabledAccount_KeepsTheDistanceOfEachAttempt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.provider.declines.Store(true)
		w.advance.Add(int64(w.now(sub).CurrentPeriodEnd-w.Now()) * int64(time.Microsecond))
		w.wait(time.Second)
		w.wait(day)
		w.disable()
		w.wait(5 * day)
		w.enable() // the attempt of the 2nd day is on the 6th
		before := w.Now()
		w.wait(time.Second)
		for i, days := range []time.Duration{5, 7, 7} {
			now := w.now(sub)
			require.EqualValues(t, i+2, now.AttemptCount)
			assert.Equal(t, now.UpdatedAt.Add(days*day), *now.NextAttemptAt, "so long after the attempt, however long that took")
			assert.WithinRange(t, now.UpdatedAt.Time(), before.Time(), w.Now().Time(), "the attempt was made now")
			before = w.Now()
			w.wait(days*day + time.Minute)
		}
		require.Equal(t, subscription.StatusCanceled, w.now(sub).Status)
	})
}

func TestDisabledAccount_CollectsItsInvoicesLater(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.saves("pm_card_visa")
		i := w.issued(invoice.CollectionMethodChargeAutomatically, w.orders()[0].CustomerID)
		w.disable()
		require.NoError(t, w.Work(t.Context()))
		_, did, err := w.CollectInvoice(t.Context(), w.account, i.ID, nil) // one that was found before
		require.NoError(t, err)
		require.False(t, did)
		require.Equal(t, invoice.StatusOpen, w.invoice(i.ID).Status)
		require.NotNil(t, w.invoice(i.ID).NextAttemptAt)
		w.enable()
		require.NoError(t, w.Work(t.Context()))
		require.Equal(t, invoice.StatusPaid, w.invoice(i.ID).Status)
	})
}
