package pages_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/tests/harness/database"
)

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

// onceOf is what tells the form of a page from the next.
var onceOf = regexp.MustCompile(`name="once" value="([0-9a-z]+)"`)

// offered opens a link, and returns what its form hands on.
func (w *shop) offered(address string) url.Values {
	w.t.Helper()
	found := onceOf.FindStringSubmatch(w.page(address, http.StatusOK))
	require.Len(w.t, found, 2)
	return url.Values{"once": {found[1]}}
}

// begun sends the form of a link, and returns where its browser sends it next.
func (w *shop) begun(address string, form url.Values) string {
	w.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.PostForm(address+"/pay", form)
	require.NoError(w.t, err)
	require.NoError(w.t, response.Body.Close())
	require.Equal(w.t, http.StatusTemporaryRedirect, response.StatusCode)
	next, err := response.Location()
	require.NoError(w.t, err)
	return next.String()
}

func (w *shop) checkouts() []checkout.Checkout {
	w.t.Helper()
	made, _, err := w.Checkout.List(w.t.Context(), w.account, checkout.List{Page: core.Page{Limit: 100}})
	require.NoError(w.t, err)
	return made
}

func (w *shop) link(v catalog.PriceVariant, uses *int64) *checkout.Link {
	w.t.Helper()
	lines, err := w.Lines.OfCheckout(w.t.Context(), w.account, w.checkout(v).ID)
	require.NoError(w.t, err)
	link, err := w.Checkout.CreateLink(w.t.Context(), w.account, checkout.Link{
		PriceVariantIDs: core.JSONOf([]string{*lines[0].PriceVariantID}), Active: true, MaxUses: uses,
	})
	require.NoError(w.t, err)
	return link
}

// TestCheckoutLink_MakesNothingForWhoeverOpensIt has programs and people look at what is sold.
func TestCheckoutLink_MakesNothingForWhoeverOpensIt(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		link := w.link(catalog.PriceVariant{Amount: 1900}, new(int64(2)))
		before := len(w.checkouts())
		for range 3 {
			page := w.page(link.URL+"?utm_source=letter", http.StatusOK)
			assert.Contains(t, page, "Pay $")
			assert.Contains(t, page, "19.00")
			assert.Contains(t, page, `action="`+link.ID+`/pay"`)
			assert.Contains(t, page, `name="utm_source" value="letter"`)
		}
		assert.Equal(t, http.StatusOK, w.open(http.MethodHead, link.URL).StatusCode)
		assert.Equal(t, http.StatusOK, w.open(http.MethodGet, link.URL, "Sec-Purpose", "prefetch").StatusCode)
		refused, err := http.PostForm(link.URL+"/pay", url.Values{"once": {"not one of ours!"}})
		require.NoError(t, err)
		assert.Regexp(t, onceOf, w.read(refused, http.StatusOK), "the page again")
		assert.Len(t, w.checkouts(), before)
	})
}

// TestCheckoutLink_MakesACheckoutForWhoBegins keeps where they came from, and makes one of a form that is sent again and again.
func TestCheckoutLink_MakesACheckoutForWhoBegins(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		link := w.link(catalog.PriceVariant{Amount: 1900}, nil)
		before := len(w.checkouts())
		form := w.offered(link.URL)
		form.Set("utm_source", "letter")
		form.Set("referrer", "https://ada.example/")
		var wait sync.WaitGroup
		places := make([]string, 12)
		for i := range places {
			wait.Go(func() { places[i] = w.begun(link.URL, form) })
		}
		wait.Wait()
		for _, place := range places {
			assert.Equal(t, places[0], place)
		}
		made := w.checkouts()
		require.Len(t, made, before+1)
		assert.Equal(t, made[0].URL+"/pay", places[0])
		source := made[0].Source.V
		assert.Equal(t, link.ID, *source.CheckoutLink)
		assert.Equal(t, "letter", *source.UTMSource)
		assert.Equal(t, "https://ada.example/", *source.Referrer)
		assert.NotEqual(t, places[0], w.begun(link.URL, w.offered(link.URL)), "somebody else")

		lines, err := w.Lines.OfCheckout(t.Context(), w.account, made[0].ID)
		require.NoError(t, err)
		_, err = w.Catalog.ArchiveProduct(t.Context(), w.account, *lines[0].ProductID)
		require.NoError(t, err)
		assert.Contains(t, w.page(link.URL, http.StatusConflict), "not for sale")
		_, err = w.Checkout.DeleteLink(t.Context(), w.account, link.ID)
		require.NoError(t, err)
		w.page(link.URL, http.StatusNotFound)
	})
}

