package contract

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/tests/harness"
)

// advertise activates two channels, and makes an ad and an audience on one of them.
func (w *world) advertise(t testing.TB) {
	t.Helper()
	agency := w.make(t, "agency", "/v1/socials", map[string]any{"platform": "tiktok"})
	w.Must(t, http.MethodPost, "/v1/socials/activate", map[string]any{"account_id": agency["id"]})
	w.IDs["bc"] = w.first(t, "/v1/ads/business-centers?account_id="+w.IDs["agency"], nil)
	channel := w.make(t, "sacct", "/v1/socials", map[string]any{"platform": "facebook"})
	w.Must(t, http.MethodPost, "/v1/socials/activate", map[string]any{"account_id": channel["id"]})
	w.IDs["ad_account"] = w.first(t, "/v1/ads/ad-accounts?account_id="+w.IDs["sacct"], func(a map[string]any) bool { return a["selectable"] == true && a["currency"] == "usd" })
	w.IDs["spost"] = w.first(t, "/v1/socials/"+w.IDs["sacct"]+"/posts", func(p map[string]any) bool { return p["status"] == "published" })
	ad := w.make(t, "ad", "/v1/ads", w.own(harness.ByID("createAd"), "", harness.ByID("createAd").Example()).(map[string]any))
	w.IDs["campaign"], w.IDs["ad_group"] = ad["campaign_id"].(string), ad["ad_group_id"].(string)
	shared := w.own(harness.ByID("createAd"), "", harness.ByID("createAd").Example()).(map[string]any)
	shared["budget_level"], shared["bid_strategy"], shared["bid_amount"] = "campaign", "COST_CAP", 2 // so that it can bid otherwise
	w.Bidding = w.Must(t, http.MethodPost, "/v1/ads", shared)["campaign_id"].(string)
	w.make(t, "aud", "/v1/ads/audiences", map[string]any{
		"account_id": w.IDs["sacct"], "ad_account_id": w.IDs["ad_account"], "name": "Buyers", "type": "customer_list",
	})
	w.IDs["adact"] = w.first(t, "/v1/ads/actions", nil)
	w.consent(t)
	w.convert(t)
}

// convert tells a pixel of a sale that was made elsewhere, so that nothing moves by itself any more.
func (w *world) convert(t testing.TB) {
	t.Helper()
	w.IDs["pixel"] = w.first(t, "/v1/ads/pixels?account_id="+w.IDs["sacct"]+"&ad_account_id="+w.IDs["ad_account"], nil)
	create := harness.ByID("createConversionDestination")
	w.make(t, "cdest", "/v1/ads/conversion-destinations", w.own(create, "", create.Example()).(map[string]any))
	tell := harness.ByID("createConversions")
	w.Must(t, http.MethodPost, "/v1/ads/conversions", w.own(tell, "", tell.Example()))
	if err := w.networks.TellConversions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !comes(func() bool { // the server's own worker may be at it as well
		told := w.Must(t, http.MethodGet, "/v1/ads/conversions?status=sent&destination_id="+w.IDs["cdest"], nil)["data"].([]any)
		if len(told) == 1 {
			w.IDs["conv"] = told[0].(map[string]any)["id"].(string)
		}
		return len(told) == 1
	}) {
		t.Fatal("the conversion was not told")
	}
}

// consent begins a connection, for which somebody consents to two profiles.
func (w *world) consent(t testing.TB) {
	t.Helper()
	begun := w.make(t, "sconn", "/v1/socials/connect", map[string]any{"platform": "facebook", "return_url": "http://localhost/back"})
	page, err := url.Parse(begun["url"].(string))
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.networks.FollowConsent(t.Context(), ads.ConsentReturn{
		Platform: "facebook", State: page.Query().Get("state"), Code: ads.Secret("several." + page.Query().Get("code_challenge")),
	})
	require.NoError(t, err, "nobody consented")
	require.NotNil(t, c, "nobody consented")
	w.IDs["profile"] = c.Profiles.V[0].ID
}
