package pages

import (
	"html/template"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/portal"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/markup"
)

// hostile is what somebody may write wherever text is taken.
const hostile = `"><img src=x onerror=alert(1)></title></style></script><script>alert(2)</script>{{.}}` + "\u202E" + ` javascript:alert(3) ' onfocus='x`

var someday = core.TimeOf(time.Date(2026, 11, 25, 9, 30, 0, 0, time.UTC))

// everyPage returns every page in a language as it looks when there is much to say, and when there is nothing. Word stands in the place of what
// people write.
func everyPage(l *locale.Locale, word func(usual string) string) []drawn {
	seller := &tenant.Account{Name: word("Kestrel Field Guides"), SupportEmail: new("help@kestrel.example"), PaymentsProvider: tenant.PaymentsProviderTest}
	all := []drawn{
		{"missing", "message.html", ui.Frame{Title: "Page not found"}, missing(l)},
		{"message", "message.html", ui.Frame{Title: "Nothing was connected"}, message{Title: "Nothing was connected", Text: word("You did not give your consent."), Back: "https://shop.example", Request: "req_01"}},
		{"over", "message.html", ui.Frame{Title: "This link has expired", Shop: shopOf(seller)}, message{Title: "This link has expired", Text: l.T("ended.door"), Back: "../portal?shop=" + word("kestrel"), To: l.T("key.another"), Request: "req_01"}},
		{"ended", "ended.html", ui.Frame{Title: "This link has ended", Shop: shopOf(seller)}, endedPage{Seller: seller.Name, Renew: "renew"}},
		{"ended-asked", "ended.html", ui.Frame{Title: "This link has ended", Shop: shopOf(seller)}, endedPage{Seller: seller.Name, Asked: true}},
		{"door", "portal_door.html", ui.Frame{Title: "Your purchases", Shop: shopOf(seller)}, doorPage{Seller: seller, Sends: true, Email: word("grace"), Problem: word("Write an e-mail address, such as ada@example.com.")}},
		{"door-of-all", "portal_door.html", ui.Frame{Title: "Your purchases"}, doorPage{Sends: true}},
		{"door-shut", "portal_door.html", ui.Frame{Title: "Your purchases"}, doorPage{}},
		{"door-asked", "portal_door.html", ui.Frame{Title: "Check your e-mail", Shop: shopOf(seller)}, doorPage{Seller: seller, Sends: true, Asked: true}},
		{"key", "portal_key.html", ui.Frame{Title: "Open your purchases", Shop: shopOf(seller)}, keyPage{Seller: seller, Usable: true}},
		{"key-used", "portal_key.html", ui.Frame{Title: "This link cannot be used any more", Shop: shopOf(seller)}, keyPage{Seller: seller, Door: "../../portal?shop=" + word("kestrel")}},
		{"consent", "sandbox_consent.html", ui.Frame{Title: "Sandbox"}, sandboxConsentPage{Platform: "tiktok", One: "a", Several: "b", Deny: "c"}},
	}
	all = append(all, letterPages(seller)...)
	all = append(all, checkouts(l, seller, word)...)
	all = append(all, documentPages(l, seller, word)...)
	return append(all, portals(l, seller, word)...)
}

