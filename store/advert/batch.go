package advert

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// PutBatch stores a part of an ad account as its network described it at the time asked. What is new here is external.
// A row that was heard of later than asked stays as it is.
func (s *Store) PutBatch(ctx context.Context, a *Account, b Batch, asked core.Time) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		if err := s.lockCampaigns(ctx, u, a.AccountID, campaignsOf(b.Campaigns, b.Groups, b.Ads)); err != nil {
			return nil, err
		}
		return nil, s.putBatch(ctx, u, a, b, SourceExternal, asked)
	})
	return err
}

// FinishSync ends a walk through an ad account that began at a time. What the network has not mentioned since then is
// gone there: it is marked as deleted and cancelled. That includes what was deleted and got a state again by the late
// answer to a resume. The statuses and ends that follow from what is below are worked out anew.
func (s *Store) FinishSync(ctx context.Context, a *Account, began core.Time) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		if err := s.lockCampaignsIn(ctx, u, a); err != nil {
			return nil, err
		}
		now := s.Now()
		for _, table := range []string{"ad_campaigns", "ad_groups", "ads"} {
			if _, err := u.Exec(ctx, `
				UPDATE `+table+` SET status = 'cancelled', configured_status = 'paused', deleted_at = COALESCE(deleted_at, ?), updated_at = ?,
					synced_at = synced_at + 1
				WHERE account_id = ? AND ad_account_id = ? AND platform = ? AND synced_at < ? AND (deleted_at IS NULL OR status <> 'cancelled')`,
				now, now, a.AccountID, a.PlatformID, a.Platform, began); err != nil {
				return nil, fmt.Errorf("cancel what is gone: %w", err)
			}
		}
		if err := s.settleGroupsEnd(ctx, u, a, ``); err != nil {
			return nil, err
		}
		if err := s.rollUp(ctx, u, a); err != nil {
			return nil, err
		}
		return u.Exec(ctx, `
			UPDATE ad_accounts SET synced_at = CASE WHEN synced_at < ? THEN ? ELSE synced_at END,
				sync_cursor = CASE WHEN sync_began <= ? THEN '' ELSE sync_cursor END
			WHERE account_id = ? AND channel_id = ? AND platform_id = ?`, began, began, began, a.AccountID, a.ChannelID, a.PlatformID)
	})
	return err
}

// State is the state in which a network has a campaign, an ad group or an ad. What is empty is not known.
type State struct {
	PlatformID      string
	Configured      Configured
	Status          Status
	Review          Review
	PlatformStatus  string
	RejectionReason string
	Seen            core.Time // when its row was written last before the network was asked; 0 = it counts whoever wrote since
}

var levelTables = map[Level]string{LevelCampaign: "ad_campaigns", LevelGroup: "ad_groups", LevelAd: "ads"}

// states returns the states in a batch by level.
func (b *Batch) states() map[Level][]State {
	states := map[Level][]State{}
	for _, c := range b.Campaigns {
		states[LevelCampaign] = append(states[LevelCampaign], State{c.PlatformID, c.ConfiguredStatus, c.Status, c.ReviewStatus, c.PlatformStatus, c.RejectionReason, 0})
	}
	for _, g := range b.Groups {
		states[LevelGroup] = append(states[LevelGroup], State{g.PlatformID, g.ConfiguredStatus, g.Status, g.ReviewStatus, g.PlatformStatus, g.RejectionReason, 0})
	}
	for _, a := range b.Ads {
		states[LevelAd] = append(states[LevelAd], State{a.PlatformID, a.ConfiguredStatus, a.Status, a.ReviewStatus, a.PlatformStatus, a.RejectionReason, 0})
	}
	return states
}

