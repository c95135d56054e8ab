package contract

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestGetInvoicePDF_IsAURLThatExpires(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		isSigned(t, ok[*sdk.SignedURL](t)(c.Invoices.PDF(background, order.Invoice.ID)))
		_, err := s.SDK(t).Invoices.PDF(background, order.Invoice.ID)
		refused(t, err, http.StatusNotFound, "resource_missing", "")
	})
}

func TestSendInvoice_SendsTheAddressOfItsPage(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		who := unique() + "@example.com"
		order := purchase(t, c, who, onSale(t, c, 1900))
		sent := ok[*sdk.Invoice](t)(c.Invoices.Send(background, order.Invoice.ID))
		l := only(t, c, "invoice", sdk.LetterStatusSent)
		assert.Equal(t, sdk.LetterSubject{Object: "invoice", ID: sent.ID}, l.About)
		assert.Equal(t, order.Customer.ID, l.Customer.ID)
		require.NotNil(t, sent.HostedURL)
		require.NotNil(t, sent.PDFURL)
		assert.Equal(t, *sent.HostedURL+"/pdf", *sent.PDFURL)
		tells(t, s, l, "Invoice "+*sent.Number+" from Test", "\n"+*sent.HostedURL+"\n", "\n"+*sent.PDFURL+"\n")
		letter := arrived(s, l.ID)
		assert.Equal(t, who, letter.To)
		assert.Contains(t, letter.HTML, `href="`+*sent.PDFURL+`"`)
	})
}

func TestSendInvoice_NotADraft(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		order := purchase(t, c, "ada@example.com", onSale(t, c, 1900))
		draft := ok[*sdk.Invoice](t)(c.Invoices.Create(background, &sdk.InvoiceCreate{
			CollectionMethod: new(sdk.CollectionMethod("charge_automatically")), Customer: order.Customer.ID, Lines: []sdk.InvoiceLineCreate{{Description: new("Work"), UnitAmount: new(int64(500))}},
		}))
		require.Nil(t, draft.HostedURL, "a draft has a page")
		assert.Nil(t, draft.PDFURL, "a draft has a page")
		_, err := c.Invoices.Send(background, draft.ID)
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "status")
		letters, _ := lettersOf(t, c, "invoice")
		assert.Empty(t, letters)
	})
}
