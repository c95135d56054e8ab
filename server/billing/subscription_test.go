package billing_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/tests/harness"
)

const day = 24 * time.Hour

// recurring is a price of so much for each interval.
func recurring(amount int64, interval string) catalog.PriceVariant {
	return catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: amount, Interval: &interval, IntervalCount: new(int64(1))}
}

// subscribe buys a price and returns the subscription that it makes.
func (w *world) subscribe(v *catalog.PriceVariant, method string) *subscription.Subscription {
	w.t.Helper()
	c := w.checkout(one(v))
	_, err := w.pay(c.ID, method)
	require.NoError(w.t, err)
	sub, err := w.Subscription.OfCheckout(w.t.Context(), w.account, c.ID)
	require.NoError(w.t, err)
	return sub
}

// wait lets time pass and does what is due. What a busy database had no time for is done later, as a server does it.
func (w *world) wait(d time.Duration) {
	w.t.Helper()
	w.advance.Add(int64(d))
	err := w.Work(w.t.Context())
	for begun := time.Now(); err != nil && time.Since(begun) < harness.Patience; err = w.Work(w.t.Context()) {
		if _, isBusy := errors.AsType[*core.UnavailableError](err); !isBusy {
			break
		}
	}
	require.NoError(w.t, err)
}

// now is the subscription as it is now.
func (w *world) now(sub *subscription.Subscription) *subscription.Subscription {
	w.t.Helper()
	found, err := w.Subscription.Get(w.t.Context(), w.account, sub.ID)
	require.NoError(w.t, err)
	return found
}

// ordersOf are the orders of a subscription, the oldest first.
func (w *world) ordersOf(sub *subscription.Subscription) []order.Order {
	w.t.Helper()
	var of []order.Order
	orders := w.orders()
	for i := range orders {
		if o := orders[len(orders)-1-i]; o.SubscriptionID != nil && *o.SubscriptionID == sub.ID {
			of = append(of, o)
		}
	}
	return of
}

func TestSubscription_BeginsWithAPurchaseAndRenews(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		require.Equal(t, subscription.StatusActive, sub.Status)
		assert.EqualValues(t, 1, sub.CyclesBilled)
		first := sub.CurrentPeriodEnd
		w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		sub = w.now(sub)
		assert.Equal(t, subscription.StatusActive, sub.Status)
		assert.Equal(t, first, sub.CurrentPeriodStart)
		orders := w.ordersOf(sub)
		require.Len(t, orders, 2)
		assert.Equal(t, order.BillingReasonSubscriptionCreate, orders[0].BillingReason)
		assert.Equal(t, order.BillingReasonSubscriptionCycle, orders[1].BillingReason)
		assert.Equal(t, order.StatusPaid, orders[1].Status)
		assert.EqualValues(t, 900, orders[1].PaidAmount)
		w.wait(time.Second)
		assert.Len(t, w.ordersOf(sub), 2, "a period is billed once")
	})
}

// TestSubscription_IsTriedAgainAndGivenUp fails every charge after the first.
func TestSubscription_IsTriedAgainAndGivenUp(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.provider.declines.Store(true)
		w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		sub = w.now(sub)
		require.Equal(t, subscription.StatusPastDue, sub.Status)
		failed := *sub.PastDueAt
		for _, days := range []int64{2, 7, 14, 21} {
			next := failed.Add(time.Duration(days) * day)
			require.Equal(t, next, *sub.NextAttemptAt)
			i, err := w.Invoice.Get(t.Context(), w.account, *sub.LatestInvoiceID)
			require.NoError(t, err)
			assert.Equal(t, invoice.StatusPastDue, i.Status)
			assert.Equal(t, next, *i.NextAttemptAt)
			w.wait(next.Time().Sub(w.Now().Time()) + time.Second)
			sub = w.now(sub)
		}
		assert.Equal(t, subscription.StatusCanceled, sub.Status)
		assert.Equal(t, subscription.CancellationReasonPaymentFailed, *sub.CancellationReason)
		orders := w.ordersOf(sub)
		require.Len(t, orders, 2)
		assert.Equal(t, order.StatusVoid, orders[1].Status)
		i, err := w.Invoice.Get(t.Context(), w.account, *sub.LatestInvoiceID)
		require.NoError(t, err)
		assert.Equal(t, invoice.StatusVoid, i.Status)
		assert.EqualValues(t, 5, i.AttemptCount)
		w.wait(365 * day)
		assert.Len(t, w.ordersOf(sub), 2)
	})
}

func TestSubscription_RecoversAtALaterAttempt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.provider.declines.Store(true)
		w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		require.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
		w.wait(2*day + time.Second)
		require.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
		w.provider.declines.Store(false)
		w.wait(5*day + time.Second)
		sub = w.now(sub)
		assert.Equal(t, subscription.StatusActive, sub.Status)
		assert.Nil(t, sub.PastDueAt)
		assert.Nil(t, sub.NextAttemptAt)
		assert.Equal(t, order.StatusPaid, w.ordersOf(sub)[1].Status)
	})
}

