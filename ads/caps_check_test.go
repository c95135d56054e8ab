package ads

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// fieldsOf names the fields that have problems, with how many.
func fieldsOf(p core.Problems) map[string]int {
	fields := map[string]int{}
	for field, messages := range p {
		fields[field] = len(messages)
	}
	return fields
}

func daily(units int64) Budget {
	return Budget{advert.Amount(units) * advert.AmountUnit, advert.BudgetTypeDaily}
}

func TestParseAmount_NotesWhatIsWrong(t *testing.T) {
	t.Parallel()
	var p core.Problems
	assert.Equal(t, 20*advert.AmountUnit, ParseAmount(&p, "budget_amount", "20"))
	require.NoError(t, p.Err())
	for _, text := range []string{"0", "-5", "NaN", "1e3", "20.001", ""} {
		var p core.Problems
		assert.Zero(t, ParseAmount(&p, "budget.amount", text))
		assert.Equal(t, map[string]int{"budget.amount": 1}, fieldsOf(p), text)
		assert.True(t, strings.HasPrefix(p["budget.amount"][0], "budget.amount must "), p["budget.amount"][0])
	}
}

func TestCheckGoal_ListsWhatTheNetworkKnows(t *testing.T) {
	t.Parallel()
	for platform, cases := range map[advert.Platform]map[advert.Goal]bool{
		advert.PlatformFacebook:  {"conversions": true, "job_applicants": false},
		advert.PlatformLinkedIn:  {"job_applicants": true, "app_promotion": false},
		advert.PlatformPinterest: {"traffic": true, "conversions": true, "app_promotion": false, "": false, "world_peace": false},
	} {
		for goal, ok := range cases {
			var p core.Problems
			CapsOf(platform).CheckGoal(&p, goal)
			assert.Equal(t, ok, p.Err() == nil, "%q on %s", goal, platform)
			if !ok {
				assert.Contains(t, p["goal"][0], "video_views")
			}
		}
	}
}

func TestCheckBudget_NeedsTheMinimumOfTheNetwork(t *testing.T) {
	t.Parallel()
	for platform, minimum := range map[advert.Platform]int64{
		advert.PlatformFacebook: 1, advert.PlatformTikTok: 20, advert.PlatformPinterest: 5, advert.PlatformGoogle: 1,
	} {
		var p core.Problems
		CapsOf(platform).CheckBudget(&p, FlatBudget, daily(minimum), "usd", 0)
		require.NoError(t, p.Err(), platform)
		less := daily(minimum)
		less.Amount -= advert.AmountUnit / 100
		CapsOf(platform).CheckBudget(&p, FlatBudget, less, "usd", 0)
		assert.Equal(t, map[string]int{"budget_amount": 1}, fieldsOf(p), platform)
		assert.Contains(t, p["budget_amount"][0], (advert.Amount(minimum) * advert.AmountUnit).Format("usd"))
	}
}

func TestCheckBudget_NeedsTheMinimumOnEachDayWhereTheNetworkDoes(t *testing.T) {
	t.Parallel()
	lifetime := func(units int64) Budget {
		return Budget{advert.Amount(units) * advert.AmountUnit, advert.BudgetTypeLifetime}
	}
	var p core.Problems
	CapsOf(advert.PlatformTikTok).CheckBudget(&p, NestedBudget, lifetime(140), "usd", 7)
	CapsOf(advert.PlatformFacebook).CheckBudget(&p, NestedBudget, lifetime(1), "usd", 7)
	CapsOf(advert.PlatformTikTok).CheckBudget(&p, NestedBudget, lifetime(20), "usd", 0)
	require.NoError(t, p.Err())
	CapsOf(advert.PlatformTikTok).CheckBudget(&p, NestedBudget, lifetime(139), "usd", 7)
	assert.Equal(t, map[string]int{"budget.amount": 1}, fieldsOf(p))
	assert.Contains(t, p["budget.amount"][0], "140.00 USD")
}

