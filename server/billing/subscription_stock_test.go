package billing_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
)

// limitedTo is a monthly price of which there are so many units.
func (w *world) limitedTo(stock, amount int64) *catalog.PriceVariant {
	v := recurring(amount, "month")
	v.Stock = &stock
	return w.variant(v)
}

// taken is how many units of a price are sold, and how many are held.
func (w *world) taken(v *catalog.PriceVariant) [2]int64 {
	w.t.Helper()
	found, err := w.Catalog.GetPriceVariant(w.t.Context(), w.account, v.ID)
	require.NoError(w.t, err)
	return [2]int64{found.SoldCount, found.ReservedCount}
}

// plan asks for another plan.
func (w *world) plan(sub *subscription.Subscription, to *catalog.PriceVariant, quantity int64, behavior tenant.ProrationBehavior) (*subscription.Subscription, error) {
	return w.Billing.ChangeSubscription(w.t.Context(), w.account, sub.ID, store.ChangeSubscription{PriceVariant: to.ID, Quantity: &quantity, Behavior: behavior})
}

// resize is a PATCH of the quantity.
func (w *world) resize(sub *subscription.Subscription, quantity int64) (*subscription.Subscription, error) {
	return w.UpdateSubscription(w.t.Context(), w.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Quantity: &quantity})
}

// short asserts that an error says how many units are left.
func short(t *testing.T, err error, left string) {
	t.Helper()
	refused(t, err, "quantity")
	assert.ErrorContains(t, err, left)
}

func TestChangeSubscription_TakesNoMoreThanTheStock(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		last, plain := w.limitedTo(1, 2000), w.variant(recurring(900, "month"))
		holder, other := w.subscribe(last, "pm_card_visa"), w.subscribe(plain, "pm_card_visa")
		for _, behavior := range []tenant.ProrationBehavior{"invoice_immediately", "next_invoice", "next_period"} {
			_, err := w.PreviewSubscriptionChange(t.Context(), w.account, other.ID, store.ChangeSubscription{PriceVariant: last.ID, Behavior: behavior})
			short(t, err, "units left: 0.")
			_, err = w.plan(other, last, 1, behavior)
			short(t, err, "units left: 0.")
			_, err = w.plan(holder, last, 3, behavior)
			short(t, err, "units left: 0.")
		}
		_, err := w.resize(holder, 100)
		short(t, err, "units left: 0.")
		assert.Equal(t, [2]int64{1, 0}, w.taken(last))
		assert.EqualValues(t, 1, w.now(holder).Quantity)
		assert.Equal(t, plain.ID, w.now(other).PriceVariantID)
		tried := w.subscribe(w.tried(), "pm_card_visa")
		_, err = w.plan(tried, last, 1, "")
		short(t, err, "units left: 0.")
	})
}

// What a subscription gave up it may have again: the seller keeps it for it, as nothing that was sold comes back.
func TestChangeSubscription_KeepsWhatItEverHad(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v, plain := w.limitedTo(5, 2000), w.variant(recurring(900, "month"))
		sub := w.subscribe(plain, "pm_card_visa")
		for range 3 {
			_, err := w.plan(sub, v, 3, tenant.ProrationBehaviorInvoiceImmediately)
			require.NoError(t, err)
			assert.Equal(t, [2]int64{3, 0}, w.taken(v))
			_, err = w.resize(sub, 2)
			require.NoError(t, err)
			_, err = w.plan(sub, plain, 1, tenant.ProrationBehaviorNextInvoice)
			require.NoError(t, err)
			assert.Equal(t, [2]int64{3, 0}, w.taken(v))
			assert.Equal(t, [2]int64{1, 0}, w.taken(plain))
		}
		_, err := w.plan(sub, v, 6, "")
		short(t, err, "units left: 2.")
		_, err = w.resize(sub, 2)
		require.NoError(t, err)
		assert.Equal(t, [2]int64{2, 0}, w.taken(plain))
		product, err := w.Catalog.GetProduct(t.Context(), w.account, plain.ProductID)
		require.NoError(t, err)
		assert.EqualValues(t, 2, product.SalesCount)
		_, err = w.Billing.CancelSubscription(t.Context(), w.account, sub.ID, store.CancelSubscription{Now: true})
		require.NoError(t, err)
		assert.Equal(t, [2]int64{3, 0}, w.taken(v), "what was sold stays sold, as after a refund")
	})
}

