package e2e

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
	"github.com/tillwright/tillwright/tests/harness/pdf"
)

// office is a site whose documents are read.
type office struct {
	*site
	*sdk.Client
	t       *testing.T
	dir     string // the server's data
	program *harness.Process
}

func newOffice(t *testing.T, address string, env ...string) *office {
	t.Helper()
	o := &office{site: newSite(t, address), t: t, dir: t.TempDir()}
	o.binary.Env = append(append(o.binary.Env, "TILLWRIGHT_DATA_DIR="+o.dir), env...)
	o.program = o.binary.Serve(t, "")
	o.Client = o.client(o.program).SDK()
	return o
}

// get returns what is at an address, for which nothing but the address is needed.
func (o *office) get(address string) string {
	o.t.Helper()
	response, err := http.Get(address)
	require.NoError(o.t, err)
	return o.read(response)
}

// post fills in the form at an address and returns the page after it.
func (o *office) post(address string, form url.Values) string {
	o.t.Helper()
	response, err := http.PostForm(address, form)
	require.NoError(o.t, err)
	return o.read(response)
}

func (o *office) read(response *http.Response) string {
	o.t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(o.t, err)
	require.Equal(o.t, http.StatusOK, response.StatusCode, "%s", body)
	return string(body)
}

// paper is the text of the PDF at an address.
func (o *office) paper(address string) string {
	o.t.Helper()
	return strings.Join(pdf.Pages(o.t, []byte(o.get(address))), "")
}

func (o *office) invoicePaper(id string) string {
	o.t.Helper()
	signed, err := o.Invoices.PDF(background, id)
	require.NoError(o.t, err)
	return o.paper(signed.URL)
}

// letter is the newest mail of a kind, decoded, once it was sent.
func (o *office) letter(kind sdk.LetterKind) (to, text string) {
	o.t.Helper()
	var letter sdk.Letter
	require.Eventually(o.t, func() bool {
		list, err := o.Letters.List(background, &sdk.ListLettersParams{Kind: &kind})
		require.NoError(o.t, err)
		letter = list.Data[0]
		return letter.Status == sdk.LetterStatusSent
	}, harness.Patience, 50*time.Millisecond)
	files, err := filepath.Glob(filepath.Join(o.dir, "mail", "*.eml"))
	require.NoError(o.t, err)
	var sent []*mail.Message
	for _, name := range files {
		content, err := os.ReadFile(name)
		require.NoError(o.t, err)
		message, err := mail.ReadMessage(bytes.NewReader(content))
		require.NoError(o.t, err)
		if strings.HasPrefix(message.Header.Get("Message-ID"), "<"+letter.ID+"@") {
			sent = append(sent, message)
		}
	}
	require.Len(o.t, sent, 1)
	_, params, err := mime.ParseMediaType(sent[0].Header.Get("Content-Type"))
	require.NoError(o.t, err)
	part, err := multipart.NewReader(sent[0].Body, params["boundary"]).NextPart()
	require.NoError(o.t, err)
	require.Contains(o.t, part.Header.Get("Content-Type"), "text/plain")
	body, err := io.ReadAll(part)
	require.NoError(o.t, err)
	return sent[0].Header.Get("To"), string(body)
}

// guide is a price variant of a product on sale.
func (o *office) guide(v sdk.ProductPriceVariant) string {
	o.t.Helper()
	product, err := o.Products.Create(background, &sdk.ProductCreate{
		Name: "日本語の教科書", Status: new(sdk.ProductStatusActive), PriceVariants: []sdk.ProductPriceVariant{v},
	})
	require.NoError(o.t, err)
	return product.PriceVariants[0].ID
}

// purchase is paid by a test card.
func (o *office) purchase(c sdk.CheckoutCreate) *sdk.Order {
	o.t.Helper()
	made, err := o.Checkouts.Create(background, &c)
	require.NoError(o.t, err)
	paid, err := o.Checkouts.Confirm(background, made.ID, &sdk.CheckoutConfirm{PaymentMethod: &sdk.PaymentMethod{Token: "pm_card_visa"}}, sdk.Expand("order"))
	require.NoError(o.t, err)
	return paid.Order.Object
}

// isSound asks the program whether all that it stored adds up.
func (o *office) isSound() {
	o.t.Helper()
	out, err := o.binary.Command("doctor").CombinedOutput()
	require.NoError(o.t, err, "%s", out)
}

// says expects each pattern in a text.
func says(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		assert.Regexp(t, pattern, text)
	}
}

