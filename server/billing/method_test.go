package billing_test

import (
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// giver is a customer who gives a method to be charged with later.
type giver struct {
	*world
	customer string
}

func (w *world) giver() giver {
	w.t.Helper()
	c, err := w.Customer.Create(w.t.Context(), w.account, customer.Customer{Email: new("grace@example.com")})
	require.NoError(w.t, err)
	return giver{w, c.ID}
}

func (g giver) save(method, once string) (*payment.SavedMethod, error) {
	return g.SaveMethod(g.t.Context(), g.account, g.customer, billing.SaveMethod{Method: payments.MethodInput{Ref: method}, Once: once})
}

func (g giver) methods() []payment.SavedMethod {
	g.t.Helper()
	all, _, err := g.Payment.ListMethods(g.t.Context(), g.account, g.customer, core.Page{Limit: 100})
	require.NoError(g.t, err)
	return all
}

func TestSaveMethod_IsChargedLater(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		g := w.giver()
		w.provider.down.Store(true)
		_, err := g.save("pm_card_visa", "first")
		require.ErrorIs(t, err, errLine)
		require.Empty(t, g.methods())
		w.provider.down.Store(false)
		saved, err := g.save("pm_card_visa", "first")
		require.NoError(t, err)
		again, err := g.save("pm_card_visa", "first")
		require.NoError(t, err)
		assert.Equal(t, saved, again)
		_, err = g.save("pm_card_nobody", "second")
		refused(t, err, "payment_method")
		require.Len(t, g.methods(), 1)

		draft, err := w.Invoice.Create(t.Context(), w.account, invoice.Draft{
			Invoice:  &invoice.Invoice{CollectionMethod: invoice.CollectionMethodChargeAutomatically, Currency: "usd"},
			Customer: g.customer, Lines: []invoice.NewLine{{Description: new("Work"), UnitAmount: new(int64(4200)), Quantity: 1}},
		})
		require.NoError(t, err)
		_, err = w.FinalizeInvoice(t.Context(), w.account, draft.ID)
		require.NoError(t, err)
		require.NoError(t, w.Work(t.Context()))
		paid, err := w.Invoice.Get(t.Context(), w.account, draft.ID)
		require.NoError(t, err)
		assert.Equal(t, invoice.StatusPaid, paid.Status)
	})
}

// An answer of Stripe's that is lost on the way leaves neither a second customer nor a second method there.
func TestSaveMethod_WithStripeOnce(t *testing.T) {
	eachStripe(t, func(t *testing.T, w *world, fake *stripefake.Fake) {
		g := w.giver()
		for _, fault := range []stripefake.Fault{{Path: "/v1/customers"}, {Path: "/attach"}, {Path: "/attach", Status: 500}} {
			fake.Spoil(fault)
			_, err := g.save("pm_card_visa", "first")
			require.Error(t, err)
			assert.Equal(t, core.Unknown, core.OutcomeOf(err))
			require.Empty(t, g.methods())
		}
		_, err := g.save("pm_card_visa", "first")
		require.NoError(t, err)
		_, err = g.save("pm_card_visa", "first")
		require.NoError(t, err)
		require.Len(t, g.methods(), 1)
		assert.Equal(t, 1, fake.Count("customer"))
		_, err = g.save("pm_nobody", "second")
		refused(t, err, "payment_method")
		_, err = g.save("pm_card_visa", "third")
		require.NoError(t, err)
		assert.Len(t, g.methods(), 2)
		assert.Equal(t, 1, fake.Count("customer"))
		assert.Zero(t, fake.Taken())
	})
}

// A customer saves as many cards as anybody has. What they buy with is kept besides.
func TestSaveMethod_HasABound(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		customer := w.customer("grace@example.com", nil).ID
		save := func() (*payment.SavedMethod, error) {
			return w.SaveMethod(t.Context(), w.account, customer, billing.SaveMethod{Method: payments.MethodInput{Ref: "pm_card_visa"}, Once: rand.Text()})
		}
		first, err := save()
		require.NoError(t, err)
		for range 49 {
			_, err := save()
			require.NoError(t, err)
		}
		_, err = save()
		refused(t, err, "payment_method")
		sub := w.subscribe(w.variant(recurring(900, "month")), "pm_card_visa")
		assert.Equal(t, customer, sub.CustomerID)
		assert.NotNil(t, sub.Method.V.ID)
		for _, id := range []string{first.ID, *sub.Method.V.ID} {
			_, err = w.DeletePaymentMethod(t.Context(), w.account, customer, id)
			require.NoError(t, err)
		}
		_, err = save()
		require.NoError(t, err)
	})
}
