package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// tried is a month at 9 dollars after a fortnight that costs nothing.
func (w *world) tried() *catalog.PriceVariant {
	v := recurring(900, "month")
	v.TrialDays = 14
	return w.variant(v)
}

// A buyer agrees when the trial begins, and is charged at its end without being asked again.
func TestStripe_ATrialAsksTheBuyerForWhatFollows(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		c := w.checkout(one(w.tried()))
		waiting, err := w.pay(c.ID, "pm_card_authenticationRequiredOnSetup")
		require.NoError(t, err)
		require.Equal(t, checkout.StatusProcessing, waiting.Status)
		assert.Equal(t, "https://hooks.stripe.test/3d_secure", waiting.NextAction.V.URL)
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		assert.Equal(t, "https://hooks.stripe.test/3d_secure", *payment.NextActionURL)
		fake.Settle(*payment.ProviderRef, true)
		for _, e := range fake.Events() {
			require.NoError(t, w.notify(fake, e))
		}
		assert.Equal(t, checkout.PaymentStatusNoPaymentRequired, w.get(c.ID).PaymentStatus)
		sub, err := w.Subscription.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		assert.Equal(t, subscription.StatusTrialing, sub.Status)
		assert.Zero(t, fake.Taken())

		w.wait(14*day + time.Minute)
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
		assert.EqualValues(t, 900, fake.Taken())
	})
}

func TestStripe_ATrialNeedsACardThatCanBeChargedLater(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		c := w.checkout(one(w.tried()))
		_, err := w.pay(c.ID, "pm_card_chargeDeclinedInsufficientFunds")
		refused(t, err, "payment_method")
		assert.Equal(t, checkout.StatusOpen, w.get(c.ID).Status)
		assert.Equal(t, "insufficient_funds", *w.get(c.ID).LastPaymentError.V.DeclineCode)

		fake.Spoil(stripefake.Fault{Path: "/confirm"})
		_, err = w.pay(c.ID, "pm_card_visa")
		require.Equal(t, core.Unknown, core.OutcomeOf(err))
		w.due(c.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Equal(t, checkout.StatusCompleted, w.get(c.ID).Status)
		assert.Len(t, w.orders(), 1)
	})
}

// The test provider behaves alike, and a trial does not count as the first charge of a card with a history.
func TestSubscription_ATrialAsksTheBuyerForWhatFollows(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		c := w.checkout(one(w.tried()))
		waiting, err := w.pay(c.ID, "pm_card_authenticationRequired")
		require.NoError(t, err)
		require.Equal(t, checkout.StatusProcessing, waiting.Status)
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		_, err = w.provider.authenticate(t.Context(), payment)
		require.NoError(t, err)
		settled, err := w.ResumePayment(t.Context(), w.account, payment.ID)
		require.NoError(t, err)
		assert.Equal(t, checkout.StatusCompleted, settled.Checkout.Status)

		sub := w.subscribe(w.tried(), "tok_fail_on_renewal")
		w.wait(14*day + time.Minute)
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status, "the first charge goes through")
		w.wait(32 * day)
		assert.Equal(t, subscription.StatusPastDue, w.now(sub).Status)
	})
}