func TestChangeSubscription_HoldsWhatItWaitsFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v, plain := w.limitedTo(4, 2000), w.variant(recurring(900, "month"))
		sub, rival := w.subscribe(plain, "pm_card_visa"), w.subscribe(plain, "pm_card_visa")
		_, err := w.plan(sub, v, 3, tenant.ProrationBehaviorNextPeriod)
		require.NoError(t, err)
		assert.Equal(t, [2]int64{0, 3}, w.taken(v))
		_, err = w.plan(rival, v, 2, "")
		short(t, err, "units left: 1.")
		_, err = w.plan(sub, v, 4, tenant.ProrationBehaviorNextPeriod)
		require.NoError(t, err, "what it holds already is its own")
		assert.Equal(t, [2]int64{0, 4}, w.taken(v))
		_, err = w.plan(sub, plain, 1, tenant.ProrationBehaviorNextPeriod) // takes it back
		require.NoError(t, err)
		assert.Equal(t, [2]int64{0, 0}, w.taken(v))

		_, err = w.plan(sub, v, 3, tenant.ProrationBehaviorNextPeriod)
		require.NoError(t, err)
		w.wait(sub.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		require.Equal(t, v.ID, w.now(sub).PriceVariantID)
		assert.Equal(t, [2]int64{3, 0}, w.taken(v))

		_, err = w.plan(rival, v, 1, tenant.ProrationBehaviorNextPeriod)
		require.NoError(t, err)
		assert.Equal(t, [2]int64{3, 1}, w.taken(v))
		_, err = w.Billing.CancelSubscription(t.Context(), w.account, rival.ID, store.CancelSubscription{Now: true})
		require.NoError(t, err)
		assert.Equal(t, [2]int64{3, 0}, w.taken(v))
	})
}

// A change that is charged holds its units until its outcome is known, beside those of a change that waits for the period's end.
func TestChangeSubscription_HoldsWhatIsBeingPaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v, later, plain := w.limitedTo(1, 2000), w.limitedTo(1, 800), w.variant(recurring(900, "month"))
		sub, rival := w.subscribe(plain, "pm_card_visa"), w.subscribe(plain, "pm_card_visa")
		_, err := w.plan(sub, later, 1, tenant.ProrationBehaviorNextPeriod)
		require.NoError(t, err)
		w.provider.declines.Store(true)
		_, err = w.plan(sub, v, 1, tenant.ProrationBehaviorInvoiceImmediately)
		refused(t, err, "payment_method")
		assert.Equal(t, [2]int64{0, 0}, w.taken(v), "a decline frees them")
		assert.Equal(t, [2]int64{0, 1}, w.taken(later))
		require.NotNil(t, w.now(sub).PendingChange.V, "a decline leaves everything as it was")
		assert.Equal(t, later.ID, w.now(sub).PendingChange.V.Plan.PriceVariantID)

		w.provider.declines.Store(false)
		w.provider.lost.Store(true)
		_, err = w.plan(sub, v, 1, tenant.ProrationBehaviorInvoiceImmediately)
		require.Equal(t, core.Unknown, core.OutcomeOf(err))
		assert.Equal(t, [2]int64{0, 1}, w.taken(v))
		assert.Equal(t, [2]int64{0, 1}, w.taken(later))
		_, err = w.plan(rival, v, 1, "")
		short(t, err, "units left: 0.")
		w.provider.lost.Store(false)
		require.Eventually(t, func() bool {
			require.NoError(t, w.Reconcile(t.Context()))
			return w.now(sub).PriceVariantID == v.ID
		}, time.Minute, 100*time.Millisecond, "the reconciler finds the charge")
		assert.Nil(t, w.now(sub).PendingChange.V, "it took the place of the one that waited")
		assert.Equal(t, [2]int64{1, 0}, w.taken(v))
		assert.Equal(t, [2]int64{0, 0}, w.taken(later))
	})
}

