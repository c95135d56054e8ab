package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestAdLimits_HoldFromTheBeginningAndCanBeChanged(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		limits := ok[*sdk.AdLimits](t)(c.AdLimits.Get(background))
		assert.Equal(t, "ad_limits", limits.Object, "the first limits")
		require.Empty(t, limits.Currencies, "the first limits")
		assert.EqualValues(t, "10000.00", limits.Default.MaxDailyBudgetPerCampaign, "the first limits")
		assert.EqualValues(t, "50000.00", limits.Default.MaxTotalDailyBudget, "the first limits")
		require.Nil(t, limits.MaxDailyBudgetIncreasePct, "the first limits")
		require.Empty(t, limits.BlockedOperations, "the first limits")
		assert.Nil(t, limits.UpdatedAt, "the first limits")
		changed := ok[*sdk.AdLimits](t)(c.AdLimits.Update(background, &sdk.AdLimitsUpdate{
			Currencies:                map[string]*sdk.AdLimitUpdate{"usd": {MaxDailyBudgetPerCampaign: new(json.Number("15.50"))}, "jpy": {MaxBidAmount: sdk.Set(json.Number("300"))}},
			MaxDailyBudgetIncreasePct: sdk.Set(json.Number("50")), BlockedOperations: []sdk.AdOperation{sdk.AdOperationDeleteCampaign},
		}))
		usd := changed.Currencies["usd"]
		assert.EqualValues(t, "15.50", usd.MaxDailyBudgetPerCampaign, "the limits in dollars")
		assert.EqualValues(t, "50000.00", usd.MaxTotalDailyBudget, "the limits in dollars")
		assert.Nil(t, usd.MaxBidAmount, "the limits in dollars")
		jpy := changed.Currencies["jpy"]
		assert.EqualValues(t, "1500000.00", jpy.MaxDailyBudgetPerCampaign, "the limits in yen")
		assert.EqualValues(t, "300.00", *jpy.MaxBidAmount, "the limits in yen")
		assert.EqualValues(t, "50", *changed.MaxDailyBudgetIncreasePct, "the limits")
		assert.Len(t, changed.BlockedOperations, 1, "the limits")
		trail := ok[*sdk.AdActionList](t)(c.AdActions.List(background, &sdk.ListAdActionsParams{Operation: new(sdk.AdOperationUpdateLimits)}))
		require.Len(t, trail.Data, 1, "the audit trail")
		require.Nil(t, trail.Data[0].AccountID, "the audit trail")
		require.Nil(t, trail.Data[0].Platform, "the audit trail")
		require.NotNil(t, trail.Data[0].APIKeyID, "the audit trail")
		assert.Contains(t, string(trail.Data[0].After), `"max_daily_budget_per_campaign":15.50`, "the audit trail")
		assert.NotContains(t, string(trail.Data[0].Before), "15.50", "the audit trail")
		a := advertise(t, c, sdk.AdPlatformFacebook)
		_, err := c.Ads.Create(background, a.draft("Too much"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeSpendLimitExceeded, "budget_amount")
		back := ok[*sdk.AdLimits](t)(c.AdLimits.Update(background, &sdk.AdLimitsUpdate{
			Currencies: map[string]*sdk.AdLimitUpdate{"usd": nil}, MaxDailyBudgetIncreasePct: sdk.Null[json.Number](),
		}))
		_, set := back.Currencies["usd"]
		require.False(t, set, "the limits")
		require.Nil(t, back.MaxDailyBudgetIncreasePct, "the limits")
		require.Len(t, back.BlockedOperations, 1, "the limits")
		assert.Len(t, back.Currencies, 1, "the limits")
		none := ok[*sdk.AdLimits](t)(c.AdLimits.Update(background, &sdk.AdLimitsUpdate{
			Currencies: map[string]*sdk.AdLimitUpdate{"eur": {MaxBidAmount: sdk.Set(json.Number("0"))}}, MaxDailyBudgetIncreasePct: sdk.Set(json.Number("0")),
		}))
		require.NotNil(t, none.MaxDailyBudgetIncreasePct, "limits that allow nothing")
		assert.EqualValues(t, "0", *none.MaxDailyBudgetIncreasePct, "limits that allow nothing")
		require.NotNil(t, none.Currencies["eur"].MaxBidAmount, "limits that allow nothing")
		assert.EqualValues(t, "0.00", *none.Currencies["eur"].MaxBidAmount, "limits that allow nothing")
		ad := a.ad(t, "Within")
		_, err = c.AdCampaigns.Delete(background, ad.CampaignID, onFacebook)
		e := refusal(t, err)
		if e.Status != http.StatusUnprocessableEntity && e.Status != http.StatusForbidden {
			t.Errorf("a blocked operation is answered %v", e)
		}
	})
}

