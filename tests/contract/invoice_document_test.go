package contract

import (
	"net/http"
	"strings"
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
		letters := s.Mail.LettersWith(who)
		switch {
		case len(letters) != 1 || letters[0].To != who || !strings.Contains(letters[0].Subject, *sent.Number):
			t.Errorf("the letters are %+v", letters)
		case sent.HostedURL == nil || !strings.Contains(letters[0].Text, *sent.HostedURL):
			t.Errorf("the letter %q lacks %v", letters[0].Text, sent.HostedURL)
		case sent.PDFURL == nil || *sent.PDFURL != *sent.HostedURL+"/pdf":
			t.Errorf("the document is at %v", sent.PDFURL)
		}
	})
}

func TestSendInvoice_NotADraft(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		who := unique() + "@example.com"
		order := purchase(t, c, who, onSale(t, c, 1900))
		draft := ok[*sdk.Invoice](t)(c.Invoices.Create(background, &sdk.InvoiceCreate{
			CollectionMethod: new(sdk.CollectionMethod("charge_automatically")), Customer: order.Customer.ID, Lines: []sdk.InvoiceLineCreate{{Description: new("Work"), UnitAmount: new(int64(500))}},
		}))
		require.Nil(t, draft.HostedURL, "a draft has a page")
		assert.Nil(t, draft.PDFURL, "a draft has a page")
		_, err := c.Invoices.Send(background, draft.ID)
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "status")
		if letters := s.Mail.LettersWith(who); len(letters) != 0 {
			t.Errorf("the letters are %+v", letters)
		}
	})
}