// Thirty subscriptions and ten buyers want the last seven units at once, from three replicas, in every way that there is.
func TestChangeSubscription_ManyAtOnceTakeNoMoreThanTheStock(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const changing, buying, stock = 30, 10, 7
		replicas, v, plain := w.replicas(), w.limitedTo(stock+1, 2000), w.variant(recurring(900, "month"))
		holder := w.subscribe(v, "pm_card_visa")
		subs, checkouts := make([]*subscription.Subscription, changing), make([]*checkout.Checkout, buying)
		for i := range subs {
			subs[i] = w.subscribe(plain, "pm_card_visa")
		}
		for i := range checkouts {
			checkouts[i] = w.checkout(one(v))
		}
		behaviors := []tenant.ProrationBehavior{"invoice_immediately", "next_invoice", "next_period"}
		taken := int64(0)
		for i, err := range parallel(changing+buying+1, func(i int) error {
			by, key := replicas[i%len(replicas)], &core.Key{Account: w.account, Key: fmt.Sprint("want ", i), External: true}
			_, _, err := by.Request(t.Context(), key, func(ctx context.Context) (*core.Answer, error) { // what a busy database broke off is asked again
				var err error
				switch {
				case i < changing:
					_, err = by.Billing.ChangeSubscription(ctx, w.account, subs[i].ID, store.ChangeSubscription{PriceVariant: v.ID, Behavior: behaviors[i/3%3]})
				case i < changing+buying:
					_, err = by.ConfirmCheckout(ctx, w.account, checkouts[i-changing].ID, with("pm_card_visa"))
				default:
					_, err = by.UpdateSubscription(ctx, w.account, holder.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Quantity: new(int64(2))})
				}
				return &core.Answer{Status: 200}, err
			})
			return err
		}) {
			switch {
			case err == nil:
				taken++
			case i >= changing && i < changing+buying:
				refused(t, err, "line_items")
			default:
				short(t, err, "units left: ")
			}
		}
		assert.EqualValues(t, stock, taken)
		counts := w.taken(v)
		assert.EqualValues(t, stock+1, counts[0]+counts[1])
		w.wait(32 * day)
		assert.Equal(t, [2]int64{stock + 1, 0}, w.taken(v))
	})
}

// What was paid for or agreed on takes place, also if it holds nothing: nobody is there to be told that too few are left. The stock is raised.
func TestChangeSubscription_TakesPlaceWhateverIsLeft(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		paid, later, plain := w.limitedTo(1, 2000), w.limitedTo(1, 800), w.variant(recurring(900, "month"))
		buys, waits := w.subscribe(plain, "pm_card_visa"), w.subscribe(plain, "pm_card_visa")
		_, err := w.plan(waits, later, 1, tenant.ProrationBehaviorNextPeriod)
		require.NoError(t, err)
		w.provider.lost.Store(true)
		_, err = w.plan(buys, paid, 1, tenant.ProrationBehaviorInvoiceImmediately)
		require.Equal(t, core.Unknown, core.OutcomeOf(err))

		rows := harness.OpenDatabase(t, w.url) // as a version left it that held nothing, before others bought the last one
		rows.Must(t, `UPDATE subscriptions SET units = '[]'`)
		rows.Must(t, `UPDATE price_variants SET reserved_count = 0, stock = 0 WHERE stock = 1`)
		w.heard()
		assert.Equal(t, paid.ID, w.now(buys).PriceVariantID)
		w.wait(waits.CurrentPeriodEnd.Time().Sub(w.Now().Time()) + time.Second)
		assert.Equal(t, later.ID, w.now(waits).PriceVariantID)
		for _, v := range []*catalog.PriceVariant{paid, later} {
			assert.Equal(t, [2]int64{1, 0}, w.taken(v))
			found, err := w.Catalog.GetPriceVariant(t.Context(), w.account, v.ID)
			require.NoError(t, err)
			assert.EqualValues(t, 1, *found.Stock)
		}
	})
}