// refusal returns the *sdk.Error that a call failed with.
func refusal(t *testing.T, err error) *sdk.Error {
	t.Helper()
	e, isRefusal := errors.AsType[*sdk.Error](err)
	if !isRefusal {
		t.Fatalf("the error is %v", err)
	}
	return e
}

func TestUpdateAdLimits_RefusesWhatIsNoLimit(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		for param, wrong := range map[string]sdk.AdLimitsUpdate{
			"currencies.usd.max_daily_budget_per_campaign": {Currencies: map[string]*sdk.AdLimitUpdate{"usd": {MaxDailyBudgetPerCampaign: new(json.Number("-1"))}}},
			"currencies.usd.max_bid_amount":                {Currencies: map[string]*sdk.AdLimitUpdate{"usd": {MaxBidAmount: sdk.Set(json.Number("1e3"))}}},
			"currencies.jpy.max_total_daily_budget":        {Currencies: map[string]*sdk.AdLimitUpdate{"jpy": {MaxTotalDailyBudget: new(json.Number("500.001"))}}},
			"currencies.USD":                               {Currencies: map[string]*sdk.AdLimitUpdate{"USD": {MaxDailyBudgetPerCampaign: new(json.Number("1"))}}},
			"max_daily_budget_increase_pct":                {MaxDailyBudgetIncreasePct: sdk.Set(json.Number("-1"))},
			"blocked_operations.0":                         {BlockedOperations: []sdk.AdOperation{"everything"}},
		} {
			_, err := c.AdLimits.Update(background, &wrong)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
	})
}

// overLimit checks that a call was refused because of a limit, and that it says every figure.
func overLimit(t *testing.T, err error, param string, figures ...string) {
	t.Helper()
	e := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeSpendLimitExceeded, param)
	for _, figure := range figures {
		if !strings.Contains(e.Message, figure) {
			t.Errorf("the refusal does not say %s: %s", figure, e.Message)
		}
	}
}

// committed is what may be spent in a day by what is on.
func (n onNetwork) committed(t *testing.T) *big.Rat {
	t.Helper()
	draft := n.draft("Nothing")
	draft.Status = new(sdk.AdConfiguredStatusPaused)
	before, _ := new(big.Rat).SetString(string(ok[*sdk.AdPlan](t)(n.Ads.PlanCreate(background, draft)).Figures[0].DailyTotalBefore))
	return before
}

// leave limits what may be spent in a day to what is on already and so many dollars more, and returns the limit.
func (n onNetwork) leave(t *testing.T, dollars int64) string {
	t.Helper()
	limit := json.Number(new(big.Rat).Add(n.committed(t), big.NewRat(dollars, 1)).FloatString(2))
	ok[*sdk.AdLimits](t)(n.AdLimits.Update(background, &sdk.AdLimitsUpdate{Currencies: map[string]*sdk.AdLimitUpdate{"usd": {MaxTotalDailyBudget: &limit}}}))
	return string(limit) + " USD"
}

