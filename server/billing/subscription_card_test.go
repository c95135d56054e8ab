package billing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// Who has something for nothing, and no card, does not get what costs something by asking that it be billed later.
func TestChangeSubscription_ACustomerNeedsACardForWhatCostsMore(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		gold, plain := w.variant(recurring(2900, "month")), w.variant(free("month"))
		c, err := w.ConfirmCheckout(t.Context(), w.account, w.checkout(one(plain)).ID, billing.CheckoutConfirm{TermsAccepted: true})
		require.NoError(t, err)
		sub, err := w.Subscription.OfCheckout(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		asks := func(in store.ChangeSubscription) error {
			t.Helper()
			preview, err := w.PreviewSubscriptionChange(t.Context(), w.account, sub.ID, in)
			require.NoError(t, err)
			shown := preview.Shown()
			in.Shown = &shown
			_, err = w.Billing.ChangeSubscription(t.Context(), w.account, sub.ID, in)
			return err
		}
		for _, later := range []tenant.ProrationBehavior{tenant.ProrationBehaviorNextInvoice, tenant.ProrationBehaviorNextPeriod} {
			refused(t, asks(store.ChangeSubscription{PriceVariant: gold.ID, Behavior: later}), "payment_method")
		}
		assert.Equal(t, plain.ID, w.now(sub).PriceVariantID)
		assert.Nil(t, w.now(sub).PendingChange.V)

		// The seller may send a bill. What costs no more needs none.
		w.change(sub, gold, tenant.ProrationBehaviorNextInvoice)
		require.NoError(t, asks(store.ChangeSubscription{PriceVariant: plain.ID, Behavior: tenant.ProrationBehaviorNextInvoice}))

		_, err = w.SaveMethod(t.Context(), w.account, sub.CustomerID, billing.SaveMethod{Method: payments.MethodInput{Ref: "pm_card_visa"}})
		require.NoError(t, err)
		require.NoError(t, asks(store.ChangeSubscription{PriceVariant: gold.ID, Behavior: tenant.ProrationBehaviorNextInvoice}))
		w.wait(32 * day)
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
		assert.Equal(t, gold.ID, w.now(sub).PriceVariantID)
	})
}
