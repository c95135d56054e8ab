package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

// TestAdSwitch_ThatStandsThereAlreadyAsksNobody switches to where it is while the network cannot be asked.
func TestAdSwitch_ThatStandsThereAlreadyAsksNobody(t *testing.T) {
	onNetworksAlone(t, func(t *testing.T, n onNetwork) {
		ad := n.ad(t, "Switch")
		unchanged(t, n.server, "a resume of what is active", func() {
			still := ok[*sdk.AdStatusResult](t)(n.AdGroups.Resume(background, ad.AdGroupID, n.body(), unreachable))
			assert.False(t, still.Changed, "resumed while active")
			assert.Equal(t, sdk.AdStatusActive, still.Status, "resumed while active")
			assert.Zero(t, still.Updated, "resumed while active")
		})
		_, err := n.AdGroups.Pause(background, ad.AdGroupID, n.body(), unreachable)
		refused(t, err, http.StatusInternalServerError, sdk.CodeAPIError, "")
		paused := ok[*sdk.AdStatusResult](t)(n.AdGroups.Pause(background, ad.AdGroupID, n.body()))
		assert.True(t, paused.Changed, "paused")
		assert.Equal(t, sdk.AdStatusPaused, paused.Status, "paused")
		assert.Equal(t, sdk.AdConfiguredStatusPaused, paused.ConfiguredStatus, "paused")
		assert.EqualValues(t, 1, paused.Updated, "paused")
		assert.Zero(t, paused.Skipped, "paused")
		unchanged(t, n.server, "a pause of what is paused", func() {
			still := ok[*sdk.AdStatusResult](t)(n.AdGroups.Pause(background, ad.AdGroupID, n.body(), unreachable))
			assert.False(t, still.Changed, "paused while paused")
			assert.Equal(t, sdk.AdStatusPaused, still.Status, "paused while paused")
		})
		resumed := ok[*sdk.AdStatusResult](t)(n.AdGroups.Resume(background, ad.AdGroupID, n.body()))
		assert.True(t, resumed.Changed, "resumed")
		assert.Equal(t, sdk.AdStatusActive, resumed.Status, "resumed")
		assert.EqualValues(t, 1, resumed.Updated, "resumed")
	})
}

func TestAdSwitch_OfWhatIsOver(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		over := n.groups(t, n.external(t, sdk.AdStatusCompleted).ID)[0]
		draft := n.draft("Refused by the review")
		draft.Headline, draft.Body = new("[reject] me"), new("[reject] me")
		rejected := n.adOf(t, draft)
		errs := map[string]error{}
		_, errs["pause completed"] = n.AdGroups.Pause(background, over.ID, n.body())
		_, errs["resume completed"] = n.AdGroups.Resume(background, over.ID, n.body())
		_, errs["pause rejected"] = n.AdGroups.Pause(background, rejected.AdGroupID, n.body())
		_, errs["resume rejected"] = n.AdGroups.Resume(background, rejected.AdGroupID, n.body())
		for what, err := range errs {
			t.Log(what)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		}
		gone := n.ad(t, "Deleted")
		ok[*sdk.DeletedAdCampaign](t)(n.AdCampaigns.Delete(background, gone.CampaignID, n.body()))
		for _, id := range []string{gone.AdGroupID, "nothing"} {
			_, err := n.AdGroups.Pause(background, id, n.body())
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
			_, err = n.AdGroups.Resume(background, id, n.body())
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		}
	})
}

// TestAdSwitch_LeavesWhatIsOverBelow switches an ad group that has an ad which the review refused.
func TestAdSwitch_LeavesWhatIsOverBelow(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad := n.ad(t, "Good")
		bad := n.draft("Bad")
		bad.Headline, bad.Body = new("[reject] me"), new("[reject] me")
		bad.AdGroupID, bad.Goal, bad.BudgetAmount, bad.BudgetType = &ad.AdGroupID, nil, nil, nil
		ok[*sdk.Ad](t)(n.Ads.Create(background, bad))
		paused := ok[*sdk.AdStatusResult](t)(n.AdGroups.Pause(background, ad.AdGroupID, n.body()))
		assert.True(t, paused.Changed, "paused")
		assert.EqualValues(t, 1, paused.Updated, "paused")
		assert.EqualValues(t, 1, paused.Skipped, "paused")
		require.Len(t, paused.SkippedReasons, 1, "paused")
		assert.Contains(t, paused.SkippedReasons[0], "rejected", "paused")
	})
}

func TestAdSwitch_InAPausedCampaign(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		group := n.groups(t, n.external(t, sdk.AdStatusPaused).ID)[0]
		require.Equal(t, sdk.AdStatusPaused, group.Status, "the ad group of a paused campaign")
		require.Equal(t, sdk.AdConfiguredStatusActive, group.ConfiguredStatus, "the ad group of a paused campaign")
		ok[*sdk.AdStatusResult](t)(n.AdGroups.Pause(background, group.ID, n.body()))
		resumed := ok[*sdk.AdStatusResult](t)(n.AdGroups.Resume(background, group.ID, n.body()))
		assert.True(t, resumed.Changed, "resumed")
		assert.Equal(t, sdk.AdConfiguredStatusActive, resumed.ConfiguredStatus, "resumed")
		assert.Equal(t, sdk.AdStatusPaused, resumed.Status, "resumed")
		assert.Contains(t, strings.ToLower(resumed.Message), "campaign", "resumed")
		assert.Contains(t, resumed.Message, "resume", "resumed")
		read := ok[*sdk.AdGroup](t)(n.AdGroups.Get(background, group.ID, nil))
		assert.Equal(t, sdk.AdStatusPaused, read.Status)
		assert.Equal(t, sdk.AdConfiguredStatusActive, read.ConfiguredStatus)
	})
}
