package ads

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// draft is an ad whose fields are being read into a plan. What is wrong with them is collected in problems.
type draft struct {
	by       Actor
	op       advert.Op
	line     *line
	caps     Caps
	today    Date // where the ad account is
	recipe   recipe
	plan     *Plan // of the recipe
	budgets  BudgetFields
	problems core.Problems
	warnings []string
}

// draft begins a draft in an ad account of an activated channel. One in which no ads can be made is a problem of the
// draft.
func (s *Service) draft(ctx context.Context, by Actor, op advert.Op, channel, adAccount string) (*draft, error) {
	line, err := s.activated(ctx, by.Account, channel)
	if err != nil {
		return nil, err
	}
	a, err := s.store.GetAccount(ctx, line.channel, adAccount)
	if err != nil {
		return nil, err
	}
	d := &draft{by: by, op: op, line: line, caps: line.Caps(), recipe: recipe{Plan: Plan{AdAccount: *a}}}
	d.plan = &d.recipe.Plan
	d.today = DateOf(s.store.Now().Time().In(locationOf(a.Timezone)))
	d.problems.Check(a.IsSelectable(), "ad_account_id", fmt.Sprintf("Ads cannot be made in this ad account: it is %s. %s", a.Status, a.UnusableReason))
	return d, nil
}

// common reads the fields that every ad has.
func (d *draft) common(platform, name, status, currency string) {
	d.problems.Check(platform == "" || platform == string(d.caps.Platform), "platform",
		fmt.Sprintf("The channel is one of %s. Leave platform out, or send this.", d.caps.Platform))
	CheckName(&d.problems, name)
	CheckCurrency(&d.problems, currency, d.plan.AdAccount.Currency)
	d.plan.Name, d.plan.Configured = name, advert.Configured(status)
	if status == "" {
		d.plan.Configured = advert.ConfiguredActive
	}
	d.problems.Check(d.plan.Configured == advert.ConfiguredActive || d.plan.Configured == advert.ConfiguredPaused, "status",
		"An ad is created active or paused.")
}

// campaign reads the goal, the budget level and the bid of a new campaign.
func (d *draft) campaign(goal, level string, in BidInput) {
	d.plan.Goal = advert.Goal(goal)
	d.caps.CheckGoal(&d.problems, d.plan.Goal)
	d.plan.BudgetLevel = d.caps.BudgetLevels[0]
	if level != "" {
		known, _ := ParseBudgetLevel(level)
		d.caps.CheckBudgetLevel(&d.problems, known)
		d.plan.BudgetLevel = known
	}
	bid := in.read(&d.problems)
	d.caps.CheckBid(&d.problems, bid, d.plan.AdAccount.Currency)
	d.caps.CheckBidGoal(&d.problems, bid.Strategy, d.plan.Goal)
	d.plan.BidStrategy, d.plan.BidAmount, d.plan.RoasFloor = cmp.Or(bid.Strategy, d.caps.DefaultBid), bid.Amount, bid.RoasFloor
}

// words reads what is in the network's own words. boosts says that the ad is a post.
func (d *draft) words(promoted advert.Object, boosts bool) {
	d.plan.PromotedObject = promoted
	d.caps.CheckMeans(&d.problems, d.plan.Goal, boosts)
	d.caps.CheckPromoted(&d.problems, d.plan.Goal, promoted)
}

// read reads a bid, and adds what is wrong with it to the problems.
func (in BidInput) read(p *core.Problems) Bid {
	var bid Bid
	if in.Strategy != "" {
		strategy, ok := ParseBidStrategy(in.Strategy)
		if bid.Strategy = strategy; !ok {
			bid.Strategy = advert.BidStrategy(in.Strategy) // the network's own check says what it knows
		}
	}
	if in.Amount != "" {
		bid.Amount = ParseAmount(p, fieldBidAmount, in.Amount)
	}
	if in.RoasFloor != "" {
		floor, err := advert.ParseRatio(in.RoasFloor)
		p.Check(err == nil, fieldRoasFloor, "A ROAS floor is 0.01 to 1000.")
		bid.RoasFloor = floor
	}
	return bid
}

// budget reads the budget and the days of a new campaign. f names the fields of the request.
func (d *draft) budget(f BudgetFields, amount, budgetType, start, end string) {
	budget := Budget{ParseAmount(&d.problems, f.Amount, amount), advert.BudgetType(budgetType)}
	schedule := Schedule{d.day("start_date", start), d.day("end_date", end)}
	CheckSchedule(&d.problems, budget.Type, schedule, d.today)
	d.caps.CheckBudget(&d.problems, f, budget, d.plan.AdAccount.Currency, schedule.Days(d.today))
	d.plan.BudgetAmount, d.plan.BudgetType = budget.Amount, budget.Type
	d.budgets = f
	where := locationOf(d.plan.AdAccount.Timezone)
	if schedule.Start.Compare(d.today) > 0 {
		d.plan.StartsAt = moment(schedule.Start.Start(where))
	}
	if !schedule.End.IsZero() {
		d.plan.EndsAt = moment(schedule.End.End(where))
	}
}

