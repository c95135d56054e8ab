package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// waiting is what a subscription changes to later, as a price variant and a quantity.
func (w *world) waiting(sub *subscription.Subscription) (variant string, quantity int64) {
	w.t.Helper()
	change := w.now(sub).PendingChange.V
	if change == nil {
		return "", 0
	}
	return change.Plan.PriceVariantID, change.Plan.Quantity
}

func TestUpdateSubscription_KeepsAChangeThatWaits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		most := recurring(2000, "month")
		most.QuantityMax = new(int64(4))
		plain, next, few := w.variant(recurring(900, "month")), w.variant(most), w.limitedTo(3, 1500)
		sub := w.subscribe(plain, "pm_card_visa")
		_, err := w.plan(sub, next, 1, tenant.ProrationBehaviorNextPeriod)
		require.NoError(t, err)
		due := w.now(sub).PendingChange.V.EffectiveAt
		holds := func(quantity int64, variant *catalog.PriceVariant, later int64) {
			t.Helper()
			change := w.now(sub).PendingChange.V
			require.NotNil(t, change, "the change still waits")
			assert.Equal(t, due, change.EffectiveAt)
			assert.Equal(t, []any{quantity, variant.ID, later}, []any{w.now(sub).Quantity, change.Plan.PriceVariantID, change.Plan.Quantity})
		}
		changed, err := w.resize(sub, 2)
		require.NoError(t, err)
		assert.EqualValues(t, 2, changed.Quantity)
		holds(2, next, 2)
		_, err = w.resize(sub, 5) // more than the next plan is sold in
		refused(t, err, "quantity")
		holds(2, next, 2)
		assert.Len(t, w.now(sub).Prorations.V, 1, "a refused change bills nothing")

		_, err = w.plan(sub, few, 1, tenant.ProrationBehaviorNextPeriod)
		require.NoError(t, err)
		_, err = w.resize(sub, 4)
		short(t, err, "units left: 2.")
		holds(2, few, 1)
		assert.Equal(t, [2]int64{0, 1}, w.taken(few))
		_, err = w.resize(sub, 3)
		require.NoError(t, err)
		holds(3, few, 3)
		assert.Equal(t, [2]int64{0, 3}, w.taken(few))

		w.wait(due.Time().Sub(w.Now().Time()) + time.Second)
		assert.Equal(t, few.ID, w.now(sub).PriceVariantID)
		assert.EqualValues(t, 3, w.now(sub).Quantity)
		assert.Equal(t, [2]int64{3, 0}, w.taken(few))
	})
}

// What else changes a subscription leaves a change that waits, and what takes it back says so.
func TestUpdateSubscription_ChangesThatWaitAreDroppedOnPurposeAlone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		plain, next := w.variant(recurring(900, "month")), w.variant(recurring(2000, "month"))
		sub := w.subscribe(plain, "pm_card_visa")
		waits := func(variant string, quantity int64) {
			t.Helper()
			v, q := w.waiting(sub)
			assert.Equal(t, []any{variant, quantity}, []any{v, q})
		}
		ask := func(to *catalog.PriceVariant, quantity int64) {
			t.Helper()
			_, err := w.plan(sub, to, quantity, tenant.ProrationBehaviorNextPeriod)
			require.NoError(t, err)
		}
		ask(next, 1)
		_, err := w.discounted(sub, w.off(1000, discount.DurationForever, 5).ID)
		require.NoError(t, err)
		waits(next.ID, 1)
		_, err = w.PauseSubscription(t.Context(), w.account, sub.ID, store.PauseSubscription{Now: true})
		require.NoError(t, err)
		waits(next.ID, 1)
		_, err = w.ResumeSubscription(t.Context(), w.account, sub.ID)
		require.NoError(t, err)
		waits(next.ID, 1)
		_, err = w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, store.CancelSubscription{})
		require.NoError(t, err)
		_, err = w.UncancelSubscription(t.Context(), w.account, sub.ID)
		require.NoError(t, err)
		waits(next.ID, 1)
		_, err = w.resize(sub, 1)
		require.NoError(t, err)
		waits(next.ID, 1)

		ask(plain, 1)
		waits("", 0)
		ask(plain, 3) // the quantity alone
		_, err = w.resize(sub, 2)
		require.NoError(t, err)
		waits("", 0)
	})
}

// A change that waits goes on with a subscription whose billing cycles are over.
func TestChangeSubscription_GoesOnAfterTheLastCycle(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		once := recurring(900, "month")
		once.BillingCycles = new(int64(1))
		next := w.variant(recurring(2000, "month"))
		sub := w.subscribe(w.variant(once), "pm_card_visa")
		_, err := w.plan(sub, next, 1, tenant.ProrationBehaviorNextPeriod)
		require.NoError(t, err)
		_, err = w.Subscription.PreviewRenewal(t.Context(), w.account, sub.ID)
		require.NoError(t, err)
		w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		assert.Equal(t, next.ID, w.now(sub).PriceVariantID)
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
		assert.EqualValues(t, 2000, w.ordersOf(sub)[1].TotalAmount)
	})
}

