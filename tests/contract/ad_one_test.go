package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestOneAd_OnEachNetwork(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad := n.ad(t, "One")
		for _, path := range []string{"/v1/ads/" + ad.ID, "/v1/ads/" + percentEncoded(ad.ID)} {
			got := n.raw.Must(t, http.MethodGet, path, nil)
			assert.Equal(t, ad.ID, got["id"], path)
			assert.Equal(t, "ad", got["object"], path)
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
		assert.Equal(t, "Another", renamed.Name, "renamed")
		require.NotNil(t, renamed.Creative.Body, "renamed")
		assert.Equal(t, *ad.Creative.Body, *renamed.Creative.Body, "renamed")
		gone := ok[*sdk.DeletedAd](t)(n.Ads.Delete(background, ad.ID, n.body()))
		assert.Equal(t, ad.ID, gone.ID, "deleted")
		assert.Equal(t, "ad", gone.Object, "deleted")
		assert.True(t, bool(gone.Deleted), "deleted")
		assert.Equal(t, n.platform, gone.Platform, "deleted")
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
	assert.Equal(t, "ad_status_result", paused.Object, "paused")
	assert.EqualValues(t, "ad", paused.Type, "paused")
	assert.Equal(t, ad.ID, paused.ID, "paused")
	assert.True(t, paused.Changed, "paused")
	assert.Equal(t, sdk.AdStatusPaused, paused.Status, "paused")
	assert.EqualValues(t, 1, paused.Updated, "paused")
	if still := ok[*sdk.AdStatusResult](t)(n.Ads.Pause(background, ad.ID, n.body(), unreachable)); still.Changed {
		t.Errorf("paused again, it is %+v", still)
	}
	if group := ok[*sdk.AdGroup](t)(n.AdGroups.Get(background, ad.AdGroupID, nil)); group.ConfiguredStatus != sdk.AdConfiguredStatusActive {
		t.Errorf("its ad group is %s", group.ConfiguredStatus)
	}
	resumed := ok[*sdk.AdStatusResult](t)(n.Ads.Resume(background, ad.ID, n.body()))
	assert.True(t, resumed.Changed, "resumed")
	assert.Equal(t, sdk.AdConfiguredStatusActive, resumed.ConfiguredStatus, "resumed")
	assert.Equal(t, sdk.AdStatusActive, resumed.Status, "resumed")
	assert.EqualValues(t, 1, resumed.Updated, "resumed")
	off := ok[*sdk.Ad](t)(n.Ads.Update(background, ad.ID, &sdk.AdUpdate{Platform: &n.platform, Status: new(sdk.AdConfiguredStatusPaused)}))
	assert.Equal(t, sdk.AdStatusPaused, off.Status, "paused by a change")
	assert.Equal(t, sdk.AdConfiguredStatusPaused, off.ConfiguredStatus, "paused by a change")
	plan := ok[*sdk.AdPlan](t)(n.Ads.PlanUpdate(background, ad.ID, &sdk.AdUpdate{Platform: &n.platform, Status: new(sdk.AdConfiguredStatusActive)}, unreachable))
	assert.EqualValues(t, "update_ad", plan.Operation, "the plan")
	assert.Len(t, plan.Calls, 1, "the plan")
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
