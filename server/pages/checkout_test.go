package pages_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/billing"
	"github.com/tillwright/tillwright/server/pages"
	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/server/payments/stripe"
	"github.com/tillwright/tillwright/server/payments/testpay"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/tests/harness/database"
	_ "github.com/tillwright/tillwright/tests/harness/migrated"
	"github.com/tillwright/tillwright/tests/harness/stripefake"
)

// shop is an account whose checkouts have pages.
type shop struct {
	*store.Store
	t       *testing.T
	billing *billing.Billing
	account string
	server  *httptest.Server
	bank    *stripefake.Fake
	now     time.Time
	asked   int // how often the provider was told of a buyer's consent
}

// consent is the way of a buyer's consent to the provider, which must have a deadline.
type consent struct {
	payments.Authenticator
	w *shop
}

func (c *consent) Authenticate(ctx context.Context, account, ref string) (payments.Charge, error) {
	_, bounded := ctx.Deadline()
	assert.True(c.w.t, bounded, "the provider is asked past the guard of the seam")
	c.w.asked++
	return c.Authenticator.Authenticate(ctx, account, ref)
}

func newShop(t *testing.T) *shop {
	t.Helper()
	return newShopOn(t, database.URL(t, "sqlite"))
}

func newShopOn(t *testing.T, url string) *shop {
	t.Helper()
	w := &shop{t: t, now: time.Now()}
	e := echo.New()
	w.server = httptest.NewServer(e)
	t.Cleanup(w.server.Close)
	sealer, err := store.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	w.Store, err = store.Open(t.Context(), store.Options{
		URL: url, Sealer: sealer, Synchronous: "normal", PublicURL: w.server.URL,
		Now:    func() time.Time { return w.now },
		Render: func(_ string, v any) ([]byte, error) { return json.Marshal(v) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, w.Store.Close()) })
	require.NoError(t, w.Migrate(t.Context()))
	account, err := w.CreateAccount(t.Context(), store.NewAccount{Name: "Ada <b>& sons</b>", Email: "ada@example.com"})
	require.NoError(t, err)
	w.account = account.ID

	test := testpay.New(w.Store)
	w.bank = stripefake.New(t)
	w.billing = billing.New(w.Store, payments.NewRegistry(test, stripe.New(stripe.Options{
		Client: http.DefaultClient, BaseURL: w.bank.URL, Credentials: stripe.Keys(w.Store),
	})))
	p, err := pages.New(w.Store, w.billing, &consent{Authenticator: test, w: w})
	require.NoError(t, err)
	for pattern, handler := range p.Routes() {
		method, path, ok := strings.Cut(pattern, " ")
		if !ok {
			method, path = http.MethodGet, pattern
			e.HEAD(path, handler)
		}
		e.Add(method, path, handler)
	}
	return w
}

func (w *shop) checkout(v store.PriceVariant) *store.Checkout {
	w.t.Helper()
	p, err := w.CreateProduct(w.t.Context(), w.account, store.NewProduct{
		Product: store.Product{Name: "Handbook", Status: store.ProductStatusActive}, PriceVariants: []store.PriceVariant{v},
	})
	require.NoError(w.t, err)
	c, err := w.CreateCheckout(w.t.Context(), w.account, store.CheckoutDraft{
		Checkout: &store.Checkout{CustomerEmail: new("grace@example.com"), SuccessURL: new("https://shop.example/thanks?c={CHECKOUT_ID}")},
		Lines:    []store.NewLineItem{{PriceVariant: p.PriceVariantIDs.V[0], Quantity: 2}},
	})
	require.NoError(w.t, err)
	return c
}

func (w *shop) pay(c *store.Checkout, method string) {
	w.t.Helper()
	_, err := w.billing.ConfirmCheckout(w.t.Context(), w.account, c.ID, billing.ConfirmCheckout{Method: &payments.MethodInput{Ref: method}})
	if store.OutcomeOf(err) != store.Recorded {
		require.NoError(w.t, err)
	}
}

func (w *shop) page(url string, status int) string {
	w.t.Helper()
	response, err := http.Get(url)
	require.NoError(w.t, err)
	return w.read(response, status)
}

