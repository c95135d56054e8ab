package billing_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// notify delivers a notification as Stripe does.
func (w *world) notify(fake *stripefake.Fake, e stripefake.Event) error {
	return w.Notify(w.t.Context(), "stripe", fake.Sign(e.Body, time.Now()), e.Body)
}

// The answer to a charge got lost. The notification settles it, however often it comes, and before the reconciler does.
func TestNotify_SettlesALostAnswerOnce(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		c := w.checkout(one(w.handbook()))
		fake.Spoil(stripefake.Fault{Path: "/confirm"})
		_, err := w.pay(c.ID, "pm_card_visa")
		require.Equal(t, core.Unknown, core.OutcomeOf(err))
		events := fake.Events()
		for _, err := range parallel(8, func(i int) error { return w.notify(fake, events[i%len(events)]) }) {
			require.NoError(t, err)
		}
		assert.Equal(t, checkout.StatusCompleted, w.get(c.ID).Status)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Len(t, w.orders(), 1)
		assert.EqualValues(t, 1900, fake.Taken())
	})
}

func TestNotify_ADeclineOpensTheCheckout(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		bought := w.checkout(one(w.variant(catalog.PriceVariant{Amount: 1900, Stock: new(int64(1))})))
		fake.Spoil(stripefake.Fault{Path: "/confirm"})
		_, err := w.pay(bought.ID, "pm_card_chargeDeclinedInsufficientFunds")
		require.Equal(t, core.Unknown, core.OutcomeOf(err))
		for _, e := range fake.Events() {
			require.NoError(t, w.notify(fake, e))
		}
		c := w.get(bought.ID)
		assert.Equal(t, checkout.StatusOpen, c.Status)
		assert.Equal(t, "insufficient_funds", *c.LastPaymentError.V.DeclineCode)
		_, err = w.pay(bought.ID, "pm_card_visa")
		require.NoError(t, err, "the stock was given back")
	})
}

// What was true before arrives after what is true now: an outcome stays.
func TestNotify_NeverGoesBack(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		bought := w.checkout(one(w.handbook()))
		_, err := w.pay(bought.ID, "pm_card_authenticationRequiredOnSetup")
		require.NoError(t, err)
		before := fake.Events()
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, bought.ID)
		require.NoError(t, err)
		fake.Settle(*payment.ProviderRef, true)
		for _, e := range append(fake.Events(), before...) {
			require.NoError(t, w.notify(fake, e))
		}
		c := w.get(bought.ID)
		assert.Equal(t, checkout.StatusCompleted, c.Status)
		assert.Nil(t, c.NextAction.V)
		assert.Len(t, w.orders(), 1)
	})
}

// A notification that overtakes our own note of the charge comes again.
func TestNotify_OfAChargeThatIsNotNotedYet(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		c := w.checkout(one(w.handbook()))
		_, err := w.pay(c.ID, "pm_card_slow")
		require.NoError(t, err)
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		fake.Settle(*payment.ProviderRef, true)
		events := fake.Events()
		last := events[len(events)-1]

		harness.OpenDatabase(t, w.url).Must(t, `UPDATE payments SET provider_ref = NULL`)
		var e *core.Error
		require.ErrorAs(t, w.notify(fake, last), &e)
		assert.Equal(t, core.CodeInProgress, e.Code)
		require.NoError(t, w.Payment.SetRef(t.Context(), w.account, payment.ID, *payment.ProviderRef))
		require.NoError(t, w.notify(fake, last), "the refusal was not taken for the first time")
		assert.Equal(t, checkout.StatusCompleted, w.get(c.ID).Status)
	})
}

func TestNotify_TakesNothingFromStrangers(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		c := w.checkout(one(w.handbook()))
		fake.Spoil(stripefake.Fault{Path: "/confirm"})
		_, err := w.pay(c.ID, "pm_card_visa")
		require.Error(t, err)
		events := fake.Events()
		last := events[len(events)-1]
		forged := []http.Header{{}, {"Stripe-Signature": {"t=1,v1=00"}}, fake.Sign(last.Body, time.Now().Add(-time.Hour)), fake.Sign([]byte("{}"), time.Now())}
		for _, header := range forged {
			require.ErrorIs(t, w.Notify(t.Context(), "stripe", header, last.Body), payments.ErrForged)
		}
		for _, provider := range []string{"test", "nobody"} {
			var e *core.Error
			require.ErrorAs(t, w.Notify(t.Context(), provider, fake.Sign(last.Body, time.Now()), last.Body), &e)
			assert.Equal(t, core.CodeMissing, e.Code)
		}
		assert.Equal(t, checkout.StatusProcessing, w.get(c.ID).Status)
	})
}

// A bank may send back what has succeeded; what was true before that arrives late.
func TestNotify_TellsWhatBecameOfARefund(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		order := w.bought("pm_card_visa")
		refund, err := w.refund(order.ID, 500)
		require.NoError(t, err)
		assert.Equal(t, store.RefundStatusSucceeded, refund.Status)
		before := fake.Events()
		fake.SettleRefund(*refund.ProviderRef, "failed")
		for _, e := range append(fake.Events(), before...) {
			require.NoError(t, w.notify(fake, e))
		}
		assert.Equal(t, store.RefundStatusFailed, w.refunds(order.ID)[0].Status)
		assert.Zero(t, w.order(order.ID).RefundedAmount, "the money is with the seller again")

		harness.OpenDatabase(t, w.url).Must(t, `DELETE FROM provider_events`)
		harness.OpenDatabase(t, w.url).Must(t, `UPDATE refunds SET id = 're_elsewhere'`)
		var e *core.Error
		require.ErrorAs(t, w.notify(fake, before[len(before)-1]), &e)
		assert.Equal(t, core.CodeInProgress, e.Code, "the row may not be committed yet")
		harness.OpenDatabase(t, w.url).Must(t, `UPDATE refunds SET id = '`+refund.ID+`'`)
	})
}
