package ads

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/store"
)

func TestCaps_ServeTheirPlatform(t *testing.T) {
	t.Parallel()
	for _, platform := range store.Platforms {
		caps := CapsOf(platform)
		assert.Equal(t, platform, caps.Platform)
		assert.NotEmpty(t, caps.BudgetLevels, platform)
		assert.Contains(t, caps.AudienceTypes, store.AudienceTypeCustomerList, platform)
		assert.Contains(t, caps.PauseLevels, store.AdLevelCampaign, platform)
		assert.Contains(t, caps.PauseLevels, store.AdLevelGroup, platform)
		assert.Positive(t, caps.StatusBatch, platform)
		assert.Positive(t, caps.UsersPerCall, platform)
		assert.Contains(t, caps.Currencies(), "usd", platform)
		assert.Contains(t, caps.Creative.Required, "body", platform)
		assert.Contains(t, caps.Users.Identifiers, store.AdIdentifierEmail, platform)
		for _, field := range caps.Creative.Ignored {
			assert.NotContains(t, caps.Creative.Required, field, platform)
		}
		if slices.Contains(caps.Users.Identifiers, store.AdIdentifierPhone) {
			assert.NotEmpty(t, caps.Users.Phone, platform)
		}
	}
}

func TestCapsOf_PanicsWithoutANetwork(t *testing.T) {
	t.Parallel()
	assert.Panics(t, func() { CapsOf("myspace") })
}

func TestCaps_KnowTheGoalsOfTheNetwork(t *testing.T) {
	t.Parallel()
	base := []store.AdGoal{store.AdGoalEngagement, store.AdGoalTraffic, store.AdGoalAwareness, store.AdGoalVideoViews}
	and := func(more ...store.AdGoal) []store.AdGoal { return append(slices.Clone(base), more...) }
	meta := and(store.AdGoalLeadGeneration, store.AdGoalLeadConversion, store.AdGoalConversions, store.AdGoalAppPromotion, store.AdGoalCatalogSales)
	for platform, want := range map[store.Platform][]store.AdGoal{
		store.PlatformFacebook: meta, store.PlatformInstagram: meta,
		store.PlatformTikTok:    and(store.AdGoalLeadGeneration, store.AdGoalConversions, store.AdGoalAppPromotion),
		store.PlatformLinkedIn:  and(store.AdGoalLeadGeneration, store.AdGoalConversions, store.AdGoalJobApplicants),
		store.PlatformPinterest: base, store.PlatformGoogle: base,
		store.PlatformTwitter: and(store.AdGoalAppPromotion),
	} {
		assert.ElementsMatch(t, want, CapsOf(platform).Goals(), platform)
	}
}

func TestCaps_NameTheObjectiveOfAGoal(t *testing.T) {
	t.Parallel()
	for goal, words := range map[store.AdGoal][3]string{
		store.AdGoalTraffic:        {"OUTCOME_TRAFFIC", "TRAFFIC", "CONSIDERATION"},
		store.AdGoalEngagement:     {"OUTCOME_ENGAGEMENT", "ENGAGEMENT", "CONSIDERATION"},
		store.AdGoalAwareness:      {"OUTCOME_AWARENESS", "REACH", "AWARENESS"},
		store.AdGoalVideoViews:     {"OUTCOME_ENGAGEMENT", "VIDEO_VIEWS", "VIDEO_COMPLETION"},
		store.AdGoalLeadGeneration: {"OUTCOME_LEADS", "LEAD_GENERATION", ""},
		store.AdGoalConversions:    {"OUTCOME_SALES", "WEB_CONVERSIONS", ""},
		store.AdGoalAppPromotion:   {"OUTCOME_APP_PROMOTION", "APP_PROMOTION", ""},
	} {
		for i, platform := range []store.Platform{store.PlatformFacebook, store.PlatformTikTok, store.PlatformPinterest} {
			word, ok := CapsOf(platform).Objective(goal)
			assert.Equal(t, words[i], word, "%s on %s", goal, platform)
			assert.Equal(t, words[i] != "", ok, "%s on %s", goal, platform)
		}
	}
}

func TestCaps_ReadTheirOwnWordsBack(t *testing.T) {
	t.Parallel()
	for _, platform := range store.Platforms {
		caps := CapsOf(platform)
		for _, goal := range caps.Goals() {
			word, _ := caps.Objective(goal)
			again, _ := caps.Objective(caps.GoalOf(word))
			assert.Equal(t, word, again, "%s on %s", goal, platform)
		}
		for _, rule := range caps.Bids {
			assert.Equal(t, rule.Strategy, caps.BidStrategyOf(rule.Word), platform)
		}
		assert.Empty(t, caps.GoalOf("NEVER_HEARD_OF"), platform)
		assert.Empty(t, caps.BidStrategyOf("NEVER_HEARD_OF"), platform)
	}
	assert.Equal(t, store.AdGoalEngagement, CapsOf(store.PlatformFacebook).GoalOf("OUTCOME_ENGAGEMENT"))
	assert.Equal(t, store.AdGoalTraffic, CapsOf(store.PlatformPinterest).GoalOf("CONSIDERATION"))
}

func TestCaps_HaveTheCallsToActionOfTheNetwork(t *testing.T) {
	t.Parallel()
	want := map[store.Platform]int{store.PlatformFacebook: 27, store.PlatformInstagram: 27, store.PlatformLinkedIn: 13, store.PlatformPinterest: 29}
	for _, platform := range store.Platforms {
		calls := slices.Clone(CapsOf(platform).CallsToAction)
		slices.Sort(calls)
		count, ok := want[platform]
		if !ok {
			count = 34
		}
		assert.Len(t, slices.Compact(calls), count, platform)
	}
	for _, call := range CapsOf(store.PlatformLinkedIn).CallsToAction {
		assert.Contains(t, callsToAction, call)
	}
}

func TestCaps_HaveTheBidStrategiesOfTheNetwork(t *testing.T) {
	t.Parallel()
	want := map[store.Platform]int{store.PlatformLinkedIn: 0, store.PlatformPinterest: 3, store.PlatformTwitter: 3}
	for _, platform := range store.Platforms {
		count, ok := want[platform]
		if !ok {
			count = 4
		}
		assert.Len(t, CapsOf(platform).Bids, count, platform)
	}
}

func TestCaps_HaveTheMinimumOfTheNetwork(t *testing.T) {
	t.Parallel()
	want := map[store.Platform]store.AdAmount{store.PlatformTikTok: 20 * store.AdUnit, store.PlatformPinterest: 5 * store.AdUnit}
	for _, platform := range store.Platforms {
		minimum, ok := want[platform]
		if !ok {
			minimum = store.AdUnit
		}
		assert.Equal(t, minimum, CapsOf(platform).MinimumDailyBudget, platform)
	}
}
