package zernio_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/zerniofake"
)

const (
	onFacebook  = advert.PlatformFacebook
	onTikTok    = advert.PlatformTikTok
	onLinkedIn  = advert.PlatformLinkedIn
	onPinterest = advert.PlatformPinterest
	onGoogle    = advert.PlatformGoogle
)

// What Zernio has no way to pass on is refused by its name, before anything is asked for.
func TestCheck_RefusesWhatCannotBePassedOn(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		on     advert.Platform
		boosts bool
		change func(p *ads.Plan)
		field  string
	}{
		"a pause":           {onLinkedIn, false, func(p *ads.Plan) { p.Configured = advert.ConfiguredPaused }, "status"},
		"a paused boost":    {onFacebook, true, func(p *ads.Plan) { p.Configured = advert.ConfiguredPaused }, "status"},
		"a start":           {onPinterest, false, func(p *ads.Plan) { p.StartsAt = at(noon) }, "start_date"},
		"joining":           {onPinterest, false, func(p *ads.Plan) { p.AdGroupID = "1" }, "ad_group_id"},
		"several":           {onLinkedIn, false, func(p *ads.Plan) { p.Creatives = []ads.NamedCreative{{Name: "a"}} }, "creatives"},
		"several that join": {onFacebook, false, func(p *ads.Plan) { p.AdGroupID, p.Creatives = "1", []ads.NamedCreative{{Name: "a"}} }, "creatives"},
		"cards of several": {onFacebook, false, func(p *ads.Plan) {
			p.Creatives = []ads.NamedCreative{{Creative: advert.Creative{Cards: make([]advert.Card, 2)}}}
		}, "creatives.0.cards"},
		"cards that join":      {onFacebook, false, func(p *ads.Plan) { p.AdGroupID, p.Creative.Cards = "1", make([]advert.Card, 2) }, "cards"},
		"a card's description": {onLinkedIn, false, func(p *ads.Plan) { p.Creative.Cards = []advert.Card{{Description: "x"}} }, "cards.0.description"},
		"a description":        {onLinkedIn, false, func(p *ads.Plan) { p.Creative.Description, p.Creative.LinkURL = "x", "" }, "description"},
		"a thumbnail":          {onTikTok, false, func(p *ads.Plan) { p.Creative.ThumbnailURL = "https://shop.example/x.jpg" }, "thumbnail_url"},
		"a promoted word":      {onFacebook, false, func(p *ads.Plan) { p.PromotedObject = `{"event_id":"1"}` }, "promoted_object.event_id"},
		"a promoted object":    {onLinkedIn, false, func(p *ads.Plan) { p.PromotedObject = `{"pixel_id":"1"}` }, "promoted_object"},
		"a boost's pixel":      {onFacebook, true, func(p *ads.Plan) { p.PromotedObject = `{"pixel_id":"1"}` }, "promoted_object"},
		"a bid":                {onLinkedIn, false, func(p *ads.Plan) { p.BidStrategy = advert.BidStrategyCostCap }, "bid_strategy"},
		"a campaign's boost":   {onFacebook, true, func(p *ads.Plan) { p.BudgetLevel = advert.BudgetLevelCampaign }, "budget_level"},
		"a boost's place":      {onFacebook, true, func(p *ads.Plan) { p.Targeting.Placements = []string{"feed"} }, "targeting.placements"},
		"a boost's device":     {onFacebook, true, func(p *ads.Plan) { p.Targeting.Devices = []string{"mobile"} }, "targeting.placements"},
		"a boost's audience":   {onFacebook, true, func(p *ads.Plan) { p.PlatformTargeting = `{"audienceInclude":["1"]}` }, "targeting.audiences.include"},
		"a boost's behavior":   {onFacebook, true, func(p *ads.Plan) { p.PlatformTargeting = `{"behaviors":[{"id":"1"}]}` }, "targeting.behaviors"},
		"a boost's exclusion":  {onFacebook, true, func(p *ads.Plan) { p.PlatformTargeting = `{"excludedLocations":{}}` }, "targeting.excluded"},
		"a boost's own word":   {onFacebook, true, func(p *ads.Plan) { p.PlatformTargeting = `{"incomeTier":"top_5"}` }, "platform_targeting.incomeTier"},
		"a boost's interest":   {onFacebook, true, func(p *ads.Plan) { p.Targeting.Interests = []ads.Option{{ID: "1"}} }, "targeting.interests"},
		"a boost's language":   {onTikTok, true, func(p *ads.Plan) { p.Targeting.Languages = []string{"de"} }, "targeting.languages"},
		"no such language":     {onFacebook, true, func(p *ads.Plan) { p.Targeting.Languages = []string{"xx"} }, "targeting.languages"},
		"no keyword":           {onGoogle, false, func(p *ads.Plan) { p.PlatformTargeting = `{"countries":["US"]}` }, "platform_targeting.keywords"},
		"another currency":     {onFacebook, false, func(p *ads.Plan) { p.AdAccount.Currency = "xxx" }, "budget_amount"},
		"half a yen":           {onFacebook, false, func(p *ads.Plan) { p.AdAccount.Currency, p.BudgetAmount = "jpy", 3*advert.AmountUnit/2 }, "budget_amount"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(c.on, nil)
			p := w.plan("refused")
			if c.boosts {
				p = w.boost("refused")
			}
			require.NoError(t, w.driver.Check(p))
			c.change(&p)
			var refused *ads.Rejected
			require.ErrorAs(t, w.driver.Check(p), &refused)
			assert.Equal(t, c.field, refused.Field)
			assert.NotEmpty(t, refused.Message)
			calls := len(w.net.Calls())
			_, err := w.driver.Create(t.Context(), w.conn, p)
			require.ErrorAs(t, err, &refused)
			assert.Len(t, w.net.Calls(), calls)
		})
	}
}