// moment returns a time as the store has it.
func moment(t time.Time) *core.Time {
	at := core.TimeOf(t)
	return &at
}

// day reads a date, or a moment, whose day in the time zone of the ad account counts. It is zero if the field was not
// sent or is wrong.
func (d *draft) day(field, text string) Date {
	if text == "" {
		return Date{}
	}
	day, err := parseDay(text, locationOf(d.plan.AdAccount.Timezone))
	d.problems.Check(err == nil, field, field+" "+errDate.Error()+".")
	return day
}

// parseDay reads a date, or the day of a moment in a time zone.
func parseDay(text string, where *time.Location) (Date, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return DateOf(at.In(where)), nil
	}
	return ParseDate(text)
}

// boostEnd returns the last day of a boost, from its end or its duration. A lifetime budget with neither runs for a
// week; a daily one has no end, which is "".
func (d *draft) boostEnd(in *BoostPost) string {
	days := boostDays
	switch {
	case in.DurationDays != nil:
		days = *in.DurationDays
		d.problems.Check(days >= 1 && days <= maxBoostDays, "duration_days", fmt.Sprintf("A boost runs for 1 to %d days.", maxBoostDays))
		d.problems.Check(in.EndDate == "", "duration_days", "Send duration_days or end_date, not both.")
	case in.EndDate != "" || in.Budget.Type != string(advert.BudgetTypeLifetime):
		return in.EndDate
	}
	begin := d.today
	if start, err := parseDay(in.StartDate, locationOf(d.plan.AdAccount.Timezone)); err == nil && start.Compare(begin) > 0 {
		begin = start
	}
	return begin.AddDays(max(days, 1) - 1).String()
}

// join reads the fields of an ad that joins an existing ad group. The ad group has the goal, the budget, the bid and the
// days, so they must not be sent.
func (s *Service) join(ctx context.Context, d *draft, in *CreateAd) error {
	group, err := s.store.GetGroup(ctx, d.by.Account, d.caps.Platform, in.AdGroupID)
	if err != nil {
		return at("ad_group_id", err)
	}
	p := &d.problems
	p.Check(group.AdAccountID == d.plan.AdAccount.PlatformID, "ad_group_id", "The ad group is in another ad account: "+group.AdAccountID+".")
	p.Check(in.CampaignID == "" || in.CampaignID == group.CampaignID, "campaign_id", "The ad group is in another campaign: "+group.CampaignID+".")
	now := s.store.Now()
	over := group.StatusAt(now).IsTerminal() || group.Campaign != nil && group.Campaign.StatusAt(now).IsTerminal()
	p.Check(!over, "ad_group_id", "The ad group or its campaign is over. Send one that can be delivered.") // else its budget would be spent again, and not be counted
	for _, f := range append(required{
		{"budget_amount", in.BudgetAmount}, {"budget_type", in.BudgetType}, {"budget_level", in.BudgetLevel},
		{"start_date", in.StartDate}, {"end_date", in.EndDate},
		{"bid_strategy", in.Bid.Strategy}, {fieldBidAmount, in.Bid.Amount}, {fieldRoasFloor, in.Bid.RoasFloor},
		{"promoted_object", string(in.PromotedObject)},
	}, in.Targeting.sent()...) {
		p.Check(f.value == "", f.field, "The ad group that the ad joins has its own. Leave it out.")
	}
	goal := group.Goal
	if goal == "" && group.Campaign != nil {
		goal = group.Campaign.Goal
	}
	p.Check(in.Goal == "" || goal == "" || in.Goal == string(goal), "goal", "The ad group that the ad joins is for "+string(goal)+".")
	d.plan.AdGroupID, d.plan.CampaignID, d.plan.Goal = group.PlatformID, group.CampaignID, goal
	return nil
}

// change returns what the ad changes about what may be spent. An ad that joins an ad group has no budget of its own and
// changes nothing.
func (d *draft) change() advert.Change {
	if d.plan.AdGroupID != "" {
		return advert.Change{}
	}
	level := advert.LevelGroup
	if d.plan.BudgetLevel == advert.BudgetLevelCampaign {
		level = advert.LevelCampaign
	}
	return advert.Change{
		Level: level, Platform: d.caps.Platform, BudgetAmount: d.plan.BudgetAmount, BudgetType: d.plan.BudgetType,
		StartsAt: d.plan.StartsAt, EndsAt: d.plan.EndsAt, Paused: d.plan.Configured == advert.ConfiguredPaused,
		BidAmount: d.plan.BidAmount, Param: d.budgets.Amount,
	}
}
