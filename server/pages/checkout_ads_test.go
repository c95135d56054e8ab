package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

const (
	adsBox  = `<input id="ads_consent" name="ads_consent" type="checkbox" value="true" aria-describedby="ads_consent-what">`
	adsTick = `<input id="ads_consent" name="ads_consent" type="checkbox" value="true" checked aria-describedby="ads_consent-what">`
	browser = "Mozilla/5.0 (X11; Linux x86_64)"
)

// asks switches the box on or off.
func (w *shop) asks(on bool) {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) { a.CheckoutAdsConsent = on })
	require.NoError(w.t, err)
}

// send sends a form as a browser does, from a network address outside.
func (w *shop) send(address string, status int, form url.Values) string {
	w.t.Helper()
	request, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	require.NoError(w.t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("User-Agent", browser)
	request.Header.Set("X-Forwarded-For", "203.0.113.7")
	response, err := w.browser.Do(request)
	require.NoError(w.t, err)
	return w.read(response, status)
}

// stands returns a checkout as it is.
func (w *shop) stands(c *checkout.Checkout) *checkout.Checkout {
	w.t.Helper()
	stored, err := w.Checkout.Get(w.t.Context(), w.account, c.ID)
	require.NoError(w.t, err)
	return stored
}

// A seller who did not switch the box on asks nobody, and whoever sends the field all the same has agreed to nothing.
func TestCheckoutPage_AsksNobodyUnlessTheSellerWants(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		page := w.page(c.URL+"?fbclid=IwAR0", http.StatusOK)
		assert.NotContains(t, page, "ads_consent")
		assert.NotContains(t, page, "IwAR0")
		w.send(c.URL+"/pay", http.StatusOK, url.Values{"do": {"update"}, "ads_consent": {"true", "false"}, "fbclid": {"IwAR0"}})
		assert.False(t, w.stands(c).AdsConsent)
		assert.Nil(t, w.stands(c).AdsVisit.V)
	})
}

// The box is ticked by the buyer alone, stays ticked when the form comes back, and only then is anything of the visit kept.
func TestCheckoutPage_KeepsAVisitIfTheBuyerAgrees(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		w.asks(true)
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		page := w.page(c.URL+"?fbclid=IwAR0_x-Y.z&epik="+url.QueryEscape(`"><b>`)+"&ttclid=&page=2", http.StatusOK)
		assert.Contains(t, page, adsBox)
		assert.Contains(t, page, `<input type="hidden" name="fbclid" value="IwAR0_x-Y.z">`)
		assert.NotContains(t, page, `name="epik"`, "no click id looks like that")
		assert.Nil(t, w.stands(c).AdsVisit.V, "who looks at a page agrees to nothing")

		unticked := url.Values{"do": {"update"}, "ads_consent": {"false"}, "fbclid": {"IwAR0_x-Y.z"}}
		page = w.send(c.URL+"/pay", http.StatusOK, unticked)
		assert.Contains(t, page, adsBox)
		assert.Contains(t, page, `name="fbclid" value="IwAR0_x-Y.z"`)
		assert.Nil(t, w.stands(c).AdsVisit.V)

		ticked := card("4000000000000002", "3800") // which is declined
		ticked["ads_consent"], ticked["fbclid"] = []string{"true", "false"}, []string{"IwAR0_x-Y.z"}
		page = w.send(c.URL+"/pay", http.StatusOK, ticked)
		assert.Contains(t, page, adsTick)
		assert.Contains(t, page, `name="fbclid" value="IwAR0_x-Y.z"`)
		stored := w.stands(c)
		require.True(t, stored.AdsConsent)
		first := stored.AdsVisit.V.At
		assert.Equal(t, advert.Visit{
			PageURL: w.server.URL + "/checkout", ClickIDs: map[string]string{"fbclid": "IwAR0_x-Y.z"}, ClientIP: "203.0.113.7",
			UserAgent: browser, At: first,
		}, *stored.AdsVisit.V)

		assert.Contains(t, w.page(c.URL, http.StatusOK), adsBox, "another visit is asked again")
		w.now = w.now.Add(60e9)
		again := url.Values{"do": {"update"}, "ads_consent": {"true", "false"}}
		assert.Contains(t, w.send(c.URL+"/pay", http.StatusOK, again), adsTick)
		assert.Equal(t, map[string]string{"fbclid": "IwAR0_x-Y.z"}, w.stands(c).AdsVisit.V.ClickIDs, "what the address does not say any more")
		assert.Equal(t, first, w.stands(c).AdsVisit.V.At)

		w.send(c.URL+"/pay", http.StatusOK, unticked)
		assert.False(t, w.stands(c).AdsConsent)
		assert.Nil(t, w.stands(c).AdsVisit.V)
		w.post(c, http.StatusOK, again)
		assert.Empty(t, w.stands(c).AdsVisit.V.ClientIP, "an address inside is not the buyer's")
		w.asks(false)
		w.send(c.URL+"/pay", http.StatusOK, unticked)
		assert.False(t, w.stands(c).AdsConsent, "a no is always heard")
	})
}

// Who comes by a link has no checkout yet: the form carries what the ad appended, and the page is the link's.
func TestCheckoutLink_HandsOnWhatAnAdAppended(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		w.asks(true)
		link := w.link(catalog.PriceVariant{Amount: 1900}, nil)
		page := w.page(link.URL+"?epik=dj0yJnU9&utm_source=pinterest", http.StatusOK)
		assert.Contains(t, page, adsBox)
		assert.Contains(t, page, `name="epik" value="dj0yJnU9"`)
		assert.Contains(t, page, `name="utm_source" value="pinterest"`)
		form := w.offered(link.URL)
		form.Set("email", "grace@example.com")
		form["do"], form["ads_consent"], form["epik"] = []string{"update"}, []string{"true", "false"}, []string{"dj0yJnU9"}
		page = w.send(link.URL+"/pay", http.StatusOK, form)
		assert.Contains(t, page, adsTick)
		made := w.checkouts()[0]
		require.True(t, made.AdsConsent)
		assert.Equal(t, link.URL, made.AdsVisit.V.PageURL)
		assert.Equal(t, map[string]string{"epik": "dj0yJnU9"}, made.AdsVisit.V.ClickIDs)
		assert.Equal(t, "203.0.113.7", made.AdsVisit.V.ClientIP)
	})
}

func TestCheckoutPage_SaysWhoIsTold(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, engine string) {
		w := newShopOn(t, engine)
		w.asks(true)
		c := w.checkout(catalog.PriceVariant{Amount: 1900})
		assert.Contains(t, w.page(c.URL, http.StatusOK), "Tell the ad networks of Ada &lt;b&gt;&amp; sons&lt;/b&gt; of this purchase")
		for i, platform := range []advert.Platform{advert.PlatformPinterest, advert.PlatformInstagram, advert.PlatformFacebook} {
			_, err := w.Advert.CreateConversionDestination(t.Context(), w.account, &advert.SocialAccount{ID: string(platform), Platform: platform}, advert.NewConversionDestination{
				PixelID: string(rune('1' + i)), Events: []advert.ConversionKind{advert.ConversionPurchase}, Status: advert.DestinationActive,
			})
			require.NoError(t, err)
		}
		assert.Contains(t, w.page(c.URL, http.StatusOK), "Tell Meta (Facebook, Instagram) and Pinterest of this purchase")
	})
}