func TestDocuments_OfAPurchase(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		o := newOffice(t, address)
		_, err := o.Account.Update(background, &sdk.AccountUpdate{
			BusinessName: sdk.Set("Ωμέγα Εκδόσεις"), TaxID: sdk.Set("EL123456789"),
			Tax: &sdk.TaxSettings{Mode: sdk.TaxModeFlatTable, Behavior: sdk.TaxBehaviorExclusive, Rates: []sdk.TaxRate{{Country: new("JP"), RateBps: 1000, Name: "消費税"}}},
		})
		require.NoError(t, err)
		variant := o.guide(sdk.ProductPriceVariant{Amount: new(int64(12345)), Currency: new("jpy")})
		order := o.purchase(sdk.CheckoutCreate{
			CustomerEmail: new("taro@example.com"), CustomerName: new("株式会社トーキョー 山田太郎"), LineItems: []sdk.CheckoutLine{{PriceVariant: variant}},
			BillingAddress: &sdk.Address{Line1: new("丸の内1-1-1"), City: new("東京都"), Country: new("JP")}, TaxID: &sdk.TaxID{Type: "jp_cn", Value: "T1234567890123"},
		})
		require.EqualValues(t, 13580, order.TotalAmount)
		says(t, o.invoicePaper(order.Invoice.ID), "INV-000001", `(?m)^Paid$`, "株式会社トーキョー 山田太郎", "丸の内1-1-1", "T1234567890123", "Ωμέγα Εκδόσεις", "EL123456789",
			"日本語の教科書 .* 12,345 .* 10% .* 1,235 .* 13,580", "消費税 10% on JPY 12,345 +JPY 1,235", "Total +JPY 13,580", "Amount due +JPY 0")

		_, err = o.Orders.ResendReceipt(background, order.ID)
		require.NoError(t, err)
		to, text := o.letter(sdk.LetterKindReceipt)
		assert.Equal(t, "<taro@example.com>", to)
		receipt := regexp.MustCompile(`http://\S+/receipt/\S+`).FindString(text)
		require.Equal(t, order.ReceiptURL, receipt)
		assert.Contains(t, text, "\r\n"+receipt+"/pdf\r\n")
		assert.Contains(t, o.get(receipt), "株式会社トーキョー 山田太郎")
		says(t, o.paper(receipt+"/pdf"), "Receipt", "株式会社トーキョー 山田太郎", "JPY 13,580 paid with Visa ending in 4242")

		_, err = o.Refunds.Create(background, &sdk.RefundCreate{Order: order.ID, Amount: new(int64(5000))})
		require.NoError(t, err)
		for _, paper := range []string{o.invoicePaper(order.Invoice.ID), o.paper(receipt + "/pdf")} {
			says(t, paper, "Partly refunded", "Refunded +JPY -5,000", "Tax in the refund +JPY -455", "Paid after refund +JPY 8,580", "JPY 5,000 refunded on .*, of which tax JPY 455")
		}
		o.isSound()
	})
}

// bill issues an invoice over 2,592.576 dinars.
func (o *office) bill(work string) *sdk.Invoice {
	o.t.Helper()
	customer, err := o.Customers.Create(background, &sdk.CustomerCreate{Email: "noor@example.com", Name: new("Nūr ‹&› نور")})
	require.NoError(o.t, err)
	invoice, err := o.Invoices.Create(background, &sdk.InvoiceCreate{
		Customer: customer.ID, Currency: new("kwd"), DueAt: new(sdk.TimeOf(time.Now().Add(time.Hour))), Finalize: new(true), Memo: new("As agreed."),
		Lines: []sdk.InvoiceLineCreate{{Description: &work, UnitAmount: new(int64(1234560)), Quantity: new(int64(2)), TaxRateBps: new(int64(500)), TaxName: new("VAT")}},
	})
	require.NoError(o.t, err)
	return invoice
}

