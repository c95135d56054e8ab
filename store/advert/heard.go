package advert

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// HeardSince reports whether the network was heard about a campaign, an ad group or an ad after a time.
func (s *Store) HeardSince(ctx context.Context, account string, platform Platform, level Level, id string, since core.Time) (bool, error) {
	heard, err := db.Get[int](ctx, s.db, `SELECT 1 FROM `+levelTables[level]+` WHERE account_id = ? AND platform = ? AND platform_id = ? AND synced_at > ?`,
		account, platform, id, since)
	if err != nil {
		return false, fmt.Errorf("read when a network was heard: %w", err)
	}
	return heard != nil, nil
}

// described is how a network described the state and the budget of a campaign or an ad group in a batch.
type described struct {
	id           string // platform id
	configured   *Configured
	status       *Status
	review       *Review
	word, reason *string
	amount       *Amount
	kind         *BudgetType
}

// described returns the states in a batch, which gets rows of its own.
func (b *Batch) described() (campaigns, groups []described) {
	b.Campaigns, b.Groups = slices.Clone(b.Campaigns), slices.Clone(b.Groups)
	campaigns, groups = make([]described, len(b.Campaigns)), make([]described, len(b.Groups))
	for i := range b.Campaigns {
		c := &b.Campaigns[i]
		campaigns[i] = described{c.PlatformID, &c.ConfiguredStatus, &c.Status, &c.ReviewStatus, &c.PlatformStatus, &c.RejectionReason, &c.BudgetAmount, &c.BudgetType}
	}
	for i := range b.Groups {
		g := &b.Groups[i]
		groups[i] = described{g.PlatformID, &g.ConfiguredStatus, &g.Status, &g.ReviewStatus, &g.PlatformStatus, &g.RejectionReason, &g.BudgetAmount, &g.BudgetType}
	}
	return campaigns, groups
}

// idsOf returns the platform ids.
func idsOf(rows []described) []string {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.id
	}
	return ids
}

// keepHeard gives campaigns and ad groups of a batch the state of the mirror if somebody turned their switch since the
// network was asked for the batch. The network may have described them before that. budgets says that the same holds for
// their budgets: it is for what was created, because an update changes the budget itself. Until the commit nobody else
// changes them.
func (s *Store) keepHeard(ctx context.Context, u *db.Unit, a *Account, b *Batch, asked core.Time, budgets bool) error {
	campaigns, groups := b.described()
	if err := s.keepLevel(ctx, u, a, LevelCampaign, campaigns, asked, budgets); err != nil {
		return err
	}
	return s.keepLevel(ctx, u, a, LevelGroup, groups, asked, budgets)
}

// keepLevel does the work of keepHeard for one level.
func (s *Store) keepLevel(ctx context.Context, u *db.Unit, a *Account, level Level, rows []described, asked core.Time, budgets bool) error {
	if len(rows) == 0 {
		return nil
	}
	condition, arg := s.db.In("platform_id", idsOf(rows))
	known, err := db.Select[struct {
		ID         string     `db:"platform_id"`
		Configured Configured `db:"configured_status"`
		Status     Status     `db:"status"`
		Review     Review     `db:"review_status"`
		Word       string     `db:"platform_status"`
		Reason     string     `db:"rejection_reason"`
		Amount     Amount     `db:"budget_amount"`
		Kind       BudgetType `db:"budget_type"`
		SyncedAt   core.Time  `db:"synced_at"`
	}](ctx, u, `SELECT platform_id, configured_status, status, review_status, platform_status, rejection_reason, budget_amount, budget_type, synced_at
		FROM `+levelTables[level]+`
		WHERE account_id = ? AND platform = ? AND `+condition+` ORDER BY platform_id`+u.Lock(), a.AccountID, a.Platform, arg)
	if err != nil {
		return fmt.Errorf("lock what an action changed: %w", err)
	}
	for _, is := range known {
		for _, row := range rows {
			if row.id != is.ID || is.SyncedAt < asked {
				continue
			}
			if budgets && is.Amount > 0 { // else its list may not tell of new budgets yet
				*row.amount, *row.kind = is.Amount, is.Kind
			}
			if is.Configured != *row.configured {
				*row.configured, *row.status, *row.review, *row.word, *row.reason = is.Configured, is.Status, is.Review, is.Word, is.Reason
			}
		}
	}
	return nil
}

// leaveOn drops from the answer to a pause what is on all the same, if another change of the campaign is under way. That
// change has reserved what may be spent, and settling it switches the mirror on. Otherwise both would count.
func (s *Store) leaveOn(ctx context.Context, action *Action, b *Batch) error {
	level := LevelCampaign
	switch action.Op {
	case OpPauseGroup:
		level = LevelGroup
	case OpPauseAd:
		return nil // an ad has no budget
	}
	open, err := s.ChangeUnderWay(ctx, action.AccountID, action.Platform, level, action.TargetID)
	if err != nil || !open {
		return err
	}
	b.Campaigns = slices.DeleteFunc(slices.Clone(b.Campaigns), func(c Campaign) bool { return c.ConfiguredStatus == ConfiguredActive })
	b.Groups = slices.DeleteFunc(slices.Clone(b.Groups), func(g Group) bool { return g.ConfiguredStatus == ConfiguredActive })
	return nil
}

// resumedSince reports whether a campaign or an ad group in the answer to a pause was resumed since the pause was asked
// for. It locks their rows, so that a resume that is settled later finds the pause in them.
func (s *Store) resumedSince(ctx context.Context, u *db.Unit, action *Action, b *Batch, asked core.Time) (bool, error) {
	campaigns, groups := b.described()
	var ids []string
	for _, level := range []struct {
		Level
		rows []described
	}{{LevelCampaign, campaigns}, {LevelGroup, groups}} {
		if len(level.rows) == 0 {
			continue
		}
		of := idsOf(level.rows)
		condition, arg := s.db.In("platform_id", of)
		if _, err := db.Select[string](ctx, u, `SELECT platform_id FROM `+levelTables[level.Level]+`
			WHERE account_id = ? AND platform = ? AND `+condition+` ORDER BY platform_id`+u.Lock(), action.AccountID, action.Platform, arg); err != nil {
			return false, fmt.Errorf("lock what was paused: %w", err)
		}
		ids = append(ids, of...)
	}
	if len(ids) == 0 {
		return false, nil
	}
	condition, arg := s.db.In("target_id", ids)
	resumed, err := db.Get[int](ctx, u, `SELECT 1 FROM ad_actions WHERE account_id = ? AND platform = ? AND `+condition+`
		AND op IN ('resume_campaign', 'resume_ad_group') AND state || '' = 'done' AND updated_at >= ? LIMIT 1`, action.AccountID, action.Platform, arg, asked)
	if err != nil {
		return false, fmt.Errorf("read what was resumed: %w", err)
	}
	return resumed != nil, nil
}
