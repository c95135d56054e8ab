package contract

import (
	"encoding/json"
	"fmt"
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

// advertiser is a client with an activated channel and an ad account that is paid in dollars.
type advertiser struct {
	*sdk.Client
	channel string
	account string
	films   bool // its network shows videos only
}

func advertise(t *testing.T, c *sdk.Client, platform sdk.AdPlatform) advertiser {
	t.Helper()
	channel := activated(t, c, platform)
	for account, err := range sdk.All(background, c.AdAccounts.List, &sdk.ListAdAccountsParams{AccountID: channel.ID}) {
		if err != nil {
			t.Fatal(err)
		}
		if account.Selectable && account.Currency == "usd" {
			return advertiser{c, channel.ID, account.ID, platform == sdk.AdPlatformTikTok}
		}
	}
	t.Fatal("the channel has no ad account in dollars")
	return advertiser{}
}

// draft is an ad that can be created.
func (a advertiser) draft(name string) *sdk.AdCreate {
	draft := &sdk.AdCreate{
		AccountID: a.channel, AdAccountID: a.account, Name: name, Goal: new(sdk.AdGoalTraffic),
		BudgetAmount: new(json.Number("20")), BudgetType: new(sdk.AdBudgetTypeDaily),
		Headline: new("The Go Handbook"), Body: new("Learn Go in a weekend."), CallToAction: new("LEARN_MORE"),
		LinkURL: new("https://example.com/go"), ImageURL: new("https://example.com/go.png"),
	}
	if a.films {
		film(draft, "https://example.com/go.mp4")
	}
	return draft
}

// ad creates one.
func (a advertiser) ad(t *testing.T, name string) *sdk.Ad {
	t.Helper()
	return ok[*sdk.Ad](t)(a.Ads.Create(background, a.draft(name)))
}

func TestCreateAd_ShowsWhatItMade(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		draft := a.draft("Spring")
		draft.AdditionalProperties = map[string]json.RawMessage{"utm_source": json.RawMessage(`"news"`), "tracking_no": json.RawMessage(`12345678901234567890`)}
		ad := ok[*sdk.Ad](t)(a.Ads.Create(background, draft))
		assert.Equal(t, "ad", ad.Object, "the ad")
		assert.Equal(t, "Spring", ad.Name, "the ad")
		assert.EqualValues(t, "facebook", ad.Platform, "the ad")
		assert.Equal(t, a.channel, ad.AccountID, "the ad")
		assert.Equal(t, a.account, ad.AdAccountID, "the ad")
		assert.NotEmpty(t, ad.ID, "the ad")
		assert.NotEmpty(t, ad.CampaignID, "the ad")
		assert.NotEmpty(t, ad.AdGroupID, "the ad")
		assert.Equal(t, sdk.AdStatusActive, ad.Status, "the ad")
		assert.Equal(t, sdk.AdConfiguredStatusActive, ad.ConfiguredStatus, "the ad")
		assert.Equal(t, sdk.AdAdTypeStandalone, ad.AdType, "the ad")
		assert.Equal(t, sdk.AdGoalTraffic, *ad.Goal, "the ad")
		assert.Equal(t, sdk.AdSourceNative, ad.Source, "the ad")
		assert.False(t, ad.IsExternal, "the ad")
		assert.Nil(t, ad.PostID, "the ad")
		require.NotNil(t, ad.Budget)
		assert.EqualValues(t, "20.00", ad.Budget.Amount)
		assert.Equal(t, sdk.AdBudgetTypeDaily, ad.Budget.Type)
		assert.Equal(t, "20.00 USD", ad.Budget.Formatted)
		assert.Equal(t, sdk.AdBudgetLevelAdGroup, ad.BudgetLevel)
		assert.Equal(t, "usd", ad.Currency)
		assert.Equal(t, "The Go Handbook", *ad.Creative.Headline, "the ad")
		assert.Equal(t, "https://example.com/go", *ad.Creative.LinkURL, "the ad")
		require.Nil(t, ad.Schedule.EndDate, "the ad")
		assert.NotNil(t, ad.Metrics, "the ad")
		assert.Equal(t, `"news"`, string(ad.AdditionalProperties["utm_source"]), "the other fields")
		assert.Equal(t, `12345678901234567890`, string(ad.AdditionalProperties["tracking_no"]), "the other fields")
		group := ok[*sdk.AdGroup](t)(a.AdGroups.Get(background, ad.AdGroupID, nil))
		assert.Equal(t, ad.CampaignID, group.CampaignID, "its ad group")
		assert.EqualValues(t, "20.00", group.Budget.Amount, "its ad group")
		assert.EqualValues(t, 1, group.AdCount, "its ad group")
		assert.Equal(t, "ad_group", group.Object, "its ad group")
		campaign := ok[*sdk.AdCampaign](t)(a.AdCampaigns.Get(background, ad.CampaignID, nil))
		require.Nil(t, campaign.Budget, "its campaign")
		assert.EqualValues(t, 1, campaign.AdGroupCount, "its campaign")
		assert.EqualValues(t, 1, campaign.AdCount, "its campaign")
		assert.Equal(t, "campaign", campaign.Object, "its campaign")
		assert.Equal(t, sdk.AdSourceNative, campaign.Source, "its campaign")
	})
}

