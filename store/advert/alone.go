package advert

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// openChange is an action without an outcome that changes what a campaign may spend.
type openChange struct {
	State   ActionState         `db:"state"`
	Rest    int64               `db:"rest"` // microseconds until the reconciler may look at it
	Failure core.JSON[*Failure] `db:"failure"`
}

// ChangeUnderWay reports whether a change of what a campaign, an ad group or an ad may spend has no outcome yet. A change of
// the campaign, or of another ad group in it, counts too.
func (s *Store) ChangeUnderWay(ctx context.Context, account string, platform Platform, level Level, id string) (bool, error) {
	return s.changeUnderWayIn(ctx, s.db, account, platform, level, id)
}

// changeUnderWayIn does what ChangeUnderWay does, where r says.
func (s *Store) changeUnderWayIn(ctx context.Context, r db.Reader, account string, platform Platform, level Level, id string) (bool, error) {
	open, err := s.openChanges(ctx, r, account, platform, level, id)
	return len(open) > 0, err
}

// openChanges returns the updates and resumes that have no outcome. They are those of the campaign that is named, or that the named ad group or ad is
// in. Those of the ad groups in that campaign, and of the named ad, are among them.
func (s *Store) openChanges(ctx context.Context, r db.Reader, account string, platform Platform, level Level, id string) ([]openChange, error) {
	campaign, own, arguments := `?`, ``, []any{account, platform, id}
	if level != LevelCampaign {
		campaign, arguments = `(SELECT campaign_id FROM `+levelTables[level]+` WHERE account_id = ? AND platform = ? AND platform_id = ?)`,
			[]any{account, platform, account, platform, id}
	}
	if level == LevelAd { // what is done to another ad does not matter
		own, arguments = ` OR o.op IN ('update_ad', 'resume_ad') AND o.target_id = ?`, append(arguments, id)
	}
	open, err := db.Select[openChange](ctx, r, `
		SELECT o.state, o.lease_until - `+s.db.NowSQL()+` AS rest, o.failure FROM ad_actions AS o
		LEFT JOIN ad_groups AS g ON g.account_id = o.account_id AND g.platform = o.platform AND g.platform_id = o.target_id
			AND o.op IN ('update_ad_group', 'resume_ad_group')
		WHERE o.account_id = ? AND o.platform = ? AND o.state IN ('begun', 'unknown')
			AND (o.op IN ('update_campaign', 'resume_campaign', 'update_ad_group', 'resume_ad_group')
				AND COALESCE(g.campaign_id, o.target_id) = `+campaign+own+`)`, arguments...)
	if err != nil {
		return nil, fmt.Errorf("read changes under way: %w", err)
	}
	return open, nil
}

// lookAgain is roughly how long it takes until the reconciler looks at an action that is due.
const lookAgain = 5 * time.Second

// wait returns how long it takes, as far as anybody can tell, until a change has its outcome. While its network is being
// asked that is a second. Otherwise the reconciler has to look first. It does so when the pause is over and what was asked for cannot be on its way
// any more.
func (o *openChange) wait(now core.Time) time.Duration {
	if o.State == ActionBegun {
		return time.Second
	}
	rest := time.Duration(o.Rest) * time.Microsecond
	if f := o.Failure.V; f != nil {
		rest = max(rest, f.OpenUntil.Time().Sub(now.Time()))
	}
	return max(rest, 0) + lookAgain
}

// alone returns CodeInProgress, with the time to wait, for a change of what a campaign may spend while another one is
// under way. Nobody can say what the two come to before the first has its outcome. What the network says of one would hide the other in the mirror. A
// new campaign has no other change. If the caller holds the lock of the limits, the answer stays true until the commit.
func (s *Store) alone(ctx context.Context, r db.Reader, account string, change Change) error {
	if change.PlatformID == "" {
		return nil
	}
	open, err := s.openChanges(ctx, r, account, change.Platform, change.Level, change.PlatformID)
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
