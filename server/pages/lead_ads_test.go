package pages_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

const leadAdsBox = `<input id="tells-join" type="checkbox" name="ads_consent" value="true" aria-describedby="ads-join">`

// asksLeads switches the box of forms on or off.
func (w *shop) asksLeads(on bool) {
	w.t.Helper()
	_, err := w.Tenant.UpdateAccount(w.t.Context(), w.account, func(a *tenant.AccountChange) { a.LeadAdsConsent = on })
	require.NoError(w.t, err)
}

// joins sends the form on the page of a site as a browser at a network address outside does, and returns the answer.
func (w *shop) joins(site *content.AISite, page string, fields url.Values, status int) string {
	w.t.Helper()
	w.now = w.now.Add(3 * time.Second)
	fields.Set("form_token", siteFormToken.FindStringSubmatch(page)[1])
	for _, param := range []string{"fbclid", "epik"} {
		if _, after, found := strings.Cut(page, `<input type="hidden" name="`+param+`" value="`); found {
			value, _, _ := strings.Cut(after, `"`)
			fields.Set(param, html.UnescapeString(value))
		}
	}
	to := w.server.URL + "/leads/" + site.AccountID + "/" + site.ID + "/join"
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, to, strings.NewReader(fields.Encode()))
	require.NoError(w.t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("User-Agent", browser)
	request.Header.Set("X-Forwarded-For", "203.0.113.7")
	response, err := http.DefaultClient.Do(request)
	require.NoError(w.t, err)
	return w.readStrange(response, status)
}

// tells makes a pixel that is told of leads, and returns what waits to be told to it, newest first.
func (w *shop) tells() func() []advert.Conversion {
	w.t.Helper()
	_, err := w.Advert.CreateConversionDestination(w.t.Context(), w.account, &advert.SocialAccount{ID: "sacct_1", Platform: advert.PlatformFacebook}, advert.NewConversionDestination{
		PixelID: "1", Events: []advert.ConversionKind{advert.ConversionLead}, Status: advert.DestinationActive,
	})
	require.NoError(w.t, err)
	return func() []advert.Conversion {
		told, _, err := w.Advert.ListConversions(w.t.Context(), w.account, advert.ListConversions{Page: core.Page{Limit: 10}})
		require.NoError(w.t, err)
		return told
	}
}

func TestLeadForm_AsksNobodyAboutAdsUnlessTheSellerWants(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, dbURL string) {
		w := newShopOn(t, dbURL)
		told := w.tells()
		site := w.publish(`{"id": "join", "type": "lead_form", "heading": "Join"}`)
		page := w.visit(site.URL + "?fbclid=IwAR0")
		assert.NotContains(t, page, "ads_consent")
		assert.NotContains(t, page, "IwAR0")
		w.joins(site, page, url.Values{"email": {"grace@example.com"}, "ads_consent": {"true"}, "fbclid": {"IwAR0"}}, http.StatusOK)
		assert.False(t, w.lead("grace@example.com").AdsConsent)
		assert.Empty(t, told())
	})
}

// The page is kept for all visitors, and hands on what an ad appended for this one alone.
func TestLeadForm_TellsAdNetworksOfWhoTicksTheBox(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, dbURL string) {
		w := newShopOn(t, dbURL)
		w.asksLeads(true)
		site := w.publish(`{"id": "join", "type": "lead_form", "heading": "Join"}`)
		assert.Contains(t, w.visit(site.URL), "Tell the ad networks of Ada", "who sells")
		told := w.tells()
		page := w.visit(site.URL + "?fbclid=IwAR0_x-Y.z&epik=" + url.QueryEscape(`"><b>`) + "&page=2")
		assert.Contains(t, page, leadAdsBox, "nobody but the visitor ticks it")
		assert.Contains(t, page, "Tell Meta (Facebook, Instagram) that I left my address here")
		assert.NotContains(t, page, "confirmed my address")
		assert.Contains(t, page, `<input type="hidden" name="fbclid" value="IwAR0_x-Y.z">`)
		assert.NotContains(t, page, `name="epik"`, "no click id looks like that")
		assert.NotContains(t, w.visit(site.URL), "IwAR0")

		w.joins(site, page, url.Values{"email": {"silent@example.com"}}, http.StatusOK)
		assert.False(t, w.lead("silent@example.com").AdsConsent)
		require.Empty(t, told())

		again := w.joins(site, page, url.Values{"email": {"nobody"}, "ads_consent": {"true"}}, http.StatusUnprocessableEntity)
		assert.Contains(t, again, leadAdsBox, "another site may have sent the tick")
		assert.Contains(t, again, `name="fbclid" value="IwAR0_x-Y.z"`)
		w.joins(site, again, url.Values{"email": {"grace@example.com"}, "ads_consent": {"true"}}, http.StatusOK)
		l := w.lead("grace@example.com")
		require.True(t, l.AdsConsent)
		require.Len(t, told(), 1)
		user := told()[0].User.V
		assert.Equal(t, advert.ConversionUser{
			Email: advert.HashOf("grace@example.com"), ExternalID: advert.HashOf(l.CustomerID), ClientIP: "203.0.113.7", UserAgent: browser, PageURL: site.URL,
			ClickID: "IwAR0_x-Y.z", ClickAt: user.ClickAt,
		}, user)
	})
}

func TestSubscribe_SaysThatAdNetworksAreToldThen(t *testing.T) {
	eachForm(t, func(t *testing.T, w *shop) {
		w.asksLeads(true)
		told := w.tells()
		site := w.publish(`{"id": "other", "type": "lead_form", "heading": "Win"}, {"id": "join", "type": "lead_form", "heading": "Join", "consent_text": "Write to me"}`)
		page := w.visit(site.URL + "?fbclid=IwAR0")
		assert.Contains(t, page, leadAdsBox)
		assert.NotContains(t, page, "ads-other", "who is sent no letter cannot confirm")
		assert.Contains(t, page, "Once I have confirmed my address, they get")
		w.joins(site, page, url.Values{"email": {"grace@example.com"}, "consent": {"true"}, "ads_consent": {"true"}}, http.StatusOK)
		require.Len(t, told(), 1)
		require.True(t, told()[0].IsHeld())
		require.NoError(t, w.mails(mailServer{w}))
		link := w.subscribeLink()
		assert.Contains(t, w.page(link, http.StatusOK), "agreed that ad networks are told")
		require.True(t, told()[0].IsHeld(), "a program that follows links changes nothing")
		w.posts(link, http.StatusOK)
		assert.False(t, told()[0].IsHeld())

		page = w.visit(site.URL)
		w.joins(site, page, url.Values{"email": {"alan@example.com"}, "ads_consent": {"true"}}, http.StatusOK)
		w.joins(site, page, url.Values{"email": {"alan@example.com"}, "consent": {"true"}}, http.StatusOK)
		require.NoError(t, w.mails(mailServer{w}))
		assert.NotContains(t, w.page(w.subscribeLink(), http.StatusOK), "ad networks", "nothing waits to be told of them")

		w.leaves("ada@example.com", "203.0.113.7")
		require.NoError(t, w.mails(mailServer{w}))
		assert.NotContains(t, w.page(w.subscribeLink(), http.StatusOK), "ad networks")
	})
}
