package mail

import (
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/pricing"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// hostile is what somebody may write wherever text is taken.
const hostile = `"><img src=x onerror=alert(1)></title></style></script><script>alert(2)</script>{{.}}` + "\u202E" + ` javascript:alert(3) ' style='background:url(//evil.example)`

// everyLetter returns what each kind of letter says in a language. Those that are sent by themselves are there by their kind. Word stands in
// the place of what people write.
func everyLetter(t *testing.T, l *locale.Locale, word func(usual string) string) (seller *tenant.Account, all map[string]content) {
	t.Helper()
	s, _ := given(t, database.URL(t, "sqlite"))
	post := NewPost(s, nil)
	when := core.TimeOf(time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC))
	seller = &tenant.Account{Name: word("Kestrel Field Guides"), Handle: "kestrel", Timezone: "UTC", WebsiteURL: new("https://kestrel.example")}
	order := &order.Order{Number: 1042, Currency: "eur", DiscountAmount: 490, TotalAmount: 5248, TaxBreakdown: core.JSONOf([]lineitem.TaxBreakdown{{Name: word("VAT"), RateBps: 1900, TaxAmount: 838}}), CustomerVerified: true, WithdrawalWaivedAt: &when, ReceiptURL: "https://pay.example/receipt/x?a=1&b=2"}
	sub := &subscription.Subscription{ProductName: word("Tide calendar"), PriceVariantName: new(word("Yearly")), Quantity: 1, Currency: "eur", Interval: "year", IntervalCount: 1, UnitAmount: 9000, CurrentPeriodEnd: when, CancelAtPeriodEnd: true, TrialEnd: &when, NextAttemptAt: &when, ProductID: "prod_1"}
	deliveries := []store.LetterDelivery{
		{ProductName: word("Birds"), FileName: word("birds.pdf"), FileURL: "https://pay.example/files/x?a=1&b=2"},
		{ProductName: word("Calculator"), Delivery: grant.Delivery{Deliverable: grant.Deliverable{Type: "license_key"}, Key: new(word("KES-4F2A-99C1"))}},
		{ProductName: word("Club"), Delivery: grant.Delivery{Deliverable: grant.Deliverable{Type: "link", Name: new(word("The community")), URL: new(word("https://chat.example"))}}},
		{ProductName: word("Calculator"), Delivery: grant.Delivery{Deliverable: grant.Deliverable{Type: "license_key"}}},
		{ProductName: word("Trap"), Delivery: grant.Delivery{Deliverable: grant.Deliverable{Type: "link", Name: new(word("A trap")), URL: new("javascript:alert(4)")}}},
	}
	told := &store.LetterContent{
		Seller: seller, Order: order, Subscription: sub, Product: word("Birds of the Wadden Sea"), Deliveries: deliveries, Grant: &grant.Grant{ExpiresAt: &when},
		Refund:  &store.Refund{Amount: 1000, Currency: "eur"},
		Invoice: &invoice.Invoice{Number: new(word("KES-1042")), Currency: "eur", TotalAmount: 9000, DueAt: &when, Status: invoice.StatusPastDue, HostedURL: "https://pay.example/invoice/x"},
		Payment: &payment.Payment{PaymentMethod: core.JSON[payment.Method]{V: payment.Method{Brand: "visa", Last4: "4242"}}, Failure: core.JSONOf(&payment.Failure{Code: "card_declined", DeclineCode: new("unheard_of"), Message: word("The bank did not say.")})},
		Method:  &payment.BillingMethod{Card: payment.Method{Brand: "visa", Last4: "4242", ExpMonth: 4, ExpYear: 2031}}, PortalURL: "https://pay.example/portal?shop=kestrel",
		GoOnURL: "https://pay.example/checkout/x", UnsubscribeURL: "https://pay.example/unsubscribe/x",
		Renewal: &subscription.Renewal{Subscription: sub, Items: []lineitem.Item{{SubtotalAmount: 9000, TotalAmount: 9000, Currency: "eur"}}},
	}
	least := int64(1900)
	told.News = &store.ProductNews{Subject: word("The second edition is here"), Body: "# News\n\nIt has **three new** [chapters](https://kestrel.example/new).\n\n![a pixel](https://evil.example/p.png)\n\n- [x] done\n\n" + unbroken.Replace(word("Read it"))}
	told.Offer, told.BuyURL = &catalog.Product{Name: word("Birds of the Wadden Sea"), CallToAction: new(word("Get it")), PriceMinAmount: &least, PriceMaxAmount: &least, PriceCurrency: new("eur")}, "https://pay.example/buy/x"
	taken := *told
	taken.Offer = nil
	ended, over := *told, *sub
	ended.Subscription, over.EndedAt, over.NextAttemptAt = &over, &when, nil
	asked, unconfirmed := *told, *told.Payment
	asked.Payment, unconfirmed.Failure = &unconfirmed, core.JSONOf(&payment.Failure{Code: "payment_canceled"})
	late, changed := *told, *sub
	late.IsLate, late.Subscription = true, &changed
	changed.PendingChange = core.JSONOf(&subscription.PendingChange{})
	told.Lines = []store.LetterLine{
		{Item: lineitem.Item{Kind: lineitem.KindPrice, ProductName: word("Birds"), Quantity: 2, SubtotalAmount: 4900, Currency: "eur"}},
		{Item: lineitem.Item{Kind: lineitem.KindPrice, ProductName: word("Tide calendar"), Quantity: 1, Currency: "eur"}, Next: &checkout.NextPayment{At: when, Amount: 10710}, Interval: "year", IntervalCount: 1},
	}
	told.Lines[1].DescribeTrial(when.Time())
	receipt, err := post.receipt(t.Context(), l, told)
	require.NoError(t, err)
	all = map[string]content{
		string(tenant.LetterReceipt): receipt, string(tenant.LetterPaymentFailed): paymentFailed(l, told), "last": paymentFailed(l, &ended), "bank": paymentFailed(l, &asked), string(tenant.LetterTrialEnding): trialEnding(l, told),
		string(tenant.LetterSubscriptionCanceled): subscriptionCanceled(l, told), string(tenant.LetterSubscriptionEnded): subscriptionEnded(l, &ended),
		string(tenant.LetterAccessGiven): accessGiven(l, told, false), string(tenant.LetterRefund): refunded(l, told),
		string(tenant.LetterSubscriptionKept): subscriptionKept(l, told), string(tenant.LetterPlanChanged): planChanged(l, told), "plan_later": planChanged(l, &late),
		string(tenant.LetterRenewalUpcoming): renewalUpcoming(l, told), string(tenant.LetterCardExpiring): cardExpiring(l, told),
		string(tenant.LetterInvoiceReminder): invoiceReminder(l, told), "late": invoiceReminder(l, &late), string(tenant.LetterFileUpdated): fileUpdated(l, told), string(tenant.LetterCheckoutAbandoned): checkoutAbandoned(l, told),
		string(tenant.LetterProductNews): productNews(l, told), "news_of_nothing_on_sale": productNews(l, &taken),
		"verification": verification(l, seller, &checkout.Checkout{Currency: "eur", TotalAmount: 5248}, "https://pay.example/verify/x"), "lead": leadConfirmation(l, seller, "https://pay.example/subscribe/x"),
		"portal": portalLink(l, seller, "https://pay.example/portal/open/x"), string(tenant.LetterInvoice): invoiceSent(l, told),
	}
	team := &teamContent{at: "https://pay.example", sales: []sale{{order, word("Birds"), word("Grace Hopper")}}, LetterDetail: person.LetterDetail{
		Day: "2026-11-28", Retried: 9, Next: &when, Since: &when, Site: "site_1", Host: "shop.example", Reason: word("No TXT or CNAME record yet."), Week: &person.Week{Sales: []person.Sum{{Currency: "eur", Count: 12, Amount: 58200}}, Refunds: []person.Sum{{Currency: "eur", Amount: 1900}}, Customers: 7, Started: 3, Ended: 1}, WeekBefore: &person.Week{},
		Records: []person.DNSRecord{{Type: "TXT", Name: "_tillwright.shop.example", Value: "tillwright-site=x"}},
		Sums:    []person.Sum{{Currency: "eur", Count: 12, Amount: 58200}, {Currency: "usd", Count: 1, Amount: 2000}},
	}}
	for _, kind := range tenant.TeamKinds {
		c, known := teamLetter(l, kind, seller, team)
		require.True(t, known, kind)
		all[string(kind)] = c
	}
	many := *team
	many.Domains, many.Unnamed, many.HasMore = []person.FailingDomain{{Host: "other.example", Reason: word("No TXT or CNAME record yet.")}}, 990, true
	all["domains"], all["failed_more"] = domainsFailing(l, &many), failedOfDay(l, seller, &many)
	for kind, c := range all {
		c.spoken = l
		all[kind] = c
	}
	return seller, all
}

