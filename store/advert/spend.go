package advert

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Change says what an action does to what may be spent. The zero value changes nothing about it.
type Change struct {
	Level        Level  // of what is changed, or gets the budget: campaign, ad_group, or an ad that is switched on
	PlatformID   string // empty = a new campaign
	Platform     Platform
	BudgetAmount Amount // afterwards; 0 = as it is
	BudgetType   BudgetType
	StartsAt     *core.Time
	EndsAt       *core.Time
	Paused       bool   // a new campaign that is off
	Resume       bool   // switches on what is off
	BidAmount    Amount // afterwards; 0 = as it is
	Param        string // what to blame: budget_amount, budget.amount, status
	ofAd         bool   // it is an ad of the ad group that is switched on
}

// Figures says what may be spent in a day before and after an action, in the currency of its ad account.
type Figures struct {
	Currency    string
	Campaign    Amount // of its campaign, if that is on
	TotalBefore Amount // of everything that is on or about to be
	TotalAfter  Amount
	Limit       Limit
}

// CheckSpend returns what may be spent in a day once an action is done, or the error that refuses it. It is CodeForbidden for an operation that the
// limits block, and CodeSpendLimit for a budget or bid above them. It is CodeInProgress while another change of the campaign is under way. It locks
// nothing; BeginAction checks the same under a lock.
func (s *Store) CheckSpend(ctx context.Context, account string, op Op, a *Account, change Change) (*Figures, error) {
	limits, err := s.GetLimits(ctx, account)
	if err != nil {
		return nil, err
	}
	if err := s.alone(ctx, s.db, account, change); err != nil {
		return nil, err
	}
	return s.checkSpend(ctx, s.db, limits, op, a, change)
}

// checkSpend checks an action against limits that the caller has read, or locked, and returns the figures. Only the list
// of blocked operations is looked at if the action does not change what may be spent.
func (s *Store) checkSpend(ctx context.Context, r db.Reader, limits *Limits, op Op, a *Account, change Change) (*Figures, error) {
	if change.Level == LevelAd && change.Resume && !slices.Contains(limits.BlockedOperations.V, op) {
		op = OpResumeAd // whichever way the ad is switched on
	}
	if slices.Contains(limits.BlockedOperations.V, op) {
		return nil, &core.Error{Code: core.CodeForbidden, Message: "The account's limits block " + string(op) + ". PATCH /ads/limits can allow it."}
	}
	if change == (Change{}) {
		return &Figures{}, nil
	}
	spend, err := s.spendOf(ctx, r, limits.AccountID, change)
	if err != nil {
		return nil, err
	}
	total, err := s.committedDaily(ctx, r, limits.AccountID, a.Currency)
	if err != nil {
		return nil, err
	}
	f := &Figures{Currency: a.Currency, Campaign: spend.campaign, TotalBefore: total, Limit: limits.Of(a.Currency)}
	f.TotalAfter = total.Add(max(spend.added, 0))
	return f, f.check(limits, change, spend)
}

// spend says what a change does to what its campaign may spend in a day.
type spend struct {
	before, after Amount // of what has the budget, on or off
	campaign      Amount // of the campaign afterwards, if it is on
	grown         bool   // the campaign's is more than before
	added         Amount // to what is on
	counted       bool   // the budget counts already, whether or not there is an ad that spends it
}

// check returns CodeSpendLimit if a change goes beyond a limit. That may be the one on the bid, on the daily budget of the campaign, or on all of
// them together. It may also be the one on how much one change may raise a budget. A limit that is exceeded already stops only a change that adds to
// it.
func (f *Figures) check(limits *Limits, change Change, s *spend) error {
	param := cmp.Or(change.Param, "budget.amount")
	switch {
	case f.Limit.MaxBid != nil && change.BidAmount > *f.Limit.MaxBid:
		return f.exceeded("bid_amount", change.BidAmount, "max_bid_amount", *f.Limit.MaxBid, "A bid of %s")
	case s.grown && f.Campaign > f.Limit.MaxDailyPerCampaign:
		return f.exceeded(param, f.Campaign, "max_daily_budget_per_campaign", f.Limit.MaxDailyPerCampaign, "The campaign could spend %s a day, which")
	case (s.added > 0 || s.counted && s.grown) && f.TotalAfter > f.Limit.MaxDailyTotal:
		return f.CheckTotal(param, f.TotalAfter)
	case limits.MaxIncrease != nil && s.before > 0 && raisedBy(s.before, s.after) > *limits.MaxIncrease:
		return spendLimit(param, fmt.Sprintf("The budget would rise from %s to %s, by more than %s %% (max_daily_budget_increase_pct). Raise it in steps, or the limit with PATCH /ads/limits.",
			s.before.Format(f.Currency), s.after.Format(f.Currency), limits.MaxIncrease))
	}
	return nil
}

