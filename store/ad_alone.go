package store

import (
	"context"
	"fmt"
	"time"
)

// AdChangeUnderWay reports whether a change of what a campaign or ad group may spend, or of something else in its
// campaign, has no outcome yet.
func (s *Store) AdChangeUnderWay(ctx context.Context, account string, platform Platform, level AdLevel, id string) (bool, error) {
	campaign, arguments := `?`, []any{account, platform, id}
	if level == AdLevelGroup {
		campaign, arguments = `(SELECT campaign_id FROM ad_groups WHERE account_id = ? AND platform = ? AND platform_id = ?)`,
			[]any{account, platform, account, platform, id}
	}
	open, err := get[int](ctx, s, `
		SELECT count(*) FROM ad_actions AS o
		LEFT JOIN ad_groups AS g ON g.account_id = o.account_id AND g.platform = o.platform AND g.platform_id = o.target_id
			AND o.op IN ('update_ad_group', 'resume_ad_group')
		WHERE o.account_id = ? AND o.platform = ? AND o.state IN ('begun', 'unknown')
			AND o.op IN ('update_campaign', 'resume_campaign', 'update_ad_group', 'resume_ad_group')
			AND COALESCE(g.campaign_id, o.target_id) = `+campaign, arguments...)
	if err != nil {
		return false, fmt.Errorf("count changes under way: %w", err)
	}
	return *open > 0, nil
}

// alone refuses a change of what a campaign may spend while another one is under way: what both come to is not known
// before the first has its outcome, and what the network says of one would hide the other in the mirror. It needs the
// lock of the limits.
func (u *unit) alone(ctx context.Context, account string, change AdChange) error {
	if change.PlatformID == "" {
		return nil
	}
	open, err := u.store.AdChangeUnderWay(ctx, account, change.Platform, change.Level, change.PlatformID)
	if err == nil && open {
		err = &Error{Code: CodeInProgress, After: time.Second,
			Message: "Another change of this campaign is under way, or being looked into. Send the request again in a moment."}
	}
	return err
}
