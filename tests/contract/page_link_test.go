package contract

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestRevokeOrderLinks_GivesTheReceiptAnotherAddress(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		revoked := ok[*sdk.Order](t)(c.Orders.RevokeLinks(background, order.ID))
		read := ok[*sdk.Order](t)(c.Orders.Get(background, order.ID))
		assert.NotEqual(t, order.ReceiptURL, revoked.ReceiptURL)
		assert.Equal(t, revoked.ReceiptURL, read.ReceiptURL)
		_, err := s.SDK(t).Orders.RevokeLinks(background, order.ID)
		refused(t, err, http.StatusNotFound, "resource_missing", "")
	})
}

func TestRevokeInvoiceLinks_GivesTheInvoiceOtherAddresses(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		before := ok[*sdk.Invoice](t)(c.Invoices.Get(background, order.Invoice.ID))
		revoked := ok[*sdk.Invoice](t)(c.Invoices.RevokeLinks(background, before.ID))
		read := ok[*sdk.Invoice](t)(c.Invoices.Get(background, before.ID))
		assert.NotEqual(t, *before.HostedURL, *revoked.HostedURL)
		assert.Equal(t, *revoked.HostedURL, *read.HostedURL)
		assert.Equal(t, *revoked.HostedURL+"/pdf", *revoked.PDFURL)
		_, err := s.SDK(t).Invoices.RevokeLinks(background, before.ID)
		refused(t, err, http.StatusNotFound, "resource_missing", "")
	})
}

func TestLetters_OfADocumentAreLimited(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		raw := s.Account(t)
		c := raw.SDK()
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		for range 5 {
			ok[*sdk.Order](t)(c.Orders.ResendReceipt(background, order.ID))
			ok[*sdk.Invoice](t)(c.Invoices.Send(background, order.Invoice.ID))
		}
		for _, path := range []string{"/v1/orders/" + order.ID + "/resend_receipt", "/v1/invoices/" + order.Invoice.ID + "/send"} {
			answer := raw.Do(t, http.MethodPost, path, nil)
			wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
			assert.Equal(t, http.StatusTooManyRequests, answer.Status, path)
			require.NoError(t, err, path)
			assert.GreaterOrEqual(t, wait, 3000, path)
			assert.LessOrEqual(t, wait, 3600, path)
		}
		receipts, _ := lettersOf(t, c, "receipt")
		assert.Len(t, receipts, 6, "with the one that is sent by itself")
		invoices, _ := lettersOf(t, c, "invoice")
		assert.Len(t, invoices, 5)
	})
}
