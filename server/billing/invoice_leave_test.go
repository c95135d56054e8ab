package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/tests/harness"
)

// onPage is how the reader of an invoice's page pays with a method.
func onPage(method string) billing.PayInvoice {
	in := payInvoice(method)
	in.OnSession, in.From = true, payment.Buyer{Address: "203.0.113.7"}
	return in
}

// asked begins to pay an invoice on its page with a card whose bank asks, and returns the payment that waits.
func (w *world) asked(i *invoice.Invoice) *payment.Payment {
	w.t.Helper()
	_, err := w.PayInvoice(w.t.Context(), w.account, i.ID, onPage(consents))
	require.NoError(w.t, err)
	p := w.lastOf(i)
	require.Equal(w.t, payment.StatusRequiresAction, p.Status)
	return p
}

func (w *world) lastOf(i *invoice.Invoice) *payment.Payment {
	w.t.Helper()
	p, err := w.Payment.LastOfInvoice(w.t.Context(), w.account, i.ID)
	require.NoError(w.t, err)
	require.NotNil(w.t, p)
	return p
}

// Who does not confirm a payment cancels it, and pays in another way. It counts as no decline.
func TestLeaveInvoicePayment_TheInvoiceCanBePaidAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.issued(invoice.CollectionMethodSendInvoice, "")
		require.NoError(t, w.LeaveInvoicePayment(t.Context(), w.account, i.ID, "pay_none"), "there is no payment")
		for range 7 { // more than may be declined
			waits := w.asked(i)
			for range 2 { // the second is a double click
				require.NoError(t, w.LeaveInvoicePayment(t.Context(), w.account, i.ID, w.lastOf(i).ID))
			}
			assert.Equal(t, payment.StatusCanceled, w.lastOf(i).Status)
			charge, err := w.provider.authenticate(t.Context(), waits)
			require.NoError(t, err)
			assert.EqualValues(t, "canceled", charge.Status, "the bank takes no consent any more")
			assert.Equal(t, invoice.StatusOpen, w.invoice(i.ID).Status)
		}
		old, waits := w.lastOf(i), w.asked(i)
		require.NoError(t, w.LeaveInvoicePayment(t.Context(), w.account, i.ID, old.ID), "from a page that shows another payment")
		assert.Equal(t, payment.StatusRequiresAction, w.lastOf(i).Status)
		require.NoError(t, w.LeaveInvoicePayment(t.Context(), w.account, i.ID, waits.ID))
		paid, err := w.PayInvoice(t.Context(), w.account, i.ID, onPage("pm_card_visa"))
		require.NoError(t, err)
		assert.Equal(t, invoice.StatusPaid, paid.Status)
		require.NoError(t, w.LeaveInvoicePayment(t.Context(), w.account, i.ID, w.lastOf(i).ID), "from a page that was open")
		assert.Equal(t, invoice.StatusPaid, w.invoice(i.ID).Status)
	})
}

// A consent that the bank has before it is told of the end pays the invoice. Nothing is taken that pays for nothing.
func TestLeaveInvoicePayment_TheConsentThatIsFirstPays(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.issued(invoice.CollectionMethodSendInvoice, "")
		_, err := w.provider.authenticate(t.Context(), w.asked(i))
		require.NoError(t, err)
		require.NoError(t, w.LeaveInvoicePayment(t.Context(), w.account, i.ID, w.lastOf(i).ID))
		assert.Equal(t, invoice.StatusPaid, w.invoice(i.ID).Status)
		assert.EqualValues(t, 5000, w.invoice(i.ID).AmountPaid)

		for range 5 {
			i := w.issued(invoice.CollectionMethodSendInvoice, "")
			waits := w.asked(i)
			for _, err := range parallel(4, func(n int) error {
				if n%2 == 0 {
					return w.LeaveInvoicePayment(t.Context(), w.account, i.ID, waits.ID)
				}
				if _, err := w.provider.authenticate(t.Context(), waits); err != nil {
					return err
				}
				if _, err := w.ResumePayment(t.Context(), w.account, waits.ID); core.OutcomeOf(err) != core.Recorded {
					return err
				}
				return nil
			}) {
				require.NoError(t, err)
			}
			charge, err := w.provider.GetCharge(t.Context(), w.account, *waits.ProviderRef)
			require.NoError(t, err)
			took, says := charge.Status == "succeeded", w.lastOf(i).Status
			assert.Equal(t, took, says == payment.StatusSucceeded, "the bank says %s, and the payment is %s", charge.Status, says)
			assert.Equal(t, took, w.invoice(i.ID).Status == invoice.StatusPaid)
			if !took {
				_, err := w.PayInvoice(t.Context(), w.account, i.ID, onPage("pm_card_visa"))
				require.NoError(t, err)
			}
			assert.EqualValues(t, 5000, w.invoice(i.ID).AmountPaid)
		}
	})
}

