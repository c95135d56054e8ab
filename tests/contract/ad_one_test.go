package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestOneAd_OnEachNetwork(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad := n.ad(t, "One")
		for _, path := range []string{"/v1/ads/" + ad.ID, "/v1/ads/" + percentEncoded(ad.ID)} {
			if got := n.raw.Must(t, http.MethodGet, path, nil); got["id"] != ad.ID || got["object"] != "ad" {
				t.Errorf("%s is %v", path, got)
			}
		}
		if slices.Contains(n.can.PauseLevels, "ad") {
			n.switchesOneAd(t, ad)
		} else {
			for _, turn := range []func() error{
				func() error { _, err := n.Ads.Pause(background, ad.ID, n.body()); return err },
				func() error { _, err := n.Ads.Resume(background, ad.ID, n.body()); return err },
			} {
				refused(t, turn(), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
			}
			_, err := n.Ads.Update(background, ad.ID, &sdk.AdUpdate{Platform: &n.platform, Status: new(sdk.AdConfiguredStatusPaused)})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		}
		renamed := ok[*sdk.Ad](t)(n.Ads.Update(background, ad.ID, &sdk.AdUpdate{Platform: &n.platform, Name: new("Another")}))
		if renamed.Name != "Another" || renamed.Creative.Body == nil || *renamed.Creative.Body != *ad.Creative.Body {
			t.Errorf("renamed, it is %+v", renamed)
		}
		gone := ok[*sdk.DeletedAd](t)(n.Ads.Delete(background, ad.ID, n.body()))
		if gone.ID != ad.ID || gone.Object != "ad" || !gone.Deleted || gone.Platform != n.platform {
			t.Errorf("deleted, it is %+v", gone)
		}
		_, err := n.Ads.Delete(background, ad.ID, n.body())
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		if group := ok[*sdk.AdGroup](t)(n.AdGroups.Get(background, ad.AdGroupID, nil)); group.Status == sdk.AdStatusCancelled {
			t.Errorf("its ad group is %s", group.Status)
		}
	})
}

func (n onNetwork) switchesOneAd(t *testing.T, ad *sdk.Ad) {
	t.Helper()
	paused := ok[*sdk.AdStatusResult](t)(n.Ads.Pause(background, ad.ID, n.body()))
	if paused.Object != "ad_status_result" || paused.Type != "ad" || paused.ID != ad.ID || !paused.Changed || paused.Status != sdk.AdStatusPaused || paused.Updated != 1 {
		t.Errorf("paused, it is %+v", paused)
	}
	if still := ok[*sdk.AdStatusResult](t)(n.Ads.Pause(background, ad.ID, n.body(), unreachable)); still.Changed {
		t.Errorf("paused again, it is %+v", still)
	}
	if group := ok[*sdk.AdGroup](t)(n.AdGroups.Get(background, ad.AdGroupID, nil)); group.ConfiguredStatus != sdk.AdConfiguredStatusActive {
		t.Errorf("its ad group is %s", group.ConfiguredStatus)
	}
	resumed := ok[*sdk.AdStatusResult](t)(n.Ads.Resume(background, ad.ID, n.body()))
	if !resumed.Changed || resumed.ConfiguredStatus != sdk.AdConfiguredStatusActive || resumed.Status != sdk.AdStatusActive || resumed.Updated != 1 {
		t.Errorf("resumed, it is %+v", resumed)
	}
	off := ok[*sdk.Ad](t)(n.Ads.Update(background, ad.ID, &sdk.AdUpdate{Platform: &n.platform, Status: new(sdk.AdConfiguredStatusPaused)}))
	if off.Status != sdk.AdStatusPaused || off.ConfiguredStatus != sdk.AdConfiguredStatusPaused {
		t.Errorf("paused by a change, it is %s", off.Status)
	}
	plan := ok[*sdk.AdPlan](t)(n.Ads.PlanUpdate(background, ad.ID, &sdk.AdUpdate{Platform: &n.platform, Status: new(sdk.AdConfiguredStatusActive)}, unreachable))
	if plan.Operation != "update_ad" || len(plan.Calls) != 1 {
		t.Errorf("the plan is %+v", plan)
	}
}

// TestOneAd_IsNotAFixedPath asks for ads whose id would be the name of something else.
func TestOneAd_IsNotAFixedPath(t *testing.T) {
	onOneNetwork(t, sdk.AdPlatformFacebook, func(t *testing.T, n onNetwork) {
		for _, op := range harness.Operations() {
			word, below := strings.CutPrefix(op.Path, "/v1/ads/")
			if !below || strings.ContainsAny(word, "/{") {
				continue
			}
			n.send(t, http.MethodDelete, "/v1/ads/"+word, `{"platform":"facebook"}`).Fault(t, http.StatusMethodNotAllowed, sdk.CodeMethodNotAllowed)
		}
		for _, id := range []string{"act_1", "urn:li:sponsoredCreative:1", "urn%3Ali%3AsponsoredCreative%3A1"} {
			n.send(t, http.MethodGet, "/v1/ads/"+id, "").Fault(t, http.StatusNotFound, sdk.CodeResourceMissing)
		}
		_, err := n.Ads.Update(background, "nothing", &sdk.AdUpdate{Platform: new(sdk.AdPlatform("myspace"))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
	})
}
