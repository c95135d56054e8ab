package pages_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// in returns a page as a browser of somebody gets it who reads these languages.
func (w *shop) in(languages, address string) (page string, header http.Header) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, address, http.NoBody)
	require.NoError(w.t, err)
	request.Header.Set("Accept-Language", languages)
	response, err := http.DefaultClient.Do(request)
	require.NoError(w.t, err)
	return w.read(response, http.StatusOK), response.Header
}

func TestCheckoutPage_SpeaksTheLanguageOfItsBuyer(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		link := w.link(catalog.PriceVariant{Amount: 1900}, nil).URL
		page, header := w.in("de-AT,de;q=0.9,en;q=0.5", link)
		assert.Contains(t, page, `<html lang="de" dir="ltr">`)
		assert.Contains(t, page, "Jetzt kaufen · 19,00\u00a0$")
		assert.Contains(t, page, ">Deutschland</option>")
		assert.Equal(t, "de", header.Get("Content-Language"))
		assert.Contains(t, header.Values("Vary"), "Accept-Language")
		for asked, lang := range map[string]string{"?locale=ja": "ja", "?locale=pt": "pt-BR", "?locale=nl": "fr", "?locale=%00": "fr", "?locale=ar-XB": "fr", "": "fr"} {
			page, _ := w.in("nl, fr;q=0.5", link+asked)
			assert.Contains(t, page, `<html lang="`+lang+`" dir="ltr">`, asked)
		}

		page, _ = w.in("es", link)
		assert.Contains(t, page, `name="locale" value="es"`)
		form := w.offered(link)
		form.Set("locale", "es")
		form.Set("do", "update")
		form.Set("country", "??")
		response, err := http.PostForm(link+"/pay", form)
		require.NoError(t, err)
		page = w.read(response, http.StatusUnprocessableEntity)
		assert.Contains(t, page, "Elija un país de la lista.")
		made := w.checkouts()[0]
		require.NotNil(t, made.Locale)
		assert.Equal(t, "es", *made.Locale, "letters are to speak the language of the page")
		page, _ = w.in("ja", made.URL)
		assert.Contains(t, page, `<html lang="es"`, "the checkout's own language goes before the browser's")
		page, _ = w.in("ja", made.URL+"?locale=de")
		assert.Contains(t, page, `<html lang="de"`, "what the address asks for goes first")
	})
}

func TestCheckoutPage_SpeaksTheSellersLanguageToWhoHasNone(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	assert.Contains(t, w.page(c.URL, http.StatusOK), `<html lang="en"`)
	_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.Locale = new("fr-CA") })
	require.NoError(t, err)
	assert.Contains(t, w.page(c.URL, http.StatusOK), `<html lang="fr"`)
	w.post(c, http.StatusOK, url.Values{"do": {"update"}, "locale": {"de"}})
	kept, err := w.Checkout.Get(t.Context(), w.account, c.ID)
	require.NoError(t, err)
	assert.Equal(t, "fr-CA", *kept.Locale, "what the seller says stays")
}

// Whoever asks for a language keeps it from page to page, and through every form.
func TestPages_StayInTheLanguageThatWasAskedFor(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	stays := func(address string, form url.Values) string {
		t.Helper()
		response, err := w.browser.PostForm(address+"?locale=fr", form)
		require.NoError(t, err)
		defer response.Body.Close()
		assert.Equal(t, "fr", response.Request.URL.Query().Get("locale"), response.Request.URL)
		assert.Equal(t, "fr", response.Header.Get("Content-Language"), address)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return string(body)
	}
	c := w.checkout(catalog.PriceVariant{Amount: 1900})
	_, err := w.Checkout.Update(t.Context(), w.account, c.ID, func(d *checkout.Draft) { d.Locale = new("de") })
	require.NoError(t, err)
	assert.Contains(t, stays(c.URL+"/pay", card("4000000000000002", "3800")), "/pay?locale=fr")
	stays(c.URL+"/pay", url.Values{"do": {"update"}})
	stays(c.URL+"/cancel", nil)
	stays(w.link(catalog.PriceVariant{Amount: 1900}, nil).URL+"/pay", url.Values{"do": {"update"}, "once": {"0123456789abcdefghijklmnop"}})

	g := w.guest("ada@example.com")
	for _, below := range []string{"", "/details", "/orders"} {
		page := g.see(below+"?locale=fr", http.StatusOK)
		for _, address := range regexp.MustCompile(`(?:href|action)="((?:\.\./)*[a-z0-9_/-]*[?"][^">]*)`).FindAllString(page, -1) {
			assert.Contains(t, address, "locale=fr", below)
		}
	}

	i := w.billed()
	assert.Contains(t, stays(i.HostedURL+"/pay", card("4000000000000002", "")), "/pay?locale=fr")
	stays(i.HostedURL+"/pay", nil)
	assert.Contains(t, stays(i.HostedURL+"/pay", card("4000002500003155", "")), "/cancel?locale=fr")
	stays(i.HostedURL+"/cancel", url.Values{"payment": {w.lastOf(i)}})
}

// A refusal is in the language of its page, whatever the browser speaks.
func TestInvoicePage_RefusesInItsOwnLanguage(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	i := w.billed()
	_, err := w.UpdateCustomer(t.Context(), w.account, i.CustomerID, func(c *customer.Customer) { c.PreferredLocale = new("de") })
	require.NoError(t, err)
	for _, form := range []url.Values{{}, card("4242424242424241", "")} {
		request, err := http.NewRequest(http.MethodPost, i.HostedURL+"/pay", strings.NewReader(form.Encode()))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Accept-Language", "fr")
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		page := w.read(response, http.StatusUnprocessableEntity)
		assert.Contains(t, page, `lang="de"`)
		assert.Regexp(t, "Geben Sie eine Karte ein|Die Kartennummer stimmt nicht", page)
	}
}

// Sellers come there from their dashboard, which speaks English.
func TestSandboxConsent_SpeaksAsTheDashboardDoes(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	page, header := w.in("de", w.server.URL+"/connect/tiktok/sandbox?state=x")
	assert.Contains(t, page, `<html lang="en"`)
	assert.Contains(t, page, "Skip to the content")
	assert.Equal(t, "en", header.Get("Content-Language"))
}
