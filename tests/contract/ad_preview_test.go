package contract

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

// pageOf returns what a preview shows, which in the sandbox is its address.
func pageOf(t *testing.T, p *sdk.AdPreview) string {
	t.Helper()
	text, isPage := strings.CutPrefix(p.HTMLURL, "data:text/html;base64,")
	page, err := base64.StdEncoding.DecodeString(text)
	require.True(t, isPage, "the address is %s", p.HTMLURL)
	require.NoError(t, err, "the address is %s", p.HTMLURL)
	return string(page)
}

// TestPreviewNewAd_ShowsWhatTheCapabilitiesSay holds every yes against a preview, and every no against a refusal.
func TestPreviewNewAd_ShowsWhatTheCapabilitiesSay(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		before := len(n.natives(t))
		for kind, show := range shows {
			draft := n.draft("Preview of " + string(kind))
			show(draft)
			shown, err := n.Ads.PreviewNew(background, draft)
			switch {
			case !n.can.Previews:
				refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "account_id")
			case !slices.Contains(n.can.Media.Previewable, sdk.AdMediaRulesPreviewable(kind)):
				refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, mediaFields[kind])
			case err != nil:
				t.Errorf("%s: %v", kind, err)
			default:
				assert.Equal(t, "ad_preview", shown.Object, "the preview")
				assert.Equal(t, n.platform, shown.Platform, "the preview")
				assert.Equal(t, n.platform == sdk.AdPlatformPinterest, shown.ExpiresAt != nil, "the preview")
				if page := pageOf(t, shown); !strings.Contains(page, *draft.Headline) {
					t.Errorf("it shows %s", page)
				}
			}
		}
		if after := len(n.natives(t)); after != before {
			t.Errorf("previews made %d ads", after-before)
		}
	})
}

func TestPreviewAd_ShowsAnAdThatIsThere(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad := ok[*sdk.Ad](t)(n.Ads.Create(background, n.draft("Made")))
		shown, err := n.Ads.Preview(background, ad.ID, n.body())
		if !n.can.Previews {
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if page := pageOf(t, shown); !strings.Contains(page, *ad.Creative.Headline) {
			t.Errorf("it shows %s", page)
		}
		if end := shown.ExpiresAt; n.platform == sdk.AdPlatformPinterest && (end == nil || end.Time().Before(time.Now().Add(6*24*time.Hour))) {
			t.Errorf("it ends at %v", end)
		}
		_, err = n.Ads.Preview(background, "404", n.body())
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		ok[*sdk.DeletedAd](t)(n.Ads.Delete(background, ad.ID, n.body()))
		_, err = n.Ads.Preview(background, ad.ID, n.body())
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

// TestPreviewNewAd_ReadsTheBodyAsThatOfAnAd tries what is wrong with an ad, and with a preview of one.
func TestPreviewNewAd_ReadsTheBodyAsThatOfAnAd(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		for param, change := range map[string]func(*sdk.AdCreate){
			"goal":           func(d *sdk.AdCreate) { d.Goal = new(sdk.AdGoalJobApplicants) },
			"headline":       func(d *sdk.AdCreate) { d.Headline = nil },
			"budget_amount":  func(d *sdk.AdCreate) { d.BudgetAmount = new(json.Number("0.5")) },
			"call_to_action": func(d *sdk.AdCreate) { d.CallToAction = new("JUMP") },
			"creatives": func(d *sdk.AdCreate) {
				d.Creatives = []sdk.AdNamedCreative{{Name: "One", Headline: d.Headline, Body: d.Body, CallToAction: d.CallToAction, LinkURL: d.LinkURL, ImageURL: d.ImageURL}}
				d.Headline, d.Body, d.CallToAction, d.LinkURL, d.ImageURL = nil, nil, nil, nil, nil
			},
			"cards": func(d *sdk.AdCreate) {
				shows["carousel"](d)
				d.Cards[0].ImageURL, d.Cards[0].VideoURL = nil, new("https://example.com/go.mp4")
			},
		} {
			draft := n.draft("Wrong")
			change(draft)
			_, err := n.Ads.PreviewNew(background, draft)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
		draft := n.draft("Elsewhere")
		draft.AdAccountID = "404"
		_, err := n.Ads.PreviewNew(background, draft)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "ad_account_id")
	})
}

// TestPreviewNewAd_RunsNothing shows texts that would be programs if they were not written as texts.
func TestPreviewNewAd_RunsNothing(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformInstagram, func(t *testing.T, n onNetwork) {
		draft := n.draft("Hostile")
		draft.Headline, draft.ImageURL = new(`<script>alert(1)</script>`), new(`https://example.com/"onerror="alert(1)`)
		page := pageOf(t, ok[*sdk.AdPreview](t)(n.Ads.PreviewNew(background, draft)))
		assert.NotContains(t, page, "<script", "the page")
		assert.NotContains(t, page, `"onerror`, "the page")
		assert.Contains(t, page, "default-src 'none'", "the page")
	})
}

// TestPreviewNewAd_SaysWhatThePageDoesNotShow reads the warnings.
func TestPreviewNewAd_SaysWhatThePageDoesNotShow(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformPinterest, func(t *testing.T, n onNetwork) {
		draft := n.draft("Described")
		draft.Description = new("Small print.")
		shown := ok[*sdk.AdPreview](t)(n.Ads.PreviewNew(background, draft))
		for _, field := range []string{"description", "body", "call_to_action", "link_url"} {
			if !slices.ContainsFunc(shown.Warnings, func(w string) bool { return strings.HasPrefix(w, field+" ") }) {
				t.Errorf("%s is not in the warnings %q", field, shown.Warnings)
			}
		}
		if strings.Contains(pageOf(t, shown), *draft.Body) {
			t.Errorf("the page shows what it is said not to")
		}
	})
}
