package advert

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// pace says how a budget is spread over time.
type pace struct {
	amount Amount
	kind   BudgetType
	from   core.Time
	until  *core.Time
	daily  Amount // what the amount comes to in a day
}

// pace returns how the campaign's budget is spread. A campaign whose start is not known starts now.
func (c *Campaign) pace(now core.Time) pace {
	return pace{c.BudgetAmount, c.BudgetType, startOf(c.StartsAt, c.PlatformCreatedAt, now), c.EndsAt, c.Daily}
}

// pace returns how the ad group's budget is spread. An ad group whose start is not known starts now.
func (g *Group) pace(now core.Time) pace {
	return pace{g.BudgetAmount, g.BudgetType, startOf(g.StartsAt, g.PlatformCreatedAt, now), g.EndsAt, g.Daily}
}

// changed returns what the budget p comes to in a day once a change has been made to it now.
func (p pace) changed(change Change, now core.Time) Amount {
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

// to returns what a budget comes to in a day if it was spread like p until now and becomes after.
//
// A lifetime budget is spread evenly over all of its days. If its amount changes and its end does not, the network may already have spent some of it.
// So the change counts over the days that are left. A rise is spread over them on top of the daily amount until now. A cut is taken off it in the
// same way, but never below the even amount.
func (p pace) to(after pace, now core.Time) Amount {
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

// resumed returns what the budget comes to in a day if it is switched on now and has been off since a time. What was left of a lifetime budget then
// is spread over the days that are left now. With a nil time it was never seen on, and all of it is left. The daily amount never falls by this.
func (p pace) resumed(off *core.Time, now core.Time) Amount {
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

// resume switches a campaign on in these rows. What is left of its budget is spread over the days that are left. So is what is left of the budgets of
// its ad groups that are switched on. A campaign that is on stays as it is.
func (c *Campaign) resume(groups []Group, now core.Time) {
	if c.ConfiguredStatus == ConfiguredActive {
		return
	}
	c.Daily = c.pace(now).resumed(c.OffSince, now)
	for i := range groups {
		if g := &groups[i]; g.ConfiguredStatus == ConfiguredActive {
			g.Daily = g.pace(now).resumed(c.OffSince, now)
		}
	}
	c.ConfiguredStatus = ConfiguredActive
}

// resume switches an ad group on in this row and spreads what is left of its budget over the days that are left. An ad
// group that is on stays as it is.
func (g *Group) resume(now core.Time) {
	if g.ConfiguredStatus != ConfiguredActive {
		g.ConfiguredStatus, g.Daily = ConfiguredActive, g.pace(now).resumed(g.OffSince, now)
	}
}

// repaceResumed looks among the states for campaigns or ad groups that the mirror has as off and that are on now. It spreads what is left of their
// lifetime budgets. The caller stores the states afterwards.
func (s *Store) repaceResumed(ctx context.Context, u *db.Unit, account string, platform Platform, level Level, states []State) error {
	var ids []string
	seen := map[string]core.Time{}
	for _, state := range states {
		if state.Configured == ConfiguredActive {
			ids, seen[state.PlatformID] = append(ids, state.PlatformID), state.Seen
		}
	}
	switch level {
	case LevelCampaign:
		return s.repaceResumedCampaigns(ctx, u, account, platform, ids, seen)
	case LevelGroup:
		return s.repaceResumedGroups(ctx, u, account, platform, ids, seen)
	}
	return nil
}

// repaceResumedCampaigns does the work of repaceResumed for campaigns with the ids, and for the ad groups in them. One
// that was written since it was seen is left alone.
func (s *Store) repaceResumedCampaigns(ctx context.Context, u *db.Unit, account string, platform Platform, ids []string, seen map[string]core.Time) error {
	known, err := entitiesByID(ctx, u, s, campaignRows, account, ids)
	if err != nil {
		return err
	}
	for key, c := range known {
		if key.platform != platform || c.ConfiguredStatus == ConfiguredActive || wasWritten(c.SyncedAt, seen[key.id]) {
			continue
		}
		daily := c.Daily
		if err := s.resumeCampaign(ctx, u, c); err != nil {
			return err
		}
		if err := s.setDaily(ctx, u, LevelCampaign, account, key, daily, c.Daily); err != nil {
			return err
		}
	}
	return nil
}

// resumeCampaign switches a campaign on in c, spreads what is left of the budgets, and stores the new daily amounts of
// its ad groups. Storing the campaign itself is left to the caller.
func (s *Store) resumeCampaign(ctx context.Context, u *db.Unit, c *Campaign) error {
	groups, err := s.groupsOfIn(ctx, u, c)
	if err != nil {
		return err
	}
	before := make([]Amount, len(groups))
	for i := range groups {
		before[i] = groups[i].Daily
	}
	c.resume(groups, s.Now())
	for i := range groups {
		g := &groups[i]
		if err := s.setDaily(ctx, u, LevelGroup, c.AccountID, entityKey{g.Platform, g.PlatformID}, before[i], g.Daily); err != nil {
			return err
		}
	}
	return nil
}

// repaceResumedGroups does the work of repaceResumed for ad groups with the ids. One that was written since it was
// seen is left alone.
func (s *Store) repaceResumedGroups(ctx context.Context, u *db.Unit, account string, platform Platform, ids []string, seen map[string]core.Time) error {
	known, err := entitiesByID(ctx, u, s, groupRows, account, ids)
	if err != nil {
		return err
	}
	for key, g := range known {
		if key.platform != platform || wasWritten(g.SyncedAt, seen[key.id]) {
			continue
		}
		daily := g.Daily
		g.resume(s.Now())
		if err := s.setDaily(ctx, u, LevelGroup, account, key, daily, g.Daily); err != nil {
			return err
		}
	}
	return nil
}

// wasWritten reports whether a row that has a time was written since it was seen; 0 is not to be compared.
func wasWritten(at, seen core.Time) bool { return seen != 0 && at != seen }

// setDaily stores what the budget of a campaign or ad group comes to in a day, if it is not the same as before.
func (s *Store) setDaily(ctx context.Context, u *db.Unit, level Level, account string, key entityKey, before, daily Amount) error {
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

// dailyAmount returns what a budget comes to in a day. A lifetime budget is spread evenly from its start to its end;
// without an end all of it may be spent in one day.
func dailyAmount(amount Amount, kind BudgetType, from core.Time, until *core.Time) Amount {
	if kind != BudgetTypeLifetime || until == nil {
		return amount
	}
	return spread(amount, from, *until)
}

// spread returns an amount divided by the days between two moments, rounded up.
func spread(amount Amount, from, until core.Time) Amount {
	if amount <= 0 {
		return 0
	}
	return (amount-1)/daysBetween(from, until) + 1
}

// daysBetween returns how many days of 24 hours there are between two moments. A part of a day counts as one, and there
// is at least one.
func daysBetween(from, until core.Time) Amount {
	const day = core.Time(24 * time.Hour / time.Microsecond)
	return Amount(max((until-from+day-1)/day, 1))
}

// repaceCampaigns sets the daily amounts of rows that are about to be mirrored, from how the mirror has their budgets
// spread now. For a campaign that is switched on by this, it also stores the new daily amounts of its ad groups. New
// campaigns are left alone.
func (s *Store) repaceCampaigns(ctx context.Context, u *db.Unit, account string, rows []Campaign, now core.Time) error {
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].PlatformID
	}
	known, err := entitiesByID(ctx, u, s, campaignRows, account, ids)
	if err != nil {
		return err
	}
	for i := range rows {
		c := &rows[i]
		before := known[entityKey{c.Platform, c.PlatformID}]
		if before == nil {
			continue
		}
		if c.ConfiguredStatus == ConfiguredActive && before.ConfiguredStatus != ConfiguredActive && before.SyncedAt <= c.SyncedAt {
			if err := s.resumeCampaign(ctx, u, before); err != nil {
				return err
			}
		}
		c.Daily = before.pace(now).to(c.pace(now), now)
	}
	return nil
}

// repaceGroups sets the daily amounts of ad groups with a lifetime budget that are about to be mirrored, as
// repaceCampaigns does for campaigns.
func (s *Store) repaceGroups(ctx context.Context, r db.Reader, account string, rows []Group, now core.Time) error {
	var ids []string
	for i := range rows {
		if rows[i].BudgetType == BudgetTypeLifetime {
			ids = append(ids, rows[i].PlatformID)
		}
	}
	known, err := entitiesByID(ctx, r, s, groupRows, account, ids)
	if err != nil {
		return err
	}
	for i := range rows {
		g := &rows[i]
		if before := known[entityKey{g.Platform, g.PlatformID}]; before != nil {
			if g.ConfiguredStatus == ConfiguredActive {
				before.resume(now)
			}
			g.Daily = before.pace(now).to(g.pace(now), now)
		}
	}
	return nil
}
