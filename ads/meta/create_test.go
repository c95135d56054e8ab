package meta_test

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

func TestCreate_MakesACampaignAnAdSetACreativeAndAnAd(t *testing.T) {
	t.Parallel()
	for _, p := range platforms {
		w := newWorld(t, p)
		words, err := w.net.Target(ads.Targeting{Places: ads.Places{Countries: []string{"US"}}}, "")
		require.NoError(t, err)
		made := w.create(t, plan(func(a *ads.Plan) { a.PlatformTargeting = words }))

		assert.Equal(t, []string{made.Campaign.PlatformID}, w.fake.Live("Campaign"))
		assert.Equal(t, []string{made.Group.PlatformID}, w.fake.Live("AdSet"))
		assert.Equal(t, []string{made.Ad.PlatformID}, w.fake.Live("Ad"))
		assert.Equal(t, made.Campaign.PlatformID, made.Ad.CampaignID)
		assert.Equal(t, made.Group.PlatformID, made.Ad.AdGroupID)
		assert.Equal(t, "OUTCOME_TRAFFIC", made.Campaign.Objective)
		assert.Equal(t, "LINK_CLICKS", made.Group.OptimizationGoal)
		assert.Equal(t, advert.StatusPendingReview, made.Ad.Status)
		assert.Equal(t, advert.TypeStandalone, made.Ad.Type)

		var targeting map[string]any
		require.NoError(t, json.Unmarshal([]byte(w.sent(t, "POST", "adsets").Get("targeting")), &targeting))
		assert.Equal(t, map[string]any{"geo_locations": map[string]any{"countries": []any{"US"}}, "publisher_platforms": []any{string(p)},
			"targeting_automation": map[string]any{"advantage_audience": 0.0}}, targeting)
	}
}

func TestCreate_PursuesEveryGoal(t *testing.T) {
	t.Parallel()
	promoted := map[advert.Goal]advert.Object{
		advert.GoalLeadGeneration: `{"lead_gen_form_id":"5050"}`,
		advert.GoalLeadConversion: `{"pixel_id":"6060"}`,
		advert.GoalConversions:    `{"pixel_id":"6060"}`,
		advert.GoalCatalogSales:   `{"product_catalog_id":"7060","product_set_id":"7070"}`,
		advert.GoalAppPromotion:   `{"application_id":"8080","object_store_url":"https://apps.example/1"}`,
	}
	for _, platform := range platforms {
		w := newWorld(t, platform)
		w.fake.Film(postOf(platform).PlatformID)
		for _, goal := range w.net.Caps().Goals() {
			w.fake.Forget()
			made, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) {
				p.Goal, p.PromotedObject, p.BudgetAmount = goal, promoted[goal], 90*advert.AmountUnit
				if goal == advert.GoalVideoViews {
					p.Post, p.Creative = postOf(platform), advert.Creative{}
				}
			}))
			require.NoError(t, err, goal)
			word, _ := w.net.Caps().Objective(goal)
			assert.Equal(t, word, w.sent(t, "POST", "campaigns").Get("objective"))
			assert.Equal(t, goal, made.Campaign.Goal)
		}
	}
}

func TestCreate_RefusesAGoalThatMetaDoesNotKnow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	_, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) { p.Goal = advert.GoalJobApplicants }))
	require.ErrorIs(t, err, ads.ErrUnsupported)
	assert.Empty(t, w.fake.Live("Campaign"))
}

func TestCreate_KnowsEveryCallToAction(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	for _, word := range w.net.Caps().CallsToAction {
		_, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) { p.Creative.CallToAction = word }))
		assert.NoError(t, err, word)
	}
}

func TestCreate_BoostsAPost(t *testing.T) {
	t.Parallel()
	for _, platform := range platforms {
		w := newWorld(t, platform)
		made := w.create(t, plan(func(p *ads.Plan) {
			p.Goal, p.Post, p.Creative = advert.GoalEngagement, postOf(platform), advert.Creative{}
		}))
		assert.Equal(t, advert.TypeBoost, made.Ad.Type)
		assert.Equal(t, postOf(platform).PlatformID, made.Ad.PlatformPostID)

		sent := w.sent(t, "POST", "adcreatives")
		assert.False(t, sent.Has("object_story_spec"))
		if platform == advert.PlatformInstagram {
			assert.Equal(t, []string{media, instagram, pageID}, []string{sent.Get("source_instagram_media_id"), sent.Get("instagram_user_id"), sent.Get("object_id")})
		} else {
			assert.Equal(t, post, sent.Get("object_story_id"))
		}
	}
}