func (w *shop) read(response *http.Response, status int) string {
	w.t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, status, response.StatusCode)
	assert.Equal(w.t, "text/html; charset=UTF-8", response.Header.Get("Content-Type"))
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindSubmatch(body)
	require.Len(w.t, style, 2)
	hash := sha256.Sum256(style[1])
	assert.Contains(w.t, response.Header.Get("Content-Security-Policy"),
		"default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(hash[:])+"'; form-action 'self'")
	assert.Equal(w.t, "no-referrer", response.Header.Get("Referrer-Policy"))
	assert.Equal(w.t, "no-store", response.Header.Get("Cache-Control"))
	w.checkScripts(string(body), response.Header.Get("Content-Security-Policy"))
	return string(body)
}

func TestCheckoutPage_ShowsWhatIsBoughtAndHowItStands(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(store.PriceVariant{Amount: 123450})
	page := w.page(c.URL, http.StatusOK)
	assert.Contains(t, page, "Ada &lt;b&gt;&amp; sons&lt;/b&gt;")
	assert.Contains(t, page, "Handbook")
	assert.Contains(t, page, "USD\u00a01,234.50")
	assert.Contains(t, page, "USD\u00a02,469.00")
	assert.Contains(t, page, "This checkout is open")
	assert.NotContains(t, page, "grace@example.com", "whoever finds the address does not learn the buyer's")

	w.pay(c, "pm_card_chargeDeclined")
	assert.Contains(t, w.page(c.URL, http.StatusOK), "The card was declined.")
	w.pay(c, "pm_card_visa")
	page = w.page(c.URL, http.StatusOK)
	assert.Contains(t, page, "Paid. Thank you")
	assert.Contains(t, page, `href="https://shop.example/thanks?c=`+c.ID+`"`)
}

func TestCheckoutPage_CurrencyWithoutMinorUnit(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	page := w.page(w.checkout(store.PriceVariant{Amount: 1900, Currency: "jpy"}).URL, http.StatusOK)
	assert.Contains(t, page, "JPY\u00a03,800<")
}

func TestCheckoutPage_Expired(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(store.PriceVariant{Amount: 1900})
	w.now = w.now.Add(25 * time.Hour)
	assert.Contains(t, w.page(c.URL, http.StatusOK), "has expired")
}

func TestCheckoutPage_BuyerAuthenticates(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		c := w.checkout(store.PriceVariant{Amount: 1900})
		w.pay(c, "pm_card_authenticationRequired")
		page := w.page(c.URL, http.StatusOK)
		require.Contains(t, page, `action="`+c.ClientSecret+`/authenticate"`)
		for range 2 { // the second time there is nothing left to do
			response, err := http.Post(c.URL+"/authenticate", "application/x-www-form-urlencoded", nil)
			require.NoError(t, err)
			assert.Contains(t, w.read(response, http.StatusOK), "Paid. Thank you")
		}
		assert.Equal(t, 1, w.asked)
	})
}

