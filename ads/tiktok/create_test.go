package tiktok_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/tiktokfake"
)

func TestCreate_SendsTheBudgetThatWasMeant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		goal  advert.Goal
		kind  advert.BudgetType
		level advert.BudgetLevel
		word  string
	}{
		{advert.GoalTraffic, advert.BudgetTypeDaily, advert.BudgetLevelGroup, "BUDGET_MODE_DYNAMIC_DAILY_BUDGET"},
		{advert.GoalTraffic, advert.BudgetTypeLifetime, advert.BudgetLevelGroup, "BUDGET_MODE_TOTAL"},
		{advert.GoalTraffic, advert.BudgetTypeLifetime, advert.BudgetLevelCampaign, "BUDGET_MODE_TOTAL"},
		{advert.GoalAwareness, advert.BudgetTypeDaily, advert.BudgetLevelGroup, "BUDGET_MODE_DAY"},
		{advert.GoalVideoViews, advert.BudgetTypeDaily, advert.BudgetLevelCampaign, "BUDGET_MODE_DAY"},
	} {
		w := newWorld(nil)
		p := w.plan(t, "budget")
		p.Goal, p.BudgetType, p.BudgetLevel = c.goal, c.kind, c.level
		p.BudgetAmount, p.EndsAt = 2000*advert.AmountUnit+advert.AmountUnit/2, at(noon.AddDate(0, 0, 30))
		made := w.create(t, p)
		campaign, group := w.net.Campaigns(w.account)[0], w.net.Groups(w.account)[0]
		if c.level == advert.BudgetLevelCampaign {
			assert.Equal(t, c.word, campaign.Text("budget_mode"))
			assert.InDelta(t, 2000.5, campaign.Number("budget"), 0)
			assert.Equal(t, p.BudgetAmount, made.Campaign.BudgetAmount)
			assert.Equal(t, c.kind, made.Campaign.BudgetType)
			assert.Zero(t, made.Group.BudgetAmount)
			continue
		}
		assert.Equal(t, "BUDGET_MODE_INFINITE", campaign.Text("budget_mode"))
		assert.Equal(t, c.word, group.Text("budget_mode"))
		assert.InDelta(t, 2000.5, group.Number("budget"), 0)
		assert.Equal(t, p.BudgetAmount, made.Group.BudgetAmount)
		assert.Equal(t, c.kind, made.Group.BudgetType)
		assert.Equal(t, advert.BudgetLevelGroup, made.Campaign.BudgetLevel)
		assert.Empty(t, w.net.Refused())
	}
}

func TestCreate_AimsAtTheGoal(t *testing.T) {
	t.Parallel()
	for goal, c := range map[advert.Goal]struct {
		promoted advert.Object
		want     map[string]string
	}{
		advert.GoalTraffic:        {"", map[string]string{"optimization_goal": "CLICK", "billing_event": "CPC", "promotion_type": "WEBSITE"}},
		advert.GoalAwareness:      {"", map[string]string{"optimization_goal": "REACH", "billing_event": "CPM"}},
		advert.GoalVideoViews:     {"", map[string]string{"optimization_goal": "ENGAGED_VIEW", "billing_event": "CPV", "bid_display_mode": "CPV"}},
		advert.GoalEngagement:     {"", map[string]string{"optimization_goal": "FOLLOWERS", "billing_event": "OCPM", "promotion_type": "EXTERNAL_OR_DISPLAY"}},
		advert.GoalConversions:    {`{"pixel_id":"5","optimization_event":"SHOPPING"}`, map[string]string{"optimization_goal": "CONVERT", "pixel_id": "5", "optimization_event": "SHOPPING"}},
		advert.GoalLeadGeneration: {`{"page_id":"77"}`, map[string]string{"optimization_goal": "LEAD_GENERATION", "promotion_target_type": "INSTANT_PAGE"}},
		advert.GoalAppPromotion:   {`{"app_id":"9"}`, map[string]string{"optimization_goal": "INSTALL", "promotion_type": "APP_ANDROID", "app_id": "9"}},
	} {
		w := newWorld(nil)
		p := w.plan(t, "goal")
		if p.Goal, p.PromotedObject = goal, c.promoted; goal == advert.GoalLeadGeneration {
			p.Creative.LinkURL = ""
		}
		made := w.create(t, p)
		group := w.net.Groups(w.account)[0]
		for name, word := range c.want {
			assert.Equal(t, word, group.Text(name), "%s: %s", goal, name)
		}
		assert.Equal(t, goal, made.Group.Goal)
		assert.Equal(t, advert.StatusActive, made.Ad.Status)
		assert.Empty(t, w.net.Refused(), goal)
	}
}

