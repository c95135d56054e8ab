package ads

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// BudgetFields are the names of the budget's fields in a request.
type BudgetFields struct{ Amount, Type string }

// A new ad has its budget in fields of the body; a boost and a change of a budget have an object for it.
var (
	FlatBudget   = BudgetFields{"budget_amount", "budget_type"}
	NestedBudget = BudgetFields{"budget.amount", "budget.type"}
)

// Schedule says when an ad runs. A zero Date was not sent.
type Schedule struct{ Start, End Date }

// Bid says how to bid. The zero value leaves it to the network.
type Bid struct {
	Strategy  advert.BidStrategy
	Amount    advert.Amount // 0 = none
	RoasFloor advert.Ratio  // 0 = none
}

// The floors of ROAS that networks take.
const (
	minRoasFloor = advert.RatioOne / 100
	maxRoasFloor = advert.RatioOne * 1000
)

// The shares of a country's people that a lookalike can have, and how long retargeting can look back.
const (
	minRatio = advert.RatioOne / 100
	maxRatio = advert.RatioOne / 5

	usualRetention, maxRetention = 30, 180 // days
)

// maxScheduleDays is how many days ahead the end of a schedule may be.
const maxScheduleDays = 730

// ParseAmount reads an amount of a request. If it is wrong, it adds a problem and returns 0.
func ParseAmount(p *core.Problems, field, decimal string) advert.Amount {
	amount, err := advert.ParseAmount(decimal)
	if err != nil {
		p.Add(field, field+" "+err.Error()+".")
	}
	return amount
}

// ParseBidStrategy reads a bid strategy in upper or lower case. False means that there is no such strategy.
func ParseBidStrategy(text string) (advert.BidStrategy, bool) {
	strategy := advert.BidStrategy(strings.ToUpper(text))
	return strategy, slices.Contains(advert.BidStrategies, strategy)
}

// ParseBudgetLevel reads a budget level; "adset" is taken for an ad group. False means that there is no such level.
func ParseBudgetLevel(text string) (advert.BudgetLevel, bool) {
	switch text {
	case string(advert.BudgetLevelCampaign):
		return advert.BudgetLevelCampaign, true
	case string(advert.BudgetLevelGroup), "adset":
		return advert.BudgetLevelGroup, true
	}
	return "", false
}

// ParseAudienceType reads a type of audience, also by the names that other services use. False means that there is no
// such type.
func ParseAudienceType(text string) (advert.AudienceType, bool) {
	switch text {
	case string(advert.AudienceTypeCustomerList), string(advert.AudienceTypeLookalike):
		return advert.AudienceType(text), true
	case string(advert.AudienceTypeRetargeting), "website", "website_retargeting":
		return advert.AudienceTypeRetargeting, true
	}
	return "", false
}

// CheckGoal adds a problem for a goal that the network does not know.
func (c Caps) CheckGoal(p *core.Problems, goal advert.Goal) {
	_, ok := c.Objective(goal)
	p.Check(ok, "goal", fmt.Sprintf("Send a goal that %s knows: %s.", c.Platform, list(c.Goals())))
}

// CheckMeans adds a problem for a goal that the network does not pursue with this kind of ad: a boosted post, or else a creative.
func (c Caps) CheckMeans(p *core.Problems, goal advert.Goal, boosts bool) {
	p.Check(boosts || !slices.Contains(c.BoostOnly, goal), "goal",
		fmt.Sprintf("On %s %s needs a video: boost a post that has one with POST /ads/boost.", c.Platform, goal))
	p.Check(!boosts || !slices.Contains(c.NeverBoost, goal), "goal",
		fmt.Sprintf("On %s a post that is boosted cannot have %s as its goal: make an ad with POST /ads.", c.Platform, goal))
}

// CheckPromoted adds a problem for each thing that the goal needs and the promoted object does not name.
func (c Caps) CheckPromoted(p *core.Problems, goal advert.Goal, promoted advert.Object) {
	rule, ok := c.Promoted[goal]
	if !ok {
		return
	}
	var object map[string]any
	if promoted.Decode(&object) != nil {
		p.Add("promoted_object", "The promoted object must be a JSON object.")
		return
	}
	for _, keys := range rule.Requires {
		has := slices.ContainsFunc(keys, func(key string) bool { return object[key] != nil })
		p.Check(has, "promoted_object."+keys[0], fmt.Sprintf("%s on %s needs promoted_object.%s.", goal, c.Platform, strings.Join(keys, " or promoted_object.")))
	}
	if event, sent := object["custom_event_type"]; sent {
		word, _ := event.(string)
		p.Check(rule.Events == nil || slices.Contains(rule.Events, word), "promoted_object.custom_event_type",
			fmt.Sprintf("Send an event that goes with %s on %s: %s.", goal, c.Platform, strings.Join(rule.Events, ", ")))
		p.Check(word != "OTHER" || object["custom_event_str"] != nil, "promoted_object.custom_event_str", "The event OTHER needs custom_event_str, its name.")
	}
}