// checkouts returns the page of a checkout in each of its states.
func checkouts(l *locale.Locale, seller *tenant.Account, word func(string) string) []drawn {
	open := func() *checkoutPage {
		return &checkoutPage{
			l: l,
			Checkout: &checkout.Checkout{
				Currency: "eur", SubtotalAmount: 4900, DiscountAmount: 490, TaxAmount: new(int64(838)), TotalAmount: 5248, AmountDueNow: 5248, PaymentMethodRequired: true,
				AllowDiscountCodes: true, DiscountCode: new(word("AUTUMN10")), CancelURL: new("https://shop.example"), CustomerEmail: new("grace@example.com"),
				TaxBreakdown: core.JSON[[]lineitem.TaxBreakdown]{V: []lineitem.TaxBreakdown{{Name: word("VAT"), RateBps: 1900, TaxAmount: 838}}},
			},
			Seller: seller, State: "open", TakesCards: true, Base: "x/", CallToAction: word("Get the guide"),
			Items: []shownLine{{
				Item:     lineitem.Item{ProductName: word("Birds of the Wadden Sea"), PriceVariantName: new(word("Book and app")), Quantity: 1, UnitAmount: 4900, SubtotalAmount: 4900, Currency: "eur"},
				Picture:  ui.Image{Address: "/bird.png", Width: 640, Height: 480},
				Headline: new(word("280 species, 900 photographs, and the calls of them all to listen to in the field")),
			}},
		}
	}
	shows := func(name string, change func(p *checkoutPage)) drawn {
		page := open()
		change(page)
		frame := page.frame()
		frame.Shop.Logo = ui.Image{Address: "/logo.png", Width: 160, Height: 40}
		return drawn{name, "checkout.html", frame, page}
	}
	return []drawn{
		shows("checkout", func(p *checkoutPage) {
			p.Share = &share{Title: word("Birds of the Wadden Sea"), About: word("280 species"), Seller: word("Kestrel"), URL: "https://pay.example/buy/x", Server: "https://pay.example", Card: "/media/a/b-card.jpg"}
		}),
		{"checkout-empty", "checkout.html", ui.Frame{Title: "Checkout"}, &checkoutPage{l: l, Checkout: &checkout.Checkout{Currency: "usd"}, Seller: &tenant.Account{}, State: "open"}},
		shows("checkout-problems", func(p *checkoutPage) {
			line := p.Items[0]
			line.Renewal, line.TrialDays = "every month", 14
			line.Includes = "Includes: 2 files, a licence key, online access"
			line.Next = "Then €49.00 every month, from 9 December 2026"
			line.Choice = &choice{l: l, Field: ui.Field{Name: "amount.1", Label: word("Amount"), Hint: "At least €5.00", Value: word("ten"), Problem: word("Write an amount like 12.50."), Required: true}}
			line.Pieces = &pieces{l: l, named: l.T("field.quantity"), Field: ui.Field{Name: "quantity.1", Label: l.T("field.quantity"), Value: word("two"), Problem: word("Write a whole number, such as 2."), Required: true}}
			p.Items = append(p.Items, line)
			p.CustomFields = []catalog.CustomField{{Key: "size", Label: word("Size"), Type: "select", Options: []string{word("S"), "M"}, Required: true}, {Key: "letters", Label: word("Write to me"), Type: "checkbox"}, {Key: "note", Label: word("Dedication"), Type: "text"}}
			p.AsksNews, p.AsksWaiver, p.TermsRequired, p.Terms, p.AdNetworks = true, true, true, []term{{Title: word("Terms of sale")}}, "Meta"
			taxed := *p.Seller
			taxed.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Rates: []tenant.TaxRate{{Country: new("US"), Region: new("CA")}, {Country: new("US"), Region: new(word("Springfield"))}}}
			p.Seller, p.Country = &taxed, "US"
			p.Form = form{"email": word("grace"), "line1": word("Long street 1"), "answer.note": word("For Ada")}
			p.Problems = map[string]string{
				"email": "Send an e-mail address, such as ada@example.com.", "country": "Choose the country of this address.", "city": word("Too long."), "state": l.T("error.state.tax"), "answer.size": word("Choose one."),
				"discount_code": word("There is no such code."), "card_number": "The card was declined.", "terms": "Accept the terms.", "waiver": "Tick this to get it at once.", "": word("The total has changed."),
				"amount.1": word("Write an amount like 12.50."), "quantity.1": word("Write a whole number, such as 2."),
			}
		}),
		shows("checkout-trial", func(p *checkoutPage) {
			p.Checkout.AmountDueNow, p.Items[0].TrialDays = 0, 14
		}),
		shows("checkout-stripe", func(p *checkoutPage) { p.TakesCards, p.StripeKey = false, "pk_test_"+word("1") }),
		shows("checkout-closed", func(p *checkoutPage) { p.TakesCards = false }),
		shows("checkout-declined", func(p *checkoutPage) {
			p.Checkout.LastPaymentError = core.JSONOf(&payment.Failure{Message: word("The card has insufficient funds.")})
		}),
		shows("checkout-bank", func(p *checkoutPage) { p.State = "action" }),
		shows("checkout-elsewhere", func(p *checkoutPage) {
			p.State, p.Checkout.NextAction = "elsewhere", core.JSONOf(&checkout.NextAction{Type: "redirect", URL: "https://bank.example"})
		}),
		shows("checkout-letter", func(p *checkoutPage) { p.AsksLetter = true }),
		shows("checkout-letter-sent", func(p *checkoutPage) { p.LetterSent = true }),
		shows("checkout-processing", func(p *checkoutPage) { p.State = "processing" }),
		shows("checkout-expired", func(p *checkoutPage) { p.State = "expired" }),
		shows("checkout-paid", func(p *checkoutPage) {
			p.State, p.SuccessURL, p.AsksLetter = "paid", "https://shop.example/thanks", true
			p.Portal = "../portal?shop=kestrel"
			p.Items[0].ThankYou = new(word("Thank you!\nTell me which bird you saw first."))
			p.Order = &order.Order{Number: 1042, PaidAt: &someday, ReceiptURL: "https://pay.example/receipt/x"}
			p.Deliveries = []grant.Delivery{
				{Deliverable: grant.Deliverable{Type: "file", FileID: new("fil_1"), Name: new(word("birds.pdf")), URL: new("https://pay.example/downloads/1")}},
				{Deliverable: grant.Deliverable{Type: "link", Name: new(word("The community")), URL: new("https://chat.example")}},
				{Deliverable: grant.Deliverable{Type: "license_key"}, Key: new(word("KES-4F2A-99C1-7D30"))},
				{Deliverable: grant.Deliverable{Type: "license_key", Waits: true}},
			}
		}),
		{"verify", "verify.html", ui.Frame{Title: "Confirm", Shop: shopOf(seller)}, verifyPage{Seller: seller, Checkout: open().Checkout, Summary: word("Birds of the Wadden Sea")}},
		{"verified", "verify.html", ui.Frame{Title: "Confirm", Shop: shopOf(seller)}, verifyPage{Seller: seller, Checkout: open().Checkout, Said: true}},
	}
}

