package contract

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// drift lets a campaign of the channel drift.
func (a advertiser) drift(t *testing.T, campaign string, kind sdk.AdDriftKind) {
	t.Helper()
	drifted := ok[*sdk.AdDrift](t)(a.TestHelpers.DriftAds(background, &sdk.AdDriftCreate{AccountID: a.channel, CampaignID: &campaign, Kind: kind}))
	assert.Equal(t, "ad_drift", drifted.Object)
	assert.Equal(t, a.channel, drifted.AccountID)
	assert.Equal(t, a.account, drifted.AdAccountID)
	assert.Equal(t, campaign, drifted.CampaignID)
	assert.Equal(t, kind, drifted.Kind)
}

// TestDriftAds_IsSeenAfterASync lets a campaign of each network drift in every way, and looks at it before and after a
// sync.
func TestDriftAds_IsSeenAfterASync(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad := n.budgeted(t, "Here")
		state := func() []any {
			t.Helper()
			c := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, ad.CampaignID, nil))
			budget := c.Budget
			if budget == nil {
				budget = ok[*sdk.AdGroup](t)(n.AdGroups.Get(background, ad.AdGroupID, nil)).Budget
			}
			return []any{c.Name, c.ConfiguredStatus, budget.Formatted, c.Status == sdk.AdStatusCancelled}
		}
		for i, kind := range []sdk.AdDriftKind{sdk.AdDriftKindRename, sdk.AdDriftKindPause, sdk.AdDriftKindResume, sdk.AdDriftKindBudget, sdk.AdDriftKindDelete} {
			before := state()
			n.drift(t, ad.CampaignID, kind)
			ok[*sdk.SocialAccount](t)(n.Socials.Sync(background, n.channel))
			changed := []int{0, 1, 1, 2, 3}[i]
			for at, is := range state() {
				if (is != before[at]) != (at == changed) {
					t.Errorf("%s: %v became %v", kind, before[at], is)
				}
			}
		}
		_, err := n.TestHelpers.DriftAds(background, &sdk.AdDriftCreate{AccountID: n.channel, CampaignID: &ad.CampaignID, Kind: sdk.AdDriftKindPause})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "campaign_id")
	})
}

func TestDriftAds_TakesTheNewestCampaignOfItsChannel(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a, other := advertise(t, c, sdk.AdPlatformFacebook), advertise(t, c, sdk.AdPlatformFacebook)
		ad, foreign := a.ad(t, "Newest"), other.ad(t, "Another channel's")
		drifted := ok[*sdk.AdDrift](t)(a.TestHelpers.DriftAds(background, &sdk.AdDriftCreate{AccountID: a.channel, Kind: sdk.AdDriftKindRename}))
		assert.Equal(t, ad.CampaignID, drifted.CampaignID)
		assert.Equal(t, sdk.AdPlatformFacebook, drifted.Platform)
		_, err := c.TestHelpers.DriftAds(background, &sdk.AdDriftCreate{AccountID: a.channel, CampaignID: &foreign.CampaignID, Kind: sdk.AdDriftKindDelete})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "campaign_id")
		_, err = c.TestHelpers.DriftAds(background, &sdk.AdDriftCreate{AccountID: randomID("sacct"), Kind: sdk.AdDriftKindDelete})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "account_id")
		_, err = c.TestHelpers.DriftAds(background, &sdk.AdDriftCreate{AccountID: a.channel, Kind: "explode"})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "kind")
		ok[*sdk.SocialAccount](t)(c.Socials.Deactivate(background, a.channel))
		_, err = c.TestHelpers.DriftAds(background, &sdk.AdDriftCreate{AccountID: a.channel, Kind: sdk.AdDriftKindRename})
		refused(t, err, http.StatusConflict, sdk.CodeAccountNotActivated, "account_id")
	})
}

// Whoever makes pages sees all parts of them on a server for development.
func TestDevelopment_ShowsTheParts(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		for path, says := range map[string]string{"/dev/parts": "Parts of buyers' pages", "/dev/parts/dashboard?locale=ar-XB": `dir="rtl"`} {
			response, err := http.Get(s.URL + path)
			require.NoError(t, err)
			page, err := io.ReadAll(response.Body)
			response.Body.Close()
			require.NoError(t, err)
			assert.Equal(t, http.StatusOK, response.StatusCode, path)
			assert.Contains(t, string(page), says, path)
		}
	})
}
