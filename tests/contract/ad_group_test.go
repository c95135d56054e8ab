package contract

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

var onFacebook = &sdk.AdPlatformBody{Platform: new(sdk.AdPlatformFacebook)}

func TestPauseAdGroup_MovesItsSwitchOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		ad := a.ad(t, "Switched")
		paused := ok[*sdk.AdStatusResult](t)(c.AdGroups.Pause(background, ad.AdGroupID, onFacebook))
		assert.Equal(t, "ad_status_result", paused.Object, "paused")
		assert.EqualValues(t, "ad_group", paused.Type, "paused")
		assert.Equal(t, ad.AdGroupID, paused.ID, "paused")
		assert.True(t, paused.Changed, "paused")
		assert.Equal(t, sdk.AdStatusPaused, paused.Status, "paused")
		assert.Equal(t, sdk.AdConfiguredStatusPaused, paused.ConfiguredStatus, "paused")
		again := ok[*sdk.AdStatusResult](t)(c.AdGroups.Pause(background, ad.AdGroupID, onFacebook, sdk.WithHeader("X-Sandbox-Fault", "5xx")))
		if again.Changed {
			t.Errorf("paused again, it is %+v", again)
		}
		group := ok[*sdk.AdGroup](t)(c.AdGroups.Get(background, ad.AdGroupID, nil))
		assert.Equal(t, sdk.AdStatusPaused, group.Status, "the ad group")
		assert.Equal(t, sdk.AdConfiguredStatusPaused, group.ConfiguredStatus, "the ad group")
		resumed := ok[*sdk.AdStatusResult](t)(c.AdGroups.Resume(background, ad.AdGroupID, onFacebook))
		assert.True(t, resumed.Changed, "resumed")
		assert.Equal(t, sdk.AdStatusActive, resumed.Status, "resumed")
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
		assert.Equal(t, sdk.AdConfiguredStatusActive, resumed.ConfiguredStatus, "resumed")
		assert.Equal(t, sdk.AdStatusPaused, resumed.Status, "resumed")
		assert.NotEmpty(t, resumed.Message, "resumed")
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
