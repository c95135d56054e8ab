package store

import (
	"context"
	"time"
)

// pace is how a budget is spread over time.
type pace struct {
	amount AdAmount
	kind   BudgetType
	from   Time
	until  *Time
	daily  AdAmount // what the amount comes to in a day
}

func (c *AdCampaign) pace(now Time) pace {
	return pace{c.BudgetAmount, c.BudgetType, startOf(c.StartsAt, c.PlatformCreatedAt, now), c.EndsAt, c.Daily}
}

func (g *AdGroup) pace(now Time) pace {
	return pace{g.BudgetAmount, g.BudgetType, startOf(g.StartsAt, g.PlatformCreatedAt, now), g.EndsAt, g.Daily}
}

// changed returns what the budget comes to in a day once a change of that kind took place.
func (p pace) changed(change AdChange, now Time) AdAmount {
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
func (p pace) to(after pace, now Time) AdAmount {
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

// dailyAmount returns what a budget comes to in a day: a lifetime budget is spread over its days, and over one day if
// they are not known.
func dailyAmount(amount AdAmount, kind BudgetType, from Time, until *Time) AdAmount {
	if kind != BudgetTypeLifetime || until == nil {
		return amount
	}
	return spread(amount, from, *until)
}

// spread returns an amount by day, rounded up.
func spread(amount AdAmount, from, until Time) AdAmount {
	if amount <= 0 {
		return 0
	}
	return (amount-1)/daysBetween(from, until) + 1
}

// daysBetween returns how many days there are from one moment to another, begun ones too; at least one.
func daysBetween(from, until Time) AdAmount {
	const day = Time(24 * time.Hour / time.Microsecond)
	return AdAmount(max((until-from+day-1)/day, 1))
}

// repaceCampaigns spreads the lifetime budgets of campaigns that are mirrored already by what they were before.
func (u *unit) repaceCampaigns(ctx context.Context, account string, rows []AdCampaign, now Time) error {
	var ids []string
	for i := range rows {
		if rows[i].BudgetType == BudgetTypeLifetime {
			ids = append(ids, rows[i].PlatformID)
		}
	}
	known, err := entitiesByID(ctx, u.store, adCampaigns, account, ids)
	if err != nil {
		return err
	}
	for i := range rows {
		c := &rows[i]
		if before := known[entityKey{c.Platform, c.PlatformID}]; before != nil {
			c.Daily = before.pace(now).to(c.pace(now), now)
		}
	}
	return nil
}

// repaceGroups is repaceCampaigns for ad groups.
func (u *unit) repaceGroups(ctx context.Context, account string, rows []AdGroup, now Time) error {
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
			g.Daily = before.pace(now).to(g.pace(now), now)
		}
	}
	return nil
}