// TestSpendLimits_HoldUnlessSomebodySaysOtherwise is about an account that never heard of limits.
func TestSpendLimits_HoldUnlessSomebodySaysOtherwise(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		post := n.post(t, sdk.SocialPostStatusPublished)
		draft, boost := n.draft("Two thousand"), n.boost(post)
		draft.BudgetAmount, boost.Budget.Amount = amount("2000"), "2000"
		first := ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
		ok[*sdk.Ad](t)(n.Ads.Boost(background, boost))
		draft.BudgetAmount, boost.Budget.Amount = amount("10000"), "10000"
		ok[*sdk.AdPlan](t)(n.Ads.PlanCreate(background, draft))
		actions := n.server.Count(t, "ad_actions WHERE account_id = '"+n.raw.Account+"'")
		draft.BudgetAmount, boost.Budget.Amount = amount("10000.01"), "10000.01"
		_, err := n.Ads.Create(background, draft)
		overLimit(t, err, "budget_amount", "10000.01 USD", "10000.00 USD")
		_, err = n.Ads.Boost(background, boost)
		overLimit(t, err, "budget.amount", "10000.01 USD", "10000.00 USD")
		draft.BudgetType, draft.BudgetAmount, draft.EndDate = new(sdk.AdBudgetTypeLifetime), amount("100000"), new(time.Now().AddDate(0, 0, 5).Format(time.DateOnly))
		_, err = n.Ads.Create(background, draft)
		overLimit(t, err, "budget_amount", "10000.00 USD")
		draft.EndDate = new(time.Now().AddDate(0, 0, 30).Format(time.DateOnly))
		ok[*sdk.AdPlan](t)(n.Ads.PlanCreate(background, draft))
		change := budgetOf("10000.01", "daily")
		if first.BudgetLevel == sdk.AdBudgetLevelAdGroup {
			_, err = n.AdGroups.Update(background, first.AdGroupID, &sdk.AdGroupUpdate{Budget: change})
			overLimit(t, err, "budget.amount", "10000.01 USD", "10000.00 USD")
		}
		above := n.budgeted(t, "Above")
		_, err = n.AdCampaigns.Update(background, above.CampaignID, &sdk.AdCampaignUpdate{Budget: change})
		overLimit(t, err, "budget.amount", "10000.01 USD", "10000.00 USD")
		if still := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, above.CampaignID, nil)); still.Budget.Amount != "20.00" {
			t.Errorf("the budget is %+v", still.Budget)
		}
		if now := n.server.Count(t, "ad_actions WHERE account_id = '"+n.raw.Account+"'"); now != actions+1 {
			t.Errorf("what was refused made %d actions", now-actions-1)
		}
	})
}

func TestSpendLimits_CountEverythingThatIsOn(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		limit := n.leave(t, 50)
		n.ad(t, "First")
		boost := n.boost(n.post(t, sdk.SocialPostStatusPublished))
		second := ok[*sdk.Ad](t)(n.Ads.Boost(background, boost))
		_, err := n.Ads.Create(background, n.draft("Third"))
		overLimit(t, err, "budget_amount", limit)
		_, err = n.Ads.Boost(background, boost)
		overLimit(t, err, "budget.amount", limit)
		ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkPause(background, refs(second.CampaignID)))
		n.ad(t, "Instead")
	})
}

// TestSpendLimits_OfWhatIsMadePaused makes an ad that spends nothing as long as all of it sleeps.
func TestSpendLimits_OfWhatIsMadePaused(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		limit := n.leave(t, 10)
		draft := n.draft("Paused")
		draft.Status = new(sdk.AdConfiguredStatusPaused)
		ad := ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
		campaign, group := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, ad.CampaignID, nil)), n.groups(t, ad.CampaignID)[0]
		assert.Equal(t, sdk.AdStatusPaused, ad.Status)
		assert.Equal(t, sdk.AdConfiguredStatusPaused, campaign.ConfiguredStatus)
		assert.Equal(t, sdk.AdConfiguredStatusPaused, group.ConfiguredStatus)
		assert.False(t, slices.Contains(n.can.PauseLevels, "ad") && ad.ConfiguredStatus != sdk.AdConfiguredStatusPaused)
		resumed := ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkResume(background, refs(ad.CampaignID))).Results[0]
		if ad.BudgetLevel == sdk.AdBudgetLevelCampaign {
			e := resumed.Error
			require.NotNil(t, e, "resumed, it is %+v", resumed)
			assert.Equal(t, sdk.CodeSpendLimitExceeded, e.Code, "resumed, it is %+v", resumed)
			assert.False(t, e.Retryable, "resumed, it is %+v", resumed)
			assert.Contains(t, e.Message, limit, "resumed, it is %+v", resumed)
			return
		}
		assert.EqualValues(t, "updated", resumed.Outcome, "resumed above what sleeps")
		assert.Zero(t, resumed.Updated, "resumed above what sleeps")
		_, err := n.AdGroups.Resume(background, ad.AdGroupID, n.body())
		overLimit(t, err, "budget", limit)
	})
}