func TestCreate_BidsAsItIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	capped := w.plan(t, "cap")
	capped.BidStrategy, capped.BidAmount = advert.BidStrategyCostCap, advert.AmountUnit*3/2
	value := w.plan(t, "value")
	value.Goal, value.PromotedObject = advert.GoalConversions, `{"pixel_id":"5","optimization_event":"SHOPPING"}`
	value.BidStrategy, value.RoasFloor = advert.BidStrategyMinROAS, 5*advert.RatioOne/2
	paid := w.plan(t, "paid")
	paid.Goal, paid.PromotedObject, paid.BidStrategy, paid.BidAmount = value.Goal, value.PromotedObject, advert.BidStrategyCostCap, 7*advert.AmountUnit
	for _, p := range []ads.Plan{capped, value, paid} {
		made := w.create(t, p)
		assert.Equal(t, []any{p.BidStrategy, p.BidAmount, p.RoasFloor}, []any{made.Group.BidStrategy, made.Group.BidAmount, made.Group.RoasFloor}, p.Name)
	}
	groups := w.net.Groups(w.account)
	assert.InDelta(t, 1.5, groups[0].Number("bid_price"), 0)
	assert.Equal(t, "VALUE", groups[1].Text("optimization_goal"))
	assert.InDelta(t, 7, groups[2].Number("conversion_bid_price"), 0)
	assert.Empty(t, w.net.Refused())
}

func TestCreate_RefusesByName(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	for field, change := range map[string]func(*ads.Plan){
		"budget_amount":          func(p *ads.Plan) { p.BudgetAmount = advert.AmountUnit / 1000 },
		"bid_amount":             func(p *ads.Plan) { p.BidStrategy, p.BidAmount = advert.BidStrategyCostCap, advert.AmountUnit/1000 },
		"video_url":              func(p *ads.Plan) { p.Media = nil },
		"promoted_object.app_id": func(p *ads.Plan) { p.PromotedObject = `{"app_id":"1"}` },
		"promoted_object":        func(p *ads.Plan) { p.Goal = advert.GoalConversions },
		"link_url":               func(p *ads.Plan) { p.Goal, p.PromotedObject = advert.GoalLeadGeneration, `{"page_id":"77"}` },
		"promoted_object.page_id": func(p *ads.Plan) {
			p.Goal, p.PromotedObject, p.Creative.LinkURL = advert.GoalLeadGeneration, `{"page_id":"x"}`, ""
		},
		"targeting.placements": func(p *ads.Plan) { p.Goal, p.Targeting.Placements = advert.GoalAwareness, []string{"feed", "search"} },
		"ad_account_id":        func(p *ads.Plan) { p.AdAccount.PlatformID = w.net.AddAccount(secret, "Another", "USD", "US").ID },
	} {
		p := w.plan(t, "refused")
		change(&p)
		_, err := w.driver.Create(t.Context(), w.conn, p)
		rejection(t, err, field)
	}
	small := w.plan(t, "small")
	small.BudgetLevel = advert.BudgetLevelCampaign
	_, err := w.driver.Create(t.Context(), w.conn, small)
	rejection(t, err, "budget_amount")
	capped := w.plan(t, "capped")
	capped.BidStrategy = advert.BidStrategyBidCap
	_, err = w.driver.Create(t.Context(), w.conn, capped)
	require.ErrorIs(t, err, ads.ErrUnsupported)
	assert.Empty(t, w.net.Campaigns(w.account), "something was made that spends")
	assert.Empty(t, w.net.Refused())
}

func TestCreate_SpeaksForTheChannelsProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	name := w.net.AddIdentity(w.account, "CUSTOMIZED_USER", "A name")
	w.conn.PlatformID = name
	w.create(t, w.plan(t, "named"))
	assert.Equal(t, name, w.net.Ads(w.account)[0].Text("identity_id"))
	_, err := w.driver.Create(t.Context(), w.conn, w.boost(t, "boost"))
	rejection(t, err, "account_id")
	w.conn.PlatformID = ""
	_, err = w.driver.Create(t.Context(), w.conn, w.plan(t, "nobody"))
	rejection(t, err, "ad_account_id")
	assert.Empty(t, w.net.Refused())
}

