package view

import (
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/advert"
)

// AdCapabilities renders what every network can do, in a list of one page.
func AdCapabilities(rows []ads.Caps) wire.CursorList[api.AdCapability] {
	return CursorList("/v1/ads/capabilities", &advert.List[ads.Caps]{Items: rows}, AdCapability)
}

// AdCapability renders what a network can do.
func AdCapability(c *ads.Caps) api.AdCapability {
	limits := map[string]int64{}
	for field, most := range c.Creative.Limits {
		limits[field] = int64(most)
	}
	return api.AdCapability{
		Object:             "ad_capability",
		Platform:           api.AdPlatform(c.Platform),
		Verified:           api.AdCapabilityVerified(c.Verified),
		Reconcile:          api.AdCapabilityReconcile(c.Reconcile),
		Goals:              mapped(c.Goals(), func(g advert.Goal) api.AdGoal { return api.AdGoal(g) }),
		GoalRules:          mapped(c.Goals(), func(g advert.Goal) api.AdGoalRule { return adGoalRule(c, g) }),
		CallToActions:      list(c.CallsToAction),
		AudienceTypes:      mapped(c.AudienceTypes, func(t advert.AudienceType) api.AdAudienceType { return api.AdAudienceType(t) }),
		SearchTypes:        mapped(c.SearchTypes, func(t string) api.AdTargetingType { return api.AdTargetingType(t) }),
		BidStrategies:      mapped(c.Bids, func(r ads.BidRule) api.AdBidRule { return adBidRule(c, r) }),
		DefaultBidStrategy: textOrNil(string(c.DefaultBid)),
		BudgetLevels:       mapped(c.BudgetLevels, func(l advert.BudgetLevel) api.AdBudgetLevel { return api.AdBudgetLevel(l) }),
		MinimumDailyBudget: amount(c.MinimumDailyBudget),
		Currencies:         list(c.Currencies()),
		PauseLevels:        mapped(c.PauseLevels, func(l advert.Level) api.AdCapabilityPauseLevels { return api.AdCapabilityPauseLevels(l) }),
		BusinessCenters:    c.BusinessCenters,
		Targeting:          adTargetingRules(&c.Targeting),
		Creative:           api.AdCreativeRules{Required: requiredFields(c), Ignored: list(c.Creative.Ignored), Limits: limits},
		Media: api.AdMediaRules{
			Kinds:    mapped(c.Media.Kinds, func(m ads.Medium) api.AdMediaRulesKinds { return api.AdMediaRulesKinds(m) }),
			Optional: c.Media.IsOptional, MaxCards: int64(c.Media.MaxCards), VideoCards: c.Media.VideoCards, Replaceable: c.Media.Replace,
			VideoGoals:  mapped(c.VideoGoals, func(g advert.Goal) api.AdGoal { return api.AdGoal(g) }),
			Previewable: mapped(c.Previews, func(m ads.Medium) api.AdMediaRulesPreviewable { return api.AdMediaRulesPreviewable(m) }),
		},
		Previews: len(c.Previews) > 0,
		Figures: api.AdFigureRules{
			Intervals:  []api.AdMetricsInterval{api.AdMetricsIntervalTotal, api.AdMetricsIntervalDay, api.AdMetricsIntervalWeek, api.AdMetricsIntervalMonth},
			Breakdowns: mapped(c.Figures.Breakdowns, func(b ads.Breakdown) api.AdMetricsBreakdown { return api.AdMetricsBreakdown(b) }),
			UtcDays:    c.Figures.UTC, DaysKept: countOrNull(c.Figures.Days), MonthsKept: countOrNull(c.Figures.Months),
			ReportedDays: countOrNull(c.Figures.ReportDays),
		},
		Conversions: api.AdConversionRules{
			Events: mapped(c.ConversionKinds(), conversionEventKind), OwnToken: c.Conversions.OwnToken, ClickID: textOrNil(c.Conversions.ClickID),
			Days: countOrNull(int(c.Conversions.MaxAge / (24 * time.Hour))),
		},
		AudienceUsers: api.AdAudienceRules{
			Identifiers:        mapped(c.Users.Identifiers, func(i advert.Identifier) api.AdAudienceRulesIdentifiers { return api.AdAudienceRulesIdentifiers(i) }),
			LookalikeCountries: mapped(c.Lookalikes, strings.ToUpper),
			MaxPerCall:         int64(c.UsersPerCall),
			LookalikeRatioMax:  ratioOrNull(c.LookalikeMax),
			LookalikeRatioStep: ratioOrNull(c.LookalikeStep),
			Removal:            c.UserRemoval,
		},
	}
}

// requiredFields returns the fields that an ad must have, with the one for what it shows.
func requiredFields(c *ads.Caps) []string {
	fields := list(c.Creative.Required)
	if field := c.MediaField(); field != "" {
		fields = append(slices.Clone(fields), field)
	}
	return fields
}

func adGoalRule(c *ads.Caps, goal advert.Goal) api.AdGoalRule {
	makers := []api.AdGoalRuleMadeBy{}
	if !slices.Contains(c.BoostOnly, goal) {
		makers = append(makers, api.AdGoalRuleMadeByAd)
	}
	if !slices.Contains(c.NeverBoost, goal) {
		makers = append(makers, api.AdGoalRuleMadeByBoost)
	}
	promoted := c.Promoted[goal]
	return api.AdGoalRule{Goal: api.AdGoal(goal), MadeBy: makers, Requires: mapped(promoted.Requires, list[string]), Events: list(promoted.Events)}
}

func adBidRule(c *ads.Caps, r ads.BidRule) api.AdBidRule {
	goals := r.Goals
	if goals == nil {
		goals = c.Goals()
	}
	return api.AdBidRule{
		Strategy: string(r.Strategy), Requires: list(r.Requires), Forbids: list(r.Forbids),
		Goals: mapped(goals, func(g advert.Goal) api.AdGoal { return api.AdGoal(g) }),
	}
}
