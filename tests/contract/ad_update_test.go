package contract

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
)

// budgetOf is a budget in a request.
func budgetOf(figure string, kind sdk.AdBudgetType) *sdk.AdBudgetInput {
	return &sdk.AdBudgetInput{Amount: json.Number(figure), Type: kind}
}

// TestUpdateAds_OfNothingAsksNobody changes nothing while the network cannot be asked.
func TestUpdateAds_OfNothingAsksNobody(t *testing.T) {
	onNetworksAlone(t, func(t *testing.T, n onNetwork) {
		above := n.budgeted(t, "Above")
		was := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, above.CampaignID, nil))
		same := []*sdk.AdCampaignUpdate{
			{Platform: &n.platform}, {Platform: &n.platform, Budget: budgetOf("20", "daily")}, {Platform: &n.platform, Budget: budgetOf("20.00", "daily"), Currency: new("usd")},
		}
		unchanged(t, n.server, "a change of nothing", func() {
			for _, change := range same {
				now := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Update(background, above.CampaignID, change, unreachable))
				assert.Equal(t, was.UpdatedAt, now.UpdatedAt, "a change of nothing")
				assert.EqualValues(t, "20.00", now.Budget.Amount, "a change of nothing")
			}
			group := ok[*sdk.AdGroup](t)(n.AdGroups.Update(background, above.AdGroupID, &sdk.AdGroupUpdate{Platform: &n.platform}, unreachable))
			if group.ID != above.AdGroupID {
				t.Errorf("the ad group is %+v", group)
			}
		})
		_, err := n.AdCampaigns.Update(background, above.CampaignID, &sdk.AdCampaignUpdate{Budget: budgetOf("30", "daily")}, unreachable)
		refused(t, err, http.StatusInternalServerError, sdk.CodeAPIError, "") // a change of something does ask
	})
}

func TestUpdateAds_NameWhoHasTheBudget(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		above := n.budgeted(t, "Above")
		_, err := n.AdGroups.Update(background, above.AdGroupID, &sdk.AdGroupUpdate{Budget: budgetOf("30", "daily")})
		e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget")
		if !strings.Contains(e.Message, "PATCH /ads/campaigns/") {
			t.Errorf("the refusal does not name the campaign: %s", e.Message)
		}
		changed := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Update(background, above.CampaignID, &sdk.AdCampaignUpdate{Budget: budgetOf("30", "daily")}))
		assert.EqualValues(t, "30.00", changed.Budget.Amount, "the campaign")
		assert.EqualValues(t, "campaign", changed.BudgetLevel, "the campaign")
		if !n.has(sdk.AdBudgetLevelAdGroup) {
			return
		}
		below := n.ad(t, "Below")
		_, err = n.AdCampaigns.Update(background, below.CampaignID, &sdk.AdCampaignUpdate{Budget: budgetOf("30", "daily")})
		if e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget"); !strings.Contains(e.Message, "PATCH /ads/ad-groups/") {
			t.Errorf("the refusal does not name the ad groups: %s", e.Message)
		}
		group := ok[*sdk.AdGroup](t)(n.AdGroups.Update(background, below.AdGroupID, &sdk.AdGroupUpdate{Budget: budgetOf("30", "daily")}))
		assert.EqualValues(t, "30.00", group.Budget.Amount)
		assert.EqualValues(t, "ad_group", group.BudgetLevel)
	})
}

func TestUpdateAds_KeepTheTypeOfTheBudget(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		end := new(time.Now().AddDate(0, 0, 20).Format(time.DateOnly))
		for _, kind := range []sdk.AdBudgetType{"daily", "lifetime"} {
			other := map[sdk.AdBudgetType]sdk.AdBudgetType{"daily": "lifetime", "lifetime": "daily"}[kind]
			draft := n.draft("Type")
			draft.BudgetLevel, draft.BudgetAmount, draft.BudgetType, draft.EndDate = new(sdk.AdCreateBudgetLevelCampaign), amount("900"), &kind, end
			above := ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
			_, err := n.AdCampaigns.Update(background, above.CampaignID, &sdk.AdCampaignUpdate{Budget: budgetOf("950", other)})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget.type")
			changed := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Update(background, above.CampaignID, &sdk.AdCampaignUpdate{Budget: budgetOf("950", kind)}))
			assert.EqualValues(t, "950.00", changed.Budget.Amount, "the budget")
			assert.Equal(t, kind, changed.Budget.Type, "the budget")
			if n.has(sdk.AdBudgetLevelAdGroup) {
				draft.BudgetLevel = nil
				below := ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
				_, err = n.AdGroups.Update(background, below.AdGroupID, &sdk.AdGroupUpdate{Budget: budgetOf("950", other)})
				refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "budget.type")
			}
		}
	})
}