func TestCreate_BoostsAPost(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	for _, goal := range []advert.Goal{advert.GoalEngagement, advert.GoalAwareness, advert.GoalVideoViews} {
		p := w.boost(t, "boost")
		p.Goal = goal
		made := w.create(t, p)
		assert.Equal(t, []any{w.post, advert.TypeBoost}, []any{made.Ad.PlatformPostID, made.Ad.Type})
	}
	assert.Empty(t, w.net.Refused())
}

func TestCreate_MakesSeveralAdsAndJoinsAnAdGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	p := w.plan(t, "several")
	for i := range 3 {
		p.Creatives = append(p.Creatives, ads.NamedCreative{Name: fmt.Sprint("ad ", i), Creative: creative()})
	}
	p.Creative = advert.Creative{}
	made := w.create(t, p)
	require.Len(t, made.More, 2)
	assert.Equal(t, "ad 0", made.Ad.Name)
	assert.Equal(t, "ad 1", made.More[ads.AdToken(p.Token, 1)].Name)
	last := w.net.Ads(w.account)[2]
	assert.Equal(t, made.Ad.PlatformID, last.Text("ad_id"), "the first ad is made last")

	joining := w.plan(t, "joining")
	joining.AdGroupID, joining.CampaignID = made.Group.PlatformID, made.Campaign.PlatformID
	joined := w.create(t, joining)
	assert.Nil(t, joined.Campaign)
	assert.Equal(t, made.Group.PlatformID, joined.Ad.AdGroupID)
	found, ok, err := w.driver.Find(t.Context(), w.conn, w.account.ID, joining.Token)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, joined.Ad.PlatformID, found.Ad.PlatformID)
	assert.Empty(t, w.net.Refused())
}

func TestCreate_RemovesWhatItMadeIfAStepIsRefused(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"POST campaign/create", "POST adgroup/create", "POST ad/create"} {
		w := newWorld(nil)
		p := w.plan(t, "refused")
		p.Creatives = []ads.NamedCreative{{Name: "1", Creative: creative()}, {Name: "2", Creative: creative()}}
		p.Creative = advert.Creative{}
		skip := 0
		if step == "POST ad/create" {
			skip = 1
		}
		w.net.Break(step, skip, tiktokfake.FaultReject)
		_, err := w.driver.Create(t.Context(), w.conn, p)
		rejection(t, err, "")
		campaigns, groups, live := w.net.Live(w.account)
		assert.Equal(t, []int{0, 0, 0}, []int{campaigns, groups, live}, step)

		w.net.Break("POST campaign/status/update", 0, tiktokfake.FaultCutAfter) // a lost answer to the removal itself is asked for again
		w.net.Break(step, skip, tiktokfake.FaultReject)
		_, err = w.driver.Create(t.Context(), w.conn, p)
		rejection(t, err, "")
		campaigns, _, live = w.net.Live(w.account)
		assert.Equal(t, []int{0, 0}, []int{campaigns, live}, step)
	}
}

func TestFind_KnowsAfterEveryLostAnswer(t *testing.T) {
	t.Parallel()
	for _, joins := range []bool{false, true} {
		for _, step := range []string{"POST file/image/ad/upload", "POST campaign/create", "POST adgroup/create", "POST ad/create", "GET campaign/get", "GET ad/get"} {
			for _, kind := range []tiktokfake.FaultKind{
				tiktokfake.FaultCutBefore, tiktokfake.FaultCutAfter, tiktokfake.FaultHangAfter, tiktokfake.FaultHangBefore, tiktokfake.FaultSystem, tiktokfake.FaultSystemDone,
				tiktokfake.FaultStatus, tiktokfake.FaultGarbage, tiktokfake.FaultPartly,
			} {
				for skip := range 2 {
					t.Run(fmt.Sprint(step, kind, skip, joins), func(t *testing.T) {
						t.Parallel()
						lostAnswer(t, joins, step, skip, kind)
					})
				}
			}
		}
	}
}