// A trial holds what it changes to, and sells it when its first period is paid.
func TestChangeSubscription_ATrialHoldsItsUnits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		few, last := w.limitedTo(3, 2000), w.limitedTo(1, 800)
		trial := func() *subscription.Subscription { return w.subscribe(w.tried(), "pm_card_visa") }
		sub := trial()
		for range 2 { // it goes through all plans, and keeps none of them
			_, err := w.plan(sub, few, 3, "")
			require.NoError(t, err)
			assert.Equal(t, [2]int64{0, 3}, w.taken(few))
			_, err = w.plan(sub, last, 1, "")
			require.NoError(t, err)
			assert.Equal(t, [2]int64{0, 0}, w.taken(few))
			assert.Equal(t, [2]int64{0, 1}, w.taken(last))
		}
		rival := trial()
		_, err := w.plan(rival, last, 1, "")
		short(t, err, "units left: 0.")
		_, err = w.plan(rival, few, 1, "")
		require.NoError(t, err)
		_, err = w.resize(rival, 3)
		require.NoError(t, err)
		_, err = w.resize(rival, 2)
		require.NoError(t, err)
		assert.Equal(t, [2]int64{0, 2}, w.taken(few))
		_, err = w.Store.PauseSubscription(t.Context(), w.account, rival.ID, store.PauseSubscription{Now: true})
		require.NoError(t, err)
		assert.Equal(t, [2]int64{0, 2}, w.taken(few), "a pause keeps them")
		_, err = w.Store.ResumeSubscription(t.Context(), w.account, rival.ID)
		require.NoError(t, err)
		_, err = w.Billing.CancelSubscription(t.Context(), w.account, rival.ID, store.CancelSubscription{})
		require.NoError(t, err)
		w.wait(14*day + time.Minute)
		assert.Equal(t, subscription.StatusCanceled, w.now(rival).Status)
		assert.Equal(t, [2]int64{0, 0}, w.taken(few))
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
		assert.Equal(t, [2]int64{1, 0}, w.taken(last))
		product, err := w.Catalog.GetProduct(t.Context(), w.account, last.ProductID)
		require.NoError(t, err)
		assert.EqualValues(t, 1, product.SalesCount)

		_, err = w.resize(w.now(sub), 2)
		short(t, err, "units left: 0.")
		_, err = w.plan(sub, few, 2, tenant.ProrationBehaviorNextInvoice)
		require.NoError(t, err)
		assert.Equal(t, [2]int64{2, 0}, w.taken(few), "after the trial a change sells at once")
	})
}

// A trial whose first period nobody pays has sold nothing.
func TestChangeSubscription_ATrialFreesWhatIsNeverPaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		last := w.limitedTo(2, 800)
		sub := w.subscribe(w.tried(), "pm_card_visa")
		paid := w.subscribe(w.tried(), "pm_card_visa")
		for _, of := range []*subscription.Subscription{sub, paid} {
			_, err := w.plan(of, last, 1, "")
			require.NoError(t, err)
		}
		w.provider.declines.Store(true)
		w.wait(14*day + time.Minute)
		for _, of := range []*subscription.Subscription{sub, paid} {
			require.Equal(t, subscription.StatusPastDue, w.now(of).Status)
		}
		assert.Equal(t, [2]int64{0, 2}, w.taken(last))
		_, err := w.PayInvoiceOutOfBand(t.Context(), w.account, *w.now(paid).LatestInvoiceID)
		require.NoError(t, err)
		assert.Equal(t, [2]int64{1, 1}, w.taken(last))
		for range 4 {
			w.wait(8 * day)
		}
		require.Equal(t, subscription.StatusCanceled, w.now(sub).Status)
		assert.Equal(t, [2]int64{1, 0}, w.taken(last))
	})
}