// raisedBy returns the percentage by which an amount rises, 0 if it does not. A rise is never less than a millionth of a
// percent, so that it always counts as one.
func raisedBy(before, after Amount) Ratio {
	if after <= before {
		return 0
	}
	percent := Ratio(ratio(int64(after-before), 100_000_000, int64(before)))
	return max(percent, 1)
}

// CheckTotal returns CodeSpendLimit if a total of all campaigns is more than the limit in this currency. param is the
// parameter to blame.
func (f *Figures) CheckTotal(param string, total Amount) error {
	if total <= f.Limit.MaxDailyTotal {
		return nil
	}
	return f.exceeded(param, total, "max_total_daily_budget", f.Limit.MaxDailyTotal, "All campaigns together could spend %s a day, which")
}

// exceeded returns the CodeSpendLimit that says by name which limit a figure exceeds. what begins the sentence and has a
// place for the figure.
func (f *Figures) exceeded(param string, figure Amount, name string, limit Amount, what string) *core.Error {
	return spendLimit(param, fmt.Sprintf(what+" is more than the account's limit of %s (%s). Send less, or raise the limit with PATCH /ads/limits.",
		figure.Format(f.Currency), limit.Format(f.Currency), name))
}

func spendLimit(param, message string) *core.Error {
	return &core.Error{Code: core.CodeSpendLimit, Param: param, Message: message, Fields: map[string][]string{param: {message}}}
}

// committedDaily returns what may be spent in a day, in a currency, by everything that is switched on and by actions
// without an outcome. If that is more than an amount can hold, it is the largest amount. The databases would refuse such
// a sum, so they add up whole units and micros apart.
func (s *Store) committedDaily(ctx context.Context, r db.Reader, account, currency string) (Amount, error) {
	now := s.Now()
	sum, err := db.Get[struct {
		Units  Amount `db:"units"`
		Micros Amount `db:"micros"`
	}](ctx, r, `
		SELECT CAST(COALESCE(SUM(daily_amount / 1000000), 0) AS BIGINT) AS units, CAST(COALESCE(SUM(daily_amount % 1000000), 0) AS BIGINT) AS micros FROM (
			SELECT daily_amount FROM ad_campaigns
			WHERE account_id = ? AND currency = ? AND daily_amount > 0 AND configured_status = 'active'
				AND status NOT IN ('rejected', 'completed', 'cancelled') AND (ends_at IS NULL OR ends_at > ?) AND (groups_end_at IS NULL OR groups_end_at > ?)
			UNION ALL
			SELECT g.daily_amount FROM ad_groups AS g
			JOIN ad_campaigns AS c ON c.account_id = g.account_id AND c.platform_id = g.campaign_id AND c.platform = g.platform
			WHERE g.account_id = ? AND g.currency = ? AND g.daily_amount > 0 AND g.configured_status = 'active'
				AND g.status NOT IN ('rejected', 'completed', 'cancelled') AND (g.ends_at IS NULL OR g.ends_at > ?)
				AND c.configured_status = 'active' AND c.status NOT IN ('rejected', 'completed', 'cancelled') AND (c.ends_at IS NULL OR c.ends_at > ?)
			UNION ALL
			SELECT daily_amount FROM ad_actions WHERE account_id = ? AND currency = ? AND state IN ('begun', 'unknown')) AS daily`,
		account, currency, now, now, account, currency, now, now, account, currency)
	if err != nil {
		return 0, fmt.Errorf("sum daily budgets: %w", err)
	}
	if sum.Units > math.MaxInt64/AmountUnit {
		return math.MaxInt64, nil
	}
	return (sum.Units * AmountUnit).Add(sum.Micros), nil
}

