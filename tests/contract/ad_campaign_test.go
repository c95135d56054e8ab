package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// budgeted creates an ad whose campaign has the budget.
func (a advertiser) budgeted(t *testing.T, name string) *sdk.Ad {
	t.Helper()
	draft := a.draft(name)
	draft.BudgetLevel = new(sdk.AdCreateBudgetLevelCampaign)
	return ok[*sdk.Ad](t)(a.Ads.Create(background, draft))
}

func TestUpdateAdCampaign_ChangesItsBudget(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		ad := a.budgeted(t, "Budget above")
		change := &sdk.AdCampaignUpdate{Platform: new(sdk.AdPlatformFacebook), Budget: &sdk.AdBudgetInput{Amount: "35.50", Type: sdk.AdBudgetTypeDaily}}
		plan := ok[*sdk.AdPlan](t)(c.AdCampaigns.PlanUpdate(background, ad.CampaignID, change))
		assert.EqualValues(t, "update_campaign", plan.Operation, "the plan")
		assert.EqualValues(t, "35.50", plan.Figures[0].DailyCampaign, "the plan")
		if still := ok[*sdk.AdCampaign](t)(c.AdCampaigns.Get(background, ad.CampaignID, nil)); still.Budget.Amount != "20.00" {
			t.Errorf("planning changed the budget to %+v", still.Budget)
		}
		changed := ok[*sdk.AdCampaign](t)(c.AdCampaigns.Update(background, ad.CampaignID, change))
		assert.EqualValues(t, "35.50", changed.Budget.Amount, "the budget")
		assert.Equal(t, "35.50 USD", changed.Budget.Formatted, "the budget")
		same := ok[*sdk.AdCampaign](t)(c.AdCampaigns.Update(background, ad.CampaignID, &sdk.AdCampaignUpdate{Platform: new(sdk.AdPlatformFacebook)}))
		assert.EqualValues(t, "35.50", same.Budget.Amount, "a change of nothing")
		assert.Equal(t, changed.UpdatedAt, same.UpdatedAt, "a change of nothing")
		for param, wrong := range map[string]sdk.AdCampaignUpdate{
			"budget.type":   {Budget: &sdk.AdBudgetInput{Amount: "500", Type: sdk.AdBudgetTypeLifetime}},
			"budget.amount": {Budget: &sdk.AdBudgetInput{Amount: "0", Type: sdk.AdBudgetTypeDaily}},
			"bid_strategy":  {BidStrategy: new("CHEAP")},
			"platform":      {Platform: new(sdk.AdPlatform("myspace"))},
		} {
			_, err := c.AdCampaigns.Update(background, ad.CampaignID, &wrong)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
		_, err := c.AdCampaigns.Update(background, ad.CampaignID, &sdk.AdCampaignUpdate{Budget: &sdk.AdBudgetInput{Amount: "10000.01", Type: sdk.AdBudgetTypeDaily}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeSpendLimitExceeded, "budget.amount")
		_, err = c.AdCampaigns.Update(background, ad.CampaignID, &sdk.AdCampaignUpdate{Platform: new(sdk.AdPlatformGoogle)})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		below := a.ad(t, "Budget below")
		_, err = c.AdCampaigns.Update(background, below.CampaignID, change)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget")
	})
}

