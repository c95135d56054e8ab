package meta_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/tests/harness/metafake"
)

func TestAdAccounts_AreReadWithTheirMoney(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.Set(dollars, "amount_spent", "123456")
	w.fake.Set(yen, "spend_cap", "5000")
	accounts, err := w.net.AdAccounts(t.Context(), w.conn)
	require.NoError(t, err)
	require.Len(t, accounts, 4)
	byID := map[string]advert.Account{}
	for _, a := range accounts {
		byID[a.PlatformID] = a
	}
	assert.Equal(t, advert.Account{PlatformID: dollars, Name: "Dollars", Currency: "usd", Timezone: "America/New_York", Status: advert.AccountActive,
		PlatformStatus: "ACTIVE", MinimumDailyBudget: advert.AmountUnit, AmountSpent: 1_234_560_000, BusinessCenterID: "4040000000000001", Country: "US"}, byID[dollars])
	assert.Equal(t, 5000*advert.AmountUnit, byID[yen].SpendCap)
	assert.Equal(t, advert.AmountUnit, byID[yen].MinimumDailyBudget)
	assert.Equal(t, advert.Amount(400_000), byID[dinars].MinimumDailyBudget)
	shut := byID[closed]
	assert.Equal(t, advert.AccountDisabled, shut.Status)
	assert.False(t, shut.IsSelectable())
}

func TestAdAccounts_AreLimitedToThoseOfTheChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.conn.AdAccounts = []string{yen}
	accounts, err := w.net.AdAccounts(t.Context(), w.conn)
	require.NoError(t, err)
	require.Len(t, accounts, 1)
	assert.Equal(t, yen, accounts[0].PlatformID)
}

func TestAdAccounts_InAStrangeCurrencyCannotBeUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.Set(yen, "currency", "XTS")
	w.conn.AdAccounts = []string{yen}
	accounts, err := w.net.AdAccounts(t.Context(), w.conn)
	require.NoError(t, err)
	assert.False(t, accounts[0].IsSelectable())
	assert.Zero(t, accounts[0].MinimumDailyBudget)
}

func TestPosts_AreThoseOfThePageOrOfItsInstagramAccount(t *testing.T) {
	t.Parallel()
	for _, p := range platforms {
		w := newWorld(t, p)
		posts, err := w.net.Posts(t.Context(), w.conn)
		require.NoError(t, err)
		require.Len(t, posts, 1)
		assert.Equal(t, postOf(p).PlatformID, posts[0].PlatformID)
		assert.Equal(t, advert.SocialPostPublished, posts[0].Status)
		require.NotNil(t, posts[0].PublishedAt)
		assert.NotEmpty(t, posts[0].Text)
		assert.NotEmpty(t, posts[0].LinkURL)
	}
}

// walk syncs an ad account whole.
func (w *world) walk(t *testing.T, adAccount string) advert.Batch {
	t.Helper()
	var all advert.Batch
	cursor := ""
	for range 100 {
		b, next, err := w.net.Sync(t.Context(), w.conn, adAccount, cursor)
		require.NoError(t, err)
		all.Campaigns, all.Groups, all.Ads = append(all.Campaigns, b.Campaigns...), append(all.Groups, b.Groups...), append(all.Ads, b.Ads...)
		if cursor = next; next == "" {
			return all
		}
	}
	t.Fatal("the walk does not end")
	return all
}

// external adds a campaign with an ad set and an ad as the ad manager makes them.
func (w *world) external(adAccount, name string) (campaign, group, ad string) {
	number := adAccount[len("act_"):]
	campaign = w.fake.AddExternal("Campaign", map[string]any{"account_id": number, "name": name, "objective": "LINK_CLICKS", "status": "ACTIVE",
		"daily_budget": "5000", "bid_strategy": "LOWEST_COST_WITHOUT_CAP"})
	group = w.fake.AddExternal("AdSet", map[string]any{"account_id": number, "campaign_id": campaign, "name": name, "status": "ACTIVE", "optimization_goal": "LINK_CLICKS"})
	creative := w.fake.AddExternal("AdCreative", map[string]any{"account_id": number, "object_story_id": post})
	ad = w.fake.AddExternal("Ad", map[string]any{"account_id": number, "campaign_id": campaign, "adset_id": group, "name": name, "status": "PAUSED"})
	w.fake.Link(ad, "creative", creative)
	return campaign, group, ad
}

func TestSync_WalksThroughEverythingPageByPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	for i := range 205 {
		w.external(dollars, fmt.Sprint("External ", i))
	}
	made := w.create(t, plan(nil))
	w.fake.Set(made.Ad.PlatformID, "status", "ARCHIVED")
	w.external(yen, "Elsewhere")
	b := w.walk(t, dollars)
	require.Len(t, b.Campaigns, 206)
	require.Len(t, b.Groups, 206)
	require.Len(t, b.Ads, 206)
	seen := map[string]bool{}
	for _, c := range b.Campaigns {
		seen[c.PlatformID] = true
	}
	assert.Len(t, seen, 206, "each once")
}

func TestPosts_AreTheNewest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	for i := range 700 {
		w.fake.AddPost(pageID, fmt.Sprint(pageID, "_", 4_000+i), "More", now)
	}
	posts, err := w.net.Posts(t.Context(), w.conn)
	require.NoError(t, err)
	assert.Len(t, posts, 500)
	assert.Equal(t, fmt.Sprint(pageID, "_", 4_699), posts[0].PlatformID)
}

func TestSync_ReadsWhatCreateMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(func(p *ads.Plan) {
		p.BidStrategy, p.BidAmount, p.EndsAt, p.Goal = advert.BidStrategyCostCap, 1_500_000, at(8), advert.GoalLeadConversion
		p.PromotedObject = `{"pixel_id":"6060"}`
	}))
	b := w.walk(t, dollars)
	c, g, a := b.Campaigns[0], b.Groups[0], b.Ads[0]
	assert.Equal(t, made.Campaign.PlatformID, c.PlatformID)
	assert.Equal(t, advert.StatusActive, c.Status)
	assert.Equal(t, "OUTCOME_LEADS", c.Objective)
	assert.Equal(t, advert.BudgetLevelGroup, c.BudgetLevel)
	assert.Equal(t, advert.GoalLeadConversion, g.Goal, "the optimization goal tells it from lead_generation")
	assert.Equal(t, 20*advert.AmountUnit, g.BudgetAmount)
	assert.Equal(t, advert.BudgetTypeDaily, g.BudgetType)
	assert.Equal(t, advert.BidStrategyCostCap, g.BidStrategy)
	assert.Equal(t, advert.Amount(1_500_000), g.BidAmount)
	assert.Equal(t, *at(8), *g.EndsAt)
	assert.Contains(t, string(g.PlatformTargeting), "advantage_audience")
	assert.JSONEq(t, `{"countries":["US"]}`, string(g.Targeting))
	assert.Equal(t, plan(nil).Creative, a.Creative.V)
	assert.Equal(t, g.PlatformID, a.AdGroupID)
	assert.Equal(t, core.TimeOf(now), *a.PlatformCreatedAt)
}

func TestSync_ReadsWhatSomebodyElseMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.external(dollars, "External")
	b := w.walk(t, dollars)
	assert.Equal(t, advert.BudgetLevelCampaign, b.Campaigns[0].BudgetLevel)
	assert.Equal(t, 50*advert.AmountUnit, b.Campaigns[0].BudgetAmount)
	assert.Empty(t, b.Campaigns[0].Goal, "an objective of old has no word here")
	assert.Equal(t, advert.TypeBoost, b.Ads[0].Type)
	assert.Equal(t, post, b.Ads[0].PlatformPostID)
	assert.Equal(t, advert.ConfiguredPaused, b.Ads[0].ConfiguredStatus)
}

// A campaign that has ended stays ACTIVE at Meta: rule R6.
func TestSync_TellsWhenACampaignEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	w.fake.AddExternal("Campaign", map[string]any{"account_id": dollars[len("act_"):], "name": "Over", "objective": "OUTCOME_TRAFFIC", "status": "ACTIVE",
		"stop_time": now.AddDate(0, 0, -1).Format("2006-01-02T15:04:05-0700")})
	over := w.walk(t, dollars).Campaigns[0]
	assert.Equal(t, "ACTIVE", over.PlatformStatus)
	assert.Equal(t, advert.StatusCompleted, over.StatusAt(core.TimeOf(now)))
}

func TestSync_RefusesAStrangeCursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	_, _, err := w.net.Sync(t.Context(), w.conn, dollars, "level=universe")
	require.Error(t, err)
	assert.Empty(t, w.fake.Calls())
}

func date(month time.Month, day int) ads.Date { return ads.Date{Year: 2026, Month: month, Day: day} }