// So is a change that Zernio cannot make.
func TestUpdate_RefusesWhatCannotBePassedOn(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		on    advert.Platform
		level advert.Level
		patch ads.Patch
		field string
	}{
		"a targeting":          {onFacebook, advert.LevelGroup, ads.Patch{Targeting: &ads.Targeting{}}, "targeting"},
		"a campaign's end":     {onFacebook, advert.LevelCampaign, ads.Patch{EndsAt: at(noon)}, "end_date"},
		"an end":               {onTikTok, advert.LevelGroup, ads.Patch{EndsAt: at(noon)}, "end_date"},
		"a name":               {onTikTok, advert.LevelAd, ads.Patch{Name: new("x")}, "name"},
		"an amount":            {onFacebook, advert.LevelGroup, ads.Patch{BidAmount: new(advert.AmountUnit)}, "bid_strategy"},
		"a campaign's bid":     {onTikTok, advert.LevelCampaign, ads.Patch{BidStrategy: new(advert.BidStrategyLowestCost)}, "bid_strategy"},
		"a campaign's amount":  {onFacebook, advert.LevelCampaign, ads.Patch{BidStrategy: new(advert.BidStrategyCostCap), BidAmount: new(advert.AmountUnit)}, "bid_amount"},
		"a bid":                {onLinkedIn, advert.LevelGroup, ads.Patch{BidStrategy: new(advert.BidStrategyCostCap)}, "bid_strategy"},
		"a creative":           {onLinkedIn, advert.LevelAd, ads.Patch{Creative: &advert.Creative{}}, "creative"},
		"another video":        {onFacebook, advert.LevelAd, ads.Patch{Creative: &advert.Creative{VideoURL: "https://shop.example/x.mp4"}}, "creative.image_url"},
		"another description":  {onFacebook, advert.LevelAd, ads.Patch{Creative: &advert.Creative{ImageURL: "https://shop.example/x.jpg", Description: "x"}}, "creative.description"},
		"a video's first look": {onTikTok, advert.LevelAd, ads.Patch{Creative: &advert.Creative{ThumbnailURL: "https://shop.example/x.jpg"}}, "creative.thumbnail_url"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(c.on, nil)
			c.patch.Currency = "usd"
			_, err := w.driver.Update(t.Context(), w.conn, ads.Ref{AdAccount: w.ad.PlatformID, Level: c.level, ID: "1"}, c.patch)
			var refused *ads.Rejected
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, c.field, refused.Field)
			assert.Empty(t, w.net.Calls())
		})
	}
}

// A 401 that Zernio itself gives is about the installation, not about a channel: else one wrong key would fail all channels of everybody.
func TestErrors_SayWhoseFaultItIs(t *testing.T) {
	t.Parallel()
	var limited *ads.RateLimited
	var refused *ads.Rejected
	for name, c := range map[string]struct {
		fault zerniofake.Fault
		is    func(error) bool
	}{
		"key":         {zerniofake.FaultKey, func(err error) bool { return errors.Is(err, ads.ErrOperator) && !errors.Is(err, ads.ErrUnauthorized) }},
		"add-on":      {zerniofake.FaultAddOn, func(err error) bool { return errors.Is(err, ads.ErrOperator) }},
		"unpaid":      {zerniofake.FaultUnpaid, func(err error) bool { return errors.Is(err, ads.ErrOperator) }},
		"token":       {zerniofake.FaultToken, func(err error) bool { return errors.Is(err, ads.ErrUnauthorized) }},
		"role":        {zerniofake.FaultRole, func(err error) bool { return errors.Is(err, ads.ErrForbidden) }},
		"unsupported": {zerniofake.FaultUnsupported, func(err error) bool { return errors.Is(err, ads.ErrUnsupported) }},
		"limit":       {zerniofake.FaultRateLimit, func(err error) bool { return errors.As(err, &limited) && limited.After == zerniofake.RetryAfter }},
		"media": {zerniofake.FaultMedia, func(err error) bool {
			return errors.As(err, &refused) && refused.Raw == "502/video_thumbnail_unavailable"
		}},
		"upstream":  {zerniofake.FaultUpstream, func(err error) bool { return errors.Is(err, ads.ErrIndeterminate) }},
		"in flight": {zerniofake.FaultInFlight, func(err error) bool { return errors.Is(err, ads.ErrIndeterminate) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(onFacebook, nil)
			w.net.Break("POST /v1/ads/create", 0, c.fault)
			_, err := w.driver.Create(t.Context(), w.conn, w.plan("x"))
			assert.True(t, c.is(err), "%v", err)
			assert.NotContains(t, err.Error(), apiKey)
		})
	}
	w := newWorld(onFacebook, nil)
	p := w.plan("x")
	p.PromotedObject = `{"pixel_id":"1"}`
	_, err := w.driver.Create(t.Context(), w.conn, p)
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "promoted_object", refused.Field, "Zernio's name of the field is ours")
}