func TestAdCampaignBodies_SayWhatTheyLack(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		w := newWorld(t, s)
		for _, c := range []struct {
			operation, body, code, param string
			status                       int
		}{
			{"updateAdCampaign", `{}`, "parameter_missing", "platform", 400},
			{"updateAdCampaign", `{"platform":"facebook","budget":{"type":"daily"}}`, "parameter_missing", "budget.amount", 400},
			{"updateAdCampaign", `{"platform":"facebook","budget":{"amount":20}}`, "parameter_missing", "budget.type", 400},
			{"updateAdCampaign", `{"platform":"facebook","budget":{"amount":"20","type":"daily"}}`, "bad_request", "budget.amount", 400},
			{"updateAdCampaign", `{"platform":"facebook","budget":{"amount":20,"type":"weekly"}}`, "validation_failed", "budget.type", 422},
			{"updateAdCampaign", `{"platform":1}`, "bad_request", "platform", 400},
			{"deleteAdCampaign", `{}`, "parameter_missing", "platform", 400},
			{"deleteAdCampaign", ``, "parameter_missing", "platform", 400},
			{"pauseAdGroup", ``, "parameter_missing", "platform", 400},
			{"resumeAdGroup", `{}`, "parameter_missing", "platform", 400},
			{"pauseAdCampaigns", `{}`, "parameter_missing", "campaigns", 400},
			{"pauseAdCampaigns", `{"campaigns":"all"}`, "bad_request", "campaigns", 400},
			{"pauseAdCampaigns", `{"campaigns":[1]}`, "bad_request", "campaigns.0", 400},
			{"pauseAdCampaigns", `{"campaigns":[]}`, "validation_failed", "campaigns", 422},
			{"resumeAdCampaigns", `{"campaigns":[]}`, "validation_failed", "campaigns", 422},
			{"uploadAdAudienceUsers", `{"users":{}}`, "bad_request", "users", 400},
			{"uploadAdAudienceUsers", `{"users":[1]}`, "bad_request", "users.0", 400},
			{"uploadAdAudienceUsers", `{"users":[]}`, "validation_failed", "users", 422},
			{"createAd", `{"ad":{"name":"x"}}`, "parameter_missing", "account_id", 400},
			{"createAd", `{"account_id":"a","ad_account_id":"b","name":"c","goal":"traffic","budget_amount":"20","budget_type":"daily"}`, "bad_request", "budget_amount", 400},
			{"createAd", `{"account_id":"a","ad_account_id":"b","name":"c","goal":"traffic","budget_amount":20,"budget_type":"weekly"}`, "validation_failed", "budget_type", 422},
			{"createAd", `{"account_id":"a","ad_account_id":"b","name":"c","goal":"fame","budget_amount":20,"budget_type":"daily"}`, "validation_failed", "goal", 422},
			{"createAd", `{"account_id":"a","ad_account_id":"b","name":"c","campaign_id":"d"}`, "parameter_missing", "goal", 400},
			{"boostPost", `{"account_id":"a","ad_account_id":"b","post_id":"c","name":"d","goal":"traffic","budget":{"amount":20}}`, "parameter_missing", "budget.type", 400},
			{"boostPost", `{"account_id":"a","ad_account_id":"b","post_id":"c","name":"d","goal":"traffic","budget":20}`, "bad_request", "budget", 400},
			{"createAdAudience", `{"account_id":"a","ad_account_id":"b","name":"c"}`, "parameter_missing", "type", 400},
		} {
			op := harness.ByID(c.operation)
			f := w.Do(t, op.Method, w.path(op), c.body, "Content-Type", "application/json").Fault(t, c.status, c.code)
			if f.Param != c.param {
				t.Errorf("%s %s: param is %q, %q is expected", c.operation, c.body, f.Param, c.param)
			}
		}
	})
}

func TestListAdCampaignAdGroups_AreOfTheCampaign(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformLinkedIn)
		campaigns := ok[*sdk.AdCampaignList](t)(c.AdCampaigns.List(background, &sdk.ListAdCampaignsParams{AdAccountID: &a.account}))
		if len(campaigns.Data) != 3 {
			t.Fatalf("the ad account has %d campaigns", len(campaigns.Data))
		}
		for _, campaign := range campaigns.Data {
			groups := ok[*sdk.AdGroupList](t)(c.AdCampaigns.ListAdGroups(background, campaign.ID, &sdk.ListAdCampaignAdGroupsParams{Limit: new(int64(1))}))
			require.Len(t, groups.Data, 1)
			assert.Equal(t, campaign.ID, groups.Data[0].CampaignID)
			assert.NotNil(t, groups.NextCursor)
			assert.EqualValues(t, 2, campaign.AdGroupCount)
			assert.EqualValues(t, 4, campaign.AdCount)
			rest := ok[*sdk.AdGroupList](t)(c.AdCampaigns.ListAdGroups(background, campaign.ID, &sdk.ListAdCampaignAdGroupsParams{Cursor: groups.NextCursor}))
			require.Len(t, rest.Data, 1, "the rest of the groups")
			assert.NotEqual(t, groups.Data[0].ID, rest.Data[0].ID, "the rest of the groups")
			assert.Nil(t, rest.NextCursor, "the rest of the groups")
		}
		_, err := c.AdCampaigns.ListAdGroups(background, "urn:li:sponsoredCampaign:1", nil)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

// TestAdIDs_MayNeedEncoding asks for ids that have colons in them, raw and percent-encoded.
func TestAdIDs_MayNeedEncoding(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		w := s.Account(t)
		a := advertise(t, w.SDK(), sdk.AdPlatformLinkedIn)
		campaign := ok[*sdk.AdCampaignList](t)(a.AdCampaigns.List(background, nil)).Data[0]
		group := ok[*sdk.AdGroupList](t)(a.AdCampaigns.ListAdGroups(background, campaign.ID, nil)).Data[0]
		for _, path := range []string{"/v1/ads/campaigns/" + campaign.ID, "/v1/ads/campaigns/" + percentEncoded(campaign.ID)} {
			if got := w.Must(t, http.MethodGet, path, nil); got["id"] != campaign.ID {
				t.Errorf("%s is %v", path, got)
			}
		}
		if got := w.Must(t, http.MethodGet, "/v1/ads/ad-groups/"+percentEncoded(group.ID), nil); got["id"] != group.ID {
			t.Errorf("the ad group is %v", got)
		}
	})
}

// percentEncoded writes every byte as %XX.
func percentEncoded(text string) string {
	const digits = "0123456789ABCDEF"
	var out []byte
	for i := range len(text) {
		out = append(out, '%', digits[text[i]>>4], digits[text[i]&15])
	}
	return string(out)
}

