package store

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// pace is how a budget is spread over time.
type pace struct {
	amount AdAmount
	kind   BudgetType
	from   core.Time
	until  *core.Time
	daily  AdAmount // what the amount comes to in a day
}

func (c *AdCampaign) pace(now core.Time) pace {
	return pace{c.BudgetAmount, c.BudgetType, startOf(c.StartsAt, c.PlatformCreatedAt, now), c.EndsAt, c.Daily}
}

func (g *AdGroup) pace(now core.Time) pace {
	return pace{g.BudgetAmount, g.BudgetType, startOf(g.StartsAt, g.PlatformCreatedAt, now), g.EndsAt, g.Daily}
}

// changed returns what the budget comes to in a day once a change of that kind took place.
func (p pace) changed(change AdChange, now core.Time) AdAmount {
	after := p
	after.amount, after.kind = change.BudgetAmount, change.BudgetType
	if change.StartsAt != nil {
		after.from = *change.StartsAt
	}
	if change.EndsAt != nil {
		p.until, after.until = change.EndsAt, change.EndsAt
	}
	return p.to(after, now)
}

// to returns what a budget comes to in a day that was p before now. A lifetime budget is spread over all of its days,
// but what it is raised by over those that are left: a network may spend all of it in them.
func (p pace) to(after pace, now core.Time) AdAmount {
	even := dailyAmount(after.amount, after.kind, after.from, after.until)
	lifetime := p.kind == BudgetTypeLifetime && after.kind == BudgetTypeLifetime && p.amount > 0
	if !lifetime || p.until == nil || after.until == nil || *p.until != *after.until {
		return even
	}
	rest := max(now, after.from)
	if after.amount >= p.amount {
		return min(p.daily.Add(spread(after.amount-p.amount, rest, *after.until)), after.amount)
	}
	return min(max(p.daily-(p.amount-after.amount)/daysBetween(rest, *after.until), even), after.amount)
}

// resumed returns what the budget comes to in a day once it is switched on that was off since a time: what was left of
// it then is spread over the days that are left now. If it was never seen on, that is all of it.
func (p pace) resumed(off *core.Time, now core.Time) AdAmount {
	if p.kind != BudgetTypeLifetime || p.until == nil {
		return p.daily
	}
	left := p.amount
	if off != nil {
		if days := daysBetween(max(*off, p.from), *p.until); p.daily <= p.amount/days {
			left = p.daily * days
		}
	}
	return max(spread(left, max(now, p.from), *p.until), p.daily)
}

// resume switches a campaign on, and spreads what is left of its budget, and of those of its ad groups that are on.
func (c *AdCampaign) resume(groups []AdGroup, now core.Time) {
	if c.ConfiguredStatus == AdConfiguredActive {
		return
	}
	c.Daily = c.pace(now).resumed(c.OffSince, now)
	for i := range groups {
		if g := &groups[i]; g.ConfiguredStatus == AdConfiguredActive {
			g.Daily = g.pace(now).resumed(c.OffSince, now)
		}
	}
	c.ConfiguredStatus = AdConfiguredActive
}

// resume switches an ad group on, and spreads what is left of its budget.
func (g *AdGroup) resume(now core.Time) {
	if g.ConfiguredStatus != AdConfiguredActive {
		g.ConfiguredStatus, g.Daily = AdConfiguredActive, g.pace(now).resumed(g.OffSince, now)
	}
}

// repaceResumed spreads what is left of the lifetime budgets of what is about to be switched on in the mirror.
func (u *unit) repaceResumed(ctx context.Context, account string, platform Platform, level AdLevel, states []AdState, asked core.Time) error {
	var ids []string
	for _, state := range states {
		if state.Configured == AdConfiguredActive {
			ids = append(ids, state.PlatformID)
		}
	}
	switch level {
	case AdLevelCampaign:
		return u.repaceResumedCampaigns(ctx, account, platform, ids, asked)
	case AdLevelGroup:
		return u.repaceResumedGroups(ctx, account, platform, ids, asked)
	}
	return nil
}

func (u *unit) repaceResumedCampaigns(ctx context.Context, account string, platform Platform, ids []string, asked core.Time) error {
	known, err := entitiesByID(ctx, u.store, adCampaigns, account, ids)
	if err != nil {
		return err
	}
	for key, c := range known {
		if key.platform != platform || c.ConfiguredStatus == AdConfiguredActive || c.SyncedAt > asked {
			continue
		}
		daily := c.Daily
		if err := u.resumeCampaign(ctx, c); err != nil {
			return err
		}
		if err := u.setDaily(ctx, AdLevelCampaign, account, key, daily, c.Daily); err != nil {
			return err
		}
	}
	return nil
}