// The first month of a plan that was billed each week lasts a month, whatever day of the month the first week began on.
func TestChangeSubscription_BeginsMonthsOnTheDayOfTheirFirst(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		monthly := w.variant(recurring(2000, "month"))
		for weeks := range 4 {
			sub := w.subscribe(w.variant(recurring(900, "week")), "pm_card_visa")
			for range weeks {
				w.wait(w.now(sub).CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
			}
			sub = w.now(sub)
			_, err := w.plan(sub, monthly, 1, tenant.ProrationBehaviorNextPeriod)
			require.NoError(t, err)
			foreseen, err := w.Subscription.PreviewRenewal(t.Context(), w.account, sub.ID)
			require.NoError(t, err)
			w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
			for range 2 {
				sub = w.now(sub)
				length := sub.CurrentPeriodEnd.Time().Sub(sub.CurrentPeriodStart.Time())
				assert.GreaterOrEqual(t, length, 28*day)
				assert.LessOrEqual(t, length, 31*day)
				if foreseen != nil {
					assert.Equal(t, foreseen.Subscription.CurrentPeriodEnd, sub.CurrentPeriodEnd)
					foreseen = nil
				}
				w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
			}
		}
	})
}

// A set-up fee is what a purchase costs: a change of plan does not charge it, now or later.
func TestChangeSubscription_ChargesNoSetUpFee(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		fee := func(amount int64, interval string) *catalog.PriceVariant {
			v := recurring(amount, interval)
			v.SetupFeeAmount = 5000
			return w.variant(v)
		}
		first := w.subscribe(fee(1000, "month"), "pm_card_visa")
		assert.EqualValues(t, 6000, w.ordersOf(first)[0].TotalAmount)
		for i, behavior := range []tenant.ProrationBehavior{"invoice_immediately", "next_invoice", "next_period"} {
			sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
			_, err := w.plan(sub, fee(3000, []string{"month", "year", "month"}[i]), 1, behavior)
			require.NoError(t, err)
			w.wait(w.now(sub).CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
			for _, o := range w.ordersOf(sub) {
				assert.LessOrEqual(t, o.TotalAmount, int64(3000), behavior)
				items, err := w.Order.Lines(t.Context(), w.account, []order.Order{o})
				require.NoError(t, err)
				for _, item := range items[o.ID] {
					assert.NotEqual(t, lineitem.KindSetupFee, item.Kind)
				}
			}
		}
	})
}

// Whoever pays late pays for the period that was not paid, and for the one that runs by then: not for those between.
func TestSubscription_RecoversWithThePeriodThatRuns(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) { a.Dunning.V.IntervalsDays = []int64{60, 60} })
		require.NoError(t, err)
		for i, of := range []struct {
			interval string
			late     time.Duration // after the period began that is paid late
			begins   func(unpaid core.Time) core.Time
			orders   int
		}{
			{"day", 15*day + time.Hour, func(unpaid core.Time) core.Time { return unpaid.Add(15 * day) }, 3},
			{"week", 15*day + time.Hour, func(unpaid core.Time) core.Time { return unpaid.Add(14 * day) }, 3},
			{"week", 3 * day, func(unpaid core.Time) core.Time { return unpaid }, 2},
			{"month", 15 * day, func(unpaid core.Time) core.Time { return unpaid }, 2},
			{"month", 100 * day, func(unpaid core.Time) core.Time { return core.TimeOf(unpaid.Time().AddDate(0, 3, 0)) }, 3},
		} {
			w.advance.Store(int64(time.Until(time.Date(2100+i, 3, 10, 12, 0, 0, 0, time.UTC))))
			sub := w.subscribe(w.variant(recurring(900, of.interval)), "pm_card_visa")
			unpaid := sub.CurrentPeriodEnd
			w.provider.declines.Store(true)
			w.wait(unpaid.Time().Sub(w.Now().Time()) + time.Second)
			require.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
			w.provider.declines.Store(false)
			w.advance.Add(int64(of.late))
			preview, err := w.Subscription.PreviewRenewal(t.Context(), w.account, sub.ID)
			require.NoError(t, err)
			_, err = w.PayInvoice(t.Context(), w.account, *w.now(sub).LatestInvoiceID, payInvoice("pm_card_visa"))
			require.NoError(t, err)
			require.NoError(t, w.Work(t.Context()))
			now := w.now(sub)
			assert.Equal(t, subscription.StatusActive, now.Status)
			assert.Equal(t, of.begins(unpaid), now.CurrentPeriodStart, of)
			assert.Len(t, w.ordersOf(sub), of.orders, of)
			assert.EqualValues(t, of.orders, now.CyclesBilled, "what was skipped is no billing cycle")
			if of.orders == 3 {
				assert.Equal(t, now.CurrentPeriodStart, preview.Subscription.CurrentPeriodStart)
			}
			end := now.CurrentPeriodEnd
			w.wait(end.Time().Sub(w.Now().Time()) + time.Second)
			assert.Equal(t, end, w.now(sub).CurrentPeriodStart, "the next one follows on it")
			_, err = w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, store.CancelSubscription{Now: true})
			require.NoError(t, err)
		}
	})
}