// Whoever may name something writes no line of a letter.
func TestLetters_HaveNoLineOfSomebodyElse(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"\n", "\r\n", "\r", "\u2028", "\u0085", "\v"} {
		_, all := everyLetter(t, locale.English, func(usual string) string { return usual + end + "Forged: pay to another account" })
		for kind, c := range all {
			for _, line := range strings.FieldsFunc(c.text(), func(r rune) bool { return strings.ContainsRune("\n\r\v\u2028\u0085", r) }) {
				assert.False(t, strings.HasPrefix(line, "Forged"), "%s, %q: %s", kind, end, c.text())
			}
		}
	}
}

// Nothing that somebody wrote becomes more than text, nothing is loaded, and every address of the text is there as it is.
func TestLetters_AreHarmlessPages(t *testing.T) {
	t.Parallel()
	seller, all := everyLetter(t, locale.English, func(usual string) string { return usual + hostile })
	for _, kind := range append(slices.Clone(tenant.LetterKinds), tenant.LetterProductNews, tenant.LetterInvoice) {
		require.Contains(t, all, string(kind))
	}
	for kind, c := range all {
		letter, err := c.letter(seller, nil)
		require.NoError(t, err)
		root, err := html.Parse(strings.NewReader(letter.HTML))
		require.NoError(t, err)
		var links []string
		var shown strings.Builder
		for node := range root.Descendants() {
			if node.Type == html.TextNode && node.Parent.Data != "style" {
				shown.WriteString(node.Data + "\n")
			}
			if node.Type != html.ElementNode {
				continue
			}
			assert.NotContains(t, []string{"script", "img", "iframe", "object", "link", "form", "svg"}, node.Data, kind)
			for _, a := range node.Attr {
				assert.False(t, strings.HasPrefix(a.Key, "on"), "%s: %s", kind, a.Key)
				assert.NotEqual(t, "src", a.Key, "%s: %s", kind, a.Key)
				assert.NotEqual(t, "background", a.Key, "%s: %s", kind, a.Key)
				if a.Key == "style" {
					assert.NotContains(t, a.Val, "url(", kind)
				}
				if a.Key == "href" {
					links = append(links, a.Val)
				}
			}
		}
		for _, link := range links {
			assert.Regexp(t, `^(https://|http://shop\.test/portal|#ZgotmplZ$)`, link, kind)
		}
		for _, a := range c.actions {
			assert.Contains(t, links, a.url, kind)
		}
		for _, text := range c.opening {
			assert.Contains(t, shown.String(), text, "%s says what its text says", kind)
		}
		for _, text := range append(append([]string{}, c.facts...), c.closing...) {
			assert.Contains(t, shown.String(), text, kind)
		}
		for _, s := range c.sums {
			assert.Contains(t, shown.String(), s.name, kind)
			assert.Contains(t, shown.String(), s.amount, kind)
			assert.Contains(t, shown.String(), s.note, kind)
		}
		assert.Contains(t, shown.String(), nameOf(seller), kind)
	}
}