func TestCheckBudget_RefusesDecimalsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		platform advert.Platform
		currency string
		ok       bool
	}{
		{advert.PlatformFacebook, "usd", true}, {advert.PlatformFacebook, "jpy", false}, {advert.PlatformFacebook, "twd", false},
		{advert.PlatformPinterest, "huf", true}, {advert.PlatformPinterest, "jpy", false}, {advert.PlatformGoogle, "twd", true},
		{advert.PlatformTikTok, "krw", false}, {advert.PlatformFacebook, "xxx", false}, {advert.PlatformPinterest, "bhd", false},
	} {
		var p core.Problems
		CapsOf(c.platform).CheckBudget(&p, FlatBudget, Budget{2000_500_000, advert.BudgetTypeDaily}, c.currency, 0)
		assert.Equal(t, c.ok, p.Err() == nil, "%s on %s", c.currency, c.platform)
		if !c.ok {
			assert.Equal(t, map[string]int{"budget_amount": 1}, fieldsOf(p))
		}
	}
}

func TestCheckBudget_NamesTheFieldsOfTheRequest(t *testing.T) {
	t.Parallel()
	var flat, nested core.Problems
	caps := CapsOf(advert.PlatformFacebook)
	caps.CheckBudget(&flat, FlatBudget, Budget{0, "weekly"}, "usd", 0)
	caps.CheckBudget(&nested, NestedBudget, Budget{-advert.AmountUnit, ""}, "usd", 0)
	assert.Equal(t, map[string]int{"budget_amount": 1, "budget_type": 1}, fieldsOf(flat))
	assert.Equal(t, map[string]int{"budget.amount": 1, "budget.type": 1}, fieldsOf(nested))
	var e *core.Error
	require.True(t, errors.As(flat.Err(), &e))
	assert.Equal(t, core.CodeInvalid, e.Code)
	assert.Equal(t, "budget_amount", e.Param)
}

func TestCheckBudget_SaysOnceThatAnAmountIsNone(t *testing.T) {
	t.Parallel()
	var p core.Problems
	b := Budget{ParseAmount(&p, "budget_amount", "-1"), advert.BudgetTypeDaily}
	CapsOf(advert.PlatformFacebook).CheckBudget(&p, FlatBudget, b, "usd", 0)
	assert.Equal(t, map[string]int{"budget_amount": 1}, fieldsOf(p))
}

func TestCheckBudgetLevel_FollowsTheNetwork(t *testing.T) {
	t.Parallel()
	for platform, groups := range map[advert.Platform]bool{advert.PlatformFacebook: true, advert.PlatformGoogle: false, advert.PlatformPinterest: true} {
		var p core.Problems
		CapsOf(platform).CheckBudgetLevel(&p, advert.BudgetLevelCampaign)
		require.NoError(t, p.Err(), platform)
		CapsOf(platform).CheckBudgetLevel(&p, advert.BudgetLevelGroup)
		assert.Equal(t, groups, p.Err() == nil, platform)
	}
	assert.Equal(t, advert.BudgetLevelCampaign, CapsOf(advert.PlatformGoogle).BudgetLevels[0])
	assert.Equal(t, advert.BudgetLevelGroup, CapsOf(advert.PlatformFacebook).BudgetLevels[0])
}

func TestCheckCurrency_MustBeTheAdAccounts(t *testing.T) {
	t.Parallel()
	for asked, ok := range map[string]bool{"": true, "jpy": true, "JPY": true, "usd": false} {
		var p core.Problems
		CheckCurrency(&p, asked, "jpy")
		assert.Equal(t, ok, p.Err() == nil, asked)
	}
}