func TestCreate_JoinsAnAdGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	first := w.create(t, plan(nil))
	second := w.create(t, plan(func(p *ads.Plan) {
		p.Token, p.CampaignID, p.AdGroupID = "adact_01kabc0000000000000000000b", first.Campaign.PlatformID, first.Group.PlatformID
		p.Goal, p.BudgetAmount = "", 0
	}))
	assert.Nil(t, second.Campaign)
	assert.Nil(t, second.Group)
	assert.Equal(t, first.Group.PlatformID, second.Ad.AdGroupID)
	assert.Equal(t, first.Campaign.PlatformID, second.Ad.CampaignID)
	assert.Len(t, w.fake.Live("Campaign"), 1)
	assert.Len(t, w.fake.Live("Ad"), 2)
}

func TestCreate_IsPausedOnAllLevels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(func(p *ads.Plan) { p.Configured = advert.ConfiguredPaused }))
	for _, id := range []string{made.Campaign.PlatformID, made.Group.PlatformID, made.Ad.PlatformID} {
		assert.Equal(t, "PAUSED", w.fake.Field(id, "status"))
	}
	assert.Equal(t, advert.StatusPaused, made.Ad.Status)
}

func TestCreate_PutsTheBudgetOnOneLevel(t *testing.T) {
	t.Parallel()
	for _, level := range []advert.BudgetLevel{advert.BudgetLevelCampaign, advert.BudgetLevelGroup} {
		for _, kind := range []advert.BudgetType{advert.BudgetTypeDaily, advert.BudgetTypeLifetime} {
			w := newWorld(t, advert.PlatformFacebook)
			made := w.create(t, plan(func(p *ads.Plan) {
				p.BudgetLevel, p.BudgetType, p.StartsAt, p.EndsAt, p.BidStrategy = level, kind, at(1), at(8), advert.BidStrategyLowestCost
			}))
			name := string(kind) + "_budget"
			campaign, group := w.sent(t, "POST", "campaigns"), w.sent(t, "POST", "adsets")
			with, without := campaign, group
			if level == advert.BudgetLevelGroup {
				with, without = group, campaign
				assert.Equal(t, "false", campaign.Get("is_adset_budget_sharing_enabled"))
			}
			assert.Equal(t, "2000", with.Get(name))
			assert.Equal(t, "LOWEST_COST_WITHOUT_CAP", with.Get("bid_strategy"))
			assert.False(t, without.Has("daily_budget"))
			assert.False(t, without.Has("lifetime_budget"))
			assert.False(t, without.Has("bid_strategy"))
			assert.Equal(t, "2026-11-29T00:00:00+0000", group.Get("end_time"))
			assert.Equal(t, level, made.Campaign.BudgetLevel)
		}
	}
}

func TestCreate_SendsWhatABidStrategyNeeds(t *testing.T) {
	t.Parallel()
	for _, level := range []advert.BudgetLevel{advert.BudgetLevelCampaign, advert.BudgetLevelGroup} {
		for _, strategy := range advert.BidStrategies {
			w := newWorld(t, advert.PlatformFacebook)
			p := plan(func(p *ads.Plan) { p.BudgetLevel, p.BidStrategy = level, strategy })
			switch strategy {
			case advert.BidStrategyBidCap, advert.BidStrategyCostCap:
				p.BidAmount = 1_500_000
			case advert.BidStrategyMinROAS:
				valued(&p)
				p.RoasFloor = 2_500_000
			}
			w.create(t, p)
			group := w.sent(t, "POST", "adsets")
			if p.BidAmount > 0 {
				assert.Equal(t, "150", group.Get("bid_amount"))
			}
			if p.RoasFloor > 0 {
				assert.JSONEq(t, `{"roas_average_floor":25000}`, group.Get("bid_constraints"))
			}
		}
	}
}