// CheckBudgetLevel adds a problem for a level at which the network has no budgets.
func (c Caps) CheckBudgetLevel(p *core.Problems, level advert.BudgetLevel) {
	p.Check(slices.Contains(c.BudgetLevels, level), "budget_level",
		fmt.Sprintf("Send a budget level that %s knows: %s.", c.Platform, list(c.BudgetLevels)))
}

// CheckCurrency adds a problem for a currency of a request that is not the ad account's. An amount that was meant in
// another currency must not be spent.
func CheckCurrency(p *core.Problems, asked, adAccount string) {
	p.Check(asked == "" || strings.EqualFold(asked, adAccount), "currency",
		fmt.Sprintf("The ad account is in %s. Send the amount in this currency.", adAccount))
}

// CheckBudget adds a problem for each part of a budget that the network would not take in the ad account's currency. The
// argument days is how many days a lifetime budget is for, 0 if that is not known. An amount that is 0 because it could
// not be read has a problem already and gets no other one.
func (c Caps) CheckBudget(p *core.Problems, f BudgetFields, b Budget, currency string, days int) {
	daily, lifetime := b.Type == advert.BudgetTypeDaily, b.Type == advert.BudgetTypeLifetime
	p.Check(daily || lifetime, f.Type, "A budget type is daily or lifetime.")
	if b.Amount == 0 && len((*p)[f.Amount]) > 0 {
		return
	}
	if err := c.carries(b.Amount, currency); err != nil {
		p.Add(f.Amount, f.Amount+" "+err.Error()+".")
		return
	}
	minimum := c.minimum(b.Type, days)
	p.Check(b.Amount >= minimum, f.Amount,
		fmt.Sprintf("A %s budget on %s is at least %s. Amounts are whole currency units: 20 means 20.00.", b.Type, c.Platform, minimum.Format(currency)))
}

// minimum returns the least amount of a budget. A lifetime budget may have to cover the minimum on each of its days.
func (c Caps) minimum(t advert.BudgetType, days int) advert.Amount {
	if t == advert.BudgetTypeLifetime && c.MinimumEveryDay {
		return c.MinimumDailyBudget * advert.Amount(max(days, 1))
	}
	return c.MinimumDailyBudget
}

// CheckSchedule adds a problem for a schedule that cannot be. today is the day in the ad account's time zone. A lifetime
// budget needs an end, because it is spread over the time until then. The end must not be too far away, because any
// amount would then look small by day.
func CheckSchedule(p *core.Problems, t advert.BudgetType, s Schedule, today Date) {
	p.Check(s.Start.IsZero() || s.Start.Compare(today) >= 0, "start_date",
		fmt.Sprintf("The start_date lies in the past: it is %s where the ad account is. Leave it out to begin at once.", today))
	if s.End.IsZero() {
		p.Check(t != advert.BudgetTypeLifetime || len((*p)["end_date"]) > 0, "end_date", "A lifetime budget needs an end_date such as 2026-12-31.")
		return
	}
	p.Check(s.End.Compare(today) >= 0, "end_date", "The end_date lies in the past.")
	p.Check(s.Start.IsZero() || s.End.Compare(s.Start) >= 0, "end_date", "The end_date lies before the start_date.")
	p.Check(today.DaysUntil(s.End) <= maxScheduleDays, "end_date", fmt.Sprintf("Send an end_date at most %d days ahead.", maxScheduleDays))
}

// Days returns how many days the schedule has, the last one included, or 0 without an end. It counts from today if the
// schedule has begun or has no start.
func (s Schedule) Days(today Date) int {
	if s.End.IsZero() {
		return 0
	}
	start := today
	if s.Start.Compare(today) > 0 {
		start = s.Start
	}
	return max(start.DaysUntil(s.End)+1, 0)
}