func TestCheckSchedule_EndsAfterItBegins(t *testing.T) {
	t.Parallel()
	today := Date{2026, 3, 10}
	for name, c := range map[string]struct {
		budget   advert.BudgetType
		schedule Schedule
		ok       bool
	}{
		"a daily budget without an end":    {advert.BudgetTypeDaily, Schedule{}, true},
		"a lifetime budget without an end": {advert.BudgetTypeLifetime, Schedule{}, false},
		"an end today":                     {advert.BudgetTypeLifetime, Schedule{End: today}, true},
		"an end in the past":               {advert.BudgetTypeDaily, Schedule{End: today.AddDays(-1)}, false},
		"a start today":                    {advert.BudgetTypeDaily, Schedule{Start: today}, true},
		"an end before the start":          {advert.BudgetTypeDaily, Schedule{Start: today.AddDays(5), End: today.AddDays(4)}, false},
		"an end that is as far as may be":  {advert.BudgetTypeLifetime, Schedule{End: today.AddDays(730)}, true},
		"an end too far away":              {advert.BudgetTypeLifetime, Schedule{End: today.AddDays(731)}, false},
		"the last day that there is":       {advert.BudgetTypeLifetime, Schedule{End: Date{9999, 12, 31}}, false},
		"one day":                          {advert.BudgetTypeDaily, Schedule{Start: today.AddDays(5), End: today.AddDays(5)}, true},
	} {
		var p core.Problems
		CheckSchedule(&p, c.budget, c.schedule, today)
		assert.Equal(t, c.ok, p.Err() == nil, name)
		if !c.ok {
			assert.Equal(t, map[string]int{"end_date": 1}, fieldsOf(p), name)
		}
	}
	var past core.Problems
	CheckSchedule(&past, advert.BudgetTypeDaily, Schedule{Start: today.AddDays(-1), End: today}, today)
	assert.Equal(t, map[string]int{"start_date": 1}, fieldsOf(past))
	p := core.Problems{"end_date": {"The end_date is no date."}}
	CheckSchedule(&p, advert.BudgetTypeLifetime, Schedule{}, today)
	assert.Equal(t, map[string]int{"end_date": 1}, fieldsOf(p), "a wrong end is not a missing one, too")
}

func TestSchedule_CountsItsDays(t *testing.T) {
	t.Parallel()
	today := Date{2026, 3, 10}
	assert.Equal(t, 0, Schedule{}.Days(today))
	assert.Equal(t, 1, Schedule{End: today}.Days(today))
	assert.Equal(t, 7, Schedule{End: today.AddDays(6)}.Days(today))
	assert.Equal(t, 2, Schedule{Start: today.AddDays(5), End: today.AddDays(6)}.Days(today))
	assert.Equal(t, 7, Schedule{Start: today.AddDays(-5), End: today.AddDays(6)}.Days(today), "what has passed cannot be spent on")
	assert.Equal(t, 0, Schedule{End: today.AddDays(-1)}.Days(today))
}

func TestCheckBid_TakesWhatTheStrategyNeeds(t *testing.T) {
	t.Parallel()
	const amount, floor = 2 * advert.AmountUnit, 2 * advert.RatioOne
	for _, c := range []struct {
		platform advert.Platform
		bid      Bid
		fields   map[string]int
	}{
		{advert.PlatformFacebook, Bid{}, map[string]int{}},
		{advert.PlatformLinkedIn, Bid{}, map[string]int{}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyLowestCost, 0, 0}, map[string]int{}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyLowestCost, amount, 0}, map[string]int{"bid_amount": 1}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyLowestCost, 0, floor}, map[string]int{"roas_average_floor": 1}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyBidCap, amount, 0}, map[string]int{}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyBidCap, 0, 0}, map[string]int{"bid_amount": 1}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyCostCap, amount, 0}, map[string]int{}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyCostCap, 0, 0}, map[string]int{"bid_amount": 1}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyMinROAS, 0, floor}, map[string]int{}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyMinROAS, 0, 0}, map[string]int{"roas_average_floor": 1}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyMinROAS, amount, floor}, map[string]int{"bid_amount": 1}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyMinROAS, 0, 1001 * advert.RatioOne}, map[string]int{"roas_average_floor": 1}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyMinROAS, 0, 1}, map[string]int{"roas_average_floor": 1}},
		{advert.PlatformFacebook, Bid{"", amount, floor}, map[string]int{"bid_amount": 1, "roas_average_floor": 1}},
		{advert.PlatformFacebook, Bid{"CHEAPEST", 0, 0}, map[string]int{"bid_strategy": 1}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyBidCap, -amount, 0}, map[string]int{"bid_amount": 1}},
		{advert.PlatformFacebook, Bid{advert.BidStrategyBidCap, amount + 1, 0}, map[string]int{"bid_amount": 1}},
		{advert.PlatformPinterest, Bid{advert.BidStrategyCostCap, amount, 0}, map[string]int{}},
		{advert.PlatformPinterest, Bid{advert.BidStrategyMinROAS, 0, floor}, map[string]int{"bid_strategy": 1}},
		{advert.PlatformTwitter, Bid{advert.BidStrategyMinROAS, 0, floor}, map[string]int{"bid_strategy": 1}},
		{advert.PlatformLinkedIn, Bid{advert.BidStrategyLowestCost, 0, 0}, map[string]int{"bid_strategy": 1}},
	} {
		var p core.Problems
		CapsOf(c.platform).CheckBid(&p, c.bid, "usd")
		assert.Equal(t, c.fields, fieldsOf(p), "%v on %s", c.bid, c.platform)
	}
}