// resumeCampaign spreads what is left of the budgets of a campaign that is switched on, and stores those of its ad groups.
func (u *unit) resumeCampaign(ctx context.Context, c *AdCampaign) error {
	groups, err := u.store.AdGroupsOf(ctx, c)
	if err != nil {
		return err
	}
	before := make([]AdAmount, len(groups))
	for i := range groups {
		before[i] = groups[i].Daily
	}
	c.resume(groups, u.store.Now())
	for i := range groups {
		g := &groups[i]
		if err := u.setDaily(ctx, AdLevelGroup, c.AccountID, entityKey{g.Platform, g.PlatformID}, before[i], g.Daily); err != nil {
			return err
		}
	}
	return nil
}

func (u *unit) repaceResumedGroups(ctx context.Context, account string, platform Platform, ids []string, asked core.Time) error {
	known, err := entitiesByID(ctx, u.store, adGroups, account, ids)
	if err != nil {
		return err
	}
	for key, g := range known {
		if key.platform != platform || g.SyncedAt > asked {
			continue
		}
		daily := g.Daily
		g.resume(u.store.Now())
		if err := u.setDaily(ctx, AdLevelGroup, account, key, daily, g.Daily); err != nil {
			return err
		}
	}
	return nil
}

// setDaily stores what a budget comes to in a day, if that is new.
func (u *unit) setDaily(ctx context.Context, level AdLevel, account string, key entityKey, before, daily AdAmount) error {
	if daily == before {
		return nil
	}
	_, err := u.Exec(ctx, `UPDATE `+levelTables[level]+` SET daily_amount = ? WHERE account_id = ? AND platform = ? AND platform_id = ?`,
		daily, account, key.platform, key.id)
	if err != nil {
		return fmt.Errorf("spread a budget: %w", err)
	}
	return nil
}

// dailyAmount returns what a budget comes to in a day: a lifetime budget is spread over its days, and over one day if
// they are not known.
func dailyAmount(amount AdAmount, kind BudgetType, from core.Time, until *core.Time) AdAmount {
	if kind != BudgetTypeLifetime || until == nil {
		return amount
	}
	return spread(amount, from, *until)
}

// spread returns an amount by day, rounded up.
func spread(amount AdAmount, from, until core.Time) AdAmount {
	if amount <= 0 {
		return 0
	}
	return (amount-1)/daysBetween(from, until) + 1
}

// daysBetween returns how many days there are from one moment to another, begun ones too; at least one.
func daysBetween(from, until core.Time) AdAmount {
	const day = core.Time(24 * time.Hour / time.Microsecond)
	return AdAmount(max((until-from+day-1)/day, 1))
}

// repaceCampaigns spreads the lifetime budgets of campaigns that are mirrored already, and of the ad groups of those that
// are switched on, by what they were before.
func (u *unit) repaceCampaigns(ctx context.Context, account string, rows []AdCampaign, now core.Time) error {
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].PlatformID
	}
	known, err := entitiesByID(ctx, u.store, adCampaigns, account, ids)
	if err != nil {
		return err
	}
	for i := range rows {
		c := &rows[i]
		before := known[entityKey{c.Platform, c.PlatformID}]
		if before == nil {
			continue
		}
		if c.ConfiguredStatus == AdConfiguredActive && before.ConfiguredStatus != AdConfiguredActive && before.SyncedAt <= c.SyncedAt {
			if err := u.resumeCampaign(ctx, before); err != nil {
				return err
			}
		}
		c.Daily = before.pace(now).to(c.pace(now), now)
	}
	return nil
}

// repaceGroups is repaceCampaigns for ad groups.
func (u *unit) repaceGroups(ctx context.Context, account string, rows []AdGroup, now core.Time) error {
	var ids []string
	for i := range rows {
		if rows[i].BudgetType == BudgetTypeLifetime {
			ids = append(ids, rows[i].PlatformID)
		}
	}
	known, err := entitiesByID(ctx, u.store, adGroups, account, ids)
	if err != nil {
		return err
	}
	for i := range rows {
		g := &rows[i]
		if before := known[entityKey{g.Platform, g.PlatformID}]; before != nil {
			if g.ConfiguredStatus == AdConfiguredActive {
				before.resume(now)
			}
			g.Daily = before.pace(now).to(g.pace(now), now)
		}
	}
	return nil
}
