package pages_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/pdf"
)

func TestReceiptPage_ShowsWhatWasPaid(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
		a.TaxID, a.BusinessAddress = new("DE123456789"), core.JSONOf(&core.Address{Line1: new("Weg 1"), City: new("Köln"), PostalCode: new("50667"), Country: new("DE")})
	})
	require.NoError(t, err)
	o := w.bought(func(c *checkout.Checkout) {
		c.CustomerName = new("株式会社 <Ω>")
		c.TaxID = core.JSONOf(&customer.TaxID{Type: "jp_cn", Value: "T123"})
	})
	page := w.page(o.ReceiptURL, http.StatusOK)
	for _, text := range []string{
		"Receipt 1", "Ada &lt;b&gt;&amp; sons&lt;/b&gt;", "Tax ID: DE123456789", "50667 Köln", "株式会社 &lt;Ω&gt;", "Tax ID: T123", "grace@example.com",
		"Handbook", "2 × €19.00", "€38.00", "ending in 4242", ">Paid<",
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
	i, err := w.Invoice.Get(t.Context(), w.account, *o.InvoiceID)
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
	i, err := w.Invoice.Get(t.Context(), w.account, *o.InvoiceID)
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

// billed issues an invoice over 95.20 that is due in a day.
func (w *shop) billed() *invoice.Invoice {
	w.t.Helper()
	customer, err := w.Customer.Create(w.t.Context(), w.account, customer.Customer{Email: new("grace@example.com")})
	require.NoError(w.t, err)
	i, err := w.Invoice.Create(w.t.Context(), w.account, invoice.Draft{
		Invoice: &invoice.Invoice{
			CollectionMethod: invoice.CollectionMethodSendInvoice, DueAt: new(core.TimeOf(w.now.Add(24 * time.Hour))), Memo: new("For <January>"), Currency: "eur",
		},
		Customer: customer.ID,
		Lines:    []invoice.NewLine{{Description: new("Work & travel"), UnitAmount: new(int64(4000)), Quantity: 2, TaxRateBps: new(int64(1900)), TaxName: new("VAT")}},
	})
	require.NoError(w.t, err)
	w.page(i.HostedURL, http.StatusNotFound)
	w.page(i.HostedURL+"/pdf", http.StatusNotFound)
	i, err = w.FinalizeInvoice(w.t.Context(), w.account, i.ID)
	require.NoError(w.t, err)
	return i
}

// types posts a card into the page of an invoice, and returns the page after it.
func (w *shop) types(i *invoice.Invoice, number string, status int) string {
	w.t.Helper()
	response, err := http.PostForm(i.HostedURL+"/pay", url.Values{"card_number": {number}, "card_expiry": {"1299"}, "card_cvc": {"123"}})
	require.NoError(w.t, err)
	return w.read(response, status)
}

func TestInvoicePage_IsPaidByCard(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		w := newShopOn(t, address)
		i := w.billed()
		page := w.page(i.HostedURL, http.StatusOK)
		for _, text := range []string{"Invoice " + *i.Number, "Work &amp; travel", "For &lt;January&gt;", "VAT 19%", "€15.20", ">Due<", "Pay €95.20"} {
			assert.Contains(t, page, text)
		}
		assert.Contains(t, w.types(i, "4242 4242 4242 4241", http.StatusUnprocessableEntity), `role="alert"`, "not a card number")
		assert.Contains(t, w.types(i, "4000000000000002", http.StatusOK), "declined")
		page = w.types(i, "4242 4242-4242 4242", http.StatusOK)
		assert.Contains(t, page, ">Paid<")
		assert.NotContains(t, page, "<form")
		assert.NotContains(t, page, "declined")
		page = w.types(i, "4242424242424242", http.StatusOK) // a double click, or the back button
		assert.Contains(t, page, ">Paid<")
		assert.NotContains(t, page, `role="alert"`)

		i, err := w.Invoice.Get(t.Context(), w.account, i.ID)
		require.NoError(t, err)
		assert.Equal(t, int64(9520), i.AmountPaid)
	})
}

// refund gives back a part of what an invoice was paid with.
func (w *shop) refund(i *invoice.Invoice, amount int64) *store.Refund {
	w.t.Helper()
	r, err := w.billing.CreateRefund(w.t.Context(), w.account, store.NewRefund{Order: *i.OrderID, Amount: &amount, Reason: store.RefundReasonCustomerRequest})
	require.NoError(w.t, err)
	return r
}

// text is what is written in a PDF.
func (w *shop) text(url string) string {
	w.t.Helper()
	_, file := w.fetch(url)
	return strings.Join(pdf.Pages(w.t, []byte(file)), "")
}