// spendOf works out what a change does to the daily spend of the campaign that it is about, which may be a new one.
// Nothing is written.
func (s *Store) spendOf(ctx context.Context, r db.Reader, account string, change Change) (*spend, error) {
	now := s.Now()
	if change.PlatformID == "" {
		daily := dailyAmount(change.BudgetAmount, change.BudgetType, startOf(change.StartsAt, nil, now), change.EndsAt)
		made := &spend{after: daily, campaign: daily, grown: true, added: daily}
		if change.Paused {
			made.added = 0
		}
		return made, nil
	}
	change, err := s.inGroup(ctx, r, account, change)
	if err != nil {
		return nil, err
	}
	c, groups, err := s.campaignOf(ctx, r, account, change)
	if err != nil {
		return nil, err
	}
	before, wasOn := campaignDaily(c, groups, now)
	result := &spend{counted: change.ofAd}
	result.before, result.after = change.apply(c, groups, now)
	after, isOn := campaignDaily(c, groups, now)
	result.campaign, result.added = after, 0
	result.grown = after > before || change.Resume && (!change.ofAd || isOn && isGroupOn(groups, change.PlatformID, now)) || isOn && !wasOn
	if isOn {
		result.added = after
	}
	if wasOn {
		result.added -= before
	}
	return result, nil
}

// inGroup returns the change of an ad as one of its ad group, whose budget the ad spends, or CodeMissing. Any other change
// is returned as it is.
func (s *Store) inGroup(ctx context.Context, r db.Reader, account string, change Change) (Change, error) {
	if change.Level != LevelAd {
		return change, nil
	}
	found, err := entitiesByID(ctx, r, s, adRows, account, []string{change.PlatformID})
	if err != nil {
		return change, err
	}
	a := found[entityKey{change.Platform, change.PlatformID}]
	if a == nil {
		return change, core.Missing("ad", "", change.PlatformID)
	}
	change.Level, change.PlatformID, change.ofAd = LevelGroup, a.AdGroupID, true
	return change, nil
}

// isGroupOn reports whether an ad group among some is switched on and not over.
func isGroupOn(groups []Group, id string, now core.Time) bool {
	return slices.ContainsFunc(groups, func(g Group) bool {
		return g.PlatformID == id && g.ConfiguredStatus == ConfiguredActive && !statusAt(g.Status, g.EndsAt, now).IsTerminal()
	})
}

// campaignOf returns the campaign that a change is about, or whose ad group it is about, with all its ad groups. If the
// mirror does not have them, the error is CodeMissing.
func (s *Store) campaignOf(ctx context.Context, r db.Reader, account string, change Change) (*Campaign, []Group, error) {
	campaign := change.PlatformID
	if change.Level == LevelGroup {
		found, err := entitiesByID(ctx, r, s, groupRows, account, []string{change.PlatformID})
		if err != nil {
			return nil, nil, err
		}
		g := found[entityKey{change.Platform, change.PlatformID}]
		if g == nil {
			return nil, nil, core.Missing("ad group", "", change.PlatformID)
		}
		campaign = g.CampaignID
	}
	found, err := entitiesByID(ctx, r, s, campaignRows, account, []string{campaign})
	if err != nil {
		return nil, nil, err
	}
	c := found[entityKey{change.Platform, campaign}]
	if c == nil {
		return nil, nil, core.Missing("campaign", "", campaign)
	}
	groups, err := s.groupsOfIn(ctx, r, c)
	return c, groups, err
}

// apply changes the rows as the action will, and returns the daily amount of what it is about before and after. A resume is not a rise, so its new
// daily amount counts as the one before. That is so even though what is left of a lifetime budget may have to be spent in less time. A change can
// bring back what was rejected or has spent its budget, so such a state counts as active.
func (change Change) apply(c *Campaign, groups []Group, now core.Time) (before, after Amount) {
	c.Status = c.Status.Revived()
	if change.Level == LevelCampaign {
		if change.Resume {
			c.resume(groups, now)
		}
		before = c.Daily
		if change.BudgetAmount > 0 {
			c.Daily = c.pace(now).changed(change, now)
		}
		return before, c.Daily
	}
	for i := range groups {
		g := &groups[i]
		if g.PlatformID != change.PlatformID {
			continue
		}
		if change.Resume && !change.ofAd {
			g.resume(now)
		}
		before, g.Status = g.Daily, g.Status.Revived()
		if change.BudgetAmount > 0 {
			g.Daily = g.pace(now).changed(change, now)
		}
		after = g.Daily
	}
	return before, after
}

// campaignDaily returns what a campaign and those of its ad groups that are switched on come to in a day. It also returns whether the campaign itself
// is on.
func campaignDaily(c *Campaign, groups []Group, now core.Time) (Amount, bool) {
	total := c.Daily
	for i := range groups {
		g := &groups[i]
		if g.ConfiguredStatus == ConfiguredActive && !statusAt(g.Status, g.EndsAt, now).IsTerminal() {
			total = total.Add(g.Daily)
		}
	}
	return total, c.ConfiguredStatus == ConfiguredActive && !c.StatusAt(now).IsTerminal()
}