func TestCreateAd_SpeaksToTheNetworkInItsOwnWords(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		draft := a.draft("Conversions")
		draft.Goal = new(sdk.AdGoalConversions)
		draft.PlatformTargeting = new(json.RawMessage(`{"geo_locations":{"countries":["US"]}}`))
		draft.PromotedObject = new(json.RawMessage(`{"custom_event_type":"PURCHASE","pixel_id":"123456789012345678"}`))
		ad := ok[*sdk.Ad](t)(a.Ads.Create(background, draft))
		group := ok[*sdk.AdGroup](t)(a.AdGroups.Get(background, ad.AdGroupID, nil))
		assert.Equal(t, string(*draft.PlatformTargeting), string(group.PlatformTargeting))
		assert.Equal(t, string(*draft.PromotedObject), string(group.PromotedObject))
	})
}

func TestCreateAd_TakesABudgetOfTheCampaign(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		draft := a.draft("Autumn")
		draft.BudgetLevel, draft.BudgetAmount, draft.BudgetType = new(sdk.AdCreateBudgetLevelCampaign), new(json.Number("700.50")), new(sdk.AdBudgetTypeLifetime)
		draft.EndDate, draft.Status = new(time.Now().AddDate(0, 0, 30).Format(time.DateOnly)), new(sdk.AdConfiguredStatusPaused)
		ad := ok[*sdk.Ad](t)(a.Ads.Create(background, draft))
		assert.Equal(t, sdk.AdBudgetLevelCampaign, ad.BudgetLevel)
		assert.EqualValues(t, "700.50", ad.Budget.Amount)
		assert.Equal(t, sdk.AdBudgetTypeLifetime, ad.Budget.Type)
		assert.Equal(t, sdk.AdStatusPaused, ad.Status)
		assert.Equal(t, *draft.EndDate, *ad.Schedule.EndDate)
		campaign := ok[*sdk.AdCampaign](t)(a.AdCampaigns.Get(background, ad.CampaignID, nil))
		group := ok[*sdk.AdGroup](t)(a.AdGroups.Get(background, ad.AdGroupID, nil))
		require.NotNil(t, campaign.Budget)
		assert.EqualValues(t, "700.50", campaign.Budget.Amount)
		assert.Nil(t, group.Budget)
		more := a.draft("More")
		more.Goal, more.BudgetAmount, more.BudgetType, more.AdGroupID = nil, nil, nil, &ad.AdGroupID
		more.Targeting = &sdk.AdTargeting{AgeMin: new(int64(18))}
		_, err := a.Ads.Create(background, more)
		refused(t, err, 422, "validation_failed", "targeting")
		more.Targeting = nil
		joined := ok[*sdk.Ad](t)(a.Ads.Create(background, more))
		assert.Equal(t, ad.AdGroupID, joined.AdGroupID, "the second ad")
		assert.Equal(t, ad.CampaignID, joined.CampaignID, "the second ad")
		assert.Equal(t, *ad.Goal, *joined.Goal, "the second ad")
	})
}

