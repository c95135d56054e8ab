package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

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
		if ad.Object != "ad" || ad.Name != "Spring" || ad.Platform != "facebook" || ad.AccountID != a.channel || ad.AdAccountID != a.account || ad.ID == "" ||
			ad.CampaignID == "" || ad.AdGroupID == "" || ad.Status != sdk.AdStatusActive || ad.ConfiguredStatus != sdk.AdConfiguredStatusActive ||
			ad.AdType != sdk.AdAdTypeStandalone || *ad.Goal != sdk.AdGoalTraffic || ad.Source != sdk.AdSourceNative || ad.IsExternal || ad.PostID != nil {
			t.Errorf("the ad is %+v", ad)
		}
		if ad.Budget == nil || ad.Budget.Amount != "20.00" || ad.Budget.Type != sdk.AdBudgetTypeDaily || ad.Budget.Formatted != "20.00 USD" ||
			ad.BudgetLevel != sdk.AdBudgetLevelAdGroup || ad.Currency != "usd" {
			t.Errorf("the budget is %+v at %s in %s", ad.Budget, ad.BudgetLevel, ad.Currency)
		}
		if *ad.Creative.Headline != "The Go Handbook" || *ad.Creative.LinkURL != "https://example.com/go" || ad.Schedule.EndDate != nil || ad.Metrics == nil {
			t.Errorf("the ad is %+v", ad)
		}
		if string(ad.AdditionalProperties["utm_source"]) != `"news"` || string(ad.AdditionalProperties["tracking_no"]) != `12345678901234567890` {
			t.Errorf("the other fields are %s", ad.AdditionalProperties)
		}
		group := ok[*sdk.AdGroup](t)(a.AdGroups.Get(background, ad.AdGroupID, nil))
		if group.CampaignID != ad.CampaignID || group.Budget.Amount != "20.00" || group.AdCount != 1 || group.Object != "ad_group" {
			t.Errorf("its ad group is %+v", group)
		}
		campaign := ok[*sdk.AdCampaign](t)(a.AdCampaigns.Get(background, ad.CampaignID, nil))
		if campaign.Budget != nil || campaign.AdGroupCount != 1 || campaign.AdCount != 1 || campaign.Object != "campaign" || campaign.Source != sdk.AdSourceNative {
			t.Errorf("its campaign is %+v", campaign)
		}
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
		if string(group.PlatformTargeting) != string(*draft.PlatformTargeting) || string(group.PromotedObject) != string(*draft.PromotedObject) {
			t.Errorf("the ad group is shown to %s and promotes %s", group.PlatformTargeting, group.PromotedObject)
		}
	})
}

func TestCreateAd_TakesABudgetOfTheCampaign(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		a := advertise(t, c, sdk.AdPlatformFacebook)
		draft := a.draft("Autumn")
		draft.BudgetLevel, draft.BudgetAmount, draft.BudgetType = new(sdk.AdCreateBudgetLevelCampaign), new(json.Number("700.50")), new(sdk.AdBudgetTypeLifetime)
		draft.EndDate, draft.Status = new(time.Now().AddDate(0, 0, 30).Format(time.DateOnly)), new(sdk.AdConfiguredStatusPaused)
		ad := ok[*sdk.Ad](t)(a.Ads.Create(background, draft))
		if ad.BudgetLevel != sdk.AdBudgetLevelCampaign || ad.Budget.Amount != "700.50" || ad.Budget.Type != sdk.AdBudgetTypeLifetime ||
			ad.Status != sdk.AdStatusPaused || *ad.Schedule.EndDate != *draft.EndDate {
			t.Errorf("the ad is %+v with the budget %+v", ad, ad.Budget)
		}
		campaign := ok[*sdk.AdCampaign](t)(a.AdCampaigns.Get(background, ad.CampaignID, nil))
		group := ok[*sdk.AdGroup](t)(a.AdGroups.Get(background, ad.AdGroupID, nil))
		if campaign.Budget == nil || campaign.Budget.Amount != "700.50" || group.Budget != nil {
			t.Errorf("the campaign has %+v, the ad group %+v", campaign.Budget, group.Budget)
		}
		more := a.draft("More")
		more.Goal, more.BudgetAmount, more.BudgetType, more.AdGroupID = nil, nil, nil, &ad.AdGroupID
		more.Targeting = &sdk.AdTargeting{AgeMin: new(int64(18))}
		_, err := a.Ads.Create(background, more)
		refused(t, err, 422, "validation_failed", "targeting")
		more.Targeting = nil
		joined := ok[*sdk.Ad](t)(a.Ads.Create(background, more))
		if joined.AdGroupID != ad.AdGroupID || joined.CampaignID != ad.CampaignID || *joined.Goal != *ad.Goal {
			t.Errorf("the second ad is %+v", joined)
		}
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
		if plan.Object != "ad_plan" || plan.Operation != "create_ad" || *plan.Platform != "facebook" || *plan.AccountID != a.channel || *plan.AdAccountID != a.account ||
			len(plan.Figures) != 1 || len(plan.Calls) != 3 {
			t.Errorf("the plan is %+v", plan)
		}
		if f := plan.Figures[0]; f.Currency != "usd" || f.DailyCampaign != "20.00" || f.Limit.MaxDailyBudgetPerCampaign != "10000.00" || f.Limit.MaxTotalDailyBudget != "50000.00" {
			t.Errorf("the figures are %+v", f)
		}
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
		if plan.Operation != "boost_post" || plan.Figures[0].DailyCampaign != "10.00" {
			t.Errorf("the plan is %+v", plan)
		}
		for _, id := range []string{published.ID, published.PlatformPostID} {
			ad := ok[*sdk.Ad](t)(a.Ads.Boost(background, boost(id)))
			if ad.AdType != sdk.AdAdTypeBoost || *ad.PostID != published.ID || *ad.PlatformPostID != published.PlatformPostID || ad.Schedule.EndDate == nil {
				t.Errorf("the ad is %+v", ad)
			}
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
		if len(walked) < 13 || walked[0] != native.ID || !slices.Equal(walked, paged) || len(slices.Compact(sorted)) != len(walked) {
			t.Errorf("the walk is %v\nby page it is %v", walked, paged)
		}
		past := ok[*sdk.AdList](t)(c.Ads.List(background, &sdk.ListAdsParams{AccountID: &a.channel, Page: new(int64(1000))}))
		if len(past.Data) != 0 || past.HasMore || past.NextCursor != nil {
			t.Errorf("past the end there is %+v", past)
		}
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
		if external == 0 || own != 1 || campaign != 1 || still == 0 || still >= all || nothing != 0 {
			t.Errorf("of %d ads %d are on google, %d native, %d of the campaign, %d still, %d of two channels at once", all, external, own, campaign, still, nothing)
		}
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
		if len(list.Data) != 1 || list.Data[0].ID != found.ID {
			t.Errorf("the request that was sent again made %+v", list.Data)
		}
		_, err = a.Ads.List(background, nil, sdk.WithHeader("X-Sandbox-Fault", "nonsense"))
		refused(t, err, http.StatusBadRequest, sdk.CodeBadRequest, "X-Sandbox-Fault")
	})
}
