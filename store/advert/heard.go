package advert

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Place names a campaign, an ad group or an ad of a network.
type Place struct {
	Level Level
	ID    string // platform id
}

// Heard says when the rows of some places were written last. Such times are compared for equality alone, because replicas
// have different clocks. If a row has the same time as before, nobody has written it in between.
type Heard map[Place]core.Time

// Heard returns when the rows of places were written last. A place that the mirror does not have is missing.
func (s *Store) Heard(ctx context.Context, account string, platform Platform, places []Place) (Heard, error) {
	heard := Heard{}
	for level, ids := range byLevel(places) {
		condition, arg := s.db.In("platform_id", ids)
		rows, err := db.Select[struct {
			ID       string    `db:"platform_id"`
			SyncedAt core.Time `db:"synced_at"`
		}](ctx, s.db, `SELECT platform_id, synced_at FROM `+levelTables[level]+` WHERE account_id = ? AND platform = ? AND `+condition, account, platform, arg)
		if err != nil {
			return nil, fmt.Errorf("read when a network was heard: %w", err)
		}
		for _, row := range rows {
			heard[Place{level, row.ID}] = row.SyncedAt
		}
	}
	return heard, nil
}

// byLevel returns the ids of places by their level.
func byLevel(places []Place) map[Level][]string {
	ids := map[Level][]string{}
	for _, p := range places {
		ids[p.Level] = append(ids[p.Level], p.ID)
	}
	return ids
}

// described is how a network described the state and the budget of one thing in a batch.
type described struct {
	Place
	configured   *Configured
	status       *Status
	review       *Review
	word, reason *string
	amount       *Amount // nil of an ad
	kind         *BudgetType
}

// described returns the states in a batch, which gets rows of its own. Of a switch that is the state of its target alone,
// otherwise those of campaigns and ad groups.
func (b *Batch) described(of *Action) []described {
	b.Campaigns, b.Groups, b.Ads = slices.Clone(b.Campaigns), slices.Clone(b.Groups), slices.Clone(b.Ads)
	var all []described
	for i := range b.Campaigns {
		c := &b.Campaigns[i]
		all = append(all, described{Place{LevelCampaign, c.PlatformID}, &c.ConfiguredStatus, &c.Status, &c.ReviewStatus, &c.PlatformStatus, &c.RejectionReason, &c.BudgetAmount, &c.BudgetType})
	}
	for i := range b.Groups {
		g := &b.Groups[i]
		all = append(all, described{Place{LevelGroup, g.PlatformID}, &g.ConfiguredStatus, &g.Status, &g.ReviewStatus, &g.PlatformStatus, &g.RejectionReason, &g.BudgetAmount, &g.BudgetType})
	}
	if !of.Op.IsSwitch() {
		return all
	}
	for i := range b.Ads {
		a := &b.Ads[i]
		all = append(all, described{Place{LevelAd, a.PlatformID}, &a.ConfiguredStatus, &a.Status, &a.ReviewStatus, &a.PlatformStatus, &a.RejectionReason, nil, nil})
	}
	return slices.DeleteFunc(all, func(d described) bool { return d.Place != of.Target() })
}

// decide makes of an outcome what holds, and returns the time under which it is stored: no row in it has that time yet.
//
// If nobody has written a row since it was seen, the answer holds. Otherwise nobody knows which of the two is newer. Then what either of them has as
// on is on, because too much is safer than too little. The network is looked at again soon. What was created gets the budget that the mirror has,
// which somebody has changed since. What was changed gets the answer's budget, but the network is looked at again if somebody has written a greater
// one since the action began.
func (s *Store) decide(ctx context.Context, u *db.Unit, action *Action, out *Outcome) (core.Time, error) {
	heard := out.Heard
	if heard == nil {
		heard = Heard{action.Target(): action.Seen}
	}
	at, doubt := s.Now(), false
	made := out.Made.described(action)
	for i, row := range append(made, out.Changed.described(action)...) {
		is, err := s.lockStanding(ctx, u, action, row.Place)
		if err != nil {
			return 0, err
		}
		if is == nil {
			continue
		}
		at = max(at, is.SyncedAt+1)
		if i < len(made) && is.Amount > 0 { // else its list may not tell of new budgets yet
			*row.amount, *row.kind = is.Amount, is.Kind
		}
		if i >= len(made) && !action.Op.IsSwitch() && is.Amount > *row.amount && !action.saw(row.Place, is.SyncedAt) {
			doubt = true // somebody may have raised it since the network answered
		}
		if is.SyncedAt == heard[row.Place] || is.Configured == *row.configured {
			continue
		}
		doubt = true
		if is.Configured == ConfiguredActive {
			*row.configured, *row.status, *row.review, *row.word, *row.reason = is.Configured, is.Status, is.Review, is.Word, is.Reason
		}
	}
	if !doubt {
		return at, nil
	}
	return at, lookAgainAt(ctx, u, action.AccountID, action.ChannelID, action.AdAccountID)
}

// standing is what the mirror has of the state and the budget of one thing.
type standing struct {
	Configured Configured `db:"configured_status"`
	Status     Status     `db:"status"`
	Review     Review     `db:"review_status"`
	Word       string     `db:"platform_status"`
	Reason     string     `db:"rejection_reason"`
	Amount     Amount     `db:"budget_amount"` // 0 of an ad
	Kind       BudgetType `db:"budget_type"`
	SyncedAt   core.Time  `db:"synced_at"`
}

// lockStanding returns how a place stands in the mirror, nil if it is not there. Until the commit nobody else changes it.
func (s *Store) lockStanding(ctx context.Context, u *db.Unit, action *Action, p Place) (*standing, error) {
	budget := `budget_amount, budget_type`
	if p.Level == LevelAd {
		budget = `0 AS budget_amount, '' AS budget_type`
	}
	is, err := db.Get[standing](ctx, u, `SELECT configured_status, status, review_status, platform_status, rejection_reason, `+budget+`, synced_at
		FROM `+levelTables[p.Level]+` WHERE account_id = ? AND platform = ? AND platform_id = ?`+u.Lock(), action.AccountID, action.Platform, p.ID)
	if err != nil {
		return nil, fmt.Errorf("lock what an action changed: %w", err)
	}
	return is, nil
}

// leaveOn drops from the answer to a pause what is on all the same, if another change of the campaign is under way. That
// change has reserved what may be spent, and settling it switches the mirror on. Otherwise both would count.
func (s *Store) leaveOn(ctx context.Context, r db.Reader, action *Action, b *Batch) error {
	if target := action.Target(); target.Level != LevelAd { // which has no budget
		open, err := s.changeUnderWayIn(ctx, r, action.AccountID, action.Platform, target.Level, target.ID)
		if err != nil || !open {
			return err
		}
	}
	b.Campaigns = slices.DeleteFunc(slices.Clone(b.Campaigns), func(c Campaign) bool { return c.ConfiguredStatus == ConfiguredActive })
	b.Groups = slices.DeleteFunc(slices.Clone(b.Groups), func(g Group) bool { return g.ConfiguredStatus == ConfiguredActive })
	return nil
}