func TestCreateAd_NamesWhatIsMissingOrWrong(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		for field, change := range map[string]func(*sdk.AdCreate){
			"goal":          func(d *sdk.AdCreate) { d.Goal = nil },
			"budget_amount": func(d *sdk.AdCreate) { d.BudgetAmount = nil },
			"budget_type":   func(d *sdk.AdCreate) { d.BudgetType = nil },
		} {
			draft := a.draft("x")
			change(draft)
			_, err := a.Ads.Create(background, draft)
			refused(t, err, http.StatusBadRequest, sdk.CodeParameterMissing, field)
		}
		for field, changes := range map[string][]func(*sdk.AdCreate){
			"budget_amount": {
				func(d *sdk.AdCreate) { d.BudgetAmount = new(json.Number("0")) }, func(d *sdk.AdCreate) { d.BudgetAmount = new(json.Number("-20")) },
				func(d *sdk.AdCreate) { d.BudgetAmount = new(json.Number("20.001")) }, func(d *sdk.AdCreate) { d.BudgetAmount = new(json.Number("0.01")) },
			},
			"end_date": {
				func(d *sdk.AdCreate) { d.BudgetType = new(sdk.AdBudgetTypeLifetime) }, func(d *sdk.AdCreate) { d.EndDate = new("soon") },
				func(d *sdk.AdCreate) { d.EndDate = new("2026-02-30") }, func(d *sdk.AdCreate) { d.EndDate = new("2020-01-01") },
			},
			"goal":           {func(d *sdk.AdCreate) { d.Goal = new(sdk.AdGoal("fame")) }, func(d *sdk.AdCreate) { d.Goal = new(sdk.AdGoalJobApplicants) }},
			"platform":       {func(d *sdk.AdCreate) { d.Platform = new(sdk.AdPlatformGoogle) }, func(d *sdk.AdCreate) { d.Platform = new(sdk.AdPlatform("myspace")) }},
			"call_to_action": {func(d *sdk.AdCreate) { d.CallToAction = new("PLEASE") }},
			"currency":       {func(d *sdk.AdCreate) { d.Currency = new("eur") }},
			"bid_strategy":   {func(d *sdk.AdCreate) { d.BidStrategy = new("CHEAP") }},
			"bid_amount":     {func(d *sdk.AdCreate) { d.BidStrategy = new("COST_CAP") }},
			"name":           {func(d *sdk.AdCreate) { d.Name = strings.Repeat("n", 256) }},
		} {
			for i, change := range changes {
				draft := a.draft(fmt.Sprint("wrong ", i))
				change(draft)
				_, err := a.Ads.Create(background, draft)
				refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, field)
			}
		}
		draft := a.draft("x")
		draft.AdAccountID = "act_1"
		_, err := a.Ads.Create(background, draft)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "ad_account_id")
		draft = a.draft("x")
		draft.AdditionalProperties = map[string]json.RawMessage{"big": json.RawMessage(`"` + strings.Repeat("x", 17<<10) + `"`)}
		_, err = a.Ads.Create(background, draft)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "big")
	})
}

func TestPlanCreate_WritesNothing(t *testing.T) {
	onEachAlone(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		goOn := s.RestAds() // they mirror what the network has
		before := rows(t, s.Database)
		plan := ok[*sdk.AdPlan](t)(a.Ads.PlanCreate(background, a.draft("Planned")))
		assert.Equal(t, "ad_plan", plan.Object, "the plan")
		assert.EqualValues(t, "create_ad", plan.Operation, "the plan")
		assert.EqualValues(t, "facebook", *plan.Platform, "the plan")
		assert.Equal(t, a.channel, *plan.AccountID, "the plan")
		assert.Equal(t, a.account, *plan.AdAccountID, "the plan")
		require.Len(t, plan.Figures, 1, "the plan")
		assert.Len(t, plan.Calls, 3, "the plan")
		f := plan.Figures[0]
		assert.Equal(t, "usd", f.Currency, "the figures")
		assert.EqualValues(t, "20.00", f.DailyCampaign, "the figures")
		assert.EqualValues(t, "10000.00", f.Limit.MaxDailyBudgetPerCampaign, "the figures")
		assert.EqualValues(t, "50000.00", f.Limit.MaxTotalDailyBudget, "the figures")
		if after := rows(t, s.Database); fmt.Sprint(after) != fmt.Sprint(withKeys(before, after)) {
			t.Errorf("%v became %v", before, after)
		}
		goOn()
		draft := a.draft("Too much")
		draft.BudgetAmount = new(json.Number("10000.01"))
		_, err := a.Ads.PlanCreate(background, draft)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeSpendLimitExceeded, "budget_amount")
		_, err = a.Ads.Create(background, draft)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeSpendLimitExceeded, "budget_amount")
	})
}

