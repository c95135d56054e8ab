package billing_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// telling makes what providers are yet to be told due.
func (w *world) telling() {
	w.t.Helper()
	harness.OpenDatabase(w.t, w.url).Must(w.t, `UPDATE detachments SET lease_until = 0`)
}

func (g giver) isAttached(fake *stripefake.Fake, m *payment.SavedMethod) bool {
	return fake.Object(m.ProviderRef)["customer"] != nil
}

// However a method is removed, Stripe is told, and lets nobody be charged with it.
func TestRemovedMethod_IsDetached(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		g := w.giver()
		save := func() *payment.SavedMethod {
			saved, err := g.save("pm_card_visa", core.NewID(core.KindPaymentMethod))
			require.NoError(t, err)
			return saved
		}
		deleted, removed, kept, last := save(), save(), save(), save()
		_, err := w.DeletePaymentMethod(t.Context(), w.account, g.customer, deleted.ID)
		require.NoError(t, err)
		_, err = w.RemovePaymentMethod(t.Context(), w.account, g.customer, removed.ID)
		require.NoError(t, err)
		for _, err := range parallel(3, func(int) error { return w.Reconcile(t.Context()) }) {
			require.NoError(t, err)
		}
		assert.Equal(t, []bool{false, false, true, true}, []bool{g.isAttached(fake, deleted), g.isAttached(fake, removed), g.isAttached(fake, kept), g.isAttached(fake, last)})
		_, err = w.pay(w.checkout(one(w.handbook())).ID, removed.ProviderRef)
		refused(t, err, "payment_method")
		_, err = g.save(removed.ProviderRef, "again")
		refused(t, err, "payment_method")

		_, err = w.DeleteCustomer(t.Context(), w.account, g.customer, false)
		require.NoError(t, err)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.False(t, g.isAttached(fake, kept))
		assert.False(t, g.isAttached(fake, last))
		calls := len(fake.Calls())
		w.telling()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Len(t, fake.Calls(), calls, "it is told once")
		assert.Zero(t, fake.Taken())
	})
}

// Stripe is told until it says that it has heard, or that there is nothing to hear.
func TestRemovedMethod_IsDetachedInTheEnd(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		g := w.giver()
		for _, fault := range []stripefake.Fault{{Path: "/detach"}, {Path: "/detach", Status: 500}, {Path: "/detach", Status: 429}} {
			saved, err := g.save("pm_card_visa", core.NewID(core.KindPaymentMethod))
			require.NoError(t, err)
			_, err = w.DeletePaymentMethod(t.Context(), w.account, g.customer, saved.ID)
			require.NoError(t, err)
			fake.Spoil(fault)
			require.Error(t, w.Reconcile(t.Context()), fault)
			require.NoError(t, w.Reconcile(t.Context()), "it is left alone for a while")
			assert.Equal(t, fault.Status != 0, g.isAttached(fake, saved), fault)
			w.telling()
			require.NoError(t, w.Reconcile(t.Context()), fault)
			assert.False(t, g.isAttached(fake, saved), fault)
		}
		saved, err := g.save("pm_card_visa", "last")
		require.NoError(t, err)
		_, err = w.DeletePaymentMethod(t.Context(), w.account, g.customer, saved.ID)
		require.NoError(t, err)
		w.give("")
		db := harness.OpenDatabase(t, w.url)
		require.Error(t, w.Reconcile(t.Context()), "there is no key to tell it with")
		db.Must(t, `UPDATE detachments SET lease_until = 0, created_at = created_at - 86400000000`)
		require.Error(t, w.Reconcile(t.Context()))
		w.give(fake.Key)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.True(t, g.isAttached(fake, saved), "after a day it is told within hours")
		db.Must(t, `UPDATE detachments SET lease_until = 0, created_at = created_at - 2592000000000`)
		w.give("")
		require.Error(t, w.Reconcile(t.Context()))
		assert.Empty(t, db.Strings(t, `SELECT id FROM detachments`), "after a month it is given up")
	})
}

