package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// Twenty subscriptions are given the last use of a discount at once: one gets it.
func TestUpdateSubscription_LastRedemptionIsGivenOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(recurring(900, "month"))
		subs := make([]*subscription.Subscription, 20)
		for i := range subs {
			subs[i] = w.subscribe(v, "pm_card_visa")
		}
		d, err := w.Discount.Create(t.Context(), w.account, discount.Discount{Name: "Last", Type: discount.TypePercent, PercentBps: new(int64(5000)), MaxRedemptions: new(int64(1))})
		require.NoError(t, err)
		given := 0
		for _, err := range parallel(len(subs), func(i int) error {
			_, err := w.UpdateSubscription(t.Context(), w.account, subs[i].ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Discount: &d.ID})
			return err
		}) {
			if err == nil {
				given++
				continue
			}
			refused(t, err, "discount")
		}
		assert.Equal(t, 1, given)
	})
}

// A discount for once that is used up takes nothing off any more: whoever gives it again means the next period.
func TestUpdateSubscription_GivesADiscountAgainThatIsUsedUp(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
			Name: "Sorry", Type: discount.TypePercent, PercentBps: new(int64(5000)), MaxRedemptions: new(int64(2)),
		})
		require.NoError(t, err)
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		give := func(redemptions int64) error {
			_, err := w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Discount: &d.ID})
			given, findErr := w.Discount.Get(t.Context(), w.account, d.ID)
			require.NoError(t, findErr)
			assert.Equal(t, redemptions, given.RedemptionsCount)
			return err
		}
		require.NoError(t, give(1))
		require.NoError(t, give(1), "it waits for the next period")
		w.wait(31*day + time.Second)
		require.NoError(t, give(2))
		w.wait(31 * day)
		refused(t, give(2), "discount")
		w.wait(31 * day)
		var paid []int64
		for _, o := range w.ordersOf(sub) {
			paid = append(paid, o.PaidAmount)
		}
		assert.Equal(t, []int64{900, 450, 450, 900}, paid)
	})
}

// Two discounts that change places between two subscriptions do not wait for each other for ever.
func TestUpdateSubscription_DiscountsChangePlaces(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(recurring(900, "month"))
		subs := []*subscription.Subscription{w.subscribe(v, "pm_card_visa"), w.subscribe(v, "pm_card_visa")}
		var ids []string
		for range 2 {
			d, err := w.Discount.Create(t.Context(), w.account, discount.Discount{Name: "Swap", Type: discount.TypePercent, PercentBps: new(int64(5000))})
			require.NoError(t, err)
			ids = append(ids, d.ID)
		}
		for round := range 10 {
			for _, err := range parallel(2, func(i int) error {
				_, err := w.UpdateSubscription(t.Context(), w.account, subs[i].ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Discount: &ids[(i+round)%2]})
				return err
			}) {
				require.NoError(t, err)
			}
		}
	})
}

// A period that a change of plan begins counts, whether it costs more or less than what is left of the old one.
func TestChangeSubscription_CountsThePeriodsThatItBegins(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		sub = w.change(sub, w.variant(recurring(9000, "year")), tenant.ProrationBehaviorInvoiceImmediately)
		assert.EqualValues(t, 2, w.now(sub).CyclesBilled)
		sub = w.change(sub, w.variant(recurring(100, "week")), tenant.ProrationBehaviorInvoiceImmediately)
		assert.EqualValues(t, 3, w.now(sub).CyclesBilled)
		w.wait(8 * day)
		sub = w.now(sub)
		assert.EqualValues(t, 4, sub.CyclesBilled)
		assert.EqualValues(t, 2, sub.Restarts)
	})
}

// But it takes the place of the one that it ends, which is credited. Whoever goes from one interval to another and back has paid no more
// of the periods that their plan has.
func TestChangeSubscription_ToAndFroPaysForNoCycle(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		instalments := func(amount int64, interval string, cycles int64) *catalog.PriceVariant {
			v := recurring(amount, interval)
			v.BillingCycles = &cycles
			return w.variant(v)
		}
		monthly, weekly := instalments(1000, "month", 3), instalments(300, "week", 12)
		sub := w.subscribe(monthly, "pm_card_visa")
		sub = w.change(sub, weekly, tenant.ProrationBehaviorInvoiceImmediately)
		sub = w.change(sub, monthly, tenant.ProrationBehaviorInvoiceImmediately)
		renewal, err := w.Subscription.PreviewRenewal(t.Context(), w.account, sub.ID)
		require.NoError(t, err)
		assert.False(t, renewal.IsLast())
		for _, status := range []subscription.Status{subscription.StatusActive, subscription.StatusActive, subscription.StatusCompleted} {
			w.wait(32 * day)
			assert.Equal(t, status, w.now(sub).Status)
		}
		paid := int64(0)
		for _, o := range w.ordersOf(sub) {
			paid += o.PaidAmount
		}
		assert.EqualValues(t, 3000, paid+w.balanceOf(sub))
	})
}

// A declined card leaves a checkout open, which is paid after the trial that it promised is over.
func TestCreateSubscription_PaidAfterItsTrialBeginsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		v := w.variant(recurring(900, "month"))
		customer, err := w.Customer.Create(t.Context(), w.account, customer.Customer{Email: new("ada@example.com")})
		require.NoError(t, err)
		until := w.Now().Add(time.Hour)
		_, err = w.CreateSubscription(t.Context(), w.account, billing.CreateSubscription{
			Draft: checkout.Draft{
				Checkout: &checkout.Checkout{CustomerID: &customer.ID}, Lines: []offer.NewLine{{PriceVariant: v.ID, Quantity: 1, TrialEnd: &until}},
			},
			Method: &payments.MethodInput{Ref: "no such method"},
		})
		refused(t, err, "payment_method")
		open, _, err := w.Checkout.List(t.Context(), w.account, checkout.List{Page: core.Page{Limit: 1}})
		require.NoError(t, err)
		require.Len(t, open, 1)
		w.advance.Add(int64(2 * time.Hour))
		_, err = w.pay(open[0].ID, "pm_card_visa")
		require.NoError(t, err)
		sub, err := w.Subscription.OfCheckout(t.Context(), w.account, open[0].ID)
		require.NoError(t, err)
		w.wait(2 * time.Second)
		sub = w.now(sub)
		assert.Equal(t, subscription.StatusActive, sub.Status)
		assert.EqualValues(t, 900, w.ordersOf(sub)[1].PaidAmount)
	})
}