// withKeys is what was there before, but for the Idempotency-Keys, which every write leaves.
func withKeys(before, after map[string]int) map[string]int {
	before["idempotency_keys"] = after["idempotency_keys"]
	return before
}

func TestBoostPost_PromotesAPublishedPost(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformInstagram)
		posts := ok[*sdk.SocialPostList](t)(c.Socials.ListPosts(background, a.channel, nil)).Data
		published := posts[slices.IndexFunc(posts, func(p sdk.SocialPost) bool { return p.Status == sdk.SocialPostStatusPublished })]
		draft := posts[slices.IndexFunc(posts, func(p sdk.SocialPost) bool { return p.Status == sdk.SocialPostStatusDraft })]
		boost := func(post string) *sdk.AdBoost {
			return &sdk.AdBoost{
				AccountID: a.channel, AdAccountID: a.account, PostID: post, Name: "Boosted", Goal: sdk.AdGoalEngagement,
				Budget: sdk.AdBudgetInput{Amount: "70", Type: sdk.AdBudgetTypeLifetime},
			}
		}
		plan := ok[*sdk.AdPlan](t)(a.Ads.PlanBoost(background, boost(published.ID)))
		assert.EqualValues(t, "boost_post", plan.Operation, "the plan")
		assert.EqualValues(t, "10.00", plan.Figures[0].DailyCampaign, "the plan")
		for _, id := range []string{published.ID, published.PlatformPostID} {
			ad := ok[*sdk.Ad](t)(a.Ads.Boost(background, boost(id)))
			assert.Equal(t, sdk.AdAdTypeBoost, ad.AdType, "the ad")
			assert.Equal(t, published.ID, *ad.PostID, "the ad")
			assert.Equal(t, published.PlatformPostID, *ad.PlatformPostID, "the ad")
			assert.NotNil(t, ad.Schedule.EndDate, "the ad")
		}
		_, err := a.Ads.Boost(background, boost(randomID("spost")))
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "post_id")
		_, err = a.Ads.Boost(background, boost(draft.ID))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "post_id")
	})
}

func TestListAds_WalksByCursorAndByPage(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		native := a.ad(t, "Native")
		var walked []string
		for ad, err := range sdk.All(background, c.Ads.List, &sdk.ListAdsParams{AccountID: &a.channel, Limit: new(int64(5))}) {
			if err != nil {
				t.Fatal(err)
			}
			walked = append(walked, ad.ID)
		}
		var paged []string
		for page := int64(1); ; page++ {
			list := ok[*sdk.AdList](t)(c.Ads.List(background, &sdk.ListAdsParams{AccountID: &a.channel, Limit: new(int64(5)), Page: &page}))
			for _, ad := range list.Data {
				paged = append(paged, ad.ID)
			}
			if list.HasMore != (list.NextCursor != nil) {
				t.Errorf("has_more is %t, next_cursor %v", list.HasMore, list.NextCursor)
			}
			if !list.HasMore {
				break
			}
		}
		sorted := slices.Clone(walked)
		slices.Sort(sorted)
		require.GreaterOrEqual(t, len(walked), 13)
		assert.Equal(t, native.ID, walked[0])
		assert.True(t, slices.Equal(walked, paged))
		assert.Len(t, slices.Compact(sorted), len(walked))
		past := ok[*sdk.AdList](t)(c.Ads.List(background, &sdk.ListAdsParams{AccountID: &a.channel, Page: new(int64(1000))}))
		require.Empty(t, past.Data, "past the end there")
		assert.False(t, past.HasMore, "past the end there")
		assert.Nil(t, past.NextCursor, "past the end there")
		first := ok[*sdk.AdList](t)(c.Ads.List(background, &sdk.ListAdsParams{AccountID: &a.channel, Limit: new(int64(1))}))
		_, err := c.Ads.List(background, &sdk.ListAdsParams{Cursor: first.NextCursor, Limit: new(int64(1))})
		refused(t, err, http.StatusBadRequest, sdk.CodeBadRequest, "cursor")
	})
}