// TestSpendLimits_OfAResume is so that a pause is no way round them.
func TestSpendLimits_OfAResume(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		if !n.has(sdk.AdBudgetLevelAdGroup) { // an ad group without a budget spends what its campaign may
			return
		}
		ad := n.ad(t, "Sleeper")
		ok[*sdk.AdStatusResult](t)(n.AdGroups.Pause(background, ad.AdGroupID, n.body()))
		limit := n.leave(t, 10)
		_, err := n.AdGroups.Resume(background, ad.AdGroupID, n.body())
		overLimit(t, err, "budget", limit)
		if still := ok[*sdk.AdGroup](t)(n.AdGroups.Get(background, ad.AdGroupID, nil)); still.ConfiguredStatus != sdk.AdConfiguredStatusPaused {
			t.Errorf("the ad group is %+v", still)
		}
		n.leave(t, 20)
		ok[*sdk.AdStatusResult](t)(n.AdGroups.Resume(background, ad.AdGroupID, n.body()))
	})
}

// TestSpendLimits_OfABulkResumeCountAllOfIt resumes campaigns each of which would be allowed alone.
func TestSpendLimits_OfABulkResumeCountAllOfIt(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		var ids []string
		for i := range 4 {
			ids = append(ids, n.ad(t, fmt.Sprint("Sum ", i)).CampaignID)
		}
		ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkPause(background, refs(ids...)))
		limit := n.leave(t, 50)
		plan := ok[*sdk.AdPlan](t)(n.AdCampaigns.PlanBulkResume(background, refs(ids...)))
		total, _ := new(big.Rat).SetString(string(plan.Figures[0].DailyTotal))
		assert.Len(t, plan.Calls, 2)
		assert.Zero(t, new(big.Rat).Sub(total, n.committed(t)).Cmp(big.NewRat(40, 1)))
		result := ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkResume(background, refs(ids...)))
		var outcomes []sdk.AdBulkItemOutcome
		for _, item := range result.Results {
			outcomes = append(outcomes, item.Outcome)
			if item.Error != nil && (item.Error.Code != sdk.CodeSpendLimitExceeded || !strings.Contains(item.Error.Message, limit)) {
				t.Errorf("a campaign failed with %+v", item.Error)
			}
		}
		if !slices.Equal(outcomes, []sdk.AdBulkItemOutcome{"updated", "updated", "failed", "failed"}) {
			t.Errorf("the outcomes are %v", outcomes)
		}
		if now := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, ids[2], nil)); now.Status != sdk.AdStatusPaused {
			t.Errorf("the third campaign is %s", now.Status)
		}
	})
}