// lostAnswer loses an answer on the way to two ads, looks for them, and makes them if they are not there.
func lostAnswer(t *testing.T, joins bool, step string, skip int, kind tiktokfake.FaultKind) {
	w := newWorld(nil)
	p := w.plan(t, "lost")
	if joins {
		made := w.create(t, w.plan(t, "before"))
		p.AdGroupID, p.CampaignID = made.Group.PlatformID, made.Campaign.PlatformID
	}
	_, _, before := w.net.Live(w.account)
	p.Creatives = []ads.NamedCreative{{Name: "1", Creative: creative()}, {Name: "2", Creative: creative()}}
	p.Creative = advert.Creative{}
	if strings.HasPrefix(step, "GET") {
		w.net.BreakAlways(step, kind)
	} else {
		w.net.Break(step, skip, kind)
	}
	made, err := w.driver.Create(t.Context(), w.conn, p)
	w.net.Heal()
	if err != nil && !assert.NotErrorIs(t, err, ads.ErrUnsupported) {
		return
	}
	found, ok, lookErr := w.driver.Find(t.Context(), w.conn, w.account.ID, p.Token)
	require.NoError(t, lookErr)
	if err == nil {
		require.True(t, ok)
		assert.Equal(t, made.Ad.PlatformID, found.Ad.PlatformID)
	}
	if !ok {
		_, _, live := w.net.Live(w.account)
		assert.Equal(t, before, live, "Find says that there is nothing")
		w.create(t, p) // the same action, as its caller does
	} else {
		require.Len(t, found.More, 1)
	}
	_, _, live := w.net.Live(w.account)
	assert.Equal(t, before+2, live)
}

func TestFind_LooksOnlyAsFarBackAsTheToken(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	p := w.plan(t, "x")
	p.Token = "adact_" + strings.ToLower(ulid.MustNew(ulid.Timestamp(noon), ulid.DefaultEntropy()).String())
	w.create(t, p)
	_, found, err := w.driver.Find(t.Context(), w.conn, w.account.ID, p.Token)
	require.NoError(t, err)
	assert.True(t, found)
	_, found, err = w.driver.Find(t.Context(), w.conn, w.account.ID, token("nobody"))
	require.NoError(t, err)
	assert.False(t, found)
}

func TestTidyNames_TakeTheTokenOff(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	p := w.plan(t, "tidy")
	p.Name = strings.Repeat("茶", 250) // each of which is two wide
	made := w.create(t, p)
	assert.Equal(t, p.Name, made.Campaign.Name)
	names := []ads.MadeName{
		{Level: advert.LevelCampaign, ID: made.Campaign.PlatformID, Name: p.Name, Token: p.Token},
		{Level: advert.LevelGroup, ID: made.Group.PlatformID, Name: p.Name, Token: p.Token},
		{Level: advert.LevelAd, ID: made.Ad.PlatformID, Name: p.Name, Token: p.Token},
	}
	w.net.Rename(w.account, made.Group.PlatformID, "Somebody's")
	for range 2 {
		require.NoError(t, w.driver.TidyNames(t.Context(), w.conn, w.account.ID, names))
	}
	assert.Equal(t, p.Name, w.net.Campaigns(w.account)[0].Text("campaign_name"))
	assert.Equal(t, "Somebody's", w.net.Groups(w.account)[0].Text("adgroup_name"))
	assert.Equal(t, p.Name, w.net.Ads(w.account)[0].Text("ad_name"))
	_, err := w.driver.Delete(t.Context(), w.conn, ads.Ref{AdAccount: w.account.ID, Level: advert.LevelCampaign, ID: made.Campaign.PlatformID})
	require.NoError(t, err)
	require.NoError(t, w.driver.TidyNames(t.Context(), w.conn, w.account.ID, names))
	assert.Empty(t, w.net.Refused())
}

func TestSync_ReturnsEverythingOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	p := w.plan(t, "many")
	for i := range 55 {
		p.Token, p.Name = token(fmt.Sprint("m", i)), fmt.Sprint("campaign ", i)
		w.create(t, p)
	}
	_, err := w.driver.Delete(t.Context(), w.conn, ads.Ref{AdAccount: w.account.ID, Level: advert.LevelCampaign, ID: w.net.Campaigns(w.account)[3].Text("campaign_id")})
	require.NoError(t, err)
	whole, err := w.walk(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []int{55, 55, 55}, []int{len(whole.Campaigns), len(whole.Groups), len(whole.Ads)})
	cancelled := 0
	for _, ad := range whole.Ads {
		if ad.Status == advert.StatusCancelled {
			cancelled++
		}
	}
	assert.Equal(t, 1, cancelled)
	assert.Equal(t, "campaign 54", whole.Campaigns[0].Name)
	assert.Empty(t, w.net.Refused())
}