// documentPages returns the pages of invoices and receipts.
func documentPages(l *locale.Locale, seller *tenant.Account, word func(string) string) []drawn {
	party := invoicepdf.Party{Name: word("Kestrel Ltd."), Email: "help@kestrel.example", TaxID: word("DE123456789"), Address: []string{word("Harbour Road 4"), "25845", l.Country("DE")}}
	shows := func(name, state, status, problem string) drawn {
		page := documentPage{Document: &invoicepdf.Document{
			Title: l.T("document.invoice"), Number: "KES-1042", Status: status, IssuedAt: someday.Time(), Facts: []invoicepdf.Fact{{Name: l.T("document.due_date"), Value: l.Day(someday.Time())}}, Seller: party, Buyer: party,
			Currency: "eur", Memo: word("As agreed."), Lines: []invoicepdf.Line{{Description: word("Guided tour of the tidal flats"), Quantity: 3, Unit: 12000, RateBps: new(int64(1900))}},
			Subtotal: 36000, Discount: 1000, Net: 35000, Tax: 6650, Total: 41650, Balances: []invoicepdf.Balance{{Name: l.T("document.amount_due"), Amount: 41650}}, Notes: []string{word("Thank you.")},
		}, State: state, Due: 41650, Here: "x", PDF: "x/pdf", Error: problem, Key: "pk_test_1", Next: "https://bank.example", Cancels: "pay_1"}
		if problem != "" {
			page.CardProblems = map[string]string{"card_number": problem}
		}
		switch status {
		case "status.due":
			page.When = l.T("invoice.due_by", "day", l.Day(someday.Time()))
		case "status.past_due":
			page.When = l.T("invoice.overdue", "count", int64(3))
		}
		return drawn{name, "document.html", page.frame(l, seller), page}
	}
	receipt := documentPage{Document: &invoicepdf.Document{ // of the checkout that is paid
		Title: l.T("document.receipt"), Number: "1042", Status: "status.paid", IssuedAt: someday.Time(), Facts: []invoicepdf.Fact{{Name: l.T("document.paid_on"), Value: l.Day(someday.Time())}}, Seller: party,
		Buyer: invoicepdf.Party{Name: word("Grace Hopper"), Email: "grace@example.com"}, Currency: "eur", Lines: []invoicepdf.Line{{Description: word("Birds of the Wadden Sea"), Quantity: 1, Unit: 4900, RateBps: new(int64(1900))}},
		Subtotal: 4900, Discount: 490, Net: 4410, Taxes: []invoicepdf.Tax{{Name: word("VAT"), RateBps: 1900, Taxable: 4410, Tax: 838}}, Tax: 838, Total: 5248, Balances: paidOf(l, 0, 5248, false),
		Notes: []string{l.T("document.paid_card", "amount", l.Money(5248, "eur"), "brand", "Visa", "last4", "4242")},
	}, Here: "x", PDF: "x/pdf"}
	return []drawn{
		{"receipt", "document.html", receipt.frame(l, seller), receipt},
		shows("invoice", "pay", "status.due", ""), shows("invoice-declined", "pay", "status.past_due", word("The card was declined.")), shows("invoice-stripe", "stripe", "status.due", ""),
		shows("invoice-closed", "closed", "status.due", ""), shows("invoice-paid", "", "status.paid", ""), shows("invoice-void", "", "status.void", ""), shows("invoice-refunded", "processing", "status.partly_refunded", ""),
		shows("invoice-bank", "action", "status.due", ""), shows("invoice-elsewhere", "elsewhere", "status.due", ""), shows("invoice-disabled", "disabled", "status.due", ""),
		{"document-empty", "document.html", ui.Frame{}, documentPage{Document: &invoicepdf.Document{Currency: "usd"}}},
	}
}