func TestSpendLimits_OfBidsAndSteps(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		ad := n.budgeted(t, "Steps")
		ok[*sdk.AdLimits](t)(n.AdLimits.Update(background, &sdk.AdLimitsUpdate{
			Currencies: map[string]*sdk.AdLimitUpdate{"usd": {MaxBidAmount: sdk.Set(json.Number("3"))}}, MaxDailyBudgetIncreasePct: sdk.Set(json.Number("50")),
		}))
		_, err := n.AdCampaigns.Update(background, ad.CampaignID, &sdk.AdCampaignUpdate{Budget: budgetOf("30.01", "daily")})
		overLimit(t, err, "budget.amount", "20.00 USD", "30.01 USD", "50 %")
		ok[*sdk.AdCampaign](t)(n.AdCampaigns.Update(background, ad.CampaignID, &sdk.AdCampaignUpdate{Budget: budgetOf("30", "daily")}))
		capped := slices.IndexFunc(n.can.BidStrategies, func(r sdk.AdBidRule) bool { return slices.Contains(r.Requires, "bid_amount") })
		if capped >= 0 {
			draft := n.draft("Bid")
			draft.BidStrategy, draft.BidAmount = &n.can.BidStrategies[capped].Strategy, amount("3.01")
			_, err = n.Ads.Create(background, draft)
			overLimit(t, err, "bid_amount", "3.01 USD", "3.00 USD")
			draft.BidAmount = amount("3")
			ok[*sdk.Ad](t)(n.Ads.Create(background, draft))
		}
	})
}

// TestDryRun_WritesNothingAndAsksNobody plans everything that can be planned while the network cannot be asked, and what
// cannot be done is refused as it would be.
func TestDryRun_WritesNothingAndAsksNobody(t *testing.T) {
	onNetworksAlone(t, func(t *testing.T, n onNetwork) {
		above, asleep, post := n.budgeted(t, "Above"), n.ad(t, "Asleep"), n.post(t, sdk.SocialPostStatusPublished)
		ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkPause(background, refs(asleep.CampaignID)))
		change := budgetOf("35.50", "daily")
		unchanged(t, n.server, "a plan", func() {
			for operation, plan := range map[sdk.AdOperation]*sdk.AdPlan{
				"create_ad":       ok[*sdk.AdPlan](t)(n.Ads.PlanCreate(background, n.draft("Planned"), unreachable)),
				"boost_post":      ok[*sdk.AdPlan](t)(n.Ads.PlanBoost(background, n.boost(post), unreachable)),
				"update_campaign": ok[*sdk.AdPlan](t)(n.AdCampaigns.PlanUpdate(background, above.CampaignID, &sdk.AdCampaignUpdate{Budget: change}, unreachable)),
				"pause_campaign":  ok[*sdk.AdPlan](t)(n.AdCampaigns.PlanBulkPause(background, refs(above.CampaignID), unreachable)),
				"resume_campaign": ok[*sdk.AdPlan](t)(n.AdCampaigns.PlanBulkResume(background, refs(asleep.CampaignID), unreachable)),
			} {
				assert.Equal(t, "ad_plan", plan.Object)
				assert.Equal(t, operation, plan.Operation)
				require.NotEmpty(t, plan.Calls)
				assert.False(t, operation != "pause_campaign" && (len(plan.Figures) != 1 || plan.Figures[0].Currency != "usd"))
			}
			if n.has(sdk.AdBudgetLevelAdGroup) {
				plan := ok[*sdk.AdPlan](t)(n.AdGroups.PlanUpdate(background, asleep.AdGroupID, &sdk.AdGroupUpdate{Budget: change}, unreachable))
				assert.EqualValues(t, "update_ad_group", plan.Operation, "the plan")
				assert.NotEmpty(t, sent(t, plan), "the plan")
			}
			draft := n.draft("Wrong")
			draft.Goal = new(sdk.AdGoal("fame"))
			_, err := n.Ads.PlanCreate(background, draft, unreachable)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "goal")
			_, err = n.AdCampaigns.PlanUpdate(background, "nothing", &sdk.AdCampaignUpdate{Budget: change}, unreachable)
			refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
		})
		still := ok[*sdk.AdCampaign](t)(n.AdCampaigns.Get(background, above.CampaignID, nil))
		assert.EqualValues(t, "20.00", still.Budget.Amount, "what was planned was done")
		assert.Equal(t, sdk.AdStatusActive, still.Status, "what was planned was done")
	})
}