// A bank of its own has a page of its own: the buyer goes there, comes back, and is told what became of it.
func TestCheckoutPage_BuyerAuthenticatesElsewhere(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.useStripe("")
	for _, agrees := range []bool{true, false} {
		c := w.checkout(store.PriceVariant{Amount: 1900})
		w.pay(c, "pm_card_authenticationRequiredOnSetup")
		page := w.page(c.URL, http.StatusOK)
		require.Contains(t, page, `href="https://hooks.stripe.test/3d_secure"`)
		require.NotContains(t, page, "/authenticate")
		response, err := http.Post(c.URL+"/authenticate", "application/x-www-form-urlencoded", nil)
		require.NoError(t, err)
		assert.Contains(t, w.read(response, http.StatusOK), "hooks.stripe.test", "saying so here is not enough")

		payment, err := w.CheckoutPayment(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		assert.Contains(t, w.page(c.URL+"?redirect_status=succeeded", http.StatusOK), "hooks.stripe.test", "nor is coming back")
		w.bank.Settle(*payment.ProviderRef, agrees)
		page = w.page(c.URL+"?redirect_status=succeeded&payment_intent=pi_1", http.StatusOK)
		if agrees {
			assert.Contains(t, page, "Paid. Thank you")
		} else {
			assert.Contains(t, page, "The payment was not authenticated.")
		}
	}
	assert.Zero(t, w.asked)
	assert.EqualValues(t, 3800, w.bank.Taken())
}

func TestCheckoutPage_UnknownSecret(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(store.PriceVariant{Amount: 1900})
	for _, secret := range []string{c.ID, c.ID + "_secret_", c.ClientSecret + "a", "x"} {
		assert.Contains(t, w.page(w.server.URL+"/checkout/"+secret, http.StatusNotFound), "There is nothing here")
	}
}

// post sends the form of a checkout, as its page has it.
func (w *shop) post(c *store.Checkout, status int, form url.Values) string {
	w.t.Helper()
	response, err := http.PostForm(c.URL+"/pay", form)
	require.NoError(w.t, err)
	return w.read(response, status)
}

// card is what a buyer types who wants to pay what they were shown.
func card(number, shown string) url.Values {
	return url.Values{
		"do": {"pay"}, "shown": {shown}, "card_number": {number}, "card_exp_month": {"12"}, "card_exp_year": {"2040"}, "card_cvc": {"123"},
	}
}

func TestCheckoutPage_CanBePaid(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		c := w.checkout(store.PriceVariant{Amount: 1900})
		page := w.page(c.URL, http.StatusOK)
		assert.Contains(t, page, `action="`+c.ClientSecret+`/pay"`)
		assert.Contains(t, page, `<label for="card_number">`)

		page = w.post(c, http.StatusUnprocessableEntity, card("4242 4242 4242 4241", "3800"))
		assert.Contains(t, page, `id="card_number-problem"`)
		assert.Contains(t, page, `action="pay"`, "the page stands below the checkout now")
		assert.NotContains(t, page, "4241", "a page never shows a card")
		page = w.post(c, http.StatusUnprocessableEntity, card("4000000000000002", "3800"))
		assert.Contains(t, page, "The card was declined.")
		page = w.post(c, http.StatusOK, card("4242 4242 4242 4242", "3800"))
		assert.Contains(t, page, "Paid. Thank you")
		page = w.post(c, http.StatusOK, card("4242 4242 4242 4242", "3800")) // a double click, or the back button
		assert.Contains(t, page, "Paid. Thank you")
		orders, _, err := w.ListOrders(t.Context(), w.account, store.ListOrders{Page: store.Page{Limit: 10}})
		require.NoError(t, err)
		require.Len(t, orders, 1)
	})
}

func TestCheckoutPage_ChargesWhatItHasShown(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.UpdateAccount(t.Context(), w.account, func(a *store.Account) {
		a.Tax.V = store.TaxSettings{Mode: store.TaxModeFlatTable, Behavior: store.TaxBehaviorExclusive, Rates: []store.TaxRate{{Country: new("DE"), RateBps: 1950, Name: "MwSt."}}}
	})
	require.NoError(t, err)
	c := w.checkout(store.PriceVariant{Amount: 1000})
	assert.Contains(t, w.page(c.URL, http.StatusOK), "Total before tax")
	form := card("4242424242424242", "2000")
	assert.Contains(t, w.post(c, http.StatusUnprocessableEntity, form), `id="country-problem"`)
	form.Set("country", "DE")
	page := w.post(c, http.StatusOK, form)
	assert.Contains(t, page, "The total has changed.")
	assert.Contains(t, page, "MwSt. 19.5\u00a0%")
	assert.Contains(t, page, "Pay USD\u00a023.90")
	form.Set("shown", "2390")
	assert.Contains(t, w.post(c, http.StatusOK, form), "Paid. Thank you")
}

