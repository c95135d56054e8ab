package billing_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
)

// move moves the account's clock, and wants it to come where it is to be, on a busy machine too.
func (w *world) move(by time.Duration) {
	w.t.Helper()
	clock, err := w.AdvanceClockWithin(w.t.Context(), w.account, store.AdvanceClock{By: by}, 5*time.Minute)
	require.NoError(w.t, err)
	require.True(w.t, clock.Done)
	assertAt(w.t, clock.Target, clock.Now, "the clock")
}

// assertAt wants something to have happened when it was due, but for the time that the work took.
func assertAt(t *testing.T, due, is core.Time, what string) {
	t.Helper()
	assert.WithinRange(t, is.Time(), due.Time().Add(-time.Second), due.Time().Add(20*time.Second), what)
}

func TestAdvanceClock_BillsEachPeriodWhenItBegins(t *testing.T) {
	eachWithClock(t, func(t *testing.T, w *world) {
		monthly, weekly := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa"), w.subscribe(w.variant(recurring(300, "week")), "pm_card_visa")
		w.move(200 * day)
		for sub, want := range map[*subscription.Subscription]int{monthly: 7, weekly: 29} {
			orders := w.ordersOf(sub)
			require.Len(t, orders, want)
			for i, o := range orders {
				assertAt(t, *o.PeriodStart, o.CreatedAt, "the order")
				assertAt(t, *o.PeriodStart, *o.PaidAt, "its payment")
				if i > 0 {
					assert.Equal(t, *orders[i-1].PeriodEnd, *o.PeriodStart)
				}
			}
			now := w.now(sub)
			assert.Equal(t, *orders[want-1].PeriodEnd, now.CurrentPeriodEnd)
			assertAt(t, *orders[want-1].PeriodStart, now.UpdatedAt, "the renewal")
		}
	})
}

// TestAdvanceClock_TriesAgainOnTheSchedule fails every charge after the first.
func TestAdvanceClock_TriesAgainOnTheSchedule(t *testing.T) {
	eachWithClock(t, func(t *testing.T, w *world) {
		v := recurring(900, "month")
		v.TrialDays = 10
		trial, sub := w.subscribe(w.variant(v), "pm_card_visa"), w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.provider.declines.Store(true)
		w.move(365 * day)
		for _, sub := range []*subscription.Subscription{trial, sub} {
			failed, sub := sub.CurrentPeriodEnd, w.now(sub)
			require.Equal(t, subscription.StatusCanceled, sub.Status)
			assertAt(t, failed, *sub.PastDueAt, "the first failure")
			assertAt(t, failed.Add(21*day), *sub.EndedAt, "the end")
			invoice, err := w.Invoice.Get(t.Context(), w.account, *sub.LatestInvoiceID)
			require.NoError(t, err)
			assert.EqualValues(t, 5, invoice.AttemptCount)
			assertAt(t, failed, *invoice.PastDueAt, "the invoice")
			assertAt(t, failed.Add(21*day), *invoice.VoidedAt, "the end of the invoice")
		}
	})
}

// TestAdvanceClock_GivesUpOnABuyerInTheirTime leaves a buyer at their bank and a checkout open.
func TestAdvanceClock_GivesUpOnABuyerInTheirTime(t *testing.T) {
	eachWithClock(t, func(t *testing.T, w *world) {
		left, idle := w.checkout(one(w.handbook())), w.checkout(one(w.handbook()))
		waiting, err := w.pay(left.ID, "pm_card_authenticationRequired")
		require.NoError(t, err)
		w.move(12 * time.Hour)
		left = w.get(left.ID)
		assert.Equal(t, checkout.StatusOpen, left.Status)
		assertAt(t, waiting.UpdatedAt.Add(30*time.Minute), left.UpdatedAt, "giving up")
		w.move(30 * day)
		assertAt(t, idle.ExpiresAt, w.get(idle.ID).UpdatedAt, "the expiry")
	})
}

