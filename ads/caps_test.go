package ads

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tillwright/tillwright/store/advert"
)

func TestCaps_ServeTheirPlatform(t *testing.T) {
	t.Parallel()
	for _, platform := range advert.Platforms {
		caps := CapsOf(platform)
		assert.Equal(t, platform, caps.Platform)
		assert.NotEmpty(t, caps.BudgetLevels, platform)
		assert.Contains(t, caps.AudienceTypes, advert.AudienceTypeCustomerList, platform)
		assert.Contains(t, caps.PauseLevels, advert.LevelCampaign, platform)
		assert.Contains(t, caps.PauseLevels, advert.LevelGroup, platform)
		assert.Positive(t, caps.StatusBatch, platform)
		assert.Positive(t, caps.UsersPerCall, platform)
		assert.Contains(t, caps.Currencies(), "usd", platform)
		assert.Contains(t, caps.Creative.Required, "body", platform)
		assert.Contains(t, caps.Users.Identifiers, advert.IdentifierEmail, platform)
		for _, field := range caps.Creative.Ignored {
			assert.NotContains(t, caps.Creative.Required, field, platform)
		}
		if slices.Contains(caps.Users.Identifiers, advert.IdentifierPhone) {
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
	base := []advert.Goal{advert.GoalEngagement, advert.GoalTraffic, advert.GoalAwareness, advert.GoalVideoViews}
	and := func(more ...advert.Goal) []advert.Goal { return append(slices.Clone(base), more...) }
	meta := and(advert.GoalLeadGeneration, advert.GoalLeadConversion, advert.GoalConversions, advert.GoalAppPromotion, advert.GoalCatalogSales)
	for platform, want := range map[advert.Platform][]advert.Goal{
		advert.PlatformFacebook: meta, advert.PlatformInstagram: meta,
		advert.PlatformTikTok:    and(advert.GoalLeadGeneration, advert.GoalConversions, advert.GoalAppPromotion),
		advert.PlatformLinkedIn:  and(advert.GoalLeadGeneration, advert.GoalConversions, advert.GoalJobApplicants),
		advert.PlatformPinterest: and(advert.GoalConversions), advert.PlatformGoogle: base,
		advert.PlatformTwitter: and(advert.GoalAppPromotion),
	} {
		assert.ElementsMatch(t, want, CapsOf(platform).Goals(), platform)
	}
}

func TestCaps_NameTheObjectiveOfAGoal(t *testing.T) {
	t.Parallel()
	for goal, words := range map[advert.Goal][3]string{
		advert.GoalTraffic:        {"OUTCOME_TRAFFIC", "TRAFFIC", "CONSIDERATION"},
		advert.GoalEngagement:     {"OUTCOME_ENGAGEMENT", "ENGAGEMENT", "CONSIDERATION"},
		advert.GoalAwareness:      {"OUTCOME_AWARENESS", "REACH", "AWARENESS"},
		advert.GoalVideoViews:     {"OUTCOME_ENGAGEMENT", "VIDEO_VIEWS", "VIDEO_COMPLETION"},
		advert.GoalLeadGeneration: {"OUTCOME_LEADS", "LEAD_GENERATION", ""},
		advert.GoalConversions:    {"OUTCOME_SALES", "WEB_CONVERSIONS", "WEB_CONVERSION"},
		advert.GoalAppPromotion:   {"OUTCOME_APP_PROMOTION", "APP_PROMOTION", ""},
	} {
		for i, platform := range []advert.Platform{advert.PlatformFacebook, advert.PlatformTikTok, advert.PlatformPinterest} {
			word, ok := CapsOf(platform).Objective(goal)
			assert.Equal(t, words[i], word, "%s on %s", goal, platform)
			assert.Equal(t, words[i] != "", ok, "%s on %s", goal, platform)
		}
	}
}

func TestCaps_ReadTheirOwnWordsBack(t *testing.T) {
	t.Parallel()
	for _, platform := range advert.Platforms {
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
	assert.Equal(t, advert.GoalEngagement, CapsOf(advert.PlatformFacebook).GoalOf("OUTCOME_ENGAGEMENT"))
	assert.Equal(t, advert.GoalTraffic, CapsOf(advert.PlatformPinterest).GoalOf("CONSIDERATION"))
}

func TestCaps_HaveTheCallsToActionOfTheNetwork(t *testing.T) {
	t.Parallel()
	want := map[advert.Platform]int{advert.PlatformFacebook: 27, advert.PlatformInstagram: 27, advert.PlatformLinkedIn: 13, advert.PlatformPinterest: 29}
	for _, platform := range advert.Platforms {
		calls := slices.Clone(CapsOf(platform).CallsToAction)
		slices.Sort(calls)
		count, ok := want[platform]
		if !ok {
			count = 34
		}
		assert.Len(t, slices.Compact(calls), count, platform)
	}
	for _, call := range CapsOf(advert.PlatformLinkedIn).CallsToAction {
		assert.Contains(t, callsToAction, call)
	}
}

func TestCaps_HaveTheBidStrategiesOfTheNetwork(t *testing.T) {
	t.Parallel()
	want := map[advert.Platform]int{advert.PlatformLinkedIn: 0, advert.PlatformPinterest: 3, advert.PlatformTikTok: 3, advert.PlatformTwitter: 3}
	for _, platform := range advert.Platforms {
		count, ok := want[platform]
		if !ok {
			count = 4
		}
		assert.Len(t, CapsOf(platform).Bids, count, platform)
	}
}

func TestCaps_HaveTheMinimumOfTheNetwork(t *testing.T) {
	t.Parallel()
	want := map[advert.Platform]advert.Amount{advert.PlatformTikTok: 20 * advert.AmountUnit, advert.PlatformPinterest: 5 * advert.AmountUnit}
	for _, platform := range advert.Platforms {
		minimum, ok := want[platform]
		if !ok {
			minimum = advert.AmountUnit
		}
		assert.Equal(t, minimum, CapsOf(platform).MinimumDailyBudget, platform)
	}
}
