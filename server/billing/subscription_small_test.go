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
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// nearlyAll makes a discount that leaves 38 of 1900, which no bank takes.
func (w *world) nearlyAll(duration discount.Duration) *discount.Discount {
	w.t.Helper()
	d, err := w.Discount.Create(w.t.Context(), w.account, discount.Discount{Name: "Friends", Type: discount.TypePercent, PercentBps: new(int64(9800)), Duration: duration})
	require.NoError(w.t, err)
	return d
}

// A period that costs too little to be charged would never be paid. So nothing is sold with one: not after a trial, and not
// together with something that costs enough today.
func TestCheckout_SellsNoPeriodThatCostsTooLittle(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		trial, once, forever := recurring(1900, "month"), w.nearlyAll(discount.DurationOnce), w.nearlyAll(discount.DurationForever)
		trial.TrialDays = 7
		trying, monthly, book := w.variant(trial), w.variant(recurring(1900, "month")), w.variant(catalog.PriceVariant{Amount: 100_000})
		put := func(d *discount.Discount, variants ...*catalog.PriceVariant) error {
			var lines []offer.NewLine
			for _, v := range variants {
				lines = append(lines, one(v))
			}
			_, err := w.Checkout.Create(t.Context(), w.account, checkout.Draft{
				Checkout: &checkout.Checkout{CustomerEmail: new("grace@example.com"), EmailVerified: true, DiscountID: &d.ID}, Lines: lines,
			})
			return err
		}
		refused(t, put(forever, trying), "discount")
		refused(t, put(once, trying), "discount")
		refused(t, put(forever, monthly), "discount")
		refused(t, put(forever, book, monthly), "discount")
		assert.NoError(t, put(once, book, monthly), "the next period costs 1900")
		assert.NoError(t, put(forever, book))

		customer := w.customer("ada@example.com", nil)
		_, err := w.CreateSubscription(t.Context(), w.account, billing.CreateSubscription{
			Method: &payments.MethodInput{Ref: "pm_card_visa"},
			Draft:  checkout.Draft{Checkout: &checkout.Checkout{CustomerID: &customer.ID, DiscountID: &forever.ID}, Lines: []offer.NewLine{one(trying)}},
		})
		refused(t, err, "discount")
	})
}

// Nor does a subscription change to a plan of which its discount leaves too little.
func TestChangeSubscription_ToNoPlanThatCostsTooLittle(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		d := w.nearlyAll(discount.DurationForever)
		c, err := w.Checkout.Create(t.Context(), w.account, checkout.Draft{
			Checkout: &checkout.Checkout{CustomerEmail: new("grace@example.com"), EmailVerified: true, DiscountID: &d.ID},
			Lines:    []offer.NewLine{{PriceVariant: w.variant(recurring(1900, "month")).ID, Quantity: 2}},
		})
		require.NoError(t, err)
		_, err = w.pay(c.ID, "pm_card_visa")
		require.NoError(t, err)
		sub, err := w.Subscription.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		for _, behavior := range []tenant.ProrationBehavior{tenant.ProrationBehaviorInvoiceImmediately, tenant.ProrationBehaviorNextInvoice, tenant.ProrationBehaviorNextPeriod} {
			_, err = w.Billing.ChangeSubscription(t.Context(), w.account, sub.ID, store.ChangeSubscription{Quantity: new(int64(1)), Behavior: behavior})
			refused(t, err, "quantity")
			_, err = w.Billing.ChangeSubscription(t.Context(), w.account, sub.ID, store.ChangeSubscription{PriceVariant: w.variant(recurring(900, "month")).ID, Behavior: behavior})
			refused(t, err, "price_variant")
		}
		_, err = w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Quantity: new(int64(1))})
		refused(t, err, "quantity")
		_, err = w.Billing.ChangeSubscription(t.Context(), w.account, sub.ID, store.ChangeSubscription{Quantity: new(int64(3))})
		require.NoError(t, err)
	})
}

// A difference that is too little to be charged is billed with the next period, and nobody owes anything.
func TestChangeSubscription_TooLittleWaitsForTheNextPeriod(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
		w.rewound(sub, 15*day)
		sub = w.change(sub, w.variant(recurring(1060, "month")), tenant.ProrationBehaviorInvoiceImmediately)
		assert.EqualValues(t, 1060, sub.UnitAmount)
		assert.Len(t, w.ordersOf(sub), 1)
		w.rewound(sub, 30*day+time.Second)
		require.NoError(t, w.Work(t.Context()))
		assert.EqualValues(t, 1060+30, w.ordersOf(sub)[1].PaidAmount)

		// Another interval begins at once, and is paid with the one after it.
		year := w.change(w.now(sub), w.variant(recurring(1080, "year")), tenant.ProrationBehaviorInvoiceImmediately)
		assert.Equal(t, "year", year.Interval)
		assert.Len(t, w.ordersOf(sub), 2)
		customer, err := w.Customer.Get(t.Context(), w.account, sub.CustomerID)
		require.NoError(t, err)
		assert.Zero(t, customer.Balance.V["usd"])
		w.wait(367 * day)
		assert.EqualValues(t, 1080+20, w.ordersOf(sub)[2].PaidAmount)
	})
}

// What is left of it when nothing else is billed is paid by a customer who owes it: no bank takes 30 cents.
func TestSubscription_IsNotChargedTooLittle(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.monthOf30()
		sub := w.subscribe(w.variant(recurring(1000, "month")), "pm_card_visa")
		w.rewound(sub, 15*day)
		sub = w.change(sub, w.variant(recurring(1060, "month")), tenant.ProrationBehaviorInvoiceImmediately)
		w.change(sub, w.variant(free("month")), tenant.ProrationBehaviorNextPeriod)
		charges := w.provider.confirms.Load()
		w.rewound(sub, 30*day+time.Second)
		require.NoError(t, w.Work(t.Context()))
		renewal := w.ordersOf(sub)[1]
		assert.Equal(t, order.StatusPaid, renewal.Status)
		assert.EqualValues(t, 30, renewal.TotalAmount)
		assert.EqualValues(t, 30, renewal.BalanceApplied)
		assert.Equal(t, charges, w.provider.confirms.Load(), "nothing was charged")
		customer, err := w.Customer.Get(t.Context(), w.account, sub.CustomerID)
		require.NoError(t, err)
		assert.EqualValues(t, -30, customer.Balance.V["usd"])
	})
}

// free costs nothing.
func free(interval string) catalog.PriceVariant {
	v := recurring(0, interval)
	v.AmountType = catalog.PriceVariantAmountTypeFree
	return v
}
