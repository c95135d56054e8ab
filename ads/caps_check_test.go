package ads

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store"
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
	return Budget{store.AdAmount(units) * store.AdUnit, store.BudgetTypeDaily}
}

func TestParseAmount_NotesWhatIsWrong(t *testing.T) {
	t.Parallel()
	var p core.Problems
	assert.Equal(t, 20*store.AdUnit, ParseAmount(&p, "budget_amount", "20"))
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
	for platform, cases := range map[store.Platform]map[store.AdGoal]bool{
		store.PlatformFacebook:  {"conversions": true, "job_applicants": false},
		store.PlatformLinkedIn:  {"job_applicants": true, "app_promotion": false},
		store.PlatformPinterest: {"traffic": true, "conversions": false, "": false, "world_peace": false},
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
	for platform, minimum := range map[store.Platform]int64{
		store.PlatformFacebook: 1, store.PlatformTikTok: 20, store.PlatformPinterest: 5, store.PlatformGoogle: 1,
	} {
		var p core.Problems
		CapsOf(platform).CheckBudget(&p, FlatBudget, daily(minimum), "usd", 0)
		require.NoError(t, p.Err(), platform)
		less := daily(minimum)
		less.Amount -= store.AdUnit / 100
		CapsOf(platform).CheckBudget(&p, FlatBudget, less, "usd", 0)
		assert.Equal(t, map[string]int{"budget_amount": 1}, fieldsOf(p), platform)
		assert.Contains(t, p["budget_amount"][0], (store.AdAmount(minimum) * store.AdUnit).Format("usd"))
	}
}

func TestCheckBudget_NeedsTheMinimumOnEachDayWhereTheNetworkDoes(t *testing.T) {
	t.Parallel()
	lifetime := func(units int64) Budget {
		return Budget{store.AdAmount(units) * store.AdUnit, store.BudgetTypeLifetime}
	}
	var p core.Problems
	CapsOf(store.PlatformTikTok).CheckBudget(&p, NestedBudget, lifetime(140), "usd", 7)
	CapsOf(store.PlatformFacebook).CheckBudget(&p, NestedBudget, lifetime(1), "usd", 7)
	CapsOf(store.PlatformTikTok).CheckBudget(&p, NestedBudget, lifetime(20), "usd", 0)
	require.NoError(t, p.Err())
	CapsOf(store.PlatformTikTok).CheckBudget(&p, NestedBudget, lifetime(139), "usd", 7)
	assert.Equal(t, map[string]int{"budget.amount": 1}, fieldsOf(p))
	assert.Contains(t, p["budget.amount"][0], "140.00 USD")
}

func TestCheckBudget_RefusesDecimalsThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		platform store.Platform
		currency string
		ok       bool
	}{
		{store.PlatformFacebook, "usd", true}, {store.PlatformFacebook, "jpy", false}, {store.PlatformFacebook, "twd", false},
		{store.PlatformPinterest, "huf", true}, {store.PlatformPinterest, "jpy", false}, {store.PlatformGoogle, "twd", true},
		{store.PlatformTikTok, "krw", false}, {store.PlatformFacebook, "xxx", false}, {store.PlatformPinterest, "bhd", false},
	} {
		var p core.Problems
		CapsOf(c.platform).CheckBudget(&p, FlatBudget, Budget{2000_500_000, store.BudgetTypeDaily}, c.currency, 0)
		assert.Equal(t, c.ok, p.Err() == nil, "%s on %s", c.currency, c.platform)
		if !c.ok {
			assert.Equal(t, map[string]int{"budget_amount": 1}, fieldsOf(p))
		}
	}
}

func TestCheckBudget_NamesTheFieldsOfTheRequest(t *testing.T) {
	t.Parallel()
	var flat, nested core.Problems
	caps := CapsOf(store.PlatformFacebook)
	caps.CheckBudget(&flat, FlatBudget, Budget{0, "weekly"}, "usd", 0)
	caps.CheckBudget(&nested, NestedBudget, Budget{-store.AdUnit, ""}, "usd", 0)
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
	b := Budget{ParseAmount(&p, "budget_amount", "-1"), store.BudgetTypeDaily}
	CapsOf(store.PlatformFacebook).CheckBudget(&p, FlatBudget, b, "usd", 0)
	assert.Equal(t, map[string]int{"budget_amount": 1}, fieldsOf(p))
}