func TestInvoice_IsPaidOnItsPage(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, address string) {
		o := newOffice(t, address)
		invoice := o.bill("Workshop")
		page := o.get(*invoice.HostedURL)
		says(t, page, ">Due<", "Nūr ‹&amp;› نور", "As agreed.", "Pay KWD\u00a02,592.576", "Amount due</th><td [^>]*><bdi [^>]*>KWD\u00a02,592.576")
		says(t, o.paper(*invoice.PDFURL), "(?m)^Due$", "1,234.560", "VAT 5% on KWD 2,469.120 +KWD 123.456", "Amount due +KWD 2,592.576")

		action := regexp.MustCompile(`action="([^"]+/pay)"`).FindStringSubmatch(page)
		require.NotNil(t, action, page)
		form, err := url.Parse(*invoice.HostedURL)
		require.NoError(t, err)
		form = form.ResolveReference(&url.URL{Path: action[1]})
		card := url.Values{"card_number": {"4000 0000 0000 0002"}, "card_expiry": {"1299"}, "card_cvc": {"123"}}
		says(t, o.post(form.String(), card), `(?s)role="alert".*declined`, ">Due<")
		card.Set("card_number", "4242 4242 4242 4242")
		paid := o.post(form.String(), card)
		says(t, paid, ">Paid<", "Amount due</th><td [^>]*><bdi [^>]*>KWD\u00a00.000")
		assert.NotContains(t, paid, "<form")
		says(t, o.paper(*invoice.PDFURL), "(?m)^Paid$", "Paid +KWD 2,592.576", "Amount due +KWD 0.000")
		invoice, err = o.Invoices.Get(background, invoice.ID, sdk.Expand("order", "payments"))
		require.NoError(t, err)
		assert.Equal(t, sdk.InvoiceStatusPaid, invoice.Status)
		assert.Equal(t, sdk.OrderStatusPaid, invoice.Order.Object.Status)
		assert.Equal(t, "4242", invoice.Payments[0].Object.PaymentMethod.Last4)
		o.isSound()
	})
}

// On the narrowest of phones nothing stands beside the page, a word without an end neither.
func TestInvoice_IsPaidInABrowser(t *testing.T) {
	t.Parallel()
	o := newOffice(t, database.URL(t, "sqlite"))
	invoice := o.bill("Workshop " + strings.Repeat("endless", 20))
	page := browser.Open(t, nil)
	page.Go(*invoice.HostedURL)
	fits := func() {
		t.Helper()
		page.Look(filepath.Join(t.TempDir(), "page.png"), 360)
		assert.Equal(t, "360", page.Value(`document.documentElement.scrollWidth`))
	}
	pay := func(number string) {
		page.Fill("#card_number", number)
		page.Fill("#card_expiry", "12/99")
		page.Fill("#card_cvc", "123")
		page.Click("button.pay")
	}
	page.WaitText("As agreed.")
	fits()
	pay("4000000000009995")
	page.WaitText("insufficient funds")
	pay("4000002500003155")
	page.WaitText("confirm the payment")
	fits()
	page.Click("form button")
	page.Wait(`document.querySelector(".badge.good")`)
	fits()
	assert.Contains(t, page.Text(), "Amount due\tKWD\u00a00.000")
	assert.Empty(t, page.Refused())
	o.isSound()
}

// A smaller plan leaves credit, which pays the next period.
func TestReceipt_SaysWhatCreditPaid(t *testing.T) {
	t.Parallel()
	o := newOffice(t, database.URL(t, "sqlite"))
	variant := o.guide(sdk.ProductPriceVariant{
		Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), IntervalCount: new(int64(1)), Amount: new(int64(900)), Currency: new("usd"),
	})
	order := o.purchase(sdk.CheckoutCreate{
		CustomerEmail: new("ada@example.com"), CustomerEmailVerified: new(true), LineItems: []sdk.CheckoutLine{{PriceVariant: variant, Quantity: new(int64(10))}},
	})
	_, err := o.Subscriptions.Change(background, order.Subscription.ID, &sdk.SubscriptionChangeCreate{Quantity: new(int64(1))})
	require.NoError(t, err)
	for done := false; !done; {
		clock, err := o.TestHelpers.AdvanceClock(background, &sdk.TestClockCreate{AdvanceSeconds: new(int64(32 * 24 * 3600))})
		require.NoError(t, err)
		done = clock.Done
	}
	renewals, err := o.Orders.List(background, &sdk.ListOrdersParams{BillingReason: new(sdk.BillingReasonSubscriptionCycle)})
	require.NoError(t, err)
	require.Len(t, renewals.Data, 1)
	require.EqualValues(t, 900, renewals.Data[0].BalanceApplied)
	page := o.get(renewals.Data[0].ReceiptURL)
	says(t, page, "Paid from credit</th><td [^>]*><bdi [^>]*>[$]9.00", ">Paid</th><td [^>]*><bdi [^>]*>[$]0.00")
	says(t, o.invoicePaper(renewals.Data[0].Invoice.ID), "Paid from credit +USD 9.00", "Amount due +USD 0.00")
	o.isSound()
}