// TestSubscription_RenewalSurvivesALostAnswer loses the answer to the charge: the money is moved, and nobody here knows.
func TestSubscription_RenewalSurvivesALostAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		w.provider.lost.Store(true)
		w.advance.Store(int64(32 * day))
		require.Error(t, w.Work(t.Context()))
		require.Equal(t, order.StatusPending, w.ordersOf(sub)[1].Status)
		w.provider.lost.Store(false)
		require.NoError(t, w.Work(t.Context()))
		require.Len(t, w.ordersOf(sub), 2, "the period is billed already")
		require.Eventually(t, func() bool {
			require.NoError(t, w.Reconcile(t.Context()))
			return w.ordersOf(sub)[1].Status == order.StatusPaid
		}, time.Minute, 500*time.Millisecond, "the reconciler finds the charge")
		assert.EqualValues(t, 2, w.provider.confirms.Load())
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
	})
}

func TestSubscription_CompletesAfterItsBillingCycles(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := recurring(900, "month")
		v.BillingCycles = new(int64(3))
		sub := w.subscribe(w.variant(v), "pm_card_visa")
		for range 5 {
			w.wait(32 * day)
		}
		sub = w.now(sub)
		assert.Equal(t, subscription.StatusCompleted, sub.Status)
		assert.Len(t, w.ordersOf(sub), 3)
	})
}

func TestSubscription_KeepsTheEndOfTheMonth(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jan31 := time.Date(2027, time.January, 31, 12, 0, 0, 0, time.UTC)
		w.advance.Store(int64(time.Until(jan31)))
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		for _, want := range []string{"2027-02-28", "2027-03-31", "2027-04-30", "2027-05-31"} {
			require.Equal(t, want, w.now(sub).CurrentPeriodEnd.Time().Format("2006-01-02"))
			w.wait(w.now(sub).CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		}
	})
}

// TestSubscription_AddsUpAfterAYear bills a monthly and a yearly subscription, some of them at a later attempt.
func TestSubscription_AddsUpAfterAYear(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		monthly, yearly := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa"), w.subscribe(w.variant(recurring(9000, "year")), "pm_card_visa")
		begun := w.Now()
		for month := range 13 {
			w.provider.declines.Store(month%4 == 1)
			next := w.now(monthly).CurrentPeriodEnd
			w.wait(next.Time().Sub(w.Now().Time()) + time.Second)
			w.provider.declines.Store(false)
			w.wait(2*day + time.Second)
		}
		require.Greater(t, w.Now().Time().Sub(begun.Time()), 390*day)
		paid := map[string]int64{}
		for _, o := range w.orders() {
			require.Equal(t, order.StatusPaid, o.Status)
			i, err := w.Invoice.Get(t.Context(), w.account, *o.InvoiceID)
			require.NoError(t, err)
			assert.Equal(t, invoice.StatusPaid, i.Status)
			assert.Equal(t, o.PaidAmount, i.AmountPaid)
			paid[*o.SubscriptionID] += o.PaidAmount
		}
		assert.Equal(t, map[string]int64{monthly.ID: 14 * 900, yearly.ID: 2 * 9000}, paid)
		customer, err := w.Customer.Get(t.Context(), w.account, monthly.CustomerID)
		require.NoError(t, err)
		assert.EqualValues(t, 14*900+2*9000, customer.TotalSpent.V["usd"])
		assert.EqualValues(t, 16, customer.OrdersCount)
		assert.Equal(t, subscription.StatusActive, w.now(monthly).Status)
	})
}

// TestSubscription_BeginsWithATrial charges nothing until the trial is over.
func TestSubscription_BeginsWithATrial(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := recurring(900, "month")
		v.TrialDays, v.SetupFeeAmount = 14, 500
		sub := w.subscribe(w.variant(v), "pm_card_visa")
		require.Equal(t, subscription.StatusTrialing, sub.Status)
		assert.EqualValues(t, 0, sub.CyclesBilled)
		assert.EqualValues(t, 500, w.ordersOf(sub)[0].TotalAmount, "the set-up fee is due now")
		w.wait(14*day + time.Minute)
		sub = w.now(sub)
		assert.Equal(t, subscription.StatusActive, sub.Status)
		assert.Equal(t, *sub.TrialEnd, sub.CurrentPeriodStart)
		orders := w.ordersOf(sub)
		require.Len(t, orders, 2)
		assert.EqualValues(t, 900, orders[1].PaidAmount)
	})
}

// TestSubscription_GoesOnWithoutWhatItsSellerGaveUp voids one unpaid renewal and gives another up.
func TestSubscription_GoesOnWithoutWhatItsSellerGaveUp(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, give := range []func(sub *subscription.Subscription) error{
			func(sub *subscription.Subscription) error {
				_, err := w.VoidInvoice(t.Context(), w.account, *sub.LatestInvoiceID)
				return err
			},
			func(sub *subscription.Subscription) error {
				_, err := w.MarkInvoiceUncollectible(t.Context(), w.account, *sub.LatestInvoiceID)
				return err
			},
		} {
			w.provider.declines.Store(false)
			sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
			w.provider.declines.Store(true)
			w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
			require.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
			require.NoError(t, give(w.now(sub)))
			assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
			_, err := w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, store.CancelSubscription{})
			require.NoError(t, err)
		}
	})
}
