package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
)

func TestReceiptPage_ShowsWhatWasPaid(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.UpdateAccount(t.Context(), w.account, func(a *store.Account) {
		a.TaxID, a.BusinessAddress = new("DE123456789"), store.JSONOf(&store.Address{Line1: new("Weg 1"), City: new("Köln"), PostalCode: new("50667"), Country: new("DE")})
	})
	require.NoError(t, err)
	o := w.bought(func(c *store.Checkout) {
		c.CustomerName = new("株式会社 <Ω>")
		c.TaxID = store.JSONOf(&store.TaxID{Type: "jp_cn", Value: "T123"})
	})
	page := w.page(o.ReceiptURL, http.StatusOK)
	for _, text := range []string{
		"Receipt 1", "Ada &lt;b&gt;&amp; sons&lt;/b&gt;", "Tax ID: DE123456789", "50667 Köln", "株式会社 &lt;Ω&gt;", "Tax ID: T123", "grace@example.com",
		"Handbook", "2 × EUR\u00a019.00", "EUR\u00a038.00", "ending in 4242", ">Paid<",
	} {
		assert.Contains(t, page, text)
	}
	kind, body := w.fetch(o.ReceiptURL + "/pdf")
	assert.Equal(t, "application/pdf", kind)
	assert.True(t, strings.HasPrefix(body, "%PDF-"))
	assert.Contains(t, page, `href="`+o.ReceiptURL[strings.LastIndexByte(o.ReceiptURL, '/')+1:]+`/pdf"`)
}

func TestInvoicePage_OfAPurchaseIsPaid(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	o := w.bought(nil)
	i, err := w.GetInvoice(t.Context(), w.account, *o.InvoiceID)
	require.NoError(t, err)
	page := w.page(i.HostedURL, http.StatusOK)
	assert.Contains(t, page, "Invoice "+*i.Number)
	assert.Contains(t, page, ">Paid<")
	assert.NotContains(t, page, "<form", "there is nothing to pay")
	kind, _ := w.fetch(i.HostedURL + "/pdf")
	assert.Equal(t, "application/pdf", kind)
}

func TestPages_OpenOnlyToTheirOwnAddress(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	o := w.bought(nil)
	i, err := w.GetInvoice(t.Context(), w.account, *o.InvoiceID)
	require.NoError(t, err)
	token := i.HostedURL[strings.LastIndexByte(i.HostedURL, '/')+1:]
	for at := range token {
		other := byte('a')
		if token[at] == 'a' {
			other = 'b'
		}
		w.page(w.server.URL+"/invoice/"+token[:at]+string(other)+token[at+1:], http.StatusNotFound)
	}
	receipt := o.ReceiptURL[strings.LastIndexByte(o.ReceiptURL, '/')+1:]
	for _, wrong := range []string{receipt, "x", "_", "__", i.ID, i.ID + "_" + w.account, token + "0", token[:len(token)-1], "%00"} {
		w.page(w.server.URL+"/invoice/"+wrong, http.StatusNotFound)
		w.page(w.server.URL+"/invoice/"+wrong+"/pdf", http.StatusNotFound)
	}
	w.page(w.server.URL+"/receipt/"+token, http.StatusNotFound)
}