// portals returns the pages of the portal.
func portals(l *locale.Locale, seller *tenant.Account, word func(string) string) []drawn {
	request := httptest.NewRequest(http.MethodGet, "/portal/x", nil)
	v := &visit{
		Context: echo.New().NewContext(request, httptest.NewRecorder()), Seller: seller, Home: "x", l: l, authenticates: true,
		Session: &portal.Session{ReturnURL: new("https://shop.example"), ExpiresAt: someday}, Customer: &customer.Customer{Name: new(word("Grace Hopper")), Email: new("grace@example.com")},
	}
	v.Customer.Balance.V = map[string]int64{"eur": 500}
	card := payment.SavedMethod{ID: "pm_1", Card: core.JSON[payment.Method]{V: payment.Method{Brand: "visa", Last4: "4242", ExpMonth: 12, ExpYear: 2030}}}
	sub := subscription.Subscription{ID: "sub_1", ProductName: word("Tide calendar"), PriceVariantName: new(word("Yearly")), Quantity: 1, Interval: "year", IntervalCount: 1, Currency: "eur", CurrentPeriodEnd: someday}
	i := invoice.Invoice{Number: new("KES-1042"), Currency: "eur", TotalAmount: 41650, DueAt: &someday, Status: invoice.StatusOpen, HostedURL: "https://pay.example/invoice/x"}
	book := &download{Path: "/downloads/a/b", Name: word("birds.pdf"), Size: "12 MiB", Left: l.T("download.left", "number", int64(3), "limit", int64(5)), Version: l.T("download.version", "number", int64(2)), IsNewer: true}
	typing := *v
	typing.card = map[string]string{"card_number": word("The card was declined.")}
	full := portalHome{
		portalPage: typing.page("Your purchases", word("The card was declined.")), Due: []invoice.Invoice{i, i}, Owed: []money{{83300, "eur"}, {900, "usd"}}, MoreDue: true, Subscriptions: []subscription.Subscription{sub}, Cards: []payment.SavedMethod{card, card}, MoreOrders: true, Once: "1",
		Orders: []portalOrder{
			{Order: order.Order{Number: 1042, Currency: "eur", TotalAmount: 41650, CreatedAt: someday, Status: order.StatusPending}, Summary: word("Guided tour"), Invoice: &i},
			{Order: order.Order{Number: 1041, Currency: "eur", TotalAmount: 5248, CreatedAt: someday, PaidAt: &someday, Status: order.StatusPaid, ReceiptURL: "https://pay.example/receipt/x"}, Summary: word("Birds of the Wadden Sea")},
		},
		Possessions: []possession{{Product: word("Birds of the Wadden Sea"), Deliveries: []delivery{
			{Delivery: grant.Delivery{Deliverable: grant.Deliverable{Type: "license_key", LicenseKey: new("lic_1")}, Key: new(word("KES-4F2A-99C1"))}},
			{Delivery: grant.Delivery{Deliverable: grant.Deliverable{Name: new(word("The book"))}}, Download: book},
			{Experience: &content.Experience{ID: "exp_1", Name: word("Guided tour")}},
		}}},
		Posts:     []content.BlogPost{{Title: word("Spring arrivals"), Slug: "spring", Excerpt: new(word("Who came back first"))}},
		Purchases: []portalPurchase{{Checkout: checkout.Checkout{Currency: "eur"}, Summary: word("Tide calendar"), IsCharged: true}},
	}
	full.Prices = map[string]string{sub.ID: periodPrice(l, sub.CurrentPlan(), 10710, sub.Currency)}
	full.Done, full.PlanCards = l.T("portal.done.added"), []planCard{{card.Card.V, sub}}
	empty := portalHome{portalPage: v.page("Your purchases", "")}
	one := &portalSubscription{portalPage: v.page(planName(&sub), ""), Subscription: &sub, Cards: []payment.SavedMethod{card}, Next: &money{900, "eur"}, Unpaid: &i}
	rests := sub
	rests.Status, rests.ResumesAt, rests.PausedByCustomer = subscription.StatusPaused, new(pauseEnd(someday)), true
	paused := &portalSubscription{portalPage: v.page(planName(&rests), ""), Subscription: &rests}
	plan := subscription.Plan{PriceVariantID: "pv_1", ProductName: word("Tide calendar"), PriceVariantName: new(word("Monthly")), Quantity: 1, UnitAmount: 9000, Interval: "month", IntervalCount: 1}
	namesake := plan
	namesake.PriceVariantID = "pv_2"
	one.Plans = pricedPlans(l, &sub, []subscription.Plan{plan, namesake, {ProductName: word("Tide calculator"), Quantity: 1}}, []string{periodPrice(l, plan, 10710, "eur"), periodPrice(l, plan, 20100, "eur"), periodPrice(l, plan, 900, "eur")})
	one.Price = periodPrice(l, sub.CurrentPlan(), 1071, "eur")
	leaves := &portalCancel{portalPage: v.page("Cancel Tide calendar", word("Choose one.")), Subscription: &sub, Reasons: cancelReasons, Comment: word("Too dear."), Resumes: &someday, Last: &money{4100, "eur"}}
	later := &portalPlan{portalPage: v.page("Change to Tide calendar", ""), Subscription: &sub, Change: &store.SubscriptionChange{Subscription: &sub, Plan: plan, Behavior: tenant.ProrationBehaviorNextInvoice, Credit: 300, EffectiveAt: someday, PeriodEnd: someday}}
	later.Title = l.T("plan.title", "plan", tellPlan(l, &sub, plan, periodPrice(l, plan, 10710, "eur"), namesake))
	later.Change.Amounts.Total, later.Price = 4100, periodPrice(l, plan, 10710, "eur")
	now := &portalPlan{portalPage: v.page("Change to Tide calendar", ""), Subscription: &sub, Change: &store.SubscriptionChange{Subscription: &sub, Plan: plan, Behavior: tenant.ProrationBehaviorInvoiceImmediately, PeriodEnd: someday}, Card: &payment.Method{Brand: "visa", Last4: "4242"}}
	now.Change.Amounts.Total, now.Price = 4100, periodPrice(l, plan, 10710, "eur")
	key := portalLicense{portalPage: v.page("Licence key", ""), Product: word("Tide calculator"), License: &grant.LicenseKey{ID: "lic_1", Key: new(word("KES-4F2A-99C1")), ActivationsCount: 2, ActivationLimit: new(int64(5)), ExpiresAt: &someday}, Activations: []grant.LicenseActivation{
		{Name: new(word("Grace's laptop")), CreatedAt: someday}, {Fingerprint: word("8f14e45fceea167a5a36dedd4bea2543"), CreatedAt: someday},
	}}
	unused := portalLicense{portalPage: v.page("Licence key", ""), License: &grant.LicenseKey{}}
	details := portalDetails{portalPage: v.page("Billing details", ""), Form: form{"name": word("Grace"), "country": "DE", "tax_id": word("DE1")}, Problems: map[string]string{"tax_id": word("Too long."), "country": l.T("error.country.missing")}}
	bare := &portalSubscription{portalPage: v.page("Plan", ""), Subscription: &subscription.Subscription{}}
	stripe := &portalCard{portalPage: v.page("Add a card", word("The card was declined.")), Subscription: &sub}
	stripe.Key = "pk_test_1"
	list := portalOrderList{portalPage: v.page("Orders and invoices", ""), Orders: full.Orders, Older: "ord_1"}
	none := portalOrderList{portalPage: v.page("Orders and invoices", "")}
	post := portalPost{portalPage: v.page(word("Spring arrivals"), ""), Post: &content.BlogPost{Title: word("Spring arrivals"), AuthorName: new(word("Ada")), PublishedAt: &someday}, HTML: "<p>Knots, and <em>dunlins</em>.</p><ul><li>Terns</li></ul>"}
	course := &portalExperience{portalPage: v.page(word("Guided tour"), ""), Experience: &content.Experience{Name: word("Guided tour"), Description: new("Bring *boots*.")}, downloads: map[string]*download{"fil_1": book, "fil_2": {Name: word("map.pdf"), Size: "1 MiB", Version: l.T("download.version", "number", int64(1))}}}
	course.Content.V.StartsAt, course.Content.V.Timezone, course.Content.V.Location = &someday, new("Europe/Berlin"), new(word("Harbour"))
	course.Content.V.URL, course.Content.V.Platform, course.Content.V.Files = new("https://meet.example"), new(word("Meet")), []string{"fil_1", "fil_2"}
	course.Content.V.Modules = []content.ExperienceModule{{Title: word("Before the tour"), Lessons: []content.ExperienceLesson{{Title: word("Tides"), Body: new("Twice a day."), VideoURL: new("https://video.example"), File: new("fil_1")}}}}
	course.prose = map[string]template.HTML{"Bring *boots*.": "<p>Bring <em>boots</em>.</p>", "Twice a day.": "<p>Twice a day.</p>"}
	nothing := &portalExperience{portalPage: v.page("Guided tour", ""), Experience: &content.Experience{}}
	waits := &portalCard{portalPage: v.page("Add a card", ""), Waits: true}
	return append(quantityPages(v, sub, word), []drawn{
		{"portal", "portal.html", full.frame(), full}, {"portal-empty", "portal.html", empty.frame(), empty},
		{"portal-orders", "portal_orders.html", list.frame(), list}, {"portal-orders-empty", "portal_orders.html", none.frame(), none},
		{"portal-subscription", "portal_subscription.html", one.frame(), one}, {"portal-subscription-empty", "portal_subscription.html", bare.frame(), bare}, {"portal-subscription-paused", "portal_subscription.html", paused.frame(), paused},
		{"portal-cancel", "portal_cancel.html", leaves.frame(), leaves}, {"portal-plan", "portal_plan.html", now.frame(), now}, {"portal-plan-later", "portal_plan.html", later.frame(), later},
		{"portal-license", "portal_license.html", key.frame(), key}, {"portal-license-unused", "portal_license.html", unused.frame(), unused},
		{"portal-details", "portal_details.html", details.frame(), details}, {"portal-card-remove", "portal_card_remove.html", empty.frame(), portalCardRemoval{portalPage: v.page("Remove Visa ending in 4242?", ""), Card: &card}},
		{"portal-card", "portal_card.html", stripe.frame(), stripe}, {"portal-card-waits", "portal_card.html", waits.frame(), waits},
		{"portal-post", "portal_post.html", post.frame(), post},
		{"portal-experience", "portal_experience.html", course.frame(), course}, {"portal-experience-empty", "portal_experience.html", nothing.frame(), nothing},
		{"portal-ended", "portal_ended.html", empty.frame(), portalEnded{empty.portalPage, "../../portal"}},
	}...)
}

