package ads

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

func TestCheckPromoted_NamesWhatAGoalNeeds(t *testing.T) {
	t.Parallel()
	for _, p := range []advert.Platform{advert.PlatformFacebook, advert.PlatformInstagram} {
		for _, c := range []struct {
			goal     advert.Goal
			promoted advert.Object
			wrong    []string
		}{
			{advert.GoalTraffic, ``, nil},
			{advert.GoalConversions, ``, []string{"promoted_object.pixel_id"}},
			{advert.GoalConversions, `{"pixel_id":"1"}`, nil},
			{advert.GoalConversions, `{"custom_conversion_id":"1"}`, nil},
			{advert.GoalConversions, `{"pixel_id":"1","custom_event_type":"LEAD"}`, []string{"promoted_object.custom_event_type"}},
			{advert.GoalConversions, `{"pixel_id":"1","custom_event_type":"OTHER"}`, []string{"promoted_object.custom_event_str"}},
			{advert.GoalConversions, `{"pixel_id":"1","custom_event_type":"OTHER","custom_event_str":"Rent"}`, nil},
			{advert.GoalLeadConversion, `{"pixel_id":"1","custom_event_type":"LEAD"}`, nil},
			{advert.GoalLeadConversion, `{"pixel_id":"1","custom_event_type":"PURCHASE"}`, []string{"promoted_object.custom_event_type"}},
			{advert.GoalLeadGeneration, `{}`, []string{"promoted_object.lead_gen_form_id"}},
			{advert.GoalCatalogSales, `{"product_set_id":"1"}`, []string{"promoted_object.product_catalog_id"}},
			{advert.GoalAppPromotion, `{"application_id":"1"}`, []string{"promoted_object.object_store_url"}},
			{advert.GoalAppPromotion, `[]`, []string{"promoted_object"}},
		} {
			var problems core.Problems
			CapsOf(p).CheckPromoted(&problems, c.goal, c.promoted)
			assert.ElementsMatch(t, c.wrong, keysOf(problems), "%s %s", c.goal, c.promoted)
		}
	}
}

func keysOf(p core.Problems) (keys []string) {
	for key := range p {
		keys = append(keys, key)
	}
	return keys
}

func TestCheckMeans_KnowsWhatAPostAndACreativeCanServe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		goal   advert.Goal
		boosts bool
		ok     bool
	}{
		{advert.GoalVideoViews, false, true}, {advert.GoalVideoViews, true, true}, {advert.GoalTraffic, false, true}, {advert.GoalTraffic, true, true},
		{advert.GoalLeadGeneration, true, false}, {advert.GoalLeadGeneration, false, true},
	} {
		var problems core.Problems
		CapsOf(advert.PlatformFacebook).CheckMeans(&problems, c.goal, c.boosts)
		assert.Equal(t, c.ok, len(problems) == 0, "%s %v", c.goal, c.boosts)
	}
}

func TestCheckBidGoal_KeepsASmallestROASToWhatHasAValue(t *testing.T) {
	t.Parallel()
	for goal, ok := range map[advert.Goal]bool{advert.GoalConversions: true, advert.GoalCatalogSales: true, advert.GoalTraffic: false, advert.GoalLeadConversion: false} {
		var problems core.Problems
		CapsOf(advert.PlatformFacebook).CheckBidGoal(&problems, advert.BidStrategyMinROAS, goal)
		assert.Equal(t, ok, len(problems) == 0, goal)
	}
	var problems core.Problems
	CapsOf(advert.PlatformFacebook).CheckBidGoal(&problems, advert.BidStrategyLowestCost, advert.GoalTraffic)
	assert.Empty(t, problems)
}

func TestCheckBidGoal_BidsForVideosAutomatically(t *testing.T) {
	t.Parallel()
	for strategy, ok := range map[advert.BidStrategy]bool{advert.BidStrategyLowestCost: true, advert.BidStrategyBidCap: false, advert.BidStrategyCostCap: false} {
		var problems core.Problems
		CapsOf(advert.PlatformPinterest).CheckBidGoal(&problems, strategy, advert.GoalVideoViews)
		assert.Equal(t, ok, len(problems) == 0, strategy)
	}
}

func TestCheckAudience_KnowsWhereALookalikeCanBe(t *testing.T) {
	t.Parallel()
	for country, wrong := range map[string][]string{"US": nil, "gb": nil, "CA": nil, "DE": {"country"}} {
		var problems core.Problems
		CapsOf(advert.PlatformPinterest).CheckAudience(&problems, AudiencePlan{
			Name: "Alike", Type: advert.AudienceTypeLookalike, SourceID: "aud_1", Country: country, Ratio: advert.RatioOne / 100})
		assert.ElementsMatch(t, wrong, keysOf(problems), country)
	}
}