func TestCheckoutPage_TakesWhoBuysAndWhere(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		c := w.checkout(store.PriceVariant{Amount: 1900})
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
		form.Set("email", "nobody")
		assert.Contains(t, w.post(c, http.StatusUnprocessableEntity, form), `id="email-problem"`)
		form.Del("email")
		assert.Contains(t, w.post(c, http.StatusOK, form), "Paid. Thank you")

		orders, _, err := w.ListOrders(t.Context(), w.account, store.ListOrders{Page: store.Page{Limit: 10}})
		require.NoError(t, err)
		require.Len(t, orders, 1)
		assert.Equal(t, &store.Address{Line1: new("Weg 1"), PostalCode: new("50667"), City: new("Köln"), Country: new("DE")}, orders[0].BillingAddress.V)
		assert.Equal(t, &store.TaxID{Type: "tax_id", Value: "DE123456789"}, orders[0].TaxID.V)
	})
}

// asking is a checkout that asks for a text, a choice and two ticks, of which one may be left out, and for the terms.
func (w *shop) asking() *store.Checkout {
	w.t.Helper()
	_, err := w.UpdateAccount(w.t.Context(), w.account, func(a *store.Account) { a.CheckoutRequiresTerms = true })
	require.NoError(w.t, err)
	c := w.checkout(store.PriceVariant{Amount: 1900})
	item, err := w.GetCheckoutOffer(w.t.Context(), c)
	require.NoError(w.t, err)
	_, err = w.UpdateProduct(w.t.Context(), w.account, *item.Items[0].ProductID, func(p *store.Product) {
		p.CustomFields.V = []store.CustomField{
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
	mine, err := w.GetCheckoutOffer(t.Context(), c)
	require.NoError(t, err)
	theirs, err := w.GetCheckoutOffer(t.Context(), other)
	require.NoError(t, err)
	c, err = w.UpdateCheckout(t.Context(), w.account, c.ID, func(d *store.CheckoutDraft) {
		d.Lines = []store.NewLineItem{{PriceVariant: *mine.Items[0].PriceVariantID, Quantity: 1}, {PriceVariant: *theirs.Items[0].PriceVariantID, Quantity: 1}}
	})
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(w.page(c.URL, http.StatusOK), `id="answer.text"`))
}

func TestCheckoutPage_TakesATickBack(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.asking()
	page := w.page(c.URL, http.StatusOK)
	assert.Regexp(t, `(?s)name="answer.letters" type="checkbox" value="true">\s*<input type="hidden" name="answer.letters" value="false">`, page)
	answer := func(values ...string) string { // as a browser sends the box, if it is ticked, and the field behind it
		w.post(c, http.StatusOK, url.Values{"do": {"update"}, "answer.letters": values})
		got, err := w.GetCheckout(t.Context(), w.account, c.ID)
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
	c := w.checkout(store.PriceVariant{Type: store.PriceVariantTypeRecurring, Amount: 1900, Interval: new("month"), IntervalCount: new(int64(1)), SetupFeeAmount: 100})
	page := w.page(c.URL, http.StatusOK)
	assert.Contains(t, page, "2 × USD\u00a019.00 every month<")
	assert.Contains(t, page, "1 × USD\u00a01.00<", "a set-up fee is paid once")
	c = w.checkout(store.PriceVariant{
		Type: store.PriceVariantTypeRecurring, Amount: 1900, Interval: new("week"), IntervalCount: new(int64(2)), BillingCycles: new(int64(5)), TrialDays: 3,
	})
	assert.Contains(t, w.page(c.URL, http.StatusOK), "every 2 weeks, 5 times, after 3 days that cost nothing")
}

func TestCheckoutPage_TakesDiscountCodes(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.CreateDiscount(t.Context(), w.account, store.Discount{
		Name: "All", Code: new("ALL"), Type: store.DiscountTypePercent, PercentBps: new(int64(10_000)), Duration: store.DiscountDurationOnce,
	})
	require.NoError(t, err)
	c := w.checkout(store.PriceVariant{Amount: 1900})
	c, err = w.UpdateCheckout(t.Context(), w.account, c.ID, func(d *store.CheckoutDraft) { d.AllowDiscountCodes = true })
	require.NoError(t, err)
	page := w.post(c, http.StatusUnprocessableEntity, url.Values{"do": {"update"}, "discount_code": {"none"}})
	assert.Contains(t, page, `id="discount_code-problem"`)
	page = w.post(c, http.StatusOK, url.Values{"do": {"update"}, "discount_code": {"all"}})
	assert.Contains(t, page, "Discount ALL")
	assert.NotContains(t, page, "card_number")
	assert.Contains(t, w.post(c, http.StatusOK, url.Values{"do": {"update"}, "discount_code": {""}}), "card_number")
	w.post(c, http.StatusOK, url.Values{"do": {"update"}, "discount_code": {"all"}})
	page = w.post(c, http.StatusOK, url.Values{"do": {"pay"}, "shown": {"0"}, "discount_code": {"all"}})
	assert.Contains(t, page, "Completed. Thank you")
}

func (w *shop) open(method, url string, headers ...string) *http.Response {
	w.t.Helper()
	request, err := http.NewRequest(method, url, nil)
	require.NoError(w.t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	require.NoError(w.t, err)
	require.NoError(w.t, response.Body.Close())
	return response
}

func TestCheckoutLink_MakesACheckoutForWhoeverOpensIt(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		variant := w.checkout(store.PriceVariant{Amount: 1900})
		lines, err := w.CheckoutLines(t.Context(), w.account, variant.ID)
		require.NoError(t, err)
		link, err := w.CreateCheckoutLink(t.Context(), w.account, store.CheckoutLink{
			PriceVariantIDs: store.JSONOf([]string{*lines[0].PriceVariantID}), Active: true, MaxUses: new(int64(2)),
		})
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, w.open(http.MethodHead, link.URL).StatusCode)
		assert.Equal(t, http.StatusServiceUnavailable, w.open(http.MethodGet, link.URL, "Sec-Purpose", "prefetch").StatusCode)
		first := w.open(http.MethodGet, link.URL+"?utm_source=letter", "Referer", "https://ada.example/")
		require.Equal(t, http.StatusSeeOther, first.StatusCode)
		assert.Contains(t, w.page(link.URL, http.StatusOK), "This checkout is open")
		assert.Contains(t, w.page(link.URL, http.StatusNotFound), "There is nothing here", "it is used up")

		link, err = w.GetCheckoutLink(t.Context(), w.account, link.ID)
		require.NoError(t, err)
		assert.EqualValues(t, 2, link.Uses)
		made, _, err := w.ListCheckouts(t.Context(), w.account, store.ListCheckouts{Page: store.Page{Limit: 10}})
		require.NoError(t, err)
		require.Len(t, made, 3)
		source := made[1].Source.V
		assert.Equal(t, link.ID, *source.CheckoutLink)
		assert.Equal(t, "letter", *source.UTMSource)
		assert.Equal(t, "https://ada.example/", *source.Referrer)

		_, err = w.UpdateCheckoutLink(t.Context(), w.account, link.ID, func(l *store.CheckoutLink) { l.MaxUses = nil })
		require.NoError(t, err)
		_, err = w.ArchiveProduct(t.Context(), w.account, *lines[0].ProductID)
		require.NoError(t, err)
		assert.Contains(t, w.page(link.URL, http.StatusConflict), "not for sale")
		_, err = w.DeleteCheckoutLink(t.Context(), w.account, link.ID)
		require.NoError(t, err)
		w.page(link.URL, http.StatusNotFound)
	})
}

// Of many who open a link at once that may be used five times, five get a checkout.
func TestCheckoutLink_IsNeverUsedTooOften(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		lines, err := w.CheckoutLines(t.Context(), w.account, w.checkout(store.PriceVariant{Amount: 1900}).ID)
		require.NoError(t, err)
		link, err := w.CreateCheckoutLink(t.Context(), w.account, store.CheckoutLink{
			PriceVariantIDs: store.JSONOf([]string{*lines[0].PriceVariantID}), Active: true, MaxUses: new(int64(5)),
		})
		require.NoError(t, err)
		var made atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if w.open(http.MethodGet, link.URL).StatusCode == http.StatusSeeOther {
					made.Add(1)
				}
			})
		}
		all.Wait()
		assert.EqualValues(t, 5, made.Load())
	})
}