// TestAdBid_IsOneOfTheNetwork tries the strategies on every network, in both ways to write them, with and without what
// they need.
func TestAdBid_IsOneOfTheNetwork(t *testing.T) {
	all := []string{"LOWEST_COST_WITHOUT_CAP", "LOWEST_COST_WITH_BID_CAP", "COST_CAP", "LOWEST_COST_WITH_MIN_ROAS"}
	known := map[sdk.AdPlatform]int{"facebook": 4, "instagram": 4, "tiktok": 4, "linkedin": 0, "pinterest": 3, "google": 4, "twitter": 3}
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad := n.budgeted(t, "Bid")
		valuable := sdk.AdGoalConversions
		var valued *sdk.Ad
		if n.platform == sdk.AdPlatformFacebook || n.platform == sdk.AdPlatformInstagram || n.platform == sdk.AdPlatformTikTok {
			draft := n.draft("Valued")
			draft.Goal, draft.PromotedObject, draft.BudgetLevel = &valuable, n.promotes(t, valuable, ""), new(sdk.AdCreateBudgetLevelCampaign)
			valued = ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
		}
		try := func(strategy string, bid, floor *json.Number) []error {
			draft := n.draft("Bid")
			draft.BidStrategy, draft.BidAmount, draft.ROASAverageFloor = &strategy, bid, floor
			campaign := ad.CampaignID
			if valued != nil && strings.EqualFold(strategy, all[3]) { // some take a smallest ROAS only for what has a value
				draft.Goal, draft.PromotedObject, campaign = &valuable, n.promotes(t, valuable, ""), valued.CampaignID
			}
			_, created := n.Ads.PlanCreate(background, draft)
			_, changed := n.AdCampaigns.PlanUpdate(background, campaign, &sdk.AdCampaignUpdate{BidStrategy: &strategy, BidAmount: bid, ROASAverageFloor: floor})
			if n.platform == sdk.AdPlatformPinterest { // where ad groups bid
				refused(t, changed, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "bid_strategy")
				_, changed = n.AdGroups.PlanUpdate(background, ad.AdGroupID, &sdk.AdGroupUpdate{BidStrategy: &strategy, BidAmount: bid, ROASAverageFloor: floor})
			}
			return []error{created, changed}
		}
		fails := func(param, strategy string, bid, floor *json.Number) {
			t.Helper()
			for _, err := range try(strategy, bid, floor) {
				refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
			}
		}
		fails("bid_strategy", "CHEAP", nil, nil)
		for i, strategy := range all {
			if i >= known[n.platform] || i == 1 && n.platform == sdk.AdPlatformTikTok { // whose only cap is that of the cost
				fails("bid_strategy", strategy, amount("2"), nil)
				continue
			}
			right := [][2]*json.Number{{nil, nil}, {amount("2"), nil}, {amount("2.50"), nil}, {nil, amount("1.5")}}[i]
			for _, way := range []string{strategy, strings.ToLower(strategy)} {
				for _, err := range try(way, right[0], right[1]) {
					if err != nil {
						t.Errorf("%s with %v: %v", way, right, err)
					}
				}
			}
			switch i {
			case 0:
				fails("bid_amount", strategy, amount("2"), nil)
				fails("roas_average_floor", strategy, nil, amount("1.5"))
			case 3:
				fails("roas_average_floor", strategy, nil, nil)
				fails("bid_amount", strategy, amount("2"), amount("1.5"))
			default:
				fails("bid_amount", strategy, nil, nil)
				fails("bid_amount", strategy, amount("-2"), nil)
				fails("roas_average_floor", strategy, amount("2"), amount("1.5"))
			}
		}
		if known[n.platform] > 1 && n.platform != sdk.AdPlatformPinterest {
			capped := all[1]
			if n.platform == sdk.AdPlatformTikTok {
				capped = all[2]
			}
			changed := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Update(background, ad.CampaignID, &sdk.AdCampaignUpdate{BidStrategy: new(strings.ToLower(capped)), BidAmount: amount("2.50")}))
			require.NotNil(t, changed.BidStrategy)
			assert.Equal(t, capped, *changed.BidStrategy)
			assert.EqualValues(t, "20.00", changed.Budget.Amount)
		}
	})
}
