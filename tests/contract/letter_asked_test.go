package contract

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// What a seller asks for is answered at once. The mail server may be away.
func TestSendInvoice_IsTriedAgain(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		only(t, c, "receipt", sdk.LetterStatusSent)
		s.Mail.Refuse(errRefused)
		ok[*sdk.Invoice](t)(c.Invoices.Send(background, order.Invoice.ID))
		ok[*sdk.Order](t)(c.Orders.ResendReceipt(background, order.ID))
		waits := only(t, c, "invoice", sdk.LetterStatusQueued)
		assert.EqualValues(t, 1, waits.Attempts)
		assert.Equal(t, "554 5.7.1 <(the address)> is not wanted", *waits.LastError)
		becomes(t, c, "receipt", sdk.LetterStatusQueued, sdk.LetterStatusSent)
		s.Mail.Refuse(nil)
		s.Must(t, "UPDATE letters SET next_attempt_at = 0 WHERE status = 'queued'") // a minute passes
		sent := only(t, c, "invoice", sdk.LetterStatusSent)
		assert.EqualValues(t, 2, sent.Attempts)
		assert.Equal(t, waits.ID, arrived(s, waits.ID).ID, "its Message-ID")
		becomes(t, c, "receipt", sdk.LetterStatusSent, sdk.LetterStatusSent)
	})
}

// A request that is sent again under its key has sent one letter. Whoever asks twice wants two.
func TestSendInvoice_IsSentOnceForEachRequest(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		for range 3 {
			ok[*sdk.Invoice](t)(c.Invoices.Send(background, order.Invoice.ID, sdk.WithIdempotencyKey("send")))
			ok[*sdk.Order](t)(c.Orders.ResendReceipt(background, order.ID, sdk.WithIdempotencyKey("resend")))
		}
		assert.Len(t, becomes(t, c, "invoice", sdk.LetterStatusSent), 1)
		assert.Len(t, becomes(t, c, "receipt", sdk.LetterStatusSent, sdk.LetterStatusSent), 2, "with the one that is sent by itself")
		ok[*sdk.Invoice](t)(c.Invoices.Send(background, order.Invoice.ID))
		ok[*sdk.Order](t)(c.Orders.ResendReceipt(background, order.ID))
		letters := append(becomes(t, c, "invoice", sdk.LetterStatusSent, sdk.LetterStatusSent), becomes(t, c, "receipt", sdk.LetterStatusSent, sdk.LetterStatusSent, sdk.LetterStatusSent)...)
		require.Len(t, letters, 5)
		for _, l := range letters {
			assert.NotNil(t, arrived(s, l.ID), "each has arrived")
		}
	})
}

// Who switched receipts off still sends one.
func TestResendOrderReceipt_SendsWhatIsSwitchedOff(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"receipt": false}}))
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		only(t, c, "receipt", sdk.LetterStatusSkipped)
		ok[*sdk.Order](t)(c.Orders.ResendReceipt(background, order.ID))
		letters := becomes(t, c, "receipt", sdk.LetterStatusSent, sdk.LetterStatusSkipped)
		assert.NotNil(t, arrived(s, letters[0].ID))
		_, err := c.Account.Update(background, &sdk.AccountUpdate{Letters: map[string]bool{"invoice": false}})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "letters.invoice")
	})
}

// An invoice that was voided before its letter could be sent is not sent, then or later.
func TestSendInvoice_SkipsWhatIsVoidByThen(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		customer := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		bill := ok[*sdk.Invoice](t)(c.Invoices.Create(background, &sdk.InvoiceCreate{
			CollectionMethod: new(sdk.CollectionMethod("charge_automatically")), Customer: customer.ID, Finalize: new(true), Currency: new("usd"),
			Lines: []sdk.InvoiceLineCreate{{Description: new("Work"), UnitAmount: new(int64(500))}},
		}))
		s.Mail.Refuse(errRefused)
		ok[*sdk.Invoice](t)(c.Invoices.Send(background, bill.ID))
		only(t, c, "invoice", sdk.LetterStatusQueued)
		ok[*sdk.Invoice](t)(c.Invoices.Void(background, bill.ID))
		s.Mail.Refuse(nil)
		s.Must(t, "UPDATE letters SET next_attempt_at = 0 WHERE status = 'queued'")
		l := only(t, c, "invoice", sdk.LetterStatusSkipped)
		assert.Equal(t, "The invoice is void now.", *l.LastError)
		_, err := c.Invoices.Send(background, bill.ID)
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "status")
		ok[*sdk.Letter](t)(c.Letters.Resend(background, l.ID))
		only(t, c, "invoice", sdk.LetterStatusSkipped)
		assert.Nil(t, arrived(s, l.ID))
	})
}