// A read that fails is sent again, three times in all; a limit is not waited for.
func TestReads_AreSentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(onFacebook, nil)
	for range 2 {
		w.net.Break("GET /v1/ads/accounts", 0, zerniofake.FaultUnavailable)
	}
	_, err := w.driver.AdAccounts(t.Context(), w.conn)
	require.NoError(t, err)
	for range 3 {
		w.net.Break("GET /v1/ads/accounts", 0, zerniofake.FaultDrop)
	}
	_, err = w.driver.AdAccounts(t.Context(), w.conn)
	require.ErrorIs(t, err, ads.ErrUnavailable)
	w.net.Break("GET /v1/ads/accounts", 0, zerniofake.FaultRateLimit)
	before := len(w.net.Calls())
	_, err = w.driver.AdAccounts(t.Context(), w.conn)
	require.ErrorAs(t, err, new(*ads.RateLimited))
	assert.Len(t, w.net.Calls(), before+1)
}

// Figures that Zernio is still fetching are unknown, not what it has of them so far. So are those that a network does not give.
func TestReport_GuessesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		made := w.create(t, w.plan("one"))
		w.net.Deliver(made.Ad.PlatformID, "2026-11-20", map[string]any{"spend": 1.1, "impressions": 10.0, "reach": 5.0, "purchaseValue": 3.0})
		day := ads.Date{Year: 2026, Month: 11, Day: 20}
		report := func() advert.Metrics {
			reports, err := w.driver.Report(t.Context(), w.conn, w.ad.PlatformID, advert.LevelAd, []string{made.Ad.PlatformID}, day, day)
			require.NoError(t, err)
			return reports[made.Ad.PlatformID].Metrics
		}
		m := report()
		assert.Equal(t, advert.AmountUnit+advert.AmountUnit/10, *m.Spend)
		p := w.driver.Caps().Platform
		assert.Equal(t, slices.Contains([]advert.Platform{onFacebook, advert.PlatformInstagram, onTikTok}, p), m.Reach != nil)
		assert.Equal(t, slices.Contains([]advert.Platform{onFacebook, advert.PlatformInstagram}, p), m.PurchaseValue != nil)
		w.net.Break("GET /v1/ads/tree", 0, zerniofake.FaultBackfill)
		assert.Nil(t, report().Spend)
		w.net.Break("GET /v1/ads/tree", 0, zerniofake.FaultBackfill)
		series, err := w.driver.Series(t.Context(), w.conn, w.ad.PlatformID, ads.SeriesQuery{
			Level: advert.LevelAd, ID: made.Ad.PlatformID, Interval: ads.IntervalDay, Periods: []ads.Period{{From: day, To: day}},
		})
		require.NoError(t, err)
		assert.Nil(t, series[0].Metrics.Spend)
	})
}

// Nothing that is offered lacks a word at Zernio, and no word for the network itself is left.
func TestCaps_AreInZerniosWords(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		caps := w.driver.Caps()
		assert.Equal(t, ads.ReconcileRepeat, caps.Reconcile)
		assert.NotContains(t, caps.AudienceTypes, advert.AudienceTypeCustomerList, "addresses of people would go there")
		assert.Zero(t, caps.Conversions)
		assert.Equal(t, ads.MoneyWhole, caps.Money)
		for _, o := range caps.Objectives {
			assert.Equal(t, string(o.Goal), o.Word)
		}
		known := ads.CapsOf(caps.Platform)
		for _, word := range caps.Targeting.Words {
			if !slices.Contains(known.Targeting.Words, word) {
				assert.True(t, strings.HasPrefix(word, "metros"), word)
			}
		}
	})
}