func TestLetters_AreTextBeforeTheyArePages(t *testing.T) {
	t.Parallel()
	both := letter
	both.HTML = "<p>Hello,</p><p>すべて</p>"
	m, err := both.message("post@example.org")
	require.NoError(t, err)
	var sent strings.Builder
	_, err = m.WriteTo(&sent)
	require.NoError(t, err)
	read, err := netmail.ReadMessage(strings.NewReader(sent.String()))
	require.NoError(t, err)
	kind, params, err := mime.ParseMediaType(read.Header.Get("Content-Type"))
	require.NoError(t, err)
	require.Equal(t, "multipart/alternative", kind)
	parts := multipart.NewReader(read.Body, params["boundary"])
	for _, want := range []struct{ kind, text string }{{"text/plain", "Hello,\r\nすべて"}, {"text/html", both.HTML}} {
		part, err := parts.NextPart()
		require.NoError(t, err)
		text, err := io.ReadAll(part)
		require.NoError(t, err)
		assert.Contains(t, part.Header.Get("Content-Type"), want.kind)
		assert.Equal(t, want.text, strings.TrimSpace(string(text)))
	}
	_, err = parts.NextPart()
	require.ErrorIs(t, err, io.EOF)
}

// Nothing stands beside a letter on the narrowest of phones, whatever is written in it. It draws them too: see make screenshots.
func TestLetters_FitANarrowPhone(t *testing.T) {
	t.Parallel()
	seller, all := everyLetter(t, locale.English, func(usual string) string { return usual })
	endless, long := everyLetter(t, locale.English, func(usual string) string { return usual + strings.Repeat("endless", 12) })
	pages := map[string]string{}
	for kind, c := range all {
		for path, drawn := range map[string]struct {
			content
			*tenant.Account
		}{"/" + kind: {c, seller}, "/long/" + kind: {long[kind], endless}} {
			letter, err := drawn.letter(drawn.Account, nil)
			require.NoError(t, err)
			pages[path] = letter.HTML
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(pages[r.URL.Path])) }))
	t.Cleanup(server.Close)
	window := browser.Open(t, nil)
	shows := func(path string) {
		window.Go(server.URL + path)
		window.Wait("location.pathname === '" + path + "' && document.readyState === 'complete'")
	}
	for kind := range all {
		shows("/long/" + kind)
		window.Width(320)
		assert.Equal(t, "0", window.Value(`document.documentElement.scrollWidth - document.documentElement.clientWidth`), kind)
		shows("/" + kind)
		window.Draw("letter-" + kind)
	}
}