func TestCheckBudgetLevel_FollowsTheNetwork(t *testing.T) {
	t.Parallel()
	for platform, groups := range map[store.Platform]bool{store.PlatformFacebook: true, store.PlatformGoogle: false, store.PlatformPinterest: true} {
		var p core.Problems
		CapsOf(platform).CheckBudgetLevel(&p, store.BudgetLevelCampaign)
		require.NoError(t, p.Err(), platform)
		CapsOf(platform).CheckBudgetLevel(&p, store.BudgetLevelGroup)
		assert.Equal(t, groups, p.Err() == nil, platform)
	}
	assert.Equal(t, store.BudgetLevelCampaign, CapsOf(store.PlatformGoogle).BudgetLevels[0])
	assert.Equal(t, store.BudgetLevelGroup, CapsOf(store.PlatformFacebook).BudgetLevels[0])
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
		budget   store.BudgetType
		schedule Schedule
		ok       bool
	}{
		"a daily budget without an end":    {store.BudgetTypeDaily, Schedule{}, true},
		"a lifetime budget without an end": {store.BudgetTypeLifetime, Schedule{}, false},
		"an end today":                     {store.BudgetTypeLifetime, Schedule{End: today}, true},
		"an end in the past":               {store.BudgetTypeDaily, Schedule{End: today.AddDays(-1)}, false},
		"a start today":                    {store.BudgetTypeDaily, Schedule{Start: today}, true},
		"an end before the start":          {store.BudgetTypeDaily, Schedule{Start: today.AddDays(5), End: today.AddDays(4)}, false},
		"an end that is as far as may be":  {store.BudgetTypeLifetime, Schedule{End: today.AddDays(730)}, true},
		"an end too far away":              {store.BudgetTypeLifetime, Schedule{End: today.AddDays(731)}, false},
		"the last day that there is":       {store.BudgetTypeLifetime, Schedule{End: Date{9999, 12, 31}}, false},
		"one day":                          {store.BudgetTypeDaily, Schedule{Start: today.AddDays(5), End: today.AddDays(5)}, true},
	} {
		var p core.Problems
		CheckSchedule(&p, c.budget, c.schedule, today)
		assert.Equal(t, c.ok, p.Err() == nil, name)
		if !c.ok {
			assert.Equal(t, map[string]int{"end_date": 1}, fieldsOf(p), name)
		}
	}
	var past core.Problems
	CheckSchedule(&past, store.BudgetTypeDaily, Schedule{Start: today.AddDays(-1), End: today}, today)
	assert.Equal(t, map[string]int{"start_date": 1}, fieldsOf(past))
	p := core.Problems{"end_date": {"The end_date is no date."}}
	CheckSchedule(&p, store.BudgetTypeLifetime, Schedule{}, today)
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
	const amount, floor = 2 * store.AdUnit, 2 * store.AdRatioOne
	for _, c := range []struct {
		platform store.Platform
		bid      Bid
		fields   map[string]int
	}{
		{store.PlatformFacebook, Bid{}, map[string]int{}},
		{store.PlatformLinkedIn, Bid{}, map[string]int{}},
		{store.PlatformFacebook, Bid{store.BidStrategyLowestCost, 0, 0}, map[string]int{}},
		{store.PlatformFacebook, Bid{store.BidStrategyLowestCost, amount, 0}, map[string]int{"bid_amount": 1}},
		{store.PlatformFacebook, Bid{store.BidStrategyLowestCost, 0, floor}, map[string]int{"roas_average_floor": 1}},
		{store.PlatformFacebook, Bid{store.BidStrategyBidCap, amount, 0}, map[string]int{}},
		{store.PlatformFacebook, Bid{store.BidStrategyBidCap, 0, 0}, map[string]int{"bid_amount": 1}},
		{store.PlatformFacebook, Bid{store.BidStrategyCostCap, amount, 0}, map[string]int{}},
		{store.PlatformFacebook, Bid{store.BidStrategyCostCap, 0, 0}, map[string]int{"bid_amount": 1}},
		{store.PlatformFacebook, Bid{store.BidStrategyMinROAS, 0, floor}, map[string]int{}},
		{store.PlatformFacebook, Bid{store.BidStrategyMinROAS, 0, 0}, map[string]int{"roas_average_floor": 1}},
		{store.PlatformFacebook, Bid{store.BidStrategyMinROAS, amount, floor}, map[string]int{"bid_amount": 1}},
		{store.PlatformFacebook, Bid{store.BidStrategyMinROAS, 0, 1001 * store.AdRatioOne}, map[string]int{"roas_average_floor": 1}},
		{store.PlatformFacebook, Bid{store.BidStrategyMinROAS, 0, 1}, map[string]int{"roas_average_floor": 1}},
		{store.PlatformFacebook, Bid{"", amount, floor}, map[string]int{"bid_amount": 1, "roas_average_floor": 1}},
		{store.PlatformFacebook, Bid{"CHEAPEST", 0, 0}, map[string]int{"bid_strategy": 1}},
		{store.PlatformFacebook, Bid{store.BidStrategyBidCap, -amount, 0}, map[string]int{"bid_amount": 1}},
		{store.PlatformFacebook, Bid{store.BidStrategyBidCap, amount + 1, 0}, map[string]int{"bid_amount": 1}},
		{store.PlatformPinterest, Bid{store.BidStrategyCostCap, amount, 0}, map[string]int{}},
		{store.PlatformPinterest, Bid{store.BidStrategyMinROAS, 0, floor}, map[string]int{"bid_strategy": 1}},
		{store.PlatformTwitter, Bid{store.BidStrategyMinROAS, 0, floor}, map[string]int{"bid_strategy": 1}},
		{store.PlatformLinkedIn, Bid{store.BidStrategyLowestCost, 0, 0}, map[string]int{"bid_strategy": 1}},
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
	assert.Equal(t, store.BidStrategyBidCap, strategy)
	_, ok = ParseBidStrategy("cheapest")
	assert.False(t, ok)

	for text, want := range map[string]store.BudgetLevel{"adset": store.BudgetLevelGroup, "ad_group": store.BudgetLevelGroup, "campaign": store.BudgetLevelCampaign} {
		level, ok := ParseBudgetLevel(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, level)
	}
	_, ok = ParseBudgetLevel("ad")
	assert.False(t, ok)

	for text, want := range map[string]store.AudienceType{
		"website": store.AudienceTypeRetargeting, "website_retargeting": store.AudienceTypeRetargeting, "retargeting": store.AudienceTypeRetargeting,
		"lookalike": store.AudienceTypeLookalike, "customer_list": store.AudienceTypeCustomerList,
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
	lookalike := AudiencePlan{Name: "a", Type: store.AudienceTypeLookalike, SourceID: "aud_1", Country: "US", Ratio: store.AdRatioOne / 100}
	with := func(change func(*AudiencePlan)) AudiencePlan {
		plan := lookalike
		change(&plan)
		return plan
	}
	for name, c := range map[string]struct {
		platform store.Platform
		plan     AudiencePlan
		fields   map[string]int
	}{
		"a customer list":    {store.PlatformLinkedIn, AudiencePlan{Name: "a", Type: store.AudienceTypeCustomerList}, map[string]int{}},
		"no name":            {store.PlatformFacebook, AudiencePlan{Name: " ", Type: store.AudienceTypeCustomerList}, map[string]int{"name": 1}},
		"a long name":        {store.PlatformFacebook, AudiencePlan{Name: strings.Repeat("é", 256), Type: store.AudienceTypeCustomerList}, map[string]int{"name": 1}},
		"a type of none":     {store.PlatformFacebook, AudiencePlan{Name: "a", Type: "everybody"}, map[string]int{"type": 1}},
		"a type of others":   {store.PlatformTwitter, lookalike, map[string]int{"type": 1}},
		"a lookalike":        {store.PlatformPinterest, lookalike, map[string]int{}},
		"no source":          {store.PlatformFacebook, with(func(a *AudiencePlan) { a.SourceID = "" }), map[string]int{"source_audience_id": 1}},
		"a country's name":   {store.PlatformFacebook, with(func(a *AudiencePlan) { a.Country = "Germany" }), map[string]int{"country": 1}},
		"too small a share":  {store.PlatformFacebook, with(func(a *AudiencePlan) { a.Ratio-- }), map[string]int{"ratio": 1}},
		"the largest share":  {store.PlatformFacebook, with(func(a *AudiencePlan) { a.Ratio = store.AdRatioOne / 5 }), map[string]int{}},
		"too large a share":  {store.PlatformFacebook, with(func(a *AudiencePlan) { a.Ratio = store.AdRatioOne/5 + 1 }), map[string]int{"ratio": 1}},
		"retargeting":        {store.PlatformFacebook, AudiencePlan{Name: "a", Type: store.AudienceTypeRetargeting, PixelID: "7", RetentionDays: 180}, map[string]int{}},
		"no pixel, too long": {store.PlatformFacebook, AudiencePlan{Name: "a", Type: store.AudienceTypeRetargeting, RetentionDays: 181}, map[string]int{"pixel_id": 1, "retention_days": 1}},
	} {
		var p core.Problems
		CapsOf(c.platform).CheckAudience(&p, c.plan)
		assert.Equal(t, c.fields, fieldsOf(p), name)
	}
}