// CheckBidGoal adds a problem for a bid strategy that cannot be used for the goal; "" is one that is not known.
func (c Caps) CheckBidGoal(p *core.Problems, strategy advert.BidStrategy, goal advert.Goal) {
	rule, ok := c.Bid(strategy)
	p.Check(!ok || goal == "" || rule.Goals == nil || slices.Contains(rule.Goals, goal), "bid_strategy",
		fmt.Sprintf("%s goes with other goals on %s: %s.", strategy, c.Platform, list(rule.Goals)))
}

// CheckBid adds a problem for a bid strategy that the network does not know. It adds one for each amount that the
// strategy needs and that is missing, or that it has no use for.
func (c Caps) CheckBid(p *core.Problems, b Bid, currency string) {
	given := map[string]bool{fieldBidAmount: b.Amount != 0, fieldRoasFloor: b.RoasFloor != 0}
	if b.Strategy == "" {
		for field, is := range given {
			p.Check(!is, field, field+" needs a bid_strategy.")
		}
		return
	}
	rule, ok := c.Bid(b.Strategy)
	if !ok {
		p.Add("bid_strategy", c.bidMessage())
		return
	}
	for _, field := range rule.Requires {
		p.Check(given[field] || len((*p)[field]) > 0, field, fmt.Sprintf("%s needs %s.", b.Strategy, field))
	}
	for _, field := range rule.Forbids {
		p.Check(!given[field], field, fmt.Sprintf("%s has no use for %s. Leave it out.", b.Strategy, field))
	}
	c.checkBidFigures(p, b, currency)
}

func (c Caps) checkBidFigures(p *core.Problems, b Bid, currency string) {
	if b.Amount != 0 {
		if err := c.carries(b.Amount, currency); err != nil {
			p.Add(fieldBidAmount, fieldBidAmount+" "+err.Error()+".")
		}
	}
	p.Check(b.RoasFloor == 0 || (b.RoasFloor >= minRoasFloor && b.RoasFloor <= maxRoasFloor), fieldRoasFloor, "A ROAS floor is 0.01 to 1000.")
}

func (c Caps) bidMessage() string {
	if len(c.Bids) == 0 {
		return fmt.Sprintf("%s takes no bid strategy. Leave it out.", c.Platform)
	}
	known := make([]advert.BidStrategy, len(c.Bids))
	for i, rule := range c.Bids {
		known[i] = rule.Strategy
	}
	return fmt.Sprintf("Send a bid strategy that %s knows: %s.", c.Platform, list(known))
}

// CheckAudience adds a problem for each field of a new audience that is wrong. SourceID need not be a platform id yet.
func (c Caps) CheckAudience(p *core.Problems, a AudiencePlan) {
	CheckName(p, a.Name)
	p.Check(slices.Contains(c.AudienceTypes, a.Type), "type",
		fmt.Sprintf("Send an audience type that %s knows: %s.", c.Platform, list(c.AudienceTypes)))
	p.Check(a.RetentionDays >= 0 && a.RetentionDays <= maxRetention, "retention_days", "Users are kept for 1 to 180 days.")
	switch a.Type {
	case advert.AudienceTypeRetargeting:
		p.Check(a.PixelID != "", "pixel_id", "A retargeting audience needs the pixel_id whose visitors it collects.")
	case advert.AudienceTypeLookalike:
		p.Check(a.SourceID != "", "source_audience_id", "A lookalike audience needs the source_audience_id that it is to be like.")
		p.Check(advert.IsCountry(a.Country), "country", "Send a country of two letters, such as US.")
		p.Check(c.Lookalikes == nil || slices.Contains(c.Lookalikes, strings.ToLower(a.Country)), "country",
			fmt.Sprintf("A lookalike on %s is in one of: %s.", c.Platform, strings.ToUpper(list(c.Lookalikes))))
		if slices.Contains(c.AudienceTypes, a.Type) {
			c.checkRatio(p, a.Ratio)
		}
	}
}

// checkRatio adds a problem for a share of a country's people that a lookalike cannot be.
func (c Caps) checkRatio(p *core.Problems, ratio advert.Ratio) {
	steps := ""
	if c.LookalikeStep > 0 {
		steps = fmt.Sprintf(", in steps of %s", c.LookalikeStep)
	}
	isStep := c.LookalikeStep == 0 || ratio%c.LookalikeStep == 0
	p.Check(ratio >= minRatio && ratio <= c.LookalikeMax && isStep, "ratio",
		fmt.Sprintf("A ratio on %s is %s to %s of the country's people%s.", c.Platform, minRatio, c.LookalikeMax, steps))
}

// list returns names with commas between them, for a message.
func list[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return strings.Join(texts, ", ")
}