func (w *world) deliver(ad string) {
	w.fake.Deliver(ad, "2026-11-01", metafake.Delivery{Impressions: 1000, Reach: 800, Clicks: 20, Spend: "10.05",
		Actions: map[string]int64{"link_click": 18, "video_view": 300, "post_engagement": 40, "omni_purchase": 2, "purchase": 2, "lead": 1},
		Values:  map[string]string{"omni_purchase": "99.90", "purchase": "99.90"}})
	w.fake.Deliver(ad, "2026-11-02", metafake.Delivery{Impressions: 500, Reach: 450, Clicks: 5, Spend: "5.00"})
	w.fake.Deliver(ad, "2026-10-31", metafake.Delivery{Impressions: 9, Reach: 9, Clicks: 9, Spend: "9.00"})
}

func TestReport_HasFiguresAndStatesOfEveryLevel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	w.deliver(made.Ad.PlatformID)
	for level, id := range map[advert.Level]string{advert.LevelCampaign: made.Campaign.PlatformID, advert.LevelGroup: made.Group.PlatformID, advert.LevelAd: made.Ad.PlatformID} {
		reports, err := w.net.Report(t.Context(), w.conn, dollars, level, []string{id, "999"}, date(11, 1), date(11, 2))
		require.NoError(t, err)
		require.Len(t, reports, 1)
		r := reports[id]
		assert.Equal(t, advert.Metrics{Spend: new(advert.Amount(15_050_000)), Impressions: new(int64(1500)), Reach: new(int64(800)), Clicks: new(int64(25)),
			Engagement: new(int64(40)), PurchaseValue: new(advert.Amount(99_900_000)), VideoViews: new(int64(300)), Actions: map[string]int64{"link_click": 18_000, "video_view": 300_000,
				"post_engagement": 40_000, "omni_purchase": 2_000, "purchase": 2_000, "lead": 1_000}}, r.Metrics)
		assert.Equal(t, advert.StatusActive, r.Status)
		assert.Equal(t, advert.ConfiguredActive, r.Configured)
		assert.Equal(t, core.TimeOf(now), r.SyncedAt)
	}
}

func TestReport_TellsWhatWasNotDelivered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	w.fake.Review(made.Ad.PlatformID, "DISAPPROVED", "Misleading claims.")
	id := made.Ad.PlatformID
	reports, err := w.net.Report(t.Context(), w.conn, dollars, advert.LevelAd, []string{id}, date(11, 1), date(11, 2))
	require.NoError(t, err)
	assert.Equal(t, advert.StatusRejected, reports[id].Status)
	assert.Equal(t, advert.ReviewRejected, reports[id].Review)
	assert.Equal(t, "DISAPPROVED", reports[id].PlatformStatus)
	assert.Equal(t, "Misleading claims.", reports[id].RejectionReason)
	assert.Zero(t, *reports[id].Metrics.Spend)
}

func TestReport_KnowsASpentBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(func(p *ads.Plan) { p.BudgetType, p.EndsAt = advert.BudgetTypeLifetime, at(8) }))
	w.fake.Set(made.Group.PlatformID, "budget_remaining", "0")
	for level, id := range map[advert.Level]string{advert.LevelGroup: made.Group.PlatformID, advert.LevelAd: made.Ad.PlatformID} {
		reports, err := w.net.Report(t.Context(), w.conn, dollars, level, []string{id}, date(11, 1), date(11, 2))
		require.NoError(t, err)
		assert.True(t, reports[id].BudgetSpent, level)
	}
}

func TestReport_CountsWhatIsDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	made := w.create(t, plan(nil))
	w.deliver(made.Ad.PlatformID)
	_, err := w.net.Delete(t.Context(), w.conn, ref(made))
	require.NoError(t, err)
	id := made.Campaign.PlatformID
	reports, err := w.net.Report(t.Context(), w.conn, dollars, advert.LevelCampaign, []string{id}, date(11, 1), date(11, 2))
	require.NoError(t, err)
	assert.Equal(t, advert.Amount(15_050_000), *reports[id].Metrics.Spend)
	assert.Equal(t, advert.StatusCancelled, reports[id].Status)
}

func TestReport_AsksFewTimesForMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t, advert.PlatformFacebook)
	var ids []string
	for i := range 100 {
		campaign, _, _ := w.external(dollars, fmt.Sprint(i))
		ids = append(ids, campaign)
	}
	reports, err := w.net.Report(t.Context(), w.conn, dollars, advert.LevelCampaign, ids, date(11, 1), date(11, 2))
	require.NoError(t, err)
	assert.Len(t, reports, 100)
	assert.Len(t, w.fake.Calls(), 3, "campaigns, their figures, and what they are for")
}

func ref(made ads.Created) ads.Ref {
	return ads.Ref{AdAccount: dollars, Level: advert.LevelCampaign, ID: made.Campaign.PlatformID}
}