// What the bank is deciding about is nobody's to cancel: whether money has moved is not known.
func TestLeaveInvoicePayment_WaitsForWhatIsNotKnown(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.issued(invoice.CollectionMethodSendInvoice, "")
		w.provider.lost.Store(true)
		_, err := w.PayInvoice(t.Context(), w.account, i.ID, onPage("pm_card_visa"))
		require.Equal(t, core.Unknown, core.OutcomeOf(err))
		w.provider.lost.Store(false)
		require.NoError(t, w.LeaveInvoicePayment(t.Context(), w.account, i.ID, w.lastOf(i).ID))
		assert.Equal(t, payment.StatusPending, w.lastOf(i).Status)
		w.heard()
		assert.Equal(t, invoice.StatusPaid, w.invoice(i.ID).Status)
	})
}

// Who cancels their payment of a renewal is where they were before it: past due, and charged again on the same day.
func TestLeaveInvoicePayment_LeavesASubscriptionPastDue(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "tok_fail_on_renewal")
		w.wait(31*day + time.Minute)
		before := w.now(sub)
		require.Equal(t, subscription.StatusPastDue, before.Status)
		require.NotNil(t, before.NextAttemptAt)
		i := w.invoice(*before.LatestInvoiceID)
		w.asked(i)
		require.NoError(t, w.LeaveInvoicePayment(t.Context(), w.account, i.ID, w.lastOf(i).ID))
		after := w.now(sub)
		assert.Equal(t, before.Status, after.Status)
		assert.Equal(t, before.NextAttemptAt, after.NextAttemptAt)
		assert.Equal(t, before.AttemptCount, after.AttemptCount, "of what is tried without them")
		assert.Equal(t, invoice.StatusPastDue, w.invoice(i.ID).Status)
		_, err := w.PayInvoice(t.Context(), w.account, i.ID, onPage("pm_card_visa"))
		require.NoError(t, err)
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
	})
}

// A charge that was made while the customer was away ends by whoever made it: the last one of a renewal ends the subscription.
func TestLeaveInvoicePayment_LeavesWhatIsChargedByItself(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		i := w.issued(invoice.CollectionMethodSendInvoice, "")
		w.asked(i)
		rows := harness.OpenDatabase(t, w.url)
		rows.Must(t, `UPDATE payments SET off_session = TRUE`)
		require.NoError(t, w.LeaveInvoicePayment(t.Context(), w.account, i.ID, w.lastOf(i).ID))
		assert.Equal(t, payment.StatusRequiresAction, w.lastOf(i).Status)
		rows.Must(t, `UPDATE payments SET off_session = FALSE`)
		require.NoError(t, w.LeaveInvoicePayment(t.Context(), w.account, i.ID, w.lastOf(i).ID))
		assert.Equal(t, payment.StatusCanceled, w.lastOf(i).Status)
	})
}

// A payment that waits for a bank puts the next attempt off, but not for ever. Else who begins one after the other would keep what they do not pay for.
func TestPayInvoice_PutsNoAttemptOffForEver(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sub := w.subscribe(w.variant(recurring(900, "month")), "tok_fail_on_renewal")
		w.wait(31*day + time.Minute)
		before := w.now(sub)
		require.NotNil(t, before.NextAttemptAt)
		i := w.invoice(*before.LatestInvoiceID)
		w.asked(i)
		w.wait(before.NextAttemptAt.Time().Sub(w.Now().Time()) + time.Minute)
		require.Equal(t, before.AttemptCount, w.now(sub).AttemptCount, "it is put off")
		refusals := 0
		for hours := 0; w.now(sub).AttemptCount == before.AttemptCount; hours++ {
			require.Less(t, hours, 27)
			require.NoError(t, w.LeaveInvoicePayment(t.Context(), w.account, i.ID, w.lastOf(i).ID))
			if _, err := w.PayInvoice(t.Context(), w.account, i.ID, onPage(consents)); err != nil {
				refused(t, err, "status")
				refusals++
			}
			w.wait(time.Hour)
		}
		assert.NotZero(t, refusals)
		_, err := w.PayInvoice(t.Context(), w.account, i.ID, onPage("pm_card_visa"))
		require.NoError(t, err, "now they can pay again")
		assert.Equal(t, subscription.StatusActive, w.now(sub).Status)
	})
}