func TestEveryPage_IsDrawnOfEveryTemplate(t *testing.T) {
	t.Parallel()
	templates, seen := ours(t), map[string]bool{}
	for _, d := range everyPage(locale.English, usual) {
		seen[d.template] = true
		page := draw(t, templates, d)
		count := map[string]int{}
		for _, node := range markup.Elements(t, page) {
			count[node.Data]++
			if id := markup.Attribute(node, "id"); id != "" {
				count["#"+id]++
				assert.Equal(t, 1, count["#"+id], "%s has the id %s twice", d.name, id)
			}
			assert.Empty(t, markup.Attribute(node, "style"), "the policy lets no such style in")
			for _, refers := range []string{"for", "aria-describedby", "aria-labelledby"} {
				for id := range strings.FieldsSeq(markup.Attribute(node, refers)) {
					assert.Contains(t, page, `id="`+id+`"`, "%s: %s leads nowhere", d.name, refers)
				}
			}
			if href, inside := strings.CutPrefix(markup.Attribute(node, "href"), "#"); inside {
				assert.Contains(t, page, `id="`+href+`"`, "%s: a link leads nowhere", d.name)
			}
		}
		assert.Equal(t, 1, count["h1"], "headings of %s", d.name)
		assert.Equal(t, 1, count["main"], d.name)
	}
	for _, name := range names {
		assert.True(t, seen[name], "%s is not drawn", name)
	}
}

