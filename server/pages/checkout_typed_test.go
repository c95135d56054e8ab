package pages_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
)

// Whoever has the address alone, and sends what they like, is shown nothing but what they sent.
func TestCheckoutPage_ShowsNobodyWhatOthersTyped(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) {
		d.CustomerName, d.BillingAddress.V = new("Grace Hopper"), &core.Address{Country: new("DE"), Line1: new("Weg 1")}
	})
	require.NoError(t, err)
	response, err := w.browser.PostForm(c.URL+"/pay", url.Values{"do": {"update"}, "email": {""}, "name": {"Ada Byron"}, "locale": {"en"}})
	require.NoError(t, err)
	page := w.read(response, http.StatusOK)
	assert.Contains(t, page, `value="Ada Byron"`)
	for _, others := range []string{"Grace Hopper", "Weg 1", "grace@example.com"} {
		assert.NotContains(t, page, others)
	}
	sends := func(company string) *string {
		t.Helper()
		w.post(c, http.StatusOK, url.Values{"do": {"update"}, "country": {"DE"}, "company": {company}, "filled": {"company"}})
		now, err := w.Checkout.Get(t.Context(), w.account, c.ID)
		require.NoError(t, err)
		return now.BillingAddress.V.Company
	}
	_, err = w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) {
		d.BillingAddress = core.JSONOf(&core.Address{Country: new("DE"), Company: new("Hopper GmbH")})
	})
	require.NoError(t, err)
	assert.Equal(t, new("Hopper GmbH"), sends(""), "who has not seen it takes nothing away")
	assert.Equal(t, new("Byron Ltd."), sends("Byron Ltd."))
	assert.Nil(t, sends(""), "who typed it does")
}

// tab is a page of a checkout that stays open in a browser, which may have others.
type tab struct {
	*shop
	checkout *checkout.Checkout
	filled   string // the names of the fields that it showed filled
}

// filledIn finds what a page says of itself.
var filledIn = regexp.MustCompile(`name="filled" value="([^"]*)"`)

func (w *shop) tab(c *checkout.Checkout) *tab {
	w.t.Helper()
	response, err := w.browser.Get(c.URL)
	require.NoError(w.t, err)
	return (&tab{shop: w, checkout: c}).see(w.read(response, http.StatusOK))
}

func (o *tab) see(page string) *tab {
	o.t.Helper()
	found := filledIn.FindStringSubmatch(page)
	require.NotNil(o.t, found)
	o.filled = found[1]
	return o
}

// sends has the tab send all fields, those that are not typed empty, and returns what becomes of the checkout.
func (o *tab) sends(typed url.Values) *checkout.Checkout {
	o.t.Helper()
	form := url.Values{"do": {"update"}, "country": {"DE"}, "filled": {o.filled}}
	for _, name := range []string{"email", "name", "tax_id", "line1", "postal_code", "city", "state", "company", "answer.text"} {
		form.Set(name, "")
	}
	maps.Copy(form, typed)
	o.see(o.post(o.checkout, http.StatusOK, form))
	return o.now()
}

func (o *tab) now() *checkout.Checkout {
	o.t.Helper()
	now, err := o.Checkout.Get(o.t.Context(), o.account, o.checkout.ID)
	require.NoError(o.t, err)
	return now
}