// TestAdTrail_HasEveryWrite does everything that can be done, and reads who did what, what it was and what it became.
func TestAdTrail_HasEveryWrite(t *testing.T) {
	onNetworks(t, func(t *testing.T, n onNetwork) {
		type line struct {
			operation sdk.AdOperation
			approval  string
			target    string
			request   string
		}
		var want []line
		did := func(operation sdk.AdOperation, approval, target string, made *sdk.Response) {
			want = append(want, line{operation, approval, target, made.RequestID})
		}
		var made sdk.Response
		note := sdk.WithResponse(&made)
		draft := n.draft("Trail")
		draft.BudgetLevel = new(sdk.AdCreateBudgetLevelCampaign)
		ad := ok[*sdk.Ad](t)(n.Ads.Create(background, draft, note))
		did("create_ad", "ask", ad.ID, &made)
		boost := ok[*sdk.Ad](t)(n.Ads.Boost(background, n.boost(n.post(t, sdk.SocialPostStatusPublished)), note))
		did("boost_post", "ask", boost.ID, &made)
		ok[*sdk.AdCampaign](t)(n.AdCampaigns.Update(background, ad.CampaignID, &sdk.AdCampaignUpdate{Budget: budgetOf("30", "daily")}, note))
		did("update_campaign", "ask", ad.CampaignID, &made)
		ok[*sdk.AdStatusResult](t)(n.AdGroups.Pause(background, ad.AdGroupID, n.body(), note))
		did("pause_ad_group", "allow", ad.AdGroupID, &made)
		ok[*sdk.AdStatusResult](t)(n.AdGroups.Resume(background, ad.AdGroupID, n.body(), note))
		did("resume_ad_group", "ask", ad.AdGroupID, &made)
		ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkPause(background, refs(ad.CampaignID), note))
		did("pause_campaign", "allow", ad.CampaignID, &made)
		ok[*sdk.AdBulkResult](t)(n.AdCampaigns.BulkResume(background, refs(ad.CampaignID), note))
		did("resume_campaign", "ask", ad.CampaignID, &made)
		list := ok[*sdk.AdAudience](t)(n.AdAudiences.Create(background, &sdk.AdAudienceCreate{AccountID: n.channel, AdAccountID: n.account, Name: "Trail", Type: "customer_list"}, note))
		did("create_audience", "allow", list.ID, &made)
		ok[*sdk.AdAudienceUpload](t)(n.upload(list.ID, people(2), note))
		did("upload_audience_users", "allow", list.ID, &made)
		ok[*sdk.Deleted](t)(n.AdAudiences.Delete(background, list.ID, note))
		did("delete_audience", "ask", list.ID, &made)
		ok[*sdk.DeletedAdCampaign](t)(n.AdCampaigns.Delete(background, ad.CampaignID, n.body(), note))
		did("delete_campaign", "ask", ad.CampaignID, &made)
		var trail []sdk.AdAction
		for action, err := range sdk.All(background, n.AdActions.List, &sdk.ListAdActionsParams{Limit: new(int64(4))}) {
			if err != nil {
				t.Fatal(err)
			}
			trail = append(trail, action)
		}
		slices.Reverse(trail)
		if len(trail) != len(want) {
			t.Fatalf("of %d writes %d are on the trail", len(want), len(trail))
		}
		for i, action := range trail {
			assert.Equal(t, want[i].operation, action.Operation)
			assert.Equal(t, want[i].approval, action.Approval)
			assert.Equal(t, want[i].target, *action.TargetID)
			assert.Equal(t, want[i].request, *action.RequestID)
			assert.Equal(t, sdk.AdActionStateDone, action.State)
			assert.True(t, strings.HasPrefix(*action.APIKeyID, "key_"), *action.APIKeyID)
			assert.Equal(t, n.platform, *action.Platform)
			assert.Equal(t, n.channel, *action.AccountID)
			assert.Equal(t, n.account, *action.AdAccountID)
		}
		update := trail[2]
		for _, change := range []struct {
			state json.RawMessage
			units string
		}{{update.Before, "20"}, {update.After, "30"}} {
			var terms struct{ Budget struct{ Amount json.Number } }
			err := json.Unmarshal(change.state, &terms)
			require.NoError(t, err)
			assert.False(t, terms.Budget.Amount.String() != change.units && terms.Budget.Amount.String() != change.units+".00")
		}
	})
}