// A letter carries the logo itself: who reads it asks nobody for it, and who shows no pictures reads the name.
func TestLetters_CarryTheLogo(t *testing.T) {
	t.Parallel()
	seller, all := everyLetter(t, locale.English, func(usual string) string { return usual })
	l, err := all["portal"].letter(seller, []byte("the pixels"))
	require.NoError(t, err)
	assert.Contains(t, l.HTML, `<img src="cid:logo" alt="Kestrel Field Guides"`)
	l.To = "grace@example.com"
	m, err := l.message("post@example.org")
	require.NoError(t, err)
	var sent strings.Builder
	_, err = m.WriteTo(&sent)
	require.NoError(t, err)
	assert.Contains(t, sent.String(), "Content-Id: <logo>")
	assert.Contains(t, sent.String(), "Content-Type: image/png")
	assert.Contains(t, sent.String(), "multipart/related")
	news := all["product_news"]
	news.picture = []byte("\xff\xd8\xff the product")
	shown, err := news.letter(seller, nil)
	require.NoError(t, err)
	assert.Contains(t, shown.HTML, `<img src="cid:picture" alt="Birds of the Wadden Sea"`)
	shown.To = "grace@example.com"
	m, err = shown.message("post@example.org")
	require.NoError(t, err)
	sent.Reset()
	_, err = m.WriteTo(&sent)
	require.NoError(t, err)
	assert.Contains(t, sent.String(), "Content-Id: <picture>")
	assert.Contains(t, sent.String(), "Content-Type: image/jpeg")
	plain, err := all["portal"].letter(seller, nil)
	require.NoError(t, err)
	assert.NotContains(t, plain.HTML, "<img")
}

// Links and the button have the seller's colour, moved until it can be read, in the light and in the dark.
func TestLetters_HaveTheSellersColour(t *testing.T) {
	t.Parallel()
	seller, all := everyLetter(t, locale.English, func(usual string) string { return usual })
	ours, err := all["receipt"].letter(seller, nil)
	require.NoError(t, err)
	for _, text := range []string{"background:#1f57a8;color:#ffffff;", `style="color:#1f57a8;`, ".go { background: #8fb8f8 !important; color: #0e1626 !important; }"} {
		assert.Contains(t, ours.HTML, text)
	}
	seller.AccentColor = new("#ffee00")
	theirs, err := all["receipt"].letter(seller, nil)
	require.NoError(t, err)
	inLight, inDark, ok := ui.Shades("#ffee00")
	require.True(t, ok)
	require.NotEqual(t, "#ffee00", inLight.Accent)
	for _, text := range []string{
		"background:" + inLight.Accent + ";color:" + inLight.On + ";", `style="color:` + inLight.Accent + `;`, ".go { background: " + inDark.Accent + " !important; color: " + inDark.On + " !important; }",
	} {
		assert.Contains(t, theirs.HTML, text)
	}
	assert.NotContains(t, theirs.HTML, "#1f57a8")
	assert.NotContains(t, theirs.HTML, ":ZgotmplZ")
}

