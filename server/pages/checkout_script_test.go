package pages_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/tenant"
	chromium "github.com/tillwright/tillwright/tests/harness/browser"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// The tax is there before anybody pays, and the card that was typed stays.
func TestCheckoutPage_CountsTheTotalAnewInABrowser(t *testing.T) {
	t.Parallel()
	page := chromium.Open(t, nil)
	for _, engine := range database.Engines() {
		newShopOn(t, database.URL(t, engine)).countsAnew(page)
	}
}

func (w *shop) countsAnew(page *chromium.Page) {
	t := w.t
	_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
		a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{Country: new("DE"), RateBps: 1950, Name: "MwSt."}}}
	})
	require.NoError(t, err)
	c := w.checkout(catalog.PriceVariant{Amount: 1000})
	_, err = w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.SuccessURL, d.AllowQuantityChange = nil, true }) // to which the page would lead
	require.NoError(t, err)
	page.Width(1440)
	page.Go(c.URL)
	page.WaitText("Total before tax")
	page.Fill("#email", "grace@example.com")
	page.Fill("#card_number", "4242424242424242")
	page.Value(`(document.querySelector('#country').value = 'DE', document.querySelector('#country').dispatchEvent(new Event('change', {bubbles: true})), '')`)
	page.WaitText("MwSt. 19.5")
	page.WaitText("Pay $23.90")
	assert.Equal(t, "country", page.Value(`document.querySelector('#payment').filled.value`), "what is shown now can be emptied")
	assert.Equal(t, "4242424242424242", page.Value(`document.querySelector('#card_number').value`))
	page.Fill("#quantity\\.0", "3")
	page.Key("Tab")
	page.WaitText("Pay $35.85")
	page.Fill("#card_expiry", "12/40")
	page.Fill("#card_cvc", "123")
	page.Click("button.pay")
	page.WaitText("Thank you for your order")
	assert.Contains(t, page.Text(), "Paid: $35.85.")
	assert.Empty(t, page.Refused())
}

// The script is sent, packed, with every page of an open checkout.
func TestCheckoutPage_HasAShortScript(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("checkout.js")
	require.NoError(t, err)
	var sent bytes.Buffer
	packs := gzip.NewWriter(&sent)
	_, err = packs.Write(script)
	require.NoError(t, err)
	require.NoError(t, packs.Close())
	assert.Less(t, sent.Len(), 2000, "bytes")
}

// A buyer sees the tax at once, and is charged what they see.
func TestCheckoutPage_HasTheTaxAtFirst(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
			a.Country = new("FR")
			a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{
				{Country: new("DE"), RateBps: 1900, Name: "MwSt."}, {Country: new("FR"), RateBps: 2000, Name: "TVA"}, {Country: new("US"), Region: new("CA"), RateBps: 725, Name: "Sales tax"},
			}}
		})
		require.NoError(t, err)
		link := w.link(catalog.PriceVariant{Amount: 1000}, nil)
		before := len(w.checkouts())
		for accept, seen := range map[string][]string{
			"de-AT;q=0.8,de-DE": {"Jetzt kaufen · 11,90", `value="DE" selected`}, "de,en-US;q=0.7": {"Jetzt kaufen · 12,00", `value="FR" selected`}, "": {"Pay $12.00", "TVA 20%"},
			"en-US": {"Total before tax", `value="US" selected`, `<select id="state"`, "<details><summary>"}, "en-GB": {"Pay $10.00", `value="GB" selected`},
		} {
			request, err := http.NewRequest(http.MethodGet, link.URL, nil)
			require.NoError(t, err)
			request.Header.Set("Accept-Language", accept)
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			page := w.read(response, http.StatusOK)
			for _, text := range seen {
				assert.Contains(t, page, text, accept)
			}
			assert.NotContains(t, page[strings.Index(page, `<label for="country">`):][:60], "optional", "the tax depends on it")
		}
		assert.Len(t, w.checkouts(), before, "nothing is stored")

		form := w.offered(link.URL)
		for name, typed := range card("4242424242424242", "1200") {
			form[name] = typed
		}
		form.Set("email", "grace@example.com")
		form.Set("country", "FR")
		response, err := http.PostForm(link.URL+"/pay", form)
		require.NoError(t, err)
		assert.Contains(t, w.read(response, http.StatusOK), "Paid: $12.00.")
	})
}

