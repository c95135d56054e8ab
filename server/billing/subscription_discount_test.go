package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// off makes a discount, of which so many may be used.
func (w *world) off(bps int64, duration discount.Duration, uses int64) *discount.Discount {
	w.t.Helper()
	d, err := w.Discount.Create(w.t.Context(), w.account, discount.Discount{
		Name: "Thanks", Type: discount.TypePercent, PercentBps: &bps, Duration: duration, MaxRedemptions: &uses,
	})
	require.NoError(w.t, err)
	return d
}

// discounted gives a subscription a discount, or with an empty id takes away what it has.
func (w *world) discounted(sub *subscription.Subscription, id string) (*subscription.Subscription, error) {
	return w.UpdateSubscription(w.t.Context(), w.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Discount: &id})
}

// redemptions counts how often a discount is used.
func (w *world) redemptions(d *discount.Discount) int64 {
	w.t.Helper()
	found, err := w.Discount.Get(w.t.Context(), w.account, d.ID)
	require.NoError(w.t, err)
	return found.RedemptionsCount
}

// last is what the latest order of a subscription came to.
func (w *world) last(sub *subscription.Subscription) int64 {
	w.t.Helper()
	orders := w.ordersOf(sub)
	return orders[len(orders)-1].PaidAmount
}

// What a subscription is given in the middle of a period holds from the next one on. What is taken away stays until then. So a change of
// plan costs what it would have cost before.
func TestChangeSubscription_WhileADiscountWaits(t *testing.T) {
	for name, c := range map[string]struct {
		before, given  int64 // percent
		difference     int64 // of the plans, for a whole period
		nextMonth      int64
		takenBackFirst bool
	}{
		"given":         {given: 50, difference: 1000, nextMonth: 1000},
		"taken away":    {before: 50, difference: 500, nextMonth: 2000},
		"replaced":      {before: 50, given: 10, difference: 500, nextMonth: 1800},
		"replaced back": {before: 50, given: 10, difference: 500, nextMonth: 1800, takenBackFirst: true},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.monthOf30()
				sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
				give := func(percent int64) {
					t.Helper()
					id := ""
					if percent > 0 {
						id = w.off(percent*100, discount.DurationForever, 10).ID
					}
					var err error
					sub, err = w.discounted(sub, id)
					require.NoError(t, err)
				}
				if c.before > 0 {
					give(c.before)
					w.wait(30*day + time.Second) // to July, which has 31 days
					sub = w.now(sub)
				}
				if c.takenBackFirst {
					give(0)
				}
				give(c.given)
				w.rewound(sub, time.Duration(sub.CurrentPeriodEnd-sub.CurrentPeriodStart)*time.Microsecond/2)
				sub = w.change(sub, w.variant(recurring(2000, "month")), tenant.ProrationBehaviorInvoiceImmediately)
				assert.Equal(t, c.difference/2, w.last(sub), "half of the period is left")
				w.wait(16 * day)
				assert.Equal(t, c.nextMonth, w.last(sub))
			})
		})
	}
}

// A discount for one period waits as long as there is nothing to take it off. The change to a plan with a price is what it waits for.
func TestChangeSubscription_UsesUpADiscountThatWaitedInAFreePlan(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		d := w.off(10_000, discount.DurationOnce, 1)
		free := recurring(0, "month")
		free.AmountType = catalog.PriceVariantAmountTypeFree
		sub := w.subscribe(w.variant(free), "pm_card_visa")
		_, err := w.discounted(sub, d.ID)
		require.NoError(t, err)
		w.wait(30*day + time.Second)
		sub = w.change(w.now(sub), w.variant(recurring(1000, "month")), tenant.ProrationBehaviorInvoiceImmediately)
		assert.Len(t, w.ordersOf(sub), 2, "what is left of the month is free")
		w.wait(32 * day)
		assert.EqualValues(t, 1000, w.last(sub), "and nothing else")
		_, err = w.discounted(sub, "")
		require.NoError(t, err)
		assert.EqualValues(t, 1, w.redemptions(d), "it was used, though no order shows it")
		other := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
		_, err = w.discounted(other, d.ID)
		refused(t, err, "discount")
	})
}

// A change of plan that begins a period takes the discount that waited for the next one. The discount counts whether an order shows it
// or not.
func TestChangeSubscription_CountsWhatItUses(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		for _, c := range []struct{ percent, paid int64 }{{50, 5000 - 1000}, {100, 0}} {
			d := w.off(c.percent*100, discount.DurationForever, 1)
			sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
			_, err := w.discounted(sub, d.ID)
			require.NoError(t, err)
			w.rewound(sub, 0)
			sub = w.change(sub, w.variant(recurring(10_000, "year")), tenant.ProrationBehaviorInvoiceImmediately)
			if c.paid > 0 {
				assert.Equal(t, c.paid, w.last(sub))
			}
			_, err = w.discounted(sub, "")
			require.NoError(t, err)
			assert.EqualValues(t, 1, w.redemptions(d), "taking it away does not give the use back")
			_, err = w.discounted(sub, d.ID)
			refused(t, err, "discount")
		}
	})
}

// A change that is being paid was priced with the discount that there was.
func TestUpdateSubscription_GivesNoDiscountWhileAChangeIsPaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.off(5000, discount.DurationForever, 10)
		sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
		c, err := w.Store.ChangeSubscription(t.Context(), w.account, sub.ID, store.ChangeSubscription{
			PriceVariant: w.variant(recurring(2000, "month")).ID, Behavior: tenant.ProrationBehaviorInvoiceImmediately,
		})
		require.NoError(t, err)
		require.NotNil(t, c.Payment)
		_, err = w.discounted(sub, d.ID)
		refused(t, err, "status")
		assert.Zero(t, w.redemptions(d))
		_, err = w.SettlePayment(t.Context(), c.Payment, payment.ChargeResult{Status: payment.StatusFailed, Failure: &payment.Failure{Code: "card_declined"}})
		require.NoError(t, err)
		_, err = w.discounted(sub, d.ID)
		require.NoError(t, err)
	})
}

