package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	chromium "github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// taxesByRegion has the seller owe tax in California, Ontario and Germany.
func (w *shop) taxesByRegion() {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) {
		a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{
			{Country: new("US"), Region: new("NY"), RateBps: 400, Name: "New York tax"}, {Country: new("US"), Region: new("CA"), RateBps: 725, Name: "Sales tax"},
			{Country: new("CA"), RateBps: 500, Name: "GST"}, {Country: new("CA"), Region: new("ON"), RateBps: 1300, Name: "HST"}, {Country: new("DE"), RateBps: 1900, Name: "MwSt."},
		}}
	})
	require.NoError(w.t, err)
}

// regional opens a checkout of $20.00 of a seller whose taxes go by region.
func (w *shop) regional() *checkout.Checkout {
	w.t.Helper()
	w.taxesByRegion()
	c := w.checkout(catalog.PriceVariant{Amount: 1000})
	c, err := w.Checkout.Update(w.t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.SuccessURL = nil })
	require.NoError(w.t, err)
	return c
}

// offers are the options of the regions that a page offers, from the first of them on.
func offers(page string) string {
	_, after, _ := strings.Cut(page, `<select id="state"`)
	_, after, _ = strings.Cut(after, `<option value=""></option>`)
	options, _, _ := strings.Cut(after, `</select>`)
	return options
}

// The tax of a region is paid by who chooses it, however the form has it, and by nobody else.
func TestCheckoutPage_TaxesTheRegionThatIsChosen(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		for state, pays := range map[string]int64{"CA": 2145, "california": 2145, "US-CA": 2145, "-": 2000, "TX": 2000} {
			c := w.regional()
			form := card("4242424242424242", "2000")
			form.Set("country", "US")
			page := w.post(c, http.StatusUnprocessableEntity, form)
			assert.Contains(t, page, `<li><a href="#state">State or region: Choose your state or region: the tax depends on it.</a></li>`)
			assert.Contains(t, page, `autocomplete="address-level1" required aria-invalid="true" aria-describedby="state-problem"`)
			assert.NotContains(t, page, `<details open>`, "nobody buys for a company to choose a region")
			assert.NotContains(t, page, `id="country-problem"`)
			assert.Equal(t, `<option value="CA">California</option><option value="NY">New York</option><option value="-">Elsewhere (United States)</option>`, offers(page))
			form.Set("state", state)
			form.Set("regions_of", "US")
			form.Set("do", "update")
			page = w.post(c, http.StatusOK, form)
			assert.Equal(t, 1, strings.Count(offers(page), " selected"), state)
			assert.Equal(t, state == "-", strings.Contains(offers(page), `value="-" selected`), state)
			assert.Equal(t, state == "TX", strings.Contains(offers(page), `<option value="TX" selected>Texas</option>`), state)
			form.Set("do", "pay")
			form.Set("shown", core.JSONText(pays))
			w.post(c, http.StatusOK, form)
			assert.Equal(t, pays, w.stands(c).TotalAmount, state)
			order, err := w.Order.Get(t.Context(), w.account, *w.stands(c).OrderID)
			require.NoError(t, err)
			assert.Equal(t, pays, order.PaidAmount, state)
			assert.NotContains(t, w.page(order.ReceiptURL, http.StatusOK), `<span dir="auto">-</span>`)
		}
	})
}

// A region that was chosen in a country is none of the next one, where it would pass for a place without tax.
func TestCheckoutPage_ForgetsTheRegionOfAnotherCountry(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		for _, sent := range []struct{ of, country, state, kept string }{
			{"US", "CA", "NY", ""}, {"US", "DE", "NY", ""}, {"US", "US", "NY", "NY"}, {"DE", "CA", "Bayern", ""}, {"", "CA", "ontario", "ontario"}, {"", "DE", "Bayern", "Bayern"}, {"DE", "FR", "Bayern", "Bayern"},
		} {
			c := w.regional()
			w.post(c, http.StatusOK, url.Values{"do": {"update"}, "country": {sent.country}, "state": {sent.state}, "regions_of": {sent.of}})
			now := w.stands(c)
			assert.Equal(t, sent.country, *now.BillingAddress.V.Country)
			assert.Equal(t, sent.kept, core.Deref(now.BillingAddress.V.State), sent)
			assert.Equal(t, sent.country == "CA" && sent.kept == "", now.TaxAmount == nil, sent)
		}
	})
}