// Whatever anybody writes is text: it makes no element, no attribute that runs.
func TestEveryPage_EscapesWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	templates := ours(t)
	tags := func(page string) (all []string) {
		for _, node := range markup.Elements(t, page) {
			tag := node.Data
			for _, a := range node.Attr {
				tag += " " + a.Key
			}
			all = append(all, tag)
		}
		return all
	}
	hostiles := everyPage(locale.English, func(string) string { return hostile })
	for i, d := range everyPage(locale.English, usual) {
		assert.Equal(t, tags(draw(t, templates, d)), tags(draw(t, templates, hostiles[i])), d.name)
	}
}

// Nothing stands beside the page on the narrowest of phones. It draws them too: see make screenshots.
func TestEveryPage_FitsANarrowPhone(t *testing.T) {
	t.Parallel()
	templates := ours(t)
	long := func(text string) string { return text + strings.Repeat("endless", 12) }
	all, longs, pages := everyPage(locale.English, usual), everyPage(locale.English, long), map[string]string{}
	for i, d := range all {
		pages["/"+d.name], pages["/long/"+d.name] = draw(t, templates, d), draw(t, templates, longs[i])
	}
	if browser.Draws() { // from right to left too
		mirrored, err := parse(locale.Mirrored, scripts{})
		require.NoError(t, err)
		for _, d := range everyPage(locale.Mirrored, usual) {
			pages["/rtl/"+d.name] = draw(t, mirrored, d)
		}
	}
	pages["/bird.png"], pages["/logo.png"] = painted(t, 640, 480), painted(t, 160, 40)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(pages[r.URL.Path])) }))
	t.Cleanup(server.Close)
	window := browser.Open(t, nil)
	shows := func(path string) {
		window.Go(server.URL + path)
		window.Wait("location.pathname === '" + path + "' && document.readyState === 'complete'")
	}
	for _, d := range all {
		shows("/long/" + d.name)
		window.Width(320)
		assert.Equal(t, "0", window.Value(`document.documentElement.scrollWidth - document.documentElement.clientWidth`), d.name)
		if d.name != "portal" && !browser.Draws() {
			continue
		}
		shows("/" + d.name)
		window.Draw(d.name)
		if d.name == "portal" {
			window.Width(1440)
			assert.Equal(t, "true", window.Value(`(rows => rows.length > 1 && rows.every(row => new Set([row.firstElementChild, ...row.querySelectorAll('.button, button')].map(e => e.getBoundingClientRect().top)).size === 1))([...document.querySelectorAll('#cards + .rows > li')])`), "the buttons of a card stand beside it")
		}
		if browser.Draws() {
			shows("/rtl/" + d.name)
			window.Draw("rtl-" + d.name)
		}
	}
}