// What pays at this moment is detached afterwards, and what was saved again under the same name not at all.
func TestRemovedMethod_IsDetachedWhenNothingNeedsIt(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		g := w.giver()
		saved, err := g.save("pm_card_authenticationRequiredOnSetup", "first")
		require.NoError(t, err)
		checkout := w.checkoutFor(checkout.Checkout{CustomerID: &g.customer}, w.handbook())
		c, err := w.ConfirmCheckout(t.Context(), w.account, checkout.ID, billing.CheckoutConfirm{Method: &payments.MethodInput{Ref: saved.ID}})
		require.NoError(t, err)
		require.NotNil(t, c.NextAction.V)
		_, err = w.DeletePaymentMethod(t.Context(), w.account, g.customer, saved.ID)
		require.NoError(t, err)
		require.NoError(t, w.Reconcile(t.Context()))
		require.True(t, g.isAttached(fake, saved))
		payment, err := w.Payment.OfCheckout(t.Context(), w.account, checkout.ID)
		require.NoError(t, err)
		fake.Settle(*payment.ProviderRef, true)
		w.due(checkout.ID)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.EqualValues(t, 1900, fake.Taken())
		w.telling()
		require.NoError(t, w.Reconcile(t.Context()))
		assert.False(t, g.isAttached(fake, saved))

		saved, err = g.save("pm_card_visa", "second")
		require.NoError(t, err)
		_, err = w.DeletePaymentMethod(t.Context(), w.account, g.customer, saved.ID)
		require.NoError(t, err)
		again, err := g.save(saved.ProviderRef, "third")
		require.NoError(t, err)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.True(t, g.isAttached(fake, again))
		_, err = w.DeletePaymentMethod(t.Context(), w.account, g.customer, again.ID)
		require.NoError(t, err)
		require.NoError(t, w.Reconcile(t.Context()))
		assert.False(t, g.isAttached(fake, again))
	})
}

// A card to which the bank does not agree stays with nobody, whoever hears of it first, unless the customer has it already.
func TestGivenMethod_ThatIsRefusedIsDetached(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		g := w.giver()
		_, err := g.give("pm_card_chargeDeclined")
		refused(t, err, "payment_method")
		assert.Equal(t, 1, fake.Attached())
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Zero(t, fake.Attached())

		asked, err := g.give("pm_card_authenticationRequiredOnSetup")
		require.NoError(t, err)
		require.NoError(t, w.Reconcile(t.Context()))
		require.Equal(t, 1, fake.Attached(), "it may yet be kept")
		fake.Settle(asked.Ref, false)
		events := fake.Events()
		for range 2 {
			require.NoError(t, w.told(fake, events))
			_, err = g.FindGivenMethod(t.Context(), w.account, g.customer, asked.Ref, payment.Buyer{})
			refused(t, err, "payment_method")
		}
		require.NoError(t, w.Reconcile(t.Context()))
		assert.Zero(t, fake.Attached())

		kept, err := g.save("pm_card_visa", "first")
		require.NoError(t, err)
		fake.Block(kept.ProviderRef, "generic_decline")
		_, err = g.give(kept.ProviderRef)
		refused(t, err, "payment_method")
		require.NoError(t, w.Reconcile(t.Context()))
		assert.True(t, g.isAttached(fake, kept))
		assert.Len(t, g.methods(), 1)
	})
}

// A customer without orders leaves nothing behind but what Stripe is to be told.
func TestDeleteCustomer_LeavesNoMethods(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		g := w.giver()
		_, err := g.save("pm_card_visa", "first")
		require.NoError(t, err)
		_, err = w.DeleteCustomer(t.Context(), w.account, g.customer, false)
		require.NoError(t, err)
		db := harness.OpenDatabase(t, w.url)
		assert.Empty(t, db.Strings(t, `SELECT id FROM payment_methods`))
		assert.Empty(t, db.Strings(t, `SELECT id FROM detachments`), "the test provider keeps none")
	})
}