func TestCreate_RefusesAFloorThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	_, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) { p.BidStrategy, p.RoasFloor = advert.BidStrategyMinROAS, 2_500_001 }))
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected)
	assert.Equal(t, "roas_average_floor", rejected.Field)
	assert.Empty(t, w.fake.Live("Campaign"))
}

func TestCreate_RemovesWhatItMadeWhenAStepIsRefused(t *testing.T) {
	t.Parallel()
	for _, edge := range []string{"campaigns", "adsets", "adcreatives", "ads"} {
		w := newWorld(t, advert.PlatformFacebook)
		w.fake.Fail(metafake.Fault{Kind: metafake.FaultReject, Method: "POST", Edge: edge})
		_, err := w.net.Create(t.Context(), w.conn, plan(nil))
		var rejected *ads.Rejected
		require.ErrorAs(t, err, &rejected, edge)
		assert.Contains(t, rejected.Message, "Advertising Standards")
		for _, node := range []string{"Campaign", "AdSet", "Ad", "AdCreative"} {
			assert.Empty(t, w.fake.Live(node), "%s after %s", node, edge)
		}
	}
}

// hurried notes how much time the requests have that remove something.
type hurried struct {
	next http.RoundTripper
	left *atomic.Int64
}

func (h hurried) RoundTrip(r *http.Request) (*http.Response, error) {
	if end, ok := r.Context().Deadline(); ok && r.Method == http.MethodDelete {
		h.left.Store(int64(time.Until(end)))
	}
	return h.next.RoundTrip(r)
}

func TestCreate_DoesNotCleanUpForLongerThanItsActionIsLeased(t *testing.T) {
	t.Parallel()
	var left atomic.Int64
	w := worldThrough(t, advert.PlatformFacebook, func(_ *metafake.Fake, next http.RoundTripper) http.RoundTripper { return hurried{next, &left} })
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultReject, Method: "POST", Edge: "ads"})
	_, err := w.driver(time.Hour).Create(t.Context(), w.conn, plan(nil))
	require.Error(t, err)
	require.NotZero(t, left.Load())
	assert.LessOrEqual(t, time.Duration(left.Load()), ads.UndoTime)
}

func TestCreate_LeavesTheGroupItJoinedAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	first := w.create(t, plan(nil))
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultReject, Method: "POST", Edge: "ads"})
	_, err := w.net.Create(t.Context(), w.conn, plan(func(p *ads.Plan) { p.CampaignID, p.AdGroupID = first.Campaign.PlatformID, first.Group.PlatformID }))
	require.Error(t, err)
	assert.Len(t, w.fake.Live("Campaign"), 1)
	assert.Len(t, w.fake.Live("AdSet"), 1)
	assert.Len(t, w.fake.Live("Ad"), 1)
	assert.Len(t, w.fake.Live("AdCreative"), 1)
}

func TestCreate_IsIndeterminateWhenItCannotCleanUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultReject, Method: "POST", Edge: "ads"})
	w.fake.Fail(metafake.Fault{Kind: metafake.FaultServerError, Method: "DELETE", Times: -1})
	_, err := w.net.Create(t.Context(), w.conn, plan(nil))
	require.ErrorIs(t, err, ads.ErrIndeterminate)

	w.fake.Heal()
	_, found, err := w.net.Find(t.Context(), w.conn, dollars, plan(nil).Token)
	require.NoError(t, err)
	assert.False(t, found)
	assert.Empty(t, w.fake.Live("Campaign"), "Find removes what is left")
}

func TestCreate_NeedsToKnowThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.AddPage("2020000000000002", "Southwind", "EAAother", "")
	_, err := w.net.Create(t.Context(), w.conn, plan(nil))
	var rejected *ads.Rejected
	require.ErrorAs(t, err, &rejected)
	assert.Empty(t, w.fake.Live("Campaign"))

	w.create(t, plan(func(p *ads.Plan) { p.Goal, p.Post = advert.GoalEngagement, postOf(advert.PlatformFacebook) })) // its id tells the page
	w.conn.PlatformID = pageID
	w.create(t, plan(nil))
}