// What no page has is not sent with every page.
func TestEveryPage_UsesAllOfTheSheet(t *testing.T) {
	t.Parallel()
	templates, used := ours(t), map[string]bool{}
	var sheet string
	for _, d := range everyPage(locale.English, usual) {
		for _, node := range markup.Elements(t, draw(t, templates, d)) {
			for class := range strings.FieldsSeq(markup.Attribute(node, "class")) {
				used[class] = true
			}
			if node.Data == "style" {
				sheet = node.FirstChild.Data
			}
		}
	}
	for _, rule := range regexp.MustCompile(`(?m)^[^{@]*\{`).FindAllString(sheet, -1) {
		for _, class := range regexp.MustCompile(`\.([a-z][a-z-]*)`).FindAllStringSubmatch(rule, -1) {
			assert.True(t, used[class[1]], "no page has the class %s", class[1])
		}
	}
}

// Who speaks to a page says what stands on a link or a button: its name begins with it, in every language.
func TestEveryPage_NamesActionsAsTheyAreSeen(t *testing.T) {
	t.Parallel()
	seller := &tenant.Account{Name: "Kestrel", PaymentsProvider: tenant.PaymentsProviderTest}
	for _, l := range append(locale.All(), locale.Accented, locale.Mirrored) {
		templates, err := parse(l, scripts{})
		require.NoError(t, err)
		for _, d := range append(portals(l, seller, usual), documentPages(l, seller, usual)...) {
			for _, node := range markup.Elements(t, draw(t, templates, d)) {
				name := markup.Attribute(node, "aria-label")
				if name == "" || node.Data != "a" && node.Data != "button" {
					continue
				}
				assert.True(t, strings.HasPrefix(name, node.FirstChild.Data), "%s in %s: %q is named %q", d.name, l.Tag, node.FirstChild.Data, name)
			}
		}
	}
}