// A field that is emptied is empty: nobody pays as somebody whom they took away again. What others entered stays.
func TestCheckoutPage_EmptiesWhatItsBuyerEmpties(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.asking()
	enters := func(a *core.Address) {
		t.Helper()
		_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) {
			d.BillingAddress, d.CustomFieldData.V = core.JSONOf(a), map[string]string{"text": "for them"}
		})
		require.NoError(t, err)
	}
	enters(&core.Address{Country: new("DE"), Line1: new("Weg 1"), Line2: new("Hof"), City: new("Husum"), State: new("SH")})
	o := w.tab(c)
	assert.Empty(t, o.filled)
	now := o.sends(url.Values{"email": {"ada@example.com"}, "name": {"Ada Byron"}, "tax_id": {"DE123456789"}, "postal_code": {"25813"}})
	assert.Equal(t, "country email name postal_code tax_id", o.filled)
	assert.Equal(t, &core.Address{Country: new("DE"), Line1: new("Weg 1"), Line2: new("Hof"), PostalCode: new("25813"), City: new("Husum"), State: new("SH")}, now.BillingAddress.V)
	now = o.sends(nil)
	others := &core.Address{Country: new("DE"), Line1: new("Weg 1"), Line2: new("Hof"), City: new("Husum"), State: new("SH")}
	assert.Equal(t, others, now.BillingAddress.V, "the seller entered it")
	assert.Equal(t, "for them", now.CustomFieldData.V["text"])
	assert.Nil(t, now.CustomerEmail)
	assert.Nil(t, now.CustomerName)
	assert.Nil(t, now.TaxID.V)
	page := w.post(c, http.StatusUnprocessableEntity, card("4242424242424242", "3800"))
	assert.Contains(t, page, `<a href="#email">`)
	assert.Equal(t, others, o.sends(url.Values{"country": {""}}).BillingAddress.V, "of what the seller entered the buyer saw nothing")
	assert.Equal(t, others, o.sends(url.Values{"line1": {"Weg 1"}}).BillingAddress.V)
	assert.Equal(t, others, o.sends(nil).BillingAddress.V, "its second line is no buyer's")

	now = o.sends(url.Values{"line1": {"Deich 2"}, "state": {"HH"}, "answer.text": {"for me"}})
	assert.Equal(t, &core.Address{Country: new("DE"), Line1: new("Deich 2"), City: new("Husum"), State: new("HH")}, now.BillingAddress.V)
	now = o.sends(url.Values{"country": {""}})
	assert.Equal(t, &core.Address{Country: new("DE"), City: new("Husum")}, now.BillingAddress.V)
	assert.Empty(t, now.CustomFieldData.V["text"])

	o.sends(url.Values{"city": {"Kiel"}, "country": {"FR"}})
	assert.Nil(t, o.sends(url.Values{"country": {""}}).BillingAddress.V, "all of it was the buyer's")
}

// Two tabs of one browser are one buyer. What is empty in one of them was not emptied if it was typed into the other one since.
func TestCheckoutPage_KeepsWhatAnotherTabTyped(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	early, o := w.tab(c), w.tab(c)
	typed := o.sends(url.Values{"email": {"ada@example.com"}, "name": {"Ada Byron"}, "tax_id": {"DE123456789"}, "line1": {"Deich 2"}, "city": {"Husum"}, "state": {"SH"}})
	early.see(w.post(c, http.StatusOK, url.Values{"do": {"count"}, "country": {"DE"}, "company": {"Byron Ltd."}, "line1": {""}, "city": {""}, "filled": {early.filled}})) // as our script does
	assert.Equal(t, "company country", early.filled, "its page shows nothing that the other one typed")
	kept := w.tab(c).now()
	typed.BillingAddress.V.Company = new("Byron Ltd.")
	assert.Equal(t, typed.BillingAddress, kept.BillingAddress)
	assert.Equal(t, typed.BillingAddress, early.sends(url.Values{"company": {"Byron Ltd."}}).BillingAddress)
	assert.Equal(t, "Ada Byron", core.Deref(early.now().CustomerName))
	early = w.tab(c)
	assert.Equal(t, "city company country email line1 name state tax_id", early.filled, "both see it later")
	assert.Nil(t, early.sends(url.Values{"country": {""}}).BillingAddress.V)
	assert.Nil(t, early.now().CustomerName)
}

// Nothing of a form that is refused is stored: what came empty in it is emptied by the next form that is taken.
func TestCheckoutPage_EmptiesWhatCameEmptyInAFormThatWasRefused(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	o := w.tab(w.checkout(catalog.PriceVariant{Amount: 1900}))
	o.sends(url.Values{"email": {"ada@example.com"}, "name": {"Ada Byron"}, "tax_id": {"DE123456789"}, "company": {"Byron Ltd."}})
	refused := url.Values{"do": {"update"}, "country": {"DE"}, "email": {"ada@"}, "name": {""}, "tax_id": {""}, "company": {""}, "filled": {o.filled}}
	o.see(o.post(o.checkout, http.StatusUnprocessableEntity, refused))
	now := o.sends(url.Values{"email": {"ada@example.com"}})
	assert.Equal(t, new("ada@example.com"), now.CustomerEmail)
	assert.Nil(t, now.CustomerName)
	assert.Nil(t, now.TaxID.V)
	assert.Nil(t, now.BillingAddress.V.Company)
}
