package pages_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// post sends the form of a checkout, as its page has it.
func (w *shop) post(c *checkout.Checkout, status int, form url.Values) string {
	w.t.Helper()
	response, err := w.browser.PostForm(c.URL+"/pay", form)
	require.NoError(w.t, err)
	return w.read(response, status)
}

// card is what a buyer types who wants to pay what they were shown.
func card(number, shown string) url.Values {
	return url.Values{
		"do": {"pay"}, "shown": {shown}, "card_number": {number}, "card_expiry": {"12/40"}, "card_cvc": {"123"},
	}
}

func TestCheckoutPage_CanBePaid(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		page := w.page(c.URL, http.StatusOK)
		assert.Contains(t, page, `action="`+c.ClientSecret+`/pay"`)
		assert.Contains(t, page, `<label for="card_number">`)

		page = w.post(c, http.StatusUnprocessableEntity, card("4242 4242 4242 4241", "3800"))
		assert.Contains(t, page, `id="card_number-problem"`)
		assert.Contains(t, page, `action="pay"`, "the page stands below the checkout now")
		assert.NotRegexp(t, `4242 ?4242 ?4242 ?4241`, page, "a page never shows a card")
		page = w.post(c, http.StatusOK, card("4000000000000002", "3800"))
		assert.Contains(t, page, "The card was declined.")
		page = w.post(c, http.StatusOK, card("4242 4242 4242 4242", "3800"))
		assert.Contains(t, page, "<h1>Thank you for your order</h1>")
		page = w.post(c, http.StatusOK, card("4242 4242 4242 4242", "3800")) // a double click, or the back button
		assert.Contains(t, page, "<h1>Thank you for your order</h1>")
		orders, _, err := w.Order.List(t.Context(), w.account, order.List{Page: core.Page{Limit: 10}})
		require.NoError(t, err)
		require.Len(t, orders, 1)
	})
}

func TestCheckoutPage_ChargesWhatItHasShown(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
		a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{Country: new("DE"), RateBps: 1950, Name: "MwSt."}}}
	})
	require.NoError(t, err)
	c := w.checkout(catalog.PriceVariant{Amount: 1000})
	assert.Contains(t, w.page(c.URL, http.StatusOK), "Total before tax")
	form := card("4242424242424242", "2000")
	assert.Contains(t, w.post(c, http.StatusUnprocessableEntity, form), `id="country-problem"`)
	form.Set("country", "DE")
	page := w.post(c, http.StatusOK, form)
	assert.Contains(t, page, "The total has changed.")
	assert.Contains(t, page, "MwSt. 19.5%")
	assert.Contains(t, page, "Pay $23.90")
	form.Set("shown", "2390")
	assert.Contains(t, w.post(c, http.StatusOK, form), "<h1>Thank you for your order</h1>")
}

func TestCheckoutPage_TakesWhoBuysAndWhere(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		form := card("4242424242424242", "3800")
		form.Set("line1", "Weg 1\x00\xff")
		assert.Contains(t, w.post(c, http.StatusUnprocessableEntity, form), "Choose the country of this address.")
		form.Set("country", "Germany")
		assert.Contains(t, w.post(c, http.StatusUnprocessableEntity, form), "Choose a country of the list.")
		form.Set("country", "DE")
		form.Set("city", strings.Repeat("Ö", 256))
		page := w.post(c, http.StatusUnprocessableEntity, form)
		assert.Contains(t, page, "Write at most 255 characters.")
		assert.Contains(t, page, `<option value="DE" selected>Germany</option>`)
		form.Set("city", "Köln")
		form.Set("postal_code", "50667")
		form.Set("tax_id", "DE123456789")
		form.Set("company", "Hopper GmbH")
		form.Set("email", "nobody")
		assert.Contains(t, w.post(c, http.StatusUnprocessableEntity, form), `id="email-problem"`)
		form.Del("email")
		form.Set("terms", "true")
		assert.Contains(t, w.post(c, http.StatusOK, form), "<h1>Thank you for your order</h1>")
		assert.Nil(t, w.stands(c).TermsAcceptedAt, "the page asked for nothing")

		orders, _, err := w.Order.List(t.Context(), w.account, order.List{Page: core.Page{Limit: 10}})
		require.NoError(t, err)
		require.Len(t, orders, 1)
		assert.Equal(t, &core.Address{Company: new("Hopper GmbH"), Line1: new("Weg 1"), PostalCode: new("50667"), City: new("Köln"), Country: new("DE")}, orders[0].BillingAddress.V)
		assert.Equal(t, &customer.TaxID{Type: "tax_id", Value: "DE123456789"}, orders[0].TaxID.V)
		assert.Contains(t, w.page(orders[0].ReceiptURL, http.StatusOK), "Hopper GmbH")
	})
}