func TestAdvanceClock_GoesOnWhereItsTimeWasOver(t *testing.T) {
	eachWithClock(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		slow := func(payments.ChargeInput) { time.Sleep(300 * time.Millisecond) }
		w.provider.charging.Store(&slow)
		begun := w.Now() // a year later, with or without a 29 February, and less than a month more
		clock, err := w.AdvanceClockWithin(t.Context(), w.account, store.AdvanceClock{By: 370 * day}, 500*time.Millisecond)
		require.NoError(t, err)
		require.False(t, clock.Done)
		assert.Less(t, clock.Now, begun.Add(200*day))
		assert.Less(t, len(w.ordersOf(sub)), 6)
		w.provider.charging.Store(nil)
		assertAt(t, begun.Add(370*day), clock.Target, "the target")
		for !clock.Done { // each time it goes on for forty seconds
			clock, err = w.Billing.AdvanceClock(t.Context(), w.account, store.AdvanceClock{To: &clock.Target})
			require.NoError(t, err)
		}
		orders := w.ordersOf(sub)
		require.Len(t, orders, 13)
		for _, o := range orders {
			assertAt(t, *o.PeriodStart, o.CreatedAt, "the order")
		}
	})
}

func TestAdvanceClock_TakesAMomentThatHasJustPassed(t *testing.T) {
	eachWithClock(t, func(t *testing.T, w *world) {
		w.move(day)
		now, err := w.ClockOf(t.Context(), w.account)
		require.NoError(t, err)
		clock, err := w.Billing.AdvanceClock(t.Context(), w.account, store.AdvanceClock{To: new(now.Add(-30 * time.Second))})
		require.NoError(t, err)
		assert.GreaterOrEqual(t, clock.Now, now)
		_, err = w.Billing.AdvanceClock(t.Context(), w.account, store.AdvanceClock{To: new(now.Add(-2 * time.Minute))})
		refused(t, err, "now")
	})
}

// TestAdvanceClock_IsLeftAloneByTheWorker has the worker look while the walk is in the middle of the first of two renewals.
func TestAdvanceClock_IsLeftAloneByTheWorker(t *testing.T) {
	eachWithClock(t, func(t *testing.T, w *world) {
		for range 2 {
			w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		}
		w.provider.confirms.Store(0)
		charging, goOn := make(chan struct{}, 2), make(chan struct{})
		wait := func(payments.ChargeInput) {
			charging <- struct{}{}
			select {
			case <-goOn:
			case <-time.After(time.Minute):
			}
		}
		w.provider.charging.Store(&wait)
		var group sync.WaitGroup
		group.Go(func() {
			clock, err := w.Billing.AdvanceClock(t.Context(), w.account, store.AdvanceClock{By: 40 * day})
			assert.NoError(t, err)
			assert.True(t, clock.Done)
		})
		<-charging
		require.NoError(t, w.Work(t.Context()))
		assert.Empty(t, charging, "the worker did what the walk was to do")
		close(goOn)
		group.Wait()
		assert.EqualValues(t, 2, w.provider.confirms.Load())
	})
}

// TestAdvanceClock_GoesOnWithoutTheOutcomeOfACharge has the provider's answer to a renewal lost.
func TestAdvanceClock_GoesOnWithoutTheOutcomeOfACharge(t *testing.T) {
	eachWithClock(t, func(t *testing.T, w *world) {
		sub, idle := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa"), w.checkout(one(w.handbook()))
		w.provider.lost.Store(true)
		w.move(365 * day)
		w.provider.lost.Store(false)
		orders := w.ordersOf(sub)
		require.Len(t, orders, 2, "no period is billed before that")
		assert.Equal(t, order.StatusPending, orders[1].Status)
		assertAt(t, *orders[1].PeriodStart, orders[1].CreatedAt, "the order")
		assertAt(t, idle.ExpiresAt, w.get(idle.ID).UpdatedAt, "the expiry")
	})
}
