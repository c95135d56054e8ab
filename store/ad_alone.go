package store

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// openChange is a change without an outcome.
type openChange struct {
	State   AdActionState         `db:"state"`
	Rest    int64                 `db:"rest"` // microseconds until the reconciler may look at it
	Failure core.JSON[*AdFailure] `db:"failure"`
}

// AdChangeUnderWay reports whether a change of what a campaign or ad group may spend, or of something else in its
// campaign, has no outcome yet.
func (s *Store) AdChangeUnderWay(ctx context.Context, account string, platform Platform, level AdLevel, id string) (bool, error) {
	open, err := s.openChanges(ctx, account, platform, level, id)
	return len(open) > 0, err
}

func (s *Store) openChanges(ctx context.Context, account string, platform Platform, level AdLevel, id string) ([]openChange, error) {
	campaign, arguments := `?`, []any{account, platform, id}
	if level == AdLevelGroup {
		campaign, arguments = `(SELECT campaign_id FROM ad_groups WHERE account_id = ? AND platform = ? AND platform_id = ?)`,
			[]any{account, platform, account, platform, id}
	}
	open, err := db.Select[openChange](ctx, s.db, `
		SELECT o.state, o.lease_until - `+s.db.NowSQL()+` AS rest, o.failure FROM ad_actions AS o
		LEFT JOIN ad_groups AS g ON g.account_id = o.account_id AND g.platform = o.platform AND g.platform_id = o.target_id
			AND o.op IN ('update_ad_group', 'resume_ad_group')
		WHERE o.account_id = ? AND o.platform = ? AND o.state IN ('begun', 'unknown')
			AND o.op IN ('update_campaign', 'resume_campaign', 'update_ad_group', 'resume_ad_group')
			AND COALESCE(g.campaign_id, o.target_id) = `+campaign, arguments...)
	if err != nil {
		return nil, fmt.Errorf("read changes under way: %w", err)
	}
	return open, nil
}

// adLookAgain is about how long the reconciler takes to look at an action that is due.
const adLookAgain = 5 * time.Second

// wait is when a change will have its outcome, as far as anybody can tell: in a second if its network is being asked, and
// otherwise once the reconciler has looked and what was asked for cannot be on its way any more.
func (o *openChange) wait(now core.Time) time.Duration {
	if o.State == AdActionBegun {
		return time.Second
	}
	rest := time.Duration(o.Rest) * time.Microsecond
	if f := o.Failure.V; f != nil {
		rest = max(rest, f.OpenUntil.Time().Sub(now.Time()))
	}
	return max(rest, 0) + adLookAgain
}

// alone refuses a change of what a campaign may spend while another one is under way: what both come to is not known
// before the first has its outcome, and what the network says of one would hide the other in the mirror. With the lock
// of the limits it stays so.
func (s *Store) alone(ctx context.Context, account string, change AdChange) error {
	if change.PlatformID == "" {
		return nil
	}
	open, err := s.openChanges(ctx, account, change.Platform, change.Level, change.PlatformID)
	if err != nil || len(open) == 0 {
		return err
	}
	var wait time.Duration
	for i := range open {
		wait = max(wait, open[i].wait(s.Now()))
	}
	return &core.Error{Code: core.CodeInProgress, After: wait,
		Message: "Another change of this campaign is under way, or being looked into. Send the request again after the time in Retry-After."}
}