// A document that is kept has its seller's logo in it, and speaks as its page.
func TestDocuments_CarryTheLogoAndSpeakAsTheirPage(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	i := w.billed()
	_, file := w.fetch(i.HostedURL + "/pdf")
	assert.NotContains(t, file, "/Subtype /Image")
	w.pictured(w.account, pixels(64, 32))
	_, file = w.fetch(i.HostedURL + "/pdf")
	assert.Contains(t, file, "/Subtype /Image")

	page := w.page(i.HostedURL+"?locale=de", http.StatusOK)
	link := regexp.MustCompile(`href="([^"]*/pdf[^"]*)"`).FindStringSubmatch(page)
	require.NotNil(t, link)
	german := w.text(w.server.URL + "/invoice/" + link[1])
	for _, text := range []string{"Rechnung", "Ausgestellt am", "Offener Betrag"} {
		assert.Contains(t, german, text)
	}
	assert.NotContains(t, german, "Date of issue")
}

func TestDocuments_ShowWhatWasGivenBack(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	i := w.billed()
	w.types(i, "4000000000007726", http.StatusOK) // its refunds stay pending for a while
	assert.NotContains(t, w.page(i.HostedURL, http.StatusOK), "efund")

	begun := w.refund(i, 1000)
	failed := w.refund(i, 2000)
	settle := func(r *store.Refund, to payments.RefundStatus) {
		t.Helper()
		_, err := w.billing.SettleTestRefund(t.Context(), w.account, r.ID, to)
		require.NoError(t, err)
	}
	settle(failed, payments.RefundFailed)
	page := w.page(i.HostedURL, http.StatusOK)
	for _, text := range []string{
		">Partly refunded<", `<bdi dir="ltr">-€10.00</bdi>`, "Tax in the refund", "-€1.60", "Paid after refund", "€85.20", "€10.00 is being refunded since ",
	} {
		assert.Contains(t, page, text)
	}
	assert.NotContains(t, page, "20.00 ")
	w.now = w.now.Add(48 * time.Hour)
	settle(begun, payments.RefundSucceeded)
	w.refund(i, 8520)
	order, err := w.Order.Get(t.Context(), w.account, *i.OrderID)
	require.NoError(t, err)
	for _, document := range []string{w.text(i.HostedURL + "/pdf"), w.text(order.ReceiptURL + "/pdf")} {
		assert.Regexp(t, `(?m)^\s*Refunded$`, document, "the status")
		assert.Regexp(t, `Paid\s+EUR 95.20`, document)
		assert.Regexp(t, `Refunded\s+EUR -95.20`, document)
		assert.Regexp(t, `Tax in the refund\s+EUR -15.20`, document)
		assert.Regexp(t, `Paid after refund\s+EUR 0.00`, document)
		assert.Contains(t, document, "EUR 10.00 refunded on "+w.now.UTC().Format("2 January 2006")+", of which tax EUR 1.60.")
		assert.Contains(t, document, "EUR 85.20 is being refunded since")
	}
}

func TestInvoicePage_BuyerAuthenticates(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	i := w.billed()
	page := w.types(i, "4000002500003155", http.StatusOK)
	require.Contains(t, page, "/authenticate")
	assert.NotContains(t, page, "/pay\"", "one payment at a time")
	for range 2 {
		response, err := http.Post(i.HostedURL+"/authenticate", "application/x-www-form-urlencoded", nil)
		require.NoError(t, err)
		assert.Contains(t, w.read(response, http.StatusOK), ">Paid<")
	}
	assert.Equal(t, 1, w.asked)
}

func TestDocuments_OfWhatIsVoidGaveTheCreditBack(t *testing.T) {
	t.Parallel()
	url := database.URL(t, "sqlite")
	w := newShopOn(t, url)
	i := w.billed()
	for _, table := range []string{"invoices", "orders"} {
		harness.OpenDatabase(t, url).Must(t, "UPDATE "+table+" SET balance_applied = 500")
	}
	order, err := w.Order.Get(t.Context(), w.account, *i.OrderID)
	require.NoError(t, err)
	for _, address := range []string{i.HostedURL, order.ReceiptURL} {
		page := w.page(address, http.StatusOK)
		assert.Regexp(t, "Paid from credit</th><td [^>]*><bdi [^>]*>€5.00", page)
		assert.Regexp(t, "Amount due</th><td [^>]*><bdi [^>]*>€90.20", page)
	}
	_, err = w.VoidInvoice(t.Context(), w.account, i.ID)
	require.NoError(t, err)
	for _, address := range []string{i.HostedURL, order.ReceiptURL} {
		page := w.page(address, http.StatusOK)
		assert.Contains(t, page, ">Void<")
		assert.NotContains(t, page, "credit")
		assert.NotContains(t, page, "90.20")
	}
}

func TestInvoicePage_VoidAsksForNothing(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	i := w.billed()
	_, err := w.VoidInvoice(t.Context(), w.account, i.ID)
	require.NoError(t, err)
	page := w.page(i.HostedURL, http.StatusOK)
	assert.Contains(t, page, ">Void<")
	assert.NotContains(t, page, "<form")
}