func TestListAds_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		other := advertise(t, c, sdk.AdPlatformGoogle)
		native := a.ad(t, "Native")
		count := func(params sdk.ListAdsParams, fits func(*sdk.Ad) bool) int {
			t.Helper()
			n := 0
			for ad, err := range sdk.All(background, c.Ads.List, &params) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; !fits(&ad) {
					t.Errorf("%+v shows %+v", params, ad)
				}
			}
			return n
		}
		all := count(sdk.ListAdsParams{}, func(*sdk.Ad) bool { return true })
		external := count(sdk.ListAdsParams{Platform: new(sdk.AdPlatformGoogle)}, func(ad *sdk.Ad) bool { return ad.AccountID == other.channel && ad.IsExternal })
		own := count(sdk.ListAdsParams{Source: new(sdk.AdSourceScopeNative)}, func(ad *sdk.Ad) bool { return ad.ID == native.ID })
		campaign := count(sdk.ListAdsParams{CampaignID: &native.CampaignID}, func(ad *sdk.Ad) bool { return ad.ID == native.ID })
		still := count(sdk.ListAdsParams{Status: []sdk.AdStatus{sdk.AdStatusPaused, sdk.AdStatusRejected}}, func(ad *sdk.Ad) bool {
			return ad.Status == sdk.AdStatusPaused || ad.Status == sdk.AdStatusRejected
		})
		nothing := count(sdk.ListAdsParams{AccountID: &a.channel, Platform: new(sdk.AdPlatformGoogle)}, func(*sdk.Ad) bool { return false })
		assert.NotZero(t, external)
		assert.Equal(t, 1, own)
		assert.Equal(t, 1, campaign)
		assert.NotZero(t, still)
		assert.Less(t, still, all)
		assert.Zero(t, nothing)
		today, long := time.Now().UTC().Format(time.DateOnly), "2020-01-01"
		for param, params := range map[string]sdk.ListAdsParams{
			"from": {From: &long, To: &today}, "to": {To: new("2026-02-30")},
		} {
			_, err := c.Ads.List(background, &params)
			refused(t, err, http.StatusBadRequest, sdk.CodeBadRequest, param)
		}
	})
}

func TestAds_SayWhenTheNetworkLimitsAndRefuses(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		_, err := a.Ads.Create(background, a.draft("Limited"), sdk.WithHeader("X-Sandbox-Fault", "rate_limit;after=7"))
		if e := refused(t, err, http.StatusTooManyRequests, sdk.CodeRateLimitExceeded, "platform"); e.RetryAfter != 7*time.Second {
			t.Errorf("the network asks to wait %s", e.RetryAfter)
		}
		_, err = a.Ads.Create(background, a.draft("Refused"), sdk.WithHeader("X-Sandbox-Fault", "reject"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "platform")
		_, err = a.Ads.Create(background, a.draft("Lost"), sdk.WithHeader("X-Sandbox-Fault", "timeout_after_commit"), sdk.WithIdempotencyKey("lost"))
		refused(t, err, http.StatusInternalServerError, sdk.CodeAPIError, "")
		found := ok[*sdk.Ad](t)(a.Ads.Create(background, a.draft("Lost"), sdk.WithIdempotencyKey("lost")))
		list := ok[*sdk.AdList](t)(a.Ads.List(background, &sdk.ListAdsParams{Source: new(sdk.AdSourceScopeNative)}))
		require.Len(t, list.Data, 1, "the request")
		assert.Equal(t, found.ID, list.Data[0].ID, "the request")
		_, err = a.Ads.List(background, nil, sdk.WithHeader("X-Sandbox-Fault", "nonsense"))
		refused(t, err, http.StatusBadRequest, sdk.CodeBadRequest, "X-Sandbox-Fault")
	})
}