// What else is wrong with the form brings no region of another country back, which would be a place without tax.
func TestCheckoutPage_OffersNoRegionOfAnotherCountry(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.regional()
	page := w.post(c, http.StatusUnprocessableEntity, url.Values{"do": {"pay"}, "country": {"CA"}, "state": {"NY"}, "regions_of": {"US"}, "city": {strings.Repeat("n", 256)}})
	assert.Equal(t, `<option value="ON">Ontario</option><option value="-">Elsewhere (Canada)</option>`, offers(page))
}

// A buyer is asked for the region as soon as they have chosen such a country, and what they typed stays.
func TestCheckoutPage_AsksForTheRegionInABrowser(t *testing.T) {
	t.Parallel()
	page := chromium.Open(t, nil)
	for _, engine := range database.Engines() {
		newShopOn(t, database.URL(t, engine)).asksRegion(page)
	}
}

func (w *shop) asksRegion(page *chromium.Page) {
	t, c := w.t, w.regional()
	chooses := func(selector, value string) {
		page.Value(`(document.querySelector('` + selector + `').value = '` + value + `', document.querySelector('` + selector + `').focus(), document.querySelector('` + selector + `').dispatchEvent(new Event('change', {bubbles: true})), '')`)
	}
	page.Width(1440)
	page.Go(c.URL)
	page.Wait(`document.readyState === 'complete' && location.href === '` + c.URL + `' && document.body.innerText.includes('Total before tax')`)
	chooses("#country", "DE")
	page.WaitText("Pay $23.80")
	assert.Equal(t, "false INPUT", page.Value(`document.querySelector('fieldset details').open + ' ' + document.querySelector('#state').tagName`))
	chooses("#country", "US")
	page.WaitText("Elsewhere (United States)")
	page.Wait(`document.querySelector('#state').tagName === 'SELECT'`)
	assert.Equal(t, "true false", page.Value(`document.querySelector('#state').checkVisibility() + ' ' + document.querySelector('fieldset details').open`), "it stands beside the country")
	page.Value(`document.querySelector('#city').value = 'Springfield'`)
	page.Fill("#email", "grace@example.com")
	typesCard(page, "4242424242424242")
	page.Click("button.pay")
	page.WaitText("State or region: Choose your state or region: the tax depends on it.")
	page.Wait(`document.readyState === 'complete' && document.activeElement.matches('.problems')`)
	assert.Equal(t, "Springfield", page.Value(`document.querySelector('#city').value`))
	page.Click(".problems a")
	page.Wait(`document.activeElement.id === 'state' && document.activeElement.ariaInvalid === 'true'`)
	chooses("#state", "CA")
	page.WaitText("Pay $21.45")
	page.Wait(`!document.querySelector('.problems, #state-problem')`)
	assert.Equal(t, "state CA", page.Value(`document.activeElement.id + ' ' + document.querySelector('#state').value`), "the list that has the focus is not another one")
	chooses("#country", "CA")
	page.WaitText("Elsewhere (Canada)")
	assert.Empty(t, page.Value(`document.querySelector('#state').value`))
	chooses("#state", "-")
	page.WaitText("Pay $21.00")
	typesCard(page, "4242424242424242")
	page.Click("button.pay")
	page.WaitText("Thank you for your order")
	assert.Equal(t, int64(2100), w.sold().PaidAmount)
	assert.Empty(t, page.Refused())
}

// Without scripts the button that counts the total anew brings the regions.
func TestCheckoutPage_AsksForTheRegionWithoutScriptsInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.regional()
	page := chromium.Open(t, nil)
	page.WithoutScripts()
	page.Width(1440)
	page.Go(c.URL)
	page.WaitText("Total before tax")
	page.Fill("#email", "grace@example.com")
	page.Value(`document.querySelector('#country').value = 'US'`)
	page.Click("#payment button[value=update]")
	page.WaitText("Elsewhere (United States)")
	page.Wait(`document.readyState === 'complete'`)
	assert.Equal(t, "true false", page.Value(`document.querySelector('#state').checkVisibility() + ' ' + document.querySelector('fieldset details').open`))
	page.Value(`document.querySelector('#state').value = 'NY'`)
	page.Click("#payment button[value=update]")
	page.WaitText("Pay $20.80")
	page.Wait(`document.readyState === 'complete'`)
	typesCard(page, "4242424242424242")
	page.Click("button.pay")
	page.WaitText("Thank you for your order")
	assert.Equal(t, int64(2080), w.sold().PaidAmount)
	assert.Empty(t, page.Refused())
}