// RecordStates stores the states that a network gave for things of one level, under a time. A row that was written since it
// was seen stays as it is, and one whose state is the same is not written. The budgets of what is switched on by it are
// spread anew.
func (s *Store) RecordStates(ctx context.Context, account string, platform Platform, level Level, states []State, at core.Time) error {
	if len(states) == 0 {
		return nil
	}
	rows, ids := make([][]string, len(states)), make([]string, len(states))
	for i, state := range states {
		ids[i] = state.PlatformID
		rows[i] = []string{state.PlatformID, string(state.Configured), string(state.Status), string(state.Review), state.PlatformStatus, state.RejectionReason,
			strconv.FormatInt(int64(state.Seen), 10)}
	}
	off, args := "", []any{s.Now(), at, at, core.JSONOf(rows), account, platform}
	if level != LevelAd {
		off = `off_since = ` + offSince(`COALESCE(NULLIF(r.configured_status, ''), t.configured_status)`, `CAST(? AS BIGINT)`) + `,`
		args = append([]any{at}, args...)
	}
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		if err := s.lockAbove(ctx, u, account, level, ids); err != nil {
			return 0, err
		}
		if err := s.repaceResumed(ctx, u, account, platform, level, states); err != nil {
			return 0, err
		}
		return u.Exec(ctx, `
			UPDATE `+levelTables[level]+` AS t SET `+off+` configured_status = COALESCE(NULLIF(r.configured_status, ''), t.configured_status),
				status = COALESCE(NULLIF(r.status, ''), t.status), review_status = COALESCE(NULLIF(r.review_status, ''), t.review_status),
				platform_status = COALESCE(NULLIF(r.platform_status, ''), t.platform_status),
				rejection_reason = CASE WHEN r.status = '' THEN t.rejection_reason ELSE r.rejection_reason END,
				updated_at = ?, synced_at = CASE WHEN t.synced_at < ? THEN CAST(? AS BIGINT) ELSE t.synced_at + 1 END
			FROM (SELECT value ->> 0 AS platform_id, value ->> 1 AS configured_status, value ->> 2 AS status, value ->> 3 AS review_status,
				value ->> 4 AS platform_status, value ->> 5 AS rejection_reason, CAST(value ->> 6 AS BIGINT) AS seen FROM `+s.db.JSONRows()+`) AS r
			WHERE t.account_id = ? AND t.platform = ? AND t.platform_id = r.platform_id AND (r.seen = 0 OR t.synced_at = r.seen)
				AND (t.configured_status <> COALESCE(NULLIF(r.configured_status, ''), t.configured_status)
					OR t.status <> COALESCE(NULLIF(r.status, ''), t.status)
					OR t.review_status <> COALESCE(NULLIF(r.review_status, ''), t.review_status)
					OR t.platform_status <> COALESCE(NULLIF(r.platform_status, ''), t.platform_status)
					OR r.status <> '' AND t.rejection_reason <> r.rejection_reason)`,
			args...)
	})
	if err != nil {
		return fmt.Errorf("record states: %w", err)
	}
	return nil
}

// putBatch mirrors a batch: campaigns, then ad groups, then ads. The budgets of what is there already are spread anew
// first. Among the new rows of a table the oldest comes first, so that lists show the newest first.
func (s *Store) putBatch(ctx context.Context, u *db.Unit, a *Account, b Batch, source Source, asked core.Time) error {
	r := batchRow{a, source, asked, s.Now()}
	campaigns := onePer(r.campaigns(b.Campaigns), func(c *Campaign) string { return c.PlatformID })
	if err := s.repaceCampaigns(ctx, u, a.AccountID, campaigns, r.now); err != nil {
		return err
	}
	if err := campaignRows.upsert(ctx, s, u, campaigns); err != nil {
		return err
	}
	groups := onePer(r.groups(b.Groups), func(g *Group) string { return g.PlatformID })
	if err := s.repaceGroups(ctx, u, a.AccountID, groups, r.now); err != nil {
		return err
	}
	if err := groupRows.upsert(ctx, s, u, groups); err != nil {
		return err
	}
	ads := onePer(r.ads(b.Ads), func(a *Ad) string { return a.PlatformID })
	return s.putAds(ctx, u, a, ads, campaignsOf(campaigns, groups, ads))
}