func TestBulk_HasAResultForEach(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		first, second := a.ad(t, "First"), a.ad(t, "Second")
		refs := []sdk.AdCampaignRef{
			{ID: first.CampaignID}, {ID: "120000000000000000"}, {ID: second.CampaignID, Platform: "facebook"}, {ID: first.CampaignID}, {ID: second.CampaignID, Platform: "google"},
		}
		plan := ok[*sdk.AdPlan](t)(c.AdCampaigns.PlanBulkPause(background, &sdk.AdCampaignBulk{Campaigns: refs[:1]}))
		assert.EqualValues(t, "pause_campaign", plan.Operation, "the plan")
		assert.Len(t, plan.Calls, 1, "the plan")
		result := ok[*sdk.AdBulkResult](t)(c.AdCampaigns.BulkPause(background, &sdk.AdCampaignBulk{Campaigns: refs}))
		var outcomes []sdk.AdBulkItemOutcome
		for i, item := range result.Results {
			outcomes = append(outcomes, item.Outcome)
			assert.Equal(t, int64(i), item.Index)
			assert.Equal(t, refs[i].ID, item.ID)
			assert.Equal(t, item.Error != nil, item.Outcome == sdk.AdBulkItemOutcomeFailed)
		}
		assert.True(t, slices.Equal(outcomes, []sdk.AdBulkItemOutcome{"updated", "failed", "updated", "skipped", "failed"}))
		assert.False(t, result.Totals != (sdk.AdBulkTotals{Requested: 5, Updated: 2, Skipped: 1, Failed: 2}))
		assert.Equal(t, sdk.AdConfiguredStatusPaused, result.Status)
		e := result.Results[1].Error
		require.NotNil(t, e, "the unknown one failed")
		assert.Equal(t, sdk.CodeResourceMissing, e.Code, "the unknown one failed")
		assert.False(t, e.Retryable, "the unknown one failed")
		if paused := ok[*sdk.AdCampaign](t)(c.AdCampaigns.Get(background, first.CampaignID, nil)); paused.Status != sdk.AdStatusPaused {
			t.Errorf("the campaign is %s", paused.Status)
		}
		planned := ok[*sdk.AdPlan](t)(c.AdCampaigns.PlanBulkResume(background, &sdk.AdCampaignBulk{Campaigns: refs[:1]}))
		if planned.Figures[0].DailyCampaign != "20.00" {
			t.Errorf("the plan is %+v", planned)
		}
		resumed := ok[*sdk.AdBulkResult](t)(c.AdCampaigns.BulkResume(background, &sdk.AdCampaignBulk{Campaigns: refs[:1]}))
		assert.EqualValues(t, 1, resumed.Totals.Updated, "resumed")
		assert.Equal(t, sdk.AdStatusActive, *resumed.Results[0].Status, "resumed")
		many := make([]sdk.AdCampaignRef, 51)
		for i := range many {
			many[i].ID = first.CampaignID
		}
		_, err := c.AdCampaigns.BulkPause(background, &sdk.AdCampaignBulk{Campaigns: many})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "campaigns")
		_, err = c.AdCampaigns.BulkResume(background, &sdk.AdCampaignBulk{Campaigns: many})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "campaigns")
	})
}

func TestDeleteAdCampaign_CancelsWhatIsInIt(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		ad := a.ad(t, "Short")
		_, err := c.AdCampaigns.Delete(background, ad.CampaignID, &sdk.AdPlatformBody{Platform: new(sdk.AdPlatform("myspace"))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
		gone := ok[*sdk.DeletedAdCampaign](t)(c.AdCampaigns.Delete(background, ad.CampaignID, &sdk.AdPlatformBody{Platform: new(sdk.AdPlatformFacebook)}))
		assert.Equal(t, ad.CampaignID, gone.ID, "the confirmation")
		assert.Equal(t, "campaign", gone.Object, "the confirmation")
		assert.True(t, bool(gone.Deleted), "the confirmation")
		assert.EqualValues(t, 1, gone.AdGroupCount, "the confirmation")
		assert.EqualValues(t, 1, gone.AdCount, "the confirmation")
		for still, err := range sdk.All(background, c.Ads.List, &sdk.ListAdsParams{CampaignID: &ad.CampaignID}) {
			require.NoError(t, err)
			assert.Equal(t, ad.ID, still.ID)
			assert.Equal(t, sdk.AdStatusCancelled, still.Status)
		}
		_, err = c.AdCampaigns.Delete(background, ad.CampaignID, &sdk.AdPlatformBody{Platform: new(sdk.AdPlatformFacebook)})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestAdAmounts_AreReadDigitByDigit(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		ad := a.budgeted(t, "Digits")
		for sent, shown := range map[json.Number]json.Number{"33.51": "33.51", "20": "20.00", "2000": "2000.00", "9999.99": "9999.99"} {
			change := &sdk.AdCampaignUpdate{Budget: &sdk.AdBudgetInput{Amount: sent, Type: sdk.AdBudgetTypeDaily}}
			if got := ok[*sdk.AdCampaign](t)(c.AdCampaigns.Update(background, ad.CampaignID, change)); got.Budget.Amount != shown {
				t.Errorf("%s became %s", sent, got.Budget.Amount)
			}
		}
	})
}
