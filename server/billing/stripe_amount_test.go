package billing_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// A charge of another amount than was asked for pays for nothing, whoever tells of it.
func TestStripe_AChargeOfAnotherAmountPaysForNothing(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		for _, wrong := range []map[string]any{{"amount_received": int64(1)}, {"currency": "jpy"}} {
			c := w.checkout(one(w.handbook()))
			_, err := w.pay(c.ID, "pm_card_slow")
			require.NoError(t, err)
			payment, err := w.Payment.OfCheckout(t.Context(), w.account, c.ID)
			require.NoError(t, err)
			fake.Settle(*payment.ProviderRef, true)
			fake.Alter(*payment.ProviderRef, wrong)
			w.due(c.ID)
			require.ErrorContains(t, w.Reconcile(t.Context()), payment.ID)
			assert.Equal(t, checkout.StatusProcessing, w.get(c.ID).Status)
			fake.Alter(*payment.ProviderRef, map[string]any{"amount_received": int64(1900), "currency": "usd"})
			w.due(c.ID)
			require.NoError(t, w.Reconcile(t.Context()))
			assert.Equal(t, checkout.StatusCompleted, w.get(c.ID).Status)
		}
	})
}

// told delivers notifications, as often as there are.
func (w *world) told(fake *stripefake.Fake, events []stripefake.Event) error {
	var errs []error
	for _, e := range events {
		errs = append(errs, w.Notify(w.t.Context(), "stripe", fake.Sign(e.Body, time.Now()), e.Body))
	}
	return errors.Join(errs...)
}

// Of a payment that has its charge nothing about another one is waited for: Stripe would tell of it for days.
func TestStripe_AnotherIntentOfAPaymentIsNoConcern(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		c := w.checkout(one(w.handbook()))
		_, err := w.pay(c.ID, "pm_card_slow")
		require.NoError(t, err)
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		other := stripe.New(stripe.Options{Client: http.DefaultClient, BaseURL: fake.URL, Credentials: stripe.Keys(w.Store)})
		ref, err := other.PrepareCharge(t.Context(), payments.ChargeInput{
			Token: "a day later", Account: w.account, Amount: 1900, Currency: "usd", MethodRef: "pm_card_visa", Metadata: map[string]string{"payment": payment.ID},
		})
		require.NoError(t, err)
		fake.Events()
		_, err = other.CancelCharge(t.Context(), w.account, ref)
		require.NoError(t, err)
		require.NoError(t, w.told(fake, fake.Events()))
		assert.Equal(t, checkout.StatusProcessing, w.get(c.ID).Status)
		fake.Settle(*payment.ProviderRef, true)
		require.NoError(t, w.told(fake, fake.Events()))
		assert.Equal(t, checkout.StatusCompleted, w.get(c.ID).Status)
	})
}

// dinars is a price that can be charged, of which a discount makes one that can not.
func (w *world) dinars(v catalog.PriceVariant) (*catalog.PriceVariant, *discount.Discount) {
	w.t.Helper()
	v.Amount, v.Currency = 5000, "kwd"
	d, err := w.Discount.Create(w.t.Context(), w.account, discount.Discount{
		Code: new("ODD"), Type: discount.TypePercent, PercentBps: new(int64(1111)), Duration: discount.DurationForever,
	})
	require.NoError(w.t, err)
	return w.variant(v), d
}

