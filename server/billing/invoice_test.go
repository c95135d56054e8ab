package billing_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
)

// issued makes an invoice of 50 dollars, for a customer of its own or the one that is given.
func (w *world) issued(how invoice.CollectionMethod, customer string) *invoice.Invoice {
	w.t.Helper()
	return w.issuedOf(how, customer, 5000)
}

func (w *world) issuedOf(how invoice.CollectionMethod, customerID string, amount int64) *invoice.Invoice {
	w.t.Helper()
	if customerID == "" {
		c, err := w.Customer.Create(w.t.Context(), w.account, customer.Customer{Name: new("Bob"), Email: new(core.NewID(core.KindCustomer) + "@example.com")})
		require.NoError(w.t, err)
		customerID = c.ID
	}
	due := w.Now().Add(24 * time.Hour)
	draft, err := w.Invoice.Create(w.t.Context(), w.account, invoice.Draft{
		Invoice: &invoice.Invoice{CollectionMethod: how, DueAt: &due}, Customer: customerID,
		Lines: []invoice.NewLine{{Description: new("Workshop"), UnitAmount: &amount, Quantity: 1}},
	})
	require.NoError(w.t, err)
	i, err := w.FinalizeInvoice(w.t.Context(), w.account, draft.ID)
	require.NoError(w.t, err)
	return i
}

func (w *world) invoice(id string) *invoice.Invoice {
	w.t.Helper()
	i, err := w.Invoice.Get(w.t.Context(), w.account, id)
	require.NoError(w.t, err)
	return i
}

func payInvoice(method string) billing.PayInvoice {
	return billing.PayInvoice{Method: &payments.MethodInput{Ref: method}}
}

func TestPayInvoice_ChargesOnceWhateverGetsLost(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.issued(invoice.CollectionMethodSendInvoice, "")
		w.provider.lost.Store(true)
		_, err := w.PayInvoice(t.Context(), w.account, i.ID, payInvoice("pm_card_visa"))
		require.Equal(t, core.Unknown, core.OutcomeOf(err))
		_, err = w.PayInvoice(t.Context(), w.account, i.ID, payInvoice("pm_card_visa"))
		refused(t, err, "status")
		_, err = w.VoidInvoice(t.Context(), w.account, i.ID)
		refused(t, err, "status")
		w.provider.lost.Store(false)
		harness.OpenDatabase(t, w.url).Must(t, `UPDATE payments SET lease_until = 0`)
		for _, err := range parallel(4, func(int) error { return w.Reconcile(t.Context()) }) {
			require.NoError(t, err)
		}
		paid := w.invoice(i.ID)
		assert.Equal(t, invoice.StatusPaid, paid.Status)
		assert.EqualValues(t, 5000, paid.AmountPaid)
		assert.EqualValues(t, 1, w.provider.confirms.Load())
	})
}

func TestPayInvoice_ADeclineIsRecorded(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.issued(invoice.CollectionMethodSendInvoice, "")
		_, err := w.PayInvoice(t.Context(), w.account, i.ID, payInvoice("pm_card_chargeDeclined"))
		refused(t, err, "payment_method")
		assert.Equal(t, core.Recorded, core.OutcomeOf(err))
		assert.Equal(t, invoice.StatusOpen, w.invoice(i.ID).Status)
		paid, err := w.PayInvoice(t.Context(), w.account, i.ID, payInvoice("pm_card_visa"))
		require.NoError(t, err)
		assert.Equal(t, invoice.StatusPaid, paid.Status)
	})
}

// A small sum may be asked for by letter, but no card is charged for it.
func TestPayInvoice_ChargesNoSumThatIsTooSmall(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.issuedOf(invoice.CollectionMethodSendInvoice, "", 49)
		_, err := w.PayInvoice(t.Context(), w.account, i.ID, payInvoice("pm_card_visa"))
		refused(t, err, "payment_method")
		require.ErrorContains(t, err, "Less than USD\u00a00.50 cannot be charged.")
		assert.Zero(t, w.provider.confirms.Load())
		_, err = w.PayInvoice(t.Context(), w.account, i.ID, billing.PayInvoice{OutOfBand: true})
		require.NoError(t, err)
	})
}

// An invoice that is to be charged is, once, from the customer's own method, and otherwise waits.
func TestWork_CollectsInvoices(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.saves("pm_card_visa")
		buyer := w.orders()[0].CustomerID
		charged, waits := w.issued(invoice.CollectionMethodChargeAutomatically, buyer), w.issued(invoice.CollectionMethodChargeAutomatically, "")
		sent := w.issued(invoice.CollectionMethodSendInvoice, buyer)
		assert.NotNil(t, charged.NextAttemptAt)
		for _, err := range parallel(3, func(int) error { return w.Work(t.Context()) }) {
			require.NoError(t, err)
		}
		assert.Equal(t, invoice.StatusPaid, w.invoice(charged.ID).Status)
		assert.EqualValues(t, 2, w.provider.confirms.Load(), "the purchase and the invoice")
		for _, i := range []*invoice.Invoice{waits, sent} {
			assert.Equal(t, invoice.StatusOpen, w.invoice(i.ID).Status)
			assert.Nil(t, w.invoice(i.ID).NextAttemptAt)
		}
	})
}

// TestWork_LetsNoInvoiceWaitForAnotherAccount has one account whose invoices have waited longest to be charged, and whose provider does not answer.
func TestWork_LetsNoInvoiceWaitForAnotherAccount(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.saves("pm_card_visa")
		busy, buyer := w.account, w.orders()[0].CustomerID
		var many []string
		for range 16 {
			many = append(many, w.issued(invoice.CollectionMethodChargeAutomatically, buyer).ID)
		}
		account, err := w.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Bob's shop", Email: "bob@example.com"})
		require.NoError(t, err)
		w.account = account.ID
		w.saves("pm_card_visa")
		one := w.issued(invoice.CollectionMethodChargeAutomatically, w.orders()[0].CustomerID)
		goOn := make(chan struct{})
		hang := func(in payments.ChargeInput) {
			if in.Account == busy {
				<-goOn
			}
		}
		w.provider.charging.Store(&hang)
		var group sync.WaitGroup
		group.Go(func() { assert.NoError(t, w.Work(t.Context())) })
		assert.Eventually(t, func() bool { return w.invoice(one.ID).Status == invoice.StatusPaid }, harness.Patience, 20*time.Millisecond)
		close(goOn)
		group.Wait()
		w.account = busy
		for _, id := range many {
			assert.Equal(t, invoice.StatusPaid, w.invoice(id).Status)
		}
	})
}

func TestPayInvoice_TakesTheDefaultMethod(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.saves("pm_card_visa")
		buyer := w.orders()[0].CustomerID
		_, err := w.PayInvoice(t.Context(), w.account, w.issued(invoice.CollectionMethodSendInvoice, "").ID, billing.PayInvoice{})
		refused(t, err, "payment_method")
		paid, err := w.PayInvoice(t.Context(), w.account, w.issued(invoice.CollectionMethodSendInvoice, buyer).ID, billing.PayInvoice{})
		require.NoError(t, err)
		assert.Equal(t, invoice.StatusPaid, paid.Status)
	})
}

// saves buys a handbook with a method that is kept as the customer's own.
func (w *world) saves(method string) {
	w.t.Helper()
	in := with(method)
	in.Save = true
	_, err := w.ConfirmCheckout(w.t.Context(), w.account, w.checkout(one(w.handbook())).ID, in)
	require.NoError(w.t, err)
}
