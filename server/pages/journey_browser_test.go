package pages_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
	chromium "github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// sold returns the only order, which is paid.
func (w *shop) sold() order.Order {
	w.t.Helper()
	orders, _, err := w.Order.List(w.t.Context(), w.account, order.List{Page: core.Page{Limit: 10}})
	require.NoError(w.t, err)
	require.Len(w.t, orders, 1)
	assert.Equal(w.t, order.StatusPaid, orders[0].Status)
	return orders[0]
}

// typesCard fills in a card that is good for long, or whatever its number stands for.
func typesCard(page *chromium.Page, number string) {
	page.Fill("#card_number", number)
	page.Fill("#card_expiry", "12/40")
	page.Fill("#card_cvc", "123")
}

// Nobody needs scripts: a button counts the total anew, also of a price that the buyer chooses, and a decline is told as with them.
func TestCheckoutPage_IsUsedWithoutScriptsInABrowser(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
			a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{Country: new("UY"), RateBps: 2200, Name: "IVA"}}}
		})
		require.NoError(t, err)
		link := w.choosing(new(int64(500)), nil, new(int64(1000)))
		variant, err := w.Catalog.GetPriceVariant(t.Context(), w.account, link.PriceVariantIDs.V[0])
		require.NoError(t, err)
		w.pictured(w.account, pixels(100, 25))
		w.pictured(variant.ProductID, pixels(600, 800))
		page := chromium.Open(t, nil)
		page.WithoutScripts()
		page.Width(1440)
		page.Go(link.URL)
		page.WaitText("Pay $10.00")
		page.Wait(`[...document.images].filter(i => i.complete && i.naturalWidth > 0).length === 2`)
		assert.Equal(t, "100 25", page.Value(`(logo => logo.width + ' ' + logo.height)(document.querySelector('.head img'))`), "it is not drawn larger than it is")
		page.Fill("#email", "grace@example.com")
		page.Value(`document.querySelector('#country').value = 'UY'`)
		page.Fill("#amount\\.0", "4")
		page.Click("button[value=update]")
		page.WaitText("Amount: Choose an amount: at least $5.00.")
		page.Fill("#amount\\.0", "15")
		page.Click("#payment button[value=update]")
		page.WaitText("Pay $18.30")
		assert.Equal(t, "grace@example.com", page.Value(`document.querySelector('#email').value`))
		typesCard(page, "4000000000009995")
		page.Click("button.pay")
		page.WaitText("There is a problem")
		typesCard(page, "4242424242424242")
		page.Click("button.pay")
		page.WaitText("Thank you for your order")
		assert.Equal(t, int64(1830), w.sold().PaidAmount)
		assert.Empty(t, page.Refused())
	})
}

// goesBack has a buyer tick the terms, leave, and come back when their text is another one. The browser must not tick the box for them.
func (w *shop) goesBack(page *chromium.Page, c *checkout.Checkout) {
	t := w.t
	terms, err := w.Content.CreateLegalPage(t.Context(), w.account, content.LegalPage{
		Kind: "terms", Title: "Terms", Body: "Be kind.", Status: content.LegalPageStatusPublished, RequiresAcceptance: true,
	})
	require.NoError(t, err)
	page.Go(c.URL)
	page.Click("#terms")
	assert.Equal(t, "true", page.Value(`document.querySelector('#terms').checked`))
	page.Go(w.server.URL + "/portal")
	changes := func(change func(l *content.LegalPage)) {
		_, err := w.Content.UpdateLegalPage(t.Context(), w.account, terms.ID, change)
		require.NoError(t, err)
	}
	changes(func(l *content.LegalPage) { l.Body = "Be quick." })
	page.Value(`history.back()`)
	page.Wait(`document.readyState === 'complete' && document.querySelector('[name=terms_shown][value$=".2"]')`)
	assert.Equal(t, "false", page.Value(`document.querySelector('#terms').checked`), "nobody ticked it beside the new text")
	changes(func(l *content.LegalPage) { l.Status = content.LegalPageStatusArchived })
}

