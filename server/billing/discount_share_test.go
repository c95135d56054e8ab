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
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/subscription"
)

// An amount off several lines is that amount every period, however long it lasts: each subscription keeps its share.
func TestDiscount_IsSharedByTheSubscriptionsOfACheckout(t *testing.T) {
	plan := func(amount int64) catalog.PriceVariant { return recurring(amount, "month") }
	for name, c := range map[string]struct {
		off      int64
		terms    discount.Discount
		variants []catalog.PriceVariant
		first    int64     // off the checkout
		want     [][]int64 // what the next periods of each subscription cost
	}{
		"for ever": {1000, discount.Discount{Duration: discount.DurationForever}, []catalog.PriceVariant{plan(3000), plan(3000)}, 1000,
			[][]int64{{2500, 2500}, {2500, 2500}}},
		"to the last unit": {1001, discount.Discount{Duration: discount.DurationForever}, []catalog.PriceVariant{plan(3000), plan(3000), plan(2000)}, 1001,
			[][]int64{{2624, 2624}, {2625, 2625}, {1750, 1750}}},
		"of which one has nothing": {1, discount.Discount{Duration: discount.DurationForever}, []catalog.PriceVariant{plan(3000), plan(3000)}, 1,
			[][]int64{{2999, 2999}, {3000, 3000}}},
		"for two months": {1000, discount.Discount{Duration: discount.DurationRepeating, DurationInMonths: new(int64(2))}, []catalog.PriceVariant{plan(3000), plan(3000)}, 1000,
			[][]int64{{2500, 3000}, {2500, 3000}}},
		"once": {1000, discount.Discount{}, []catalog.PriceVariant{plan(3000), plan(3000)}, 1000, [][]int64{{3000, 3000}, {3000, 3000}}},
		"beside a line that is bought once": {1000, discount.Discount{Duration: discount.DurationForever}, []catalog.PriceVariant{{Amount: 1000}, plan(3000)}, 1000,
			[][]int64{{2250, 2250}}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.at(time.January, 31)
				var lines []offer.NewLine
				for _, v := range c.variants {
					lines = append(lines, one(w.variant(v)))
				}
				checkout, subs := w.buy(w.offAll(c.off, c.terms), lines...)
				assert.Equal(t, c.first, checkout.DiscountAmount)
				require.Len(t, subs, len(c.want))
				for i := range c.want[0] {
					for n, sub := range subs {
						preview, err := w.Subscription.PreviewRenewal(t.Context(), w.account, sub.ID)
						require.NoError(t, err)
						assert.Equal(t, c.want[n][i], preview.Amounts.Total, "subscription %d", n)
					}
					w.advance.Store(int64(time.Until(w.now(subs[0]).CurrentPeriodEnd.Time().Add(time.Second))))
					require.NoError(t, w.Work(t.Context()))
					for n, sub := range subs {
						assert.Equal(t, c.want[n][i], w.now(sub).PeriodAmount, "subscription %d", n)
					}
				}
			})
		})
	}
}

// A discount for one product of several is shared by its lines alone. A plan that begins with a trial has its share after the
// trial.
func TestDiscount_IsSharedByTheLinesThatItIsFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.at(time.January, 31)
		now, later, other := w.variant(recurring(3000, "month")), recurring(3000, "month"), w.variant(recurring(3000, "month"))
		later.TrialDays = 14
		tried := w.variant(later)
		d := w.offAll(1000, discount.Discount{ProductIDs: core.JSONOf([]string{now.ProductID, tried.ProductID})})
		checkout, subs := w.buy(d, one(now), one(tried), one(other))
		require.EqualValues(t, 1000, checkout.DiscountAmount)
		require.EqualValues(t, 2500+3000, checkout.AmountDueNow)
		assert.EqualValues(t, []int64{2500, 3000}, w.bills(subs[1], 2), "once, when it is paid first")
		assert.EqualValues(t, 3000, w.now(subs[0]).PeriodAmount)
		assert.EqualValues(t, 3000, w.now(subs[2]).PeriodAmount)
	})
}

// Half a unit that lines share is rounded as the checkout showed it, after a trial too.
func TestDiscount_RoundsAsTheCheckoutShowed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.at(time.January, 31)
		v := recurring(1001, "month")
		v.TrialDays = 14
		d := w.create(discount.Discount{Type: discount.TypePercent, PercentBps: new(int64(3333)), Duration: discount.DurationForever})
		checkout, subs := w.buy(d, one(w.variant(v)), one(w.variant(v)))
		require.EqualValues(t, 667, checkout.DiscountAmount)
		w.wait(14*day + time.Second)
		for range 2 {
			assert.Equal(t, checkout.TotalAmount, w.now(subs[0]).PeriodAmount+w.now(subs[1]).PeriodAmount)
			w.wait(31 * day)
		}
	})
}

// Who has a share has no more of it when the plan changes or another subscription loses its own.
func TestDiscount_ASharedAmountDoesNotGrow(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.at(time.January, 31)
		d := w.offAll(1000, discount.Discount{Duration: discount.DurationForever})
		dearer := w.variant(recurring(9000, "month"))
		_, subs := w.buy(d, one(w.variant(recurring(3000, "month"))), one(w.variant(recurring(3000, "month"))))
		_, err := w.discounted(subs[1], "")
		require.NoError(t, err)
		in := store.ChangeSubscription{PriceVariant: dearer.ID, Behavior: "next_period"}
		_, err = w.Billing.ChangeSubscription(t.Context(), w.account, subs[0].ID, in)
		require.NoError(t, err)
		assert.EqualValues(t, 8500, w.nextBill(subs[0]))
		assert.EqualValues(t, 3000, w.now(subs[1]).PeriodAmount)
		w.rewound(w.now(subs[0]), 10*day)
		_, err = w.UpdateSubscription(t.Context(), w.account, subs[0].ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Quantity: new(int64(2))})
		require.NoError(t, err)
		assert.EqualValues(t, 17_500, w.now(subs[0]).PeriodAmount)
	})
}

// A share is what decides whether enough is left to be charged.
func TestCreateCheckout_LooksAtTheShareOfALaterPeriod(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := recurring(1020, "month")
		d := w.offAll(1000, discount.Discount{Duration: discount.DurationForever})
		_, subs := w.buy(d, one(w.variant(v)), one(w.variant(v)))
		assert.EqualValues(t, 520, w.nextBill(subs[0]))
	})
}

// What a part is rounded to for several lines says nothing of another part, though the price is the same.
func TestDiscount_ARoundedShareIsOfItsOwnRate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.at(time.January, 31)
		v, same := w.variant(recurring(1001, "month")), w.variant(recurring(1001, "month"))
		d := w.create(discount.Discount{
			Type: discount.TypePercent, PercentBps: new(int64(3333)), Duration: discount.DurationForever,
			Rules: core.JSONOf([]discount.Rule{{PriceVariantID: same.ID, PercentBps: new(int64(1000))}}),
		})
		_, subs := w.buy(d, one(v), one(v))
		require.EqualValues(t, 1001-334, w.now(subs[0]).PeriodAmount)
		_, err := w.Billing.ChangeSubscription(t.Context(), w.account, subs[0].ID, store.ChangeSubscription{PriceVariant: same.ID, Behavior: "next_period"})
		require.NoError(t, err)
		assert.EqualValues(t, 1001-100, w.nextBill(subs[0]))
	})
}