// asking is a checkout that asks for a text, a choice and two ticks, of which one may be left out, and for the terms.
func (w *shop) asking() *checkout.Checkout {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) { a.CheckoutRequiresTerms = true })
	require.NoError(w.t, err)
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	item, err := w.Checkout.GetOffer(w.t.Context(), c)
	require.NoError(w.t, err)
	_, err = w.Catalog.UpdateProduct(w.t.Context(), w.account, *item.Items[0].ProductID, func(p *catalog.Product) {
		p.CustomFields.V = []catalog.CustomField{
			{Key: "text", Label: "Text", Type: "text", Required: true}, {Key: "choice", Label: "Choice", Type: "select", Required: true, Options: []string{"a", "b"}},
			{Key: "tick", Label: "Tick", Type: "checkbox", Required: true}, {Key: "letters", Label: "Letters", Type: "checkbox"},
		}
	})
	require.NoError(w.t, err)
	return c
}

func TestCheckoutPage_TiesEachProblemToItsField(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.asking()
	described := map[string]bool{}
	for _, terms := range []string{"", "true"} { // the terms are asked for before the rest
		form := card("4242424242424242", "3800")
		form.Set("terms", terms)
		page := w.post(c, http.StatusUnprocessableEntity, form)
		for _, problem := range regexp.MustCompile(`<span class="problem"[^>]*>`).FindAllString(page, -1) {
			id := regexp.MustCompile(` id="([^"]+)"`).FindStringSubmatch(problem)
			require.Len(t, id, 2, problem)
			assert.Contains(t, page, `aria-invalid="true" aria-describedby="`+id[1]+`"`)
			described[id[1]] = true
		}
	}
	assert.Equal(t, map[string]bool{"answer.text-problem": true, "answer.choice-problem": true, "answer.tick-problem": true, "terms-problem": true}, described)
}

func TestCheckoutPage_AsksOnceWhatTwoProductsAsk(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.asking()
	other := w.asking()
	mine, err := w.Checkout.GetOffer(t.Context(), c)
	require.NoError(t, err)
	theirs, err := w.Checkout.GetOffer(t.Context(), other)
	require.NoError(t, err)
	c, err = w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) {
		d.Lines = []offer.NewLine{{PriceVariant: *mine.Items[0].PriceVariantID, Quantity: 1}, {PriceVariant: *theirs.Items[0].PriceVariantID, Quantity: 1}}
	})
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(w.page(c.URL, http.StatusOK), `id="answer.text"`))
}

func TestCheckoutPage_TakesATickBack(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.asking()
	page := w.page(c.URL, http.StatusOK)
	assert.Regexp(t, `(?s)name="answer.letters" type="checkbox" value="true"><label[^\n]*\s*<input type="hidden" name="answer.letters" value="false">`, page)
	answer := func(values ...string) string { // as a browser sends the box, if it is ticked, and the field behind it
		w.post(c, http.StatusOK, url.Values{"do": {"update"}, "answer.letters": values})
		got, err := w.Checkout.Get(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		return got.CustomFieldData.V["letters"]
	}
	assert.Equal(t, "true", answer("true", "false"))
	assert.Equal(t, "false", answer("false"))
	page = w.post(c, http.StatusUnprocessableEntity, url.Values{"do": {"pay"}, "shown": {"3800"}, "answer.letters": {"false"}})
	assert.NotContains(t, page, " checked", "no box is ticked by us")
}

func TestCheckoutPage_KeepsWhatWasTypedBesideACode(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.asking()
	page := w.post(c, http.StatusOK, url.Values{"do": {"update"}, "name": {"Ada"}, "country": {"DE"}, "answer.text": {"for my sister"}, "answer.letters": {"true", "false"}})
	for _, typed := range []string{`value="Ada"`, `<option value="DE" selected>`, `value="for my sister"`, `type="checkbox" value="true" checked`} {
		assert.Contains(t, page, typed)
	}
}

func TestCheckoutPage_SaysHowOftenAPriceIsPaid(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{Type: catalog.PriceVariantTypeRecurring, Amount: 1900, Interval: new("month"), IntervalCount: new(int64(1)), SetupFeeAmount: 100})
	page := w.page(c.URL, http.StatusOK)
	assert.Contains(t, page, "2 × $19.00 every month<")
	assert.Contains(t, page, `, set-up fee</span><span class="amount">$1.00</span></li>`, "it is paid once")
	assert.Contains(t, w.page(c.URL+"?locale=ja", http.StatusOK), "（初期費用）</span>")
	c = w.checkout(catalog.PriceVariant{
		Type: catalog.PriceVariantTypeRecurring, Amount: 1900, Interval: new("week"), IntervalCount: new(int64(2)), BillingCycles: new(int64(5)), TrialDays: 3,
	})
	assert.Contains(t, w.page(c.URL, http.StatusOK), "every 2 weeks, 5 times</small>\n<small>The first 3 days are free.</small>")
	c = w.checkout(catalog.PriceVariant{Amount: 1900, CompareAtAmount: new(int64(2500))})
	assert.Contains(t, w.page(c.URL, http.StatusOK), "<s>$50.00</s> $38.00<")
}