// TestCheckoutLink_LosesNothingThatWasTyped buys with one form, and with one whose card is declined.
func TestCheckoutLink_LosesNothingThatWasTyped(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		link := w.link(catalog.PriceVariant{Amount: 1900}, new(int64(1)))
		w.hasWebsite()
		opened := []url.Values{w.offered(link.URL), w.offered(link.URL), w.offered(link.URL)}
		pay := func(hidden url.Values, number string, status int) string {
			t.Helper()
			form := card(number, "1900")
			form.Set("email", "grace@example.com")
			form.Set("name", "Grace <i>Hopper</i>")
			maps.Copy(form, hidden)
			response, err := w.browser.PostForm(link.URL+"/pay", form) // which follows 307 as browsers do
			require.NoError(t, err)
			return w.read(response, status)
		}
		page := pay(opened[0], "4000000000000002", http.StatusOK)
		assert.Contains(t, page, "The card was declined.")
		assert.Contains(t, page, `value="Grace &lt;i&gt;Hopper&lt;/i&gt;"`)
		for range 2 {
			assert.Contains(t, pay(opened[1], "4242424242424242", http.StatusOK), "<h1>Thank you for your order</h1>")
		}
		assert.Equal(t, "Grace <i>Hopper</i>", *w.checkouts()[0].CustomerName)
		assert.Contains(t, pay(opened[2], "4242424242424242", http.StatusNotFound), "This is not for sale at the moment", "it is used up")
		page = w.page(link.URL, http.StatusNotFound)
		assert.Contains(t, page, "This is not for sale at the moment")
		assert.Contains(t, page, `<header class="head"><bdi>Ada &lt;b&gt;&amp; sons&lt;/b&gt;</bdi>`, "who sells it")
		assert.Contains(t, page, `href="https://ada.example">Back to the shop<`)
	})
}

// TestCheckoutLink_SaysWhenToTryAgain keeps what was typed for then.
func TestCheckoutLink_SaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		link := w.link(catalog.PriceVariant{Amount: 1900}, nil)
		form := w.offered(link.URL)
		form.Set("email", "grace@example.com")
		form.Set("utm_source", "letter")
		terms, err := w.Content.CreateLegalPage(t.Context(), w.account, content.LegalPage{
			Kind: "terms", Title: "Rules", Body: "Be kind.", Status: content.LegalPageStatusPublished, RequiresAcceptance: true,
		})
		require.NoError(t, err)
		form.Set("terms", "true")
		form.Set("terms_shown", terms.ID+".1")
		for range 120 {
			_, err := w.Checkout.FollowLink(t.Context(), link.ID, checkout.FollowLink{From: payment.Buyer{Address: "203.0.113.7"}})
			require.NoError(t, err)
		}
		before := len(w.checkouts())
		send := func() *http.Response {
			t.Helper()
			request, err := http.NewRequest(http.MethodPost, link.URL+"/pay", strings.NewReader(form.Encode()))
			require.NoError(t, err)
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			request.Header.Set("X-Forwarded-For", "203.0.113.7")
			response, err := http.DefaultTransport.RoundTrip(request)
			require.NoError(t, err)
			return response
		}
		response := send()
		assert.NotEmpty(t, response.Header.Get("Retry-After"))
		page := w.read(response, http.StatusTooManyRequests)
		assert.Contains(t, page, "Too many purchases were begun from your network within an hour. Nothing was charged. Try again in ")
		assert.Contains(t, page, `action="pay"`)
		for _, kept := range []string{"grace@example.com", "letter", form.Get("once")} {
			assert.Contains(t, page, `value="`+kept+`"`)
		}
		assert.Len(t, w.checkouts(), before)
		const ticked = `name="terms" type="checkbox" value="true" checked`
		assert.Contains(t, page, ticked)
		_, err = w.Content.UpdateLegalPage(t.Context(), w.account, terms.ID, func(l *content.LegalPage) { l.Body = "Be quick." })
		require.NoError(t, err)
		assert.NotContains(t, w.read(send(), http.StatusTooManyRequests), ticked, "they ticked the text of before")
		w.now = w.now.Add(time.Hour + time.Second)
		response = send()
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusTemporaryRedirect, response.StatusCode)
	})
}