// The page that says what is wrong shows the same total as before, which is charged once that is mended.
func TestCheckoutPage_KeepsTheTaxWhereSomethingIsWrong(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.Tenant.UpdateAccount(t.Context(), w.account, func(a *tenant.AccountChange) {
		a.Country = new("FR")
		a.Tax.V = tenant.TaxSettings{Mode: tenant.TaxModeFlatTable, Behavior: tenant.TaxBehaviorExclusive, Rates: []tenant.TaxRate{{Country: new("FR"), RateBps: 2000, Name: "TVA"}}}
	})
	require.NoError(t, err)
	link := w.link(catalog.PriceVariant{Amount: 1000}, nil)
	form := w.offered(link.URL)
	for name, typed := range card("4242424242424242", "1200") {
		form[name] = typed
	}
	form.Set("country", "FR")
	form.Set("email", "grace@")
	response, err := http.PostForm(link.URL+"/pay", form)
	require.NoError(t, err)
	page := w.read(response, http.StatusUnprocessableEntity)
	assert.Contains(t, page, "Pay $12.00")
	assert.Contains(t, page, `name="shown" value="1200"`)
}

// A code takes nothing away that was typed before, not even the card.
func TestCheckoutPage_KeepsTheCardBesideACodeInABrowser(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, err := w.Discount.Create(t.Context(), w.account, discount.Discount{Name: "Tenth", Code: new("TENTH"), Type: discount.TypePercent, PercentBps: new(int64(1000)), Duration: discount.DurationOnce})
	require.NoError(t, err)
	page, c := chromium.Open(t, nil), w.checkout(catalog.PriceVariant{Amount: 1000})
	_, err = w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.AllowDiscountCodes, d.SuccessURL = true, nil })
	require.NoError(t, err)
	page.Width(390)
	page.Go(c.URL)
	page.WaitText("Pay $20.00")
	sees := func(selector string) string {
		return page.Value(`document.querySelector('` + selector + `').checkVisibility({contentVisibilityAuto: true})`)
	}
	assert.Equal(t, "false true $20.00", sees("#totals")+" "+sees(".fold b")+" "+page.Value(`document.querySelector('.fold b').innerText`), "on a phone the order is folded to its total")
	page.Click(".fold > summary")
	page.Wait(`document.querySelector('.fold').open`)
	assert.Equal(t, "true", sees("#totals"))
	page.Click(".fold > summary")
	page.Wait(`!document.querySelector('.fold').open`)
	page.Width(1440)
	assert.Equal(t, "true false", sees("#totals")+" "+sees(".fold b"), "and there is nothing to unfold on a desk")
	page.Fill("#card_number", "4242424242424242")
	page.Fill("#discount_code", "TENTH")
	page.Fill("#email", "ada@example.com")
	page.Key("Enter") // which applies the code, in whatever field
	page.WaitText("Pay $18.00")
	assert.Equal(t, "4242424242424242 ada@example.com", page.Value(`document.querySelector('#card_number').value + ' ' + document.querySelector('#email').value`))
	page.Fill("#discount_code", "NONE")
	page.Key("Enter")
	page.WaitText("There is no discount with this code.")
	page.Fill("#discount_code", "tenth")
	page.Key("Enter")
	page.Wait(`!document.querySelector('.problems, [aria-invalid]') && document.title.startsWith('Checkout')`)
	page.Fill("#discount_code", "NONE")
	page.Key("Enter")
	page.WaitText("There is no discount with this code.")
	page.Wait(`document.activeElement.className === 'problems all'`)
	assert.Equal(t, "ada@example.com, NONE", page.Value(`document.querySelector('#email').value + ', ' + document.querySelector('#discount_code').value`))
	page.Fill("#card_number", "4242424242424242")
	page.Fill("#card_expiry", "12/40")
	page.Fill("#card_cvc", "123")
	page.Key("Enter")
	page.WaitText("Thank you for your order")
	assert.Contains(t, page.Text(), "Paid: $18.00.")
	assert.Empty(t, page.Refused())
}
