package advert

import (
	"context"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// belowRank returns an SQL expression for the state that the ads below give a campaign or ad group t which is switched
// on. It is the place of that state in Statuses, counted from 1, or NULL if there are no ads. The first state in that list that any of the ads has
// decides.
//
// An ad whose status is paused although neither it nor its ad group is switched off counts as active. It was last heard of before what is above it
// was switched on.
func belowRank(level Level) string {
	parent := map[Level]string{LevelCampaign: "campaign_id", LevelGroup: "ad_group_id"}[level]
	var rank strings.Builder
	for i, status := range Statuses {
		fmt.Fprintf(&rank, " WHEN '%s' THEN %d", status, i+1)
	}
	return `(SELECT MIN(CASE CASE
				WHEN a.status IN ('rejected', 'completed', 'cancelled') THEN a.status
				WHEN a.configured_status = 'paused' OR g.configured_status = 'paused' THEN 'paused'
				WHEN a.status = 'paused' THEN 'active'
				ELSE a.status END` + rank.String() + ` END)
			FROM ads AS a JOIN ad_groups AS g ON g.account_id = a.account_id AND g.platform_id = a.ad_group_id AND g.platform = a.platform
			WHERE a.account_id = t.account_id AND a.` + parent + ` = t.platform_id AND a.platform = t.platform AND a.deleted_at IS NULL)`
}

// StatusBelow returns, by network and platform id, the state that their ads give to campaigns or ad groups, as if
// these were switched on. One without ads is not in the map.
func (s *Store) StatusBelow(ctx context.Context, account string, level Level, ids []string) (map[Platform]map[string]Status, error) {
	condition, arg := s.db.In("t.platform_id", core.Distinct(ids))
	rows, err := db.Select[struct {
		Platform   Platform `db:"platform"`
		PlatformID string   `db:"platform_id"`
		Rank       *int     `db:"rank"`
	}](ctx, s.db, `SELECT t.platform, t.platform_id, `+belowRank(level)+` AS rank FROM `+levelTables[level]+` AS t
		WHERE t.account_id = ? AND `+condition, account, arg)
	if err != nil {
		return nil, fmt.Errorf("read states of ads: %w", err)
	}
	below := map[Platform]map[string]Status{}
	for _, row := range rows {
		if row.Rank == nil {
			continue
		}
		if below[row.Platform] == nil {
			below[row.Platform] = map[string]Status{}
		}
		below[row.Platform][row.PlatformID] = Statuses[*row.Rank-1]
	}
	return below, nil
}

// reviveAbove is for an ad that has got another creative, and so is no longer rejected. If its ad group and campaign were rejected with all of their
// ads, they get the state that their ads have together now. So their budget counts again. They get another time in any case: what a network was asked
// before does not hold for them any more.
func (s *Store) reviveAbove(ctx context.Context, u *db.Unit, a *Account, ad string) error {
	revived, now := int64(0), s.Now()
	for _, at := range []struct{ level, column string }{{levelTables[LevelGroup], "ad_group_id"}, {levelTables[LevelCampaign], "campaign_id"}} {
		above := ` WHERE account_id = ? AND platform = ? AND platform_id = (SELECT ` + at.column + ` FROM ads WHERE account_id = ? AND platform = ? AND platform_id = ?)`
		place := []any{a.AccountID, a.Platform, a.AccountID, a.Platform, ad}
		_, err := u.Exec(ctx, `UPDATE `+at.level+` SET synced_at = CASE WHEN synced_at < ? THEN ? ELSE synced_at + 1 END`+above, append([]any{now, now}, place...)...)
		if err != nil {
			return fmt.Errorf("note a change below %s: %w", at.level, err)
		}
		n, err := u.Exec(ctx, `UPDATE `+at.level+` SET status = CASE configured_status WHEN 'paused' THEN 'paused' ELSE 'active' END`+above+` AND status = 'rejected'`, place...)
		if err != nil {
			return fmt.Errorf("revive %s: %w", at.level, err)
		}
		revived += n
	}
	if revived == 0 {
		return nil
	}
	return s.rollUp(ctx, u, a)
}

// rollUp gives ad groups and campaigns of an ad account that are switched on and active the state that their ads have
// together. Networks call them active even when all of their ads were rejected.
func (s *Store) rollUp(ctx context.Context, u *db.Unit, a *Account) error {
	var status strings.Builder
	for i, name := range Statuses {
		fmt.Fprintf(&status, " WHEN %d THEN '%s'", i+1, name)
	}
	for _, level := range []Level{LevelGroup, LevelCampaign} {
		_, err := u.Exec(ctx, `
			UPDATE `+levelTables[level]+` AS t SET status = COALESCE(CASE `+belowRank(level)+status.String()+` END, t.status)
			WHERE t.account_id = ? AND t.ad_account_id = ? AND t.platform = ? AND t.status = 'active' AND t.configured_status = 'active'`,
			a.AccountID, a.PlatformID, a.Platform)
		if err != nil {
			return fmt.Errorf("roll states up: %w", err)
		}
	}
	return nil
}