func TestParse_TakesOtherNamesToo(t *testing.T) {
	t.Parallel()
	strategy, ok := ParseBidStrategy("lowest_cost_with_bid_cap")
	assert.True(t, ok)
	assert.Equal(t, advert.BidStrategyBidCap, strategy)
	_, ok = ParseBidStrategy("cheapest")
	assert.False(t, ok)

	for text, want := range map[string]advert.BudgetLevel{"adset": advert.BudgetLevelGroup, "ad_group": advert.BudgetLevelGroup, "campaign": advert.BudgetLevelCampaign} {
		level, ok := ParseBudgetLevel(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, level)
	}
	_, ok = ParseBudgetLevel("ad")
	assert.False(t, ok)

	for text, want := range map[string]advert.AudienceType{
		"website": advert.AudienceTypeRetargeting, "website_retargeting": advert.AudienceTypeRetargeting, "retargeting": advert.AudienceTypeRetargeting,
		"lookalike": advert.AudienceTypeLookalike, "customer_list": advert.AudienceTypeCustomerList,
	} {
		kind, ok := ParseAudienceType(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, kind)
	}
	_, ok = ParseAudienceType("everybody")
	assert.False(t, ok)
}

func TestCheckAudience_NeedsWhatItsTypeNeeds(t *testing.T) {
	t.Parallel()
	lookalike := AudiencePlan{Name: "a", Type: advert.AudienceTypeLookalike, SourceID: "aud_1", Country: "US", Ratio: advert.RatioOne / 100}
	with := func(change func(*AudiencePlan)) AudiencePlan {
		plan := lookalike
		change(&plan)
		return plan
	}
	for name, c := range map[string]struct {
		platform advert.Platform
		plan     AudiencePlan
		fields   map[string]int
	}{
		"a customer list":    {advert.PlatformLinkedIn, AudiencePlan{Name: "a", Type: advert.AudienceTypeCustomerList}, map[string]int{}},
		"no name":            {advert.PlatformFacebook, AudiencePlan{Name: " ", Type: advert.AudienceTypeCustomerList}, map[string]int{"name": 1}},
		"a long name":        {advert.PlatformFacebook, AudiencePlan{Name: strings.Repeat("é", 256), Type: advert.AudienceTypeCustomerList}, map[string]int{"name": 1}},
		"a type of none":     {advert.PlatformFacebook, AudiencePlan{Name: "a", Type: "everybody"}, map[string]int{"type": 1}},
		"a type of others":   {advert.PlatformTwitter, lookalike, map[string]int{"type": 1}},
		"a lookalike":        {advert.PlatformPinterest, lookalike, map[string]int{}},
		"no source":          {advert.PlatformFacebook, with(func(a *AudiencePlan) { a.SourceID = "" }), map[string]int{"source_audience_id": 1}},
		"a country's name":   {advert.PlatformFacebook, with(func(a *AudiencePlan) { a.Country = "Germany" }), map[string]int{"country": 1}},
		"too small a share":  {advert.PlatformFacebook, with(func(a *AudiencePlan) { a.Ratio-- }), map[string]int{"ratio": 1}},
		"the largest share":  {advert.PlatformFacebook, with(func(a *AudiencePlan) { a.Ratio = advert.RatioOne / 5 }), map[string]int{}},
		"too large a share":  {advert.PlatformFacebook, with(func(a *AudiencePlan) { a.Ratio = advert.RatioOne/5 + 1 }), map[string]int{"ratio": 1}},
		"retargeting":        {advert.PlatformFacebook, AudiencePlan{Name: "a", Type: advert.AudienceTypeRetargeting, PixelID: "7", RetentionDays: 180}, map[string]int{}},
		"no pixel, too long": {advert.PlatformFacebook, AudiencePlan{Name: "a", Type: advert.AudienceTypeRetargeting, RetentionDays: 181}, map[string]int{"pixel_id": 1, "retention_days": 1}},
	} {
		var p core.Problems
		CapsOf(c.platform).CheckAudience(&p, c.plan)
		assert.Equal(t, c.fields, fieldsOf(p), name)
	}
}
