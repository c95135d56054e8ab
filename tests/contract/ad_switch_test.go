package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/sdk"
)

// TestAdSwitch_ThatStandsThereAlreadyAsksNobody switches to where it is while the network cannot be asked.
func TestAdSwitch_ThatStandsThereAlreadyAsksNobody(t *testing.T) {
	onNetworksAlone(t, func(t *testing.T, n onNetwork) {
		ad := n.ad(t, "Switch")
		unchanged(t, n.server, "a resume of what is active", func() {
			if still := ok[*sdk.AdStatusResult](t)(n.AdGroups.Resume(background, ad.AdGroupID, n.body(), unreachable)); still.Changed || still.Status != sdk.AdStatusActive || still.Updated != 0 {
				t.Errorf("resumed while active, it is %+v", still)
			}
		})
		_, err := n.AdGroups.Pause(background, ad.AdGroupID, n.body(), unreachable)
		refused(t, err, http.StatusInternalServerError, sdk.CodeAPIError, "")
		paused := ok[*sdk.AdStatusResult](t)(n.AdGroups.Pause(background, ad.AdGroupID, n.body()))
		if !paused.Changed || paused.Status != sdk.AdStatusPaused || paused.ConfiguredStatus != sdk.AdConfiguredStatusPaused || paused.Updated != 1 || paused.Skipped != 0 {
			t.Errorf("paused, it is %+v", paused)
		}
		unchanged(t, n.server, "a pause of what is paused", func() {
			if still := ok[*sdk.AdStatusResult](t)(n.AdGroups.Pause(background, ad.AdGroupID, n.body(), unreachable)); still.Changed || still.Status != sdk.AdStatusPaused {
				t.Errorf("paused while paused, it is %+v", still)
			}
		})
		if resumed := ok[*sdk.AdStatusResult](t)(n.AdGroups.Resume(background, ad.AdGroupID, n.body())); !resumed.Changed || resumed.Status != sdk.AdStatusActive || resumed.Updated != 1 {
			t.Errorf("resumed, it is %+v", resumed)
		}
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
		if !paused.Changed || paused.Updated != 1 || paused.Skipped != 1 || len(paused.SkippedReasons) != 1 || !strings.Contains(paused.SkippedReasons[0], "rejected") {
			t.Errorf("paused, it is %+v", paused)
		}
	})
}

func TestAdSwitch_InAPausedCampaign(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		group := n.groups(t, n.external(t, sdk.AdStatusPaused).ID)[0]
		if group.Status != sdk.AdStatusPaused || group.ConfiguredStatus != sdk.AdConfiguredStatusActive {
			t.Fatalf("the ad group of a paused campaign is %+v", group)
		}
		ok[*sdk.AdStatusResult](t)(n.AdGroups.Pause(background, group.ID, n.body()))
		resumed := ok[*sdk.AdStatusResult](t)(n.AdGroups.Resume(background, group.ID, n.body()))
		if !resumed.Changed || resumed.ConfiguredStatus != sdk.AdConfiguredStatusActive || resumed.Status != sdk.AdStatusPaused ||
			!strings.Contains(strings.ToLower(resumed.Message), "campaign") || !strings.Contains(resumed.Message, "resume") {
			t.Errorf("resumed, it is %+v", resumed)
		}
		read := ok[*sdk.AdGroup](t)(n.AdGroups.Get(background, group.ID, nil))
		if read.Status != sdk.AdStatusPaused || read.ConfiguredStatus != sdk.AdConfiguredStatusActive {
			t.Errorf("read, it is %+v", read)
		}
	})
}
