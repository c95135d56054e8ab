package contract

import (
	"net/http"
	"testing"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

var onFacebook = &sdk.AdPlatformBody{Platform: new(sdk.AdPlatformFacebook)}

func TestPauseAdGroup_MovesItsSwitchOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		ad := a.ad(t, "Switched")
		paused := ok[*sdk.AdStatusResult](t)(c.AdGroups.Pause(background, ad.AdGroupID, onFacebook))
		if paused.Object != "ad_status_result" || paused.Type != "ad_group" || paused.ID != ad.AdGroupID || !paused.Changed ||
			paused.Status != sdk.AdStatusPaused || paused.ConfiguredStatus != sdk.AdConfiguredStatusPaused {
			t.Errorf("paused, it is %+v", paused)
		}
		again := ok[*sdk.AdStatusResult](t)(c.AdGroups.Pause(background, ad.AdGroupID, onFacebook, sdk.WithHeader("X-Sandbox-Fault", "5xx")))
		if again.Changed {
			t.Errorf("paused again, it is %+v", again)
		}
		group := ok[*sdk.AdGroup](t)(c.AdGroups.Get(background, ad.AdGroupID, nil))
		if group.Status != sdk.AdStatusPaused || group.ConfiguredStatus != sdk.AdConfiguredStatusPaused {
			t.Errorf("the ad group is %+v", group)
		}
		resumed := ok[*sdk.AdStatusResult](t)(c.AdGroups.Resume(background, ad.AdGroupID, onFacebook))
		if !resumed.Changed || resumed.Status != sdk.AdStatusActive {
			t.Errorf("resumed, it is %+v", resumed)
		}
		_, err := c.AdGroups.Pause(background, ad.AdGroupID, &sdk.AdPlatformBody{Platform: new(sdk.AdPlatform("myspace"))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
		_, err = c.AdGroups.Resume(background, ad.AdGroupID, &sdk.AdPlatformBody{Platform: new(sdk.AdPlatformGoogle)})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		ok[*sdk.DeletedAdCampaign](t)(c.AdCampaigns.Delete(background, ad.CampaignID, onFacebook))
		_, err = c.AdGroups.Resume(background, ad.AdGroupID, onFacebook)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestResumeAdGroup_StaysPausedInAPausedCampaign(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		ad := a.ad(t, "Inside")
		ok[*sdk.AdBulkResult](t)(c.AdCampaigns.BulkPause(background, &sdk.AdCampaignBulk{Campaigns: []sdk.AdCampaignRef{{ID: ad.CampaignID}}}))
		ok[*sdk.AdStatusResult](t)(c.AdGroups.Pause(background, ad.AdGroupID, onFacebook))
		resumed := ok[*sdk.AdStatusResult](t)(c.AdGroups.Resume(background, ad.AdGroupID, onFacebook))
		if resumed.ConfiguredStatus != sdk.AdConfiguredStatusActive || resumed.Status != sdk.AdStatusPaused || resumed.Message == "" {
			t.Errorf("resumed, it is %+v", resumed)
		}
	})
}

func TestUpdateAdGroup_ChangesItsBudgetAndBid(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		ad := a.ad(t, "Group budget")
		change := &sdk.AdGroupUpdate{Budget: &sdk.AdBudgetInput{Amount: "25.50", Type: sdk.AdBudgetTypeDaily}, Currency: new("usd")}
		plan := ok[*sdk.AdPlan](t)(c.AdGroups.PlanUpdate(background, ad.AdGroupID, change))
		if plan.Operation != "update_ad_group" {
			t.Errorf("the plan is %+v", plan)
		}
		changed := ok[*sdk.AdGroup](t)(c.AdGroups.Update(background, ad.AdGroupID, change))
		if changed.Budget.Amount != "25.50" {
			t.Errorf("the budget is %+v", changed.Budget)
		}
		bid := &sdk.AdGroupUpdate{BidStrategy: new("LOWEST_COST_WITH_BID_CAP")}
		_, err := c.AdGroups.Update(background, ad.AdGroupID, bid)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "bid_amount")
		above := a.budgeted(t, "Budget above")
		_, err = c.AdGroups.Update(background, above.AdGroupID, change)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget")
	})
}