// Who has the checkout open twice while their bank asks is charged once, and both say so.
func TestCheckoutPage_WaitsForTheBankInTwoTabsInABrowser(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		c := w.checkout(catalog.PriceVariant{Amount: 1000})
		_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.SuccessURL = nil })
		require.NoError(t, err)
		one, two := chromium.Open(t, nil), chromium.Open(t, nil)
		w.goesBack(one, c)
		for _, page := range []*chromium.Page{one, two} {
			page.Go(c.URL)
			page.WaitText("Pay $20.00")
			typesCard(page, "4000002500003155")
		}
		one.Click("button.pay")
		one.WaitText("Confirm the payment")
		two.Click("button.pay") // of a page that is older than the payment
		two.WaitText("Confirm the payment")
		one.Click("button.primary")
		one.WaitText("Thank you for your order")
		two.Click("button.primary")
		two.WaitText("Thank you for your order")
		assert.Equal(t, int64(2000), w.sold().PaidAmount)
		for _, page := range []*chromium.Page{one, two} {
			assert.Empty(t, page.Refused())
		}
	})
}

// isDrawnAtOnce says when the largest thing on the page was drawn. It waits for nothing but the page, and neither a script nor a sheet is asked for.
func isDrawnAtOnce(t *testing.T, page *chromium.Page, name string) chromium.Paint {
	t.Helper()
	largest := page.Largest()
	t.Logf("%s: <%s> after %.0f ms", name, largest.Element, largest.At)
	assert.Equal(t, "0", page.Value(`performance.getEntriesByType("resource").filter(e => e.initiatorType !== "img").length`), "%s asks for more than pictures", name)
	return largest
}

// isPicturedAtOnce does what isDrawnAtOnce does for a page whose largest thing is a picture: the page itself names it, and does not put it off.
func isPicturedAtOnce(t *testing.T, page *chromium.Page, name string) {
	t.Helper()
	largest := isDrawnAtOnce(t, page, name)
	require.Equal(t, "img", largest.Element, "the picture of %s is drawn after it is loaded", name)
	assert.Equal(t, "true", page.Value(`[...document.images].some(picture => picture.currentSrc === `+strconv.Quote(largest.Address)+` && picture.loading !== "lazy")`), name)
}

// A trial says for how long it is free, and costs nothing today. Its page comes in few requests, and nothing in it moves while it does.
func TestCheckoutPage_BeginsATrialInABrowser(t *testing.T) {
	t.Parallel()
	page := chromium.Open(t, nil)
	page.SlowPhone()
	for _, engine := range database.Engines() {
		newShopOn(t, database.URL(t, engine)).beginsATrial(page)
	}
}

func (w *shop) beginsATrial(page *chromium.Page) {
	t := w.t
	c := w.checkout(catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 1900, Interval: new("month"), IntervalCount: new(int64(1)), TrialDays: 14})
	_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.SuccessURL = nil })
	require.NoError(t, err)
	lines, err := w.Lines.OfCheckout(t.Context(), w.account, c.ID)
	require.NoError(t, err)
	w.pictured(w.account, pixels(300, 80))
	w.pictured(*lines[0].ProductID, pixels(600, 800))
	link, err := w.Checkout.CreateLink(t.Context(), w.account, checkout.Link{PriceVariantIDs: core.JSONOf([]string{*lines[0].PriceVariantID}), Active: true})
	require.NoError(t, err)
	page.Width(360)
	page.Go(link.URL)
	page.WaitText("The first 14 days are free.")
	isPicturedAtOnce(t, page, "a link")
	page.Go(c.URL)
	page.Wait(`location.pathname.startsWith("/checkout/")`)
	page.WaitText("The first 14 days are free.")
	isPicturedAtOnce(t, page, "a checkout")
	page.Wait(`document.images.length === 2 && [...document.images].every(picture => picture.complete && picture.naturalWidth)`)
	assert.LessOrEqual(t, page.Shift(), 0.02)
	requests, size := page.Loaded()
	assert.Equal(t, 3, requests, "the page and its two pictures, of four that it may make")
	assert.Less(t, size, 100_000)
	html, err := strconv.Atoi(page.Value(`performance.getEntriesByType("navigation")[0].encodedBodySize`))
	require.NoError(t, err)
	assert.Less(t, html, 20_000)
	page.WaitText("To pay today\t$0.00")
	typesCard(page, "4242424242424242")
	page.Click("button.pay")
	page.WaitText("Thank you for your order")
	isPicturedAtOnce(t, page, "what was bought")
	assert.Zero(t, w.sold().PaidAmount)
	page.Go(w.guest("ada@example.com").session.URL)
	page.WaitText("You have no subscriptions")
	isDrawnAtOnce(t, page, "the portal")
	subscriptions, _, err := w.Subscription.List(t.Context(), w.account, subscription.List{Page: core.Page{Limit: 10}})
	require.NoError(t, err)
	require.Len(t, subscriptions, 1)
	assert.Equal(t, subscription.StatusTrialing, subscriptions[0].Status)
	assert.Empty(t, page.Refused())
}
