package pages_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// What was refused is said in the language of the page, beside the field that it is about, and says what to do.
func TestCheckoutPage_SaysInTheBuyersLanguageWhatWasRefused(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		c := w.asking()
		said := func(status int, field, says string, change func(form map[string][]string)) {
			t.Helper()
			form := card("4242424242424242", "3800")
			form.Set("locale", "de")
			form.Set("terms", "true")
			for name, answer := range map[string]string{"text": "x", "choice": "a", "tick": "true"} {
				form.Set("answer."+name, answer)
			}
			change(form)
			assert.Regexp(t, `id="`+field+`-problem">(<svg[^\x00]*?</svg>)`+says, w.post(c, status, form))
		}
		refused := func(field, says string, change func(form map[string][]string)) {
			t.Helper()
			said(http.StatusUnprocessableEntity, field, says, change)
		}
		declined := func(field, says string, change func(form map[string][]string)) {
			t.Helper()
			said(http.StatusOK, field, says, change)
		}
		typed := func(name, value string) func(map[string][]string) {
			return func(form map[string][]string) { form[name] = []string{value} }
		}
		refused("answer.text", "Hier fehlt eine Antwort", typed("answer.text", "")) // what is accepted stays
		refused("terms", "Stimmen Sie den Bedingungen zu", typed("terms", ""))
		refused("card_number", "Die Kartennummer stimmt nicht", typed("card_number", "4242424242424241"))
		declined("card_number", "Die Karte wurde abgelehnt", typed("card_number", "4000000000000002"))
		declined("card_number", "Die Karte ist nicht ausreichend gedeckt", typed("card_number", "4000000000009995"))
		refused("card_number", "Geben Sie eine Karte ein", typed("card_number", ""))
		refused("card_expiry", "Geben Sie Monat und Jahr ein", typed("card_expiry", "13/40"))
		refused("card_expiry", "Die Karte ist abgelaufen", typed("card_expiry", "12/20"))
		refused("card_cvc", "Die Prüfnummer", typed("card_cvc", "12"))
		refused("email", "Geben Sie Ihre E-Mail-Adresse ein", typed("email", "nobody"))
		refused("email", "Eine E-Mail-Adresse hat keine Leerzeichen", typed("email", "ada @example.com"))
		refused("email", "Eine E-Mail-Adresse hat keine Leerzeichen", typed("email", "ada\t@example.com"))
		_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.AllowDiscountCodes = true })
		require.NoError(t, err)
		refused("discount_code", "Diesen Rabattcode gibt es nicht", typed("discount_code", "none"))
	})
}

// Who wants more than there is reads how many are left, and whether others may leave some. Whoever reads English is not told of ids.
func TestCheckoutPage_SaysHowManyAreLeft(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{Amount: 1900, Stock: new(int64(2))})
	o, err := w.Checkout.GetOffer(t.Context(), c)
	require.NoError(t, err)
	one := func() *checkout.Checkout {
		t.Helper()
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) {
			d.Lines = []offer.NewLine{{PriceVariant: *o.Items[0].PriceVariantID, Quantity: 1}}
		})
		require.NoError(t, err)
		return c
	}
	refused := func() string {
		t.Helper()
		page := w.post(c, http.StatusUnprocessableEntity, card("4242424242424242", "3800"))
		assert.NotContains(t, page, "price_")
		return page
	}
	last := one()
	w.post(one(), http.StatusOK, card("4242424242424242", "1900"))
	assert.Contains(t, refused(), "<li>Only 1 is left, and this order has more. Nothing was charged.</li>")
	w.post(last, http.StatusOK, card("4000002500003155", "1900"))
	assert.Contains(t, refused(), "None is free at the moment: others are paying for the last ones.", "the bank asks its buyer")
	response, err := w.browser.PostForm(last.URL+"/cancel", nil)
	require.NoError(t, err)
	w.read(response, http.StatusOK)
	assert.Contains(t, refused(), "Only 1 is left")
	w.post(last, http.StatusOK, card("4242424242424242", "1900"))
	assert.Contains(t, refused(), "What you chose is sold out or not for sale any more. Nothing was charged.")
	assert.Contains(t, w.post(c, http.StatusUnprocessableEntity, url.Values{"do": {"pay"}, "shown": {"3800"}, "locale": {"ja"}}), "お選びの商品")
}
