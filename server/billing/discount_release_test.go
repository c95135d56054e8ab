package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/subscription"
)

// tryable is a month at 10 dollars after a fortnight that costs nothing.
func (w *world) tryable() *catalog.PriceVariant {
	v := recurring(1000, "month")
	v.TrialDays = 14
	return w.variant(v)
}

// usable is a discount that so many can use.
func (w *world) usable(uses int64) *discount.Discount {
	return w.create(discount.Discount{Type: discount.TypePercent, PercentBps: new(int64(5000)), Duration: discount.DurationForever, MaxRedemptions: &uses})
}

// ends cancels a subscription at once.
func (w *world) ends(sub *subscription.Subscription) {
	w.t.Helper()
	ended, err := w.Store.CancelSubscription(w.t.Context(), w.account, sub.ID, store.CancelSubscription{Now: true})
	require.NoError(w.t, err)
	require.Equal(w.t, subscription.StatusCanceled, ended.Status)
}

// What took nothing off is free again when its subscription ends, and what took something off is not.
func TestCancelSubscription_FreesADiscountThatTookNothingOff(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		given := w.usable(1)
		sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
		_, err := w.discounted(sub, given.ID)
		require.NoError(t, err)
		w.ends(sub)
		assert.Zero(t, w.redemptions(given), "it was given for the next period")

		shown := w.usable(1)
		_, subs := w.buy(shown, one(w.tryable()))
		require.EqualValues(t, 1, w.redemptions(shown))
		w.ends(subs[0])
		assert.Zero(t, w.redemptions(shown), "the trial cost nothing")
		_, err = w.Subscription.Get(t.Context(), w.account, subs[0].ID)
		require.NoError(t, err)

		_, subs = w.buy(shown, one(w.tryable()))
		assert.EqualValues(t, 500, w.nextBill(subs[0]))
		w.ends(subs[0])
		assert.EqualValues(t, 1, w.redemptions(shown), "somebody else had it, and it took something off")

		now := w.usable(1)
		_, subs = w.buy(now, one(w.variant(recurring(1000, "month"))))
		w.ends(subs[0])
		assert.EqualValues(t, 1, w.redemptions(now))

		later := w.usable(1)
		_, subs = w.buy(later, one(w.tryable()))
		_, err = w.Store.CancelSubscription(t.Context(), w.account, subs[0].ID, store.CancelSubscription{})
		require.NoError(t, err)
		assert.EqualValues(t, 1, w.redemptions(later), "it has not ended yet")
		w.wait(14*day + time.Second)
		require.Equal(t, subscription.StatusCanceled, w.now(subs[0]).Status)
		assert.Zero(t, w.redemptions(later))
	})
}

// The subscriptions of a checkout have one use of its discount, which is free when the last of them has ended or lost it.
func TestCancelSubscription_TheLastOneFreesTheDiscountOfACheckout(t *testing.T) {
	for name, c := range map[string]struct {
		first func(*world, *subscription.Subscription)
		then  func(*world, *subscription.Subscription)
		want  int64
	}{
		"both end":                  {(*world).ends, (*world).ends, 0},
		"one loses it":              {lose, (*world).ends, 0},
		"both lose it":              {lose, lose, 0},
		"the other loses it":        {(*world).ends, lose, 0},
		"the other is billed first": {(*world).ends, func(w *world, sub *subscription.Subscription) { w.nextBill(sub); w.ends(sub) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				d := w.usable(1)
				v := w.tryable()
				_, subs := w.buy(d, one(v), one(v))
				c.first(w, subs[0])
				assert.EqualValues(t, 1, w.redemptions(d), "the other one has it still")
				c.then(w, subs[1])
				assert.Equal(t, c.want, w.redemptions(d))
			})
		})
	}
}

// lose takes the discount of a subscription away.
func lose(w *world, sub *subscription.Subscription) {
	w.t.Helper()
	_, err := w.discounted(sub, "")
	require.NoError(w.t, err)
}

// A discount that waits in the checkout of another subscription takes nothing off the one that has lost it.
func TestUpdateSubscription_AnotherSubscriptionKeepsTheUse(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d, v := w.usable(1), w.tryable()
		_, subs := w.buy(d, one(v), one(v))
		other := w.usable(1)
		_, err := w.discounted(subs[0], other.ID)
		require.NoError(t, err)
		assert.EqualValues(t, 1, w.redemptions(d))
		w.ends(subs[1])
		assert.Zero(t, w.redemptions(d))
		assert.EqualValues(t, 500, w.nextBill(subs[0]))
		assert.EqualValues(t, 1, w.redemptions(other))
	})
}

// Subscriptions of one checkout that end at the same moment free the use once, and as many get it as it is free for.
func TestCancelSubscription_FreesADiscountOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const checkouts, lines, others = 4, 3, 6
		d, v := w.usable(checkouts), w.tryable()
		var subs []*subscription.Subscription
		for range checkouts {
			_, made := w.buy(d, one(v), one(v), one(v))
			subs = append(subs, made...)
		}
		require.Len(t, subs, checkouts*lines)
		plan := w.variant(recurring(1000, "month"))
		wanting := make([]*subscription.Subscription, others)
		for i := range wanting {
			wanting[i] = w.subscribe(plan, "pm_card_visa")
		}
		_, err := w.discounted(wanting[0], d.ID)
		refused(t, err, "discount")
		for _, err := range parallel(len(subs), func(i int) error {
			_, err := w.Store.CancelSubscription(t.Context(), w.account, subs[i].ID, store.CancelSubscription{Now: true})
			return err
		}) {
			require.NoError(t, err)
		}
		assert.Zero(t, w.redemptions(d))
		got := 0
		for _, err := range parallel(others, func(i int) error {
			_, err := w.discounted(wanting[i], d.ID)
			return err
		}) {
			if err == nil {
				got++
				continue
			}
			refused(t, err, "discount")
		}
		assert.Equal(t, checkouts, got)
		assert.EqualValues(t, checkouts, w.redemptions(d))
	})
}