// What Stripe does not take is refused before anybody is asked for it.
func TestStripe_ThousandthsAreRefusedBeforeTheyAreCharged(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		v, d := w.dinars(catalog.PriceVariant{Stock: new(int64(1))})
		odd, err := w.Checkout.Create(t.Context(), w.account, checkout.Draft{
			Checkout: &checkout.Checkout{CustomerEmail: new("grace@example.com"), EmailVerified: true, DiscountID: &d.ID}, Lines: []offer.NewLine{one(v)},
		})
		require.NoError(t, err)
		require.EqualValues(t, 4444, odd.TotalAmount)
		_, err = w.pay(odd.ID, "pm_card_visa")
		refused(t, err, "line_items")
		assert.ErrorContains(t, err, "in steps of 10")
		assert.Equal(t, core.Refused, core.OutcomeOf(err))
		assert.Equal(t, checkout.StatusOpen, w.get(odd.ID).Status)
		assert.Empty(t, fake.Calls())

		even, err := w.pay(w.checkout(one(v)).ID, "pm_card_visa")
		require.NoError(t, err)
		assert.EqualValues(t, 5000, fake.Taken())
		_, err = w.refund(*even.OrderID, 1111)
		refused(t, err, "amount")
		_, err = w.refund(*even.OrderID, 1110)
		require.NoError(t, err)
		assert.EqualValues(t, 3890, fake.Taken())

		ada := w.customer("ada@example.com", nil)
		draft, err := w.Invoice.Create(t.Context(), w.account, invoice.Draft{
			Invoice:  &invoice.Invoice{CollectionMethod: invoice.CollectionMethodSendInvoice, DueAt: new(core.TimeOf(time.Now().Add(time.Hour))), Currency: "kwd"},
			Customer: ada.ID, Lines: []invoice.NewLine{{Description: new("Work"), UnitAmount: new(int64(1005)), Quantity: 1}},
		})
		require.NoError(t, err)
		_, err = w.FinalizeInvoice(t.Context(), w.account, draft.ID)
		require.NoError(t, err)
		_, err = w.PayInvoice(t.Context(), w.account, draft.ID, billing.PayInvoice{Method: &payments.MethodInput{Ref: "pm_card_visa"}})
		refused(t, err, "payment_method")
		paid, err := w.PayInvoice(t.Context(), w.account, draft.ID, billing.PayInvoice{OutOfBand: true})
		require.NoError(t, err)
		assert.Equal(t, invoice.StatusPaid, paid.Status)
	})
}

// A renewal that cannot be charged is a failed payment that says why, tried by the schedule and no more.
func TestStripe_ThousandthsOfARenewalAreAFailedPayment(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		v, d := w.dinars(catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Interval: new("month"), IntervalCount: new(int64(1))})
		c, err := w.pay(w.checkout(one(v)).ID, "pm_card_visa")
		require.NoError(t, err)
		sub, err := w.Subscription.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		_, err = w.UpdateSubscription(t.Context(), w.account, sub.ID, store.SubscriptionPatch{Change: func(*subscription.Subscription) {}, Discount: &d.ID})
		require.NoError(t, err)
		for _, days := range []time.Duration{32, 35, 40, 47, 54, 80} {
			w.advance.Store(int64(days * 24 * time.Hour))
			require.NoError(t, w.Work(t.Context()))
			require.NoError(t, w.Work(t.Context()))
		}
		sub, err = w.Subscription.Get(t.Context(), w.account, sub.ID)
		require.NoError(t, err)
		assert.Equal(t, subscription.StatusCanceled, sub.Status)
		payment, err := w.Payment.LastOfInvoice(t.Context(), w.account, *sub.LatestInvoiceID)
		require.NoError(t, err)
		assert.Equal(t, "amount_not_supported", payment.Failure.V.Code)
		assert.True(t, payment.Failure.V.OfSeller, "no other card helps")
		invoice, err := w.Invoice.Get(t.Context(), w.account, *sub.LatestInvoiceID)
		require.NoError(t, err)
		assert.EqualValues(t, 5, invoice.AttemptCount)
		assert.EqualValues(t, 5000, fake.Taken())
	})
}

// What a change of plan costs, credits and has wait comes to amounts that Stripe takes: the subscription goes on.
func TestStripe_ThousandthsOfAChangeOfPlanAreChargedInTens(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		w.monthOf30()
		v := recurring(5000, "month")
		v.Currency = "kwd"
		sub := w.subscribe(w.variant(v), "pm_card_visa")
		changes := func(after time.Duration, quantity int64, behavior tenant.ProrationBehavior) {
			t.Helper()
			w.rewound(sub, after)
			_, err := w.Billing.ChangeSubscription(t.Context(), w.account, sub.ID, store.ChangeSubscription{Quantity: &quantity, Behavior: behavior})
			require.NoError(t, err)
		}
		changes(7*day+7*time.Minute, 2, tenant.ProrationBehaviorInvoiceImmediately)
		assert.EqualValues(t, 5000+3830, fake.Taken(), "not 3.832")
		changes(11*day+11*time.Minute, 4, tenant.ProrationBehaviorNextInvoice)
		changes(17*day+13*time.Minute, 3, tenant.ProrationBehaviorNextInvoice)
		w.rewound(sub, 30*day+time.Second)
		require.NoError(t, w.Work(t.Context()))
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
		renewal := w.ordersOf(sub)[2]
		assert.Equal(t, order.StatusPaid, renewal.Status)
		assert.EqualValues(t, renewal.TotalAmount, renewal.PaidAmount+renewal.BalanceApplied)
		assert.EqualValues(t, 5000+3830+renewal.PaidAmount, fake.Taken())
	})
}