// What a change of plan still costs is charged once, and is no discount.
func TestPlanChanged_NamesNoDiscountWhereThereIsNone(t *testing.T) {
	t.Parallel()
	sub := &subscription.Subscription{Currency: "usd", Interval: "month", IntervalCount: 1}
	plan := lineitem.Item{SubtotalAmount: 900, TotalAmount: 1071, TaxRateBps: 1900}
	says := nextPrices(locale.English, &subscription.Renewal{Subscription: sub, Items: []lineitem.Item{plan, {TotalAmount: 300}}, Amounts: pricing.Amounts{Total: 1371}}, "4 May")
	assert.Equal(t, []string{"On 4 May: $13.71", "From then on: $10.71 every month"}, says)
}

// Who has cancelled is told what a last bill charges, or that nothing does.
func TestSubscriptionCanceled_SaysWhatIsStillCharged(t *testing.T) {
	t.Parallel()
	told := &store.LetterContent{Seller: &tenant.Account{Name: "Kestrel"}, Subscription: &subscription.Subscription{CancelAtPeriodEnd: true, Currency: "usd", ProductName: "Birds"}}
	assert.Contains(t, subscriptionCanceled(locale.English, told).opening[0], "you are not charged for it any more")
	told.LastBill = 2000
	assert.Contains(t, subscriptionCanceled(locale.English, told).opening[0], "a last bill charges $20.00")
	assert.NotContains(t, subscriptionCanceled(locale.English, told).opening[0], "any more")
}

// A key, an address and an amount are in the text as they are.
func TestLetters_ChangeNothingInALine(t *testing.T) {
	t.Parallel()
	c := content{
		opening: []string{"Amount: USD\u00a05.00"}, facts: []string{"a  b"}, actions: []action{{label: "Pay", url: "https://pay.example/?a=?b"}},
		items: []item{{name: "Licence key", value: "KEY  =?1"}},
	}
	assert.Equal(t, "Amount: USD\u00a05.00\n\na  b\n\nLicence key\nKEY  =?1\n\nPay\nhttps://pay.example/?a=?b\n", c.text())
}

// Whoever paid reads first what they bought, with what follows, then what it came to, and the button is their download.
func TestReceipt_SaysWhatWasBought(t *testing.T) {
	t.Parallel()
	usual := func(usual string) string { return usual }
	seller, all := everyLetter(t, locale.English, usual)
	assert.Contains(t, all["receipt"].text(), `
2 × Birds: €49.00
Tide calendar, trial until 1 December 2026: €0.00
Then €107.10 every year, from 1 December 2026
Discount: -€4.90
VAT 19%: €8.38
Total: €52.48

Download birds.pdf
`)
	page, err := all["receipt"].letter(seller, nil)
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(page.HTML, `class="go"`))
	assert.Regexp(t, `class="go" href="https://pay.example/files/[^>]*>Download birds.pdf<`, page.HTML)
	_, german := everyLetter(t, locale.Find("de"), usual)
	assert.Contains(t, german["receipt"].text(), "Tide calendar, Probezeit bis 1. Dezember 2026: 0,00\u00a0€\nDanach 107,10\u00a0€ pro Jahr, ab dem 1. Dezember 2026\nRabatt: -4,90\u00a0€\n")
}

// A receipt and an invoice lead straight to their PDF, as text and as page, in each language.
func TestLetters_LeadToThePDF(t *testing.T) {
	t.Parallel()
	for _, l := range locale.All() {
		seller, all := everyLetter(t, l, func(usual string) string { return usual })
		for kind, link := range map[string]string{"receipt": "https://pay.example/receipt/x?a=1&b=2/pdf", "invoice": "https://pay.example/invoice/x/pdf"} {
			c := all[kind]
			assert.Contains(t, c.text(), "\n"+l.T("mail.pdf.here")+"\n"+link+"\n", "%s in %s", kind, l.Tag)
			letter, err := c.letter(seller, nil)
			require.NoError(t, err)
			assert.Contains(t, letter.HTML, `href="`+strings.ReplaceAll(link, "&", "&amp;")+`"`, "%s in %s", kind, l.Tag)
			assert.Contains(t, letter.HTML, l.T("mail.pdf.button"), "%s in %s", kind, l.Tag)
		}
	}
}