// campaignsOf returns the platform ids of the campaigns that are in a batch, or that something in it belongs to.
func campaignsOf(campaigns []Campaign, groups []Group, ads []Ad) []string {
	ids := map[string]bool{}
	for i := range campaigns {
		ids[campaigns[i].PlatformID] = true
	}
	for i := range groups {
		ids[groups[i].CampaignID] = true
	}
	for i := range ads {
		ids[ads[i].CampaignID] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

// putAds mirrors ads after the campaigns and ad groups that they are in. It also works out the end of every ad of these campaigns, in this program
// rather than in SQL. PostgreSQL would join the three tables in the wrong order as long as it has no statistics of them.
func (s *Store) putAds(ctx context.Context, u *db.Unit, a *Account, ads []Ad, campaigns []string) error {
	if len(campaigns) == 0 {
		return nil
	}
	condition, arg := s.db.In("platform_id", campaigns)
	if err := s.settleGroupsEnd(ctx, u, a, ` AND `+condition, arg); err != nil {
		return err
	}
	ends, err := s.adEnds(ctx, u, a, campaigns)
	if err != nil {
		return err
	}
	for i := range ads {
		ads[i].EndsAt = ends[ads[i].AdGroupID]
	}
	var links, others []Ad
	for _, ad := range ads {
		if ad.Creative.V.isLink() {
			links = append(links, ad)
		} else {
			others = append(others, ad)
		}
	}
	if err := adRows.upsert(ctx, s, u, others); err != nil {
		return err
	}
	if err := linkRows.upsert(ctx, s, u, links); err != nil {
		return err
	}
	return s.settleAdsEnd(ctx, u, a, campaigns, ends)
}

// adEnds returns, by ad group, when the ads of campaigns end. They end with the ad group or with the campaign, whichever is first; nil if neither has
// an end.
func (s *Store) adEnds(ctx context.Context, u *db.Unit, a *Account, campaigns []string) (map[string]*core.Time, error) {
	type end struct {
		ID       string     `db:"platform_id"`
		Campaign string     `db:"campaign_id"`
		At       *core.Time `db:"ends_at"`
	}
	condition, arg := s.db.In("platform_id", campaigns)
	above, err := db.Select[end](ctx, u, `SELECT platform_id, ends_at FROM ad_campaigns WHERE account_id = ? AND platform = ? AND `+condition,
		a.AccountID, a.Platform, arg)
	if err != nil {
		return nil, fmt.Errorf("read ends of campaigns: %w", err)
	}
	condition, arg = s.db.In("campaign_id", campaigns)
	groups, err := db.Select[end](ctx, u, `SELECT platform_id, campaign_id, ends_at FROM ad_groups WHERE account_id = ? AND platform = ? AND `+condition,
		a.AccountID, a.Platform, arg)
	if err != nil {
		return nil, fmt.Errorf("read ends of ad groups: %w", err)
	}
	ends, limits := map[string]*core.Time{}, map[string]*core.Time{}
	for _, c := range above {
		limits[c.ID] = c.At
	}
	for _, g := range groups {
		ends[g.ID] = g.At
		if limit := limits[g.Campaign]; limit != nil && (g.At == nil || *limit < *g.At) {
			ends[g.ID] = limit
		}
	}
	return ends, nil
}

// settleAdsEnd stores the right end for ads of the campaigns that have another one. Those are ads that were not in the
// batch which changed the end of their ad group or campaign.
func (s *Store) settleAdsEnd(ctx context.Context, u *db.Unit, a *Account, campaigns []string, ends map[string]*core.Time) error {
	condition, arg := s.db.In("campaign_id", campaigns)
	stored, err := db.Select[struct {
		Group string     `db:"ad_group_id"`
		At    *core.Time `db:"ends_at"`
	}](ctx, u, `SELECT ad_group_id, ends_at FROM ads WHERE account_id = ? AND platform = ? AND `+condition+` GROUP BY ad_group_id, ends_at`,
		a.AccountID, a.Platform, arg)
	if err != nil {
		return fmt.Errorf("read ends of ads: %w", err)
	}
	for _, row := range stored {
		if should := ends[row.Group]; !core.SameJSON(row.At, should) {
			if _, err := u.Exec(ctx, `UPDATE ads SET ends_at = ? WHERE account_id = ? AND platform = ? AND ad_group_id = ?`,
				should, a.AccountID, a.Platform, row.Group); err != nil {
				return fmt.Errorf("end ads: %w", err)
			}
		}
	}
	return nil
}

// settleGroupsEnd works out anew when the last ad group of each campaign of an ad account ends. It is NULL for a campaign with an ad group that has
// no end, or without any; deleted ad groups do not count. The argument which narrows the campaigns down by a further SQL condition with args; it may
// be empty.
func (s *Store) settleGroupsEnd(ctx context.Context, u *db.Unit, a *Account, which string, args ...any) error {
	_, err := u.Exec(ctx, `
		UPDATE ad_campaigns SET groups_end_at = (
			SELECT CASE WHEN count(*) = count(g.ends_at) THEN max(g.ends_at) END FROM ad_groups AS g
			WHERE g.account_id = ad_campaigns.account_id AND g.campaign_id = ad_campaigns.platform_id AND g.platform = ad_campaigns.platform
				AND g.deleted_at IS NULL)
		WHERE account_id = ? AND ad_account_id = ? AND platform = ?`+which, append([]any{a.AccountID, a.PlatformID, a.Platform}, args...)...)
	if err != nil {
		return fmt.Errorf("end campaigns with their ad groups: %w", err)
	}
	return nil
}

// batchRow holds what all rows of a batch have in common.
type batchRow struct {
	account *Account
	source  Source
	asked   core.Time
	now     core.Time
}

// campaigns returns the rows for campaigns that a driver found, oldest first, with the fields that the store fills in.
func (r *batchRow) campaigns(found []Campaign) []Campaign {
	rows := slices.Clone(found)
	slices.SortStableFunc(rows, func(a, b Campaign) int {
		return int(core.Deref(a.PlatformCreatedAt) - core.Deref(b.PlatformCreatedAt))
	})
	for i := range rows {
		c := &rows[i]
		c.AccountID, c.ID, c.ChannelID = r.account.AccountID, core.NewULID(), r.account.ChannelID
		c.Platform, c.AdAccountID, c.Currency = r.account.Platform, r.account.PlatformID, r.account.Currency
		c.Source, c.SyncedAt, c.CreatedAt, c.UpdatedAt = r.source, r.asked, r.now, r.now
		if c.BudgetLevel == "" {
			c.BudgetLevel = BudgetLevelGroup
			if c.BudgetAmount > 0 {
				c.BudgetLevel = BudgetLevelCampaign
			}
		}
		c.Daily = dailyAmount(c.BudgetAmount, c.BudgetType, startOf(c.StartsAt, c.PlatformCreatedAt, r.now), c.EndsAt)
	}
	return rows
}

// groups returns the rows for ad groups that a driver found, oldest first, with the fields that the store fills in.
func (r *batchRow) groups(found []Group) []Group {
	rows := slices.Clone(found)
	slices.SortStableFunc(rows, func(a, b Group) int { return int(core.Deref(a.PlatformCreatedAt) - core.Deref(b.PlatformCreatedAt)) })
	for i := range rows {
		g := &rows[i]
		g.AccountID, g.ID, g.ChannelID = r.account.AccountID, core.NewULID(), r.account.ChannelID
		g.Platform, g.AdAccountID, g.Currency = r.account.Platform, r.account.PlatformID, r.account.Currency
		g.Source, g.SyncedAt, g.CreatedAt, g.UpdatedAt = r.source, r.asked, r.now, r.now
		g.Daily = dailyAmount(g.BudgetAmount, g.BudgetType, startOf(g.StartsAt, g.PlatformCreatedAt, r.now), g.EndsAt)
	}
	return rows
}

// ads returns the rows for ads that a driver found, oldest first, with the fields that the store fills in. putAds sets
// when they end.
func (r *batchRow) ads(found []Ad) []Ad {
	rows := slices.Clone(found)
	slices.SortStableFunc(rows, func(a, b Ad) int { return int(core.Deref(a.PlatformCreatedAt) - core.Deref(b.PlatformCreatedAt)) })
	for i := range rows {
		a := &rows[i]
		a.AccountID, a.ID, a.ChannelID = r.account.AccountID, core.NewULID(), r.account.ChannelID
		a.Platform, a.AdAccountID = r.account.Platform, r.account.PlatformID
		a.Source, a.SyncedAt, a.CreatedAt, a.UpdatedAt = r.source, r.asked, r.now, r.now
		if a.Type == "" {
			a.Type = TypeStandalone
		}
	}
	return rows
}