// What a discount for one period takes off is off all of that period: to order less and then as much again costs nothing.
func TestChangeSubscription_KeepsWhatADiscountForOnePeriodTookOff(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		d := w.off(5000, discount.DurationOnce, 1)
		v := w.variant(recurring(1000, "month"))
		sub := w.subscribe(v, "pm_card_visa")
		_, err := w.discounted(sub, d.ID)
		require.NoError(t, err)
		w.wait(30*day + time.Second)
		require.EqualValues(t, 500, w.last(sub))
		order := func(pieces int64) *subscription.Subscription {
			t.Helper()
			sub, err := w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Quantity: &pieces})
			require.NoError(t, err)
			return sub
		}
		w.rewound(w.now(sub), 31*day/2)
		assert.EqualValues(t, 1000, order(2).PeriodAmount)
		assert.EqualValues(t, 500, order(1).PeriodAmount)
		credit, err := w.Customer.Get(t.Context(), w.account, sub.CustomerID)
		require.NoError(t, err)
		assert.Zero(t, credit.Balance.V["usd"], "the second piece goes again, and nobody has paid it yet")
		w.wait(16 * day)
		orders := w.ordersOf(sub)
		assert.EqualValues(t, 1000, orders[len(orders)-1].TotalAmount, "the next month has nothing off")
	})
}

// A discount that has taken nothing off yet is free for somebody else as soon as it is taken away. So it takes nothing off any more.
func TestUpdateSubscription_ADiscountThatIsGivenBackTakesNothingOff(t *testing.T) {
	for name, replaced := range map[string]bool{"taken away": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.monthOf30()
				d := w.off(5000, discount.DurationForever, 1)
				free := recurring(0, "month")
				free.AmountType = catalog.PriceVariantAmountTypeFree
				sub := w.subscribe(w.variant(free), "pm_card_visa")
				_, err := w.discounted(sub, d.ID)
				require.NoError(t, err)
				w.wait(30*day + time.Second)
				other := ""
				if replaced {
					other = w.off(1000, discount.DurationForever, 1).ID
				}
				_, err = w.discounted(sub, other)
				require.NoError(t, err)
				require.Zero(t, w.redemptions(d))
				sub = w.now(sub)
				w.rewound(sub, time.Duration(sub.CurrentPeriodEnd-sub.CurrentPeriodStart)*time.Microsecond/2)
				sub = w.change(sub, w.variant(recurring(1000, "month")), tenant.ProrationBehaviorInvoiceImmediately)
				assert.EqualValues(t, 500, w.last(sub), "half of a month")
			})
		})
	}
}

// A discount for one period waits for one of a plan that it is for.
func TestChangeSubscription_ADiscountForAnotherPlanWaits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		v := w.variant(recurring(1000, "month"))
		d, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
			Name: "Sorry", Type: discount.TypePercent, PercentBps: new(int64(5000)), PriceVariantIDs: core.JSONOf([]string{v.ID}), MaxRedemptions: new(int64(1)),
		})
		require.NoError(t, err)
		sub := w.subscribe(v, "pm_card_visa")
		_, err = w.discounted(sub, d.ID)
		require.NoError(t, err)
		sub = w.change(sub, w.variant(recurring(2000, "month")), tenant.ProrationBehaviorNextPeriod)
		w.wait(30*day + time.Second)
		require.EqualValues(t, 2000, w.last(sub))
		sub = w.change(w.now(sub), v, tenant.ProrationBehaviorNextPeriod)
		w.wait(31 * day)
		assert.EqualValues(t, 500, w.last(sub))
		w.wait(31 * day)
		assert.EqualValues(t, 1000, w.last(sub))
		assert.EqualValues(t, 1, w.redemptions(d))
	})
}

// An amount that other lines of a checkout shared is off the first period in that part alone, whatever changes in it.
func TestChangeSubscription_KeepsItsShareOfAnAmount(t *testing.T) {
	for _, duration := range []discount.Duration{discount.DurationOnce, discount.DurationForever} {
		t.Run(string(duration), func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				v := w.variant(recurring(1000, "month"))
				d, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
					Name: "Both", Type: discount.TypeFixed, Amount: new(int64(500)), Currency: new("usd"), Duration: duration,
				})
				require.NoError(t, err)
				c, err := w.Checkout.Create(t.Context(), w.account, checkout.Draft{
					Checkout: &checkout.Checkout{CustomerEmail: new("grace@example.com"), EmailVerified: true, DiscountID: &d.ID},
					Lines:    []offer.NewLine{one(v), one(w.variant(catalog.PriceVariant{Amount: 1000}))},
				})
				require.NoError(t, err)
				_, err = w.pay(c.ID, "pm_card_visa")
				require.NoError(t, err)
				sub, err := w.Subscription.OfCheckout(t.Context(), w.account, c.ID)
				require.NoError(t, err)
				require.EqualValues(t, 750, sub.PeriodAmount)
				for _, order := range []struct{ pieces, cost int64 }{{2, 1750}, {1, 750}} {
					sub, err = w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Quantity: &order.pieces})
					require.NoError(t, err)
					assert.Equal(t, order.cost, sub.PeriodAmount)
				}
			})
		})
	}
}