func TestCheckoutPage_TakesDiscountCodes(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.Discount.Create(t.Context(), w.account, discount.Discount{
		Name: "All", Code: new("ALL"), Type: discount.TypePercent, PercentBps: new(int64(10_000)), Duration: discount.DurationOnce,
	})
	require.NoError(t, err)
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	c, err = w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.AllowDiscountCodes = true })
	require.NoError(t, err)
	page := w.post(c, http.StatusUnprocessableEntity, url.Values{"do": {"update"}, "discount_code": {"none"}})
	assert.Contains(t, page, `id="discount_code-problem"`)
	page = w.post(c, http.StatusOK, url.Values{"do": {"update"}, "discount_code": {"all"}})
	assert.Contains(t, page, "Discount <bdi>ALL</bdi>")
	assert.NotContains(t, page, "card_number")
	assert.Contains(t, w.post(c, http.StatusOK, url.Values{"do": {"update"}, "discount_code": {""}}), "card_number")
	w.post(c, http.StatusOK, url.Values{"do": {"update"}, "discount_code": {"all"}})
	page = w.post(c, http.StatusOK, url.Values{"do": {"pay"}, "shown": {"0 0 3800"}, "discount_code": {"all"}})
	assert.Contains(t, page, "Completed: nothing was charged today.")
}

// Loading the page again after a decline asks for nothing to be sent again. It shows what was typed to the browser that sent it, without the card.
func TestCheckoutPage_CanBeLoadedAgainAfterADecline(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		form := card("4000000000000002", "3800")
		for name, typed := range map[string]string{"email": "grace@example.com", "name": "Grace Hopper", "country": "DE", "line1": "Weg 1"} {
			form.Set(name, typed)
		}
		response, err := w.browser.PostForm(c.URL+"/pay", form)
		require.NoError(t, err)
		page := w.read(response, http.StatusOK)
		assert.Equal(t, c.URL, response.Request.URL.String(), "the address of a page, not that of a form")
		response, err = w.browser.Get(c.URL)
		require.NoError(t, err)
		again := w.read(response, http.StatusOK)
		for _, seen := range []string{page, again} {
			for _, typed := range []string{`id="card_number-problem"`, "The card was declined.", `value="grace@example.com"`, `value="Grace Hopper"`, `value="DE" selected`, `value="Weg 1"`} {
				assert.Contains(t, seen, typed)
			}
			assert.NotContains(t, seen, "4000000000000002")
		}
		stranger := w.page(c.URL, http.StatusOK)
		for _, typed := range []string{"grace@example.com", "Grace Hopper", "Weg 1"} {
			assert.NotContains(t, stranger, typed, "whoever finds the address does not learn who buys")
		}
	})
}

// Enter in a code applies it. Anywhere else it pays, and a code that is known to do nothing does not stop that.
func TestCheckoutPage_TakesEnterForApplyOrPay(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.Discount.Create(t.Context(), w.account, discount.Discount{Name: "None", Code: new("ONLY"), Type: discount.TypePercent, PercentBps: new(int64(1)), Duration: discount.DurationOnce})
	require.NoError(t, err)
	c := w.checkout(catalog.PriceVariant{Amount: 100})
	_, err = w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.AllowDiscountCodes = true })
	require.NoError(t, err)
	enter := func(code, refused string) url.Values {
		form := card("4242424242424242", "200")
		form.Set("do", "enter")
		form.Set("discount_code", code)
		form.Set("refused_code", refused)
		return form
	}
	assert.Contains(t, w.post(c, http.StatusUnprocessableEntity, enter("none", "")), `name="refused_code" value="none"`)
	page := w.post(c, http.StatusUnprocessableEntity, url.Values{"do": {"enter"}, "discount_code": {"none"}})
	assert.Contains(t, page, `id="discount_code-problem"`)
	assert.NotContains(t, page, `id="card_number-problem"`, "nobody wanted to pay yet")
	assert.Contains(t, w.post(c, http.StatusOK, enter("only", "")), "Pay $2.00", "it takes nothing off, but it is new")
	assert.Contains(t, w.post(c, http.StatusOK, enter("none", "none")), "<h1>Thank you for your order</h1>")
}

// A total that changes while the buyer pays is said, and not that a card was declined of which nothing was asked.
func TestCheckoutPage_SaysThatTheTotalHasChanged(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	form := card("4000000000000002", "3800")
	form.Set("country", "DE")
	assert.Contains(t, w.post(c, http.StatusOK, form), "The card was declined.")
	_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
		a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{Country: new("DE"), RateBps: 1000, Name: "MwSt."}}}
	})
	require.NoError(t, err)
	form = card("4242424242424242", "3800")
	page := w.post(c, http.StatusOK, form)
	assert.Contains(t, page, "The total has changed")
	assert.NotContains(t, page, "The card was declined.")
	assert.Contains(t, page, "Pay $41.80")
}
