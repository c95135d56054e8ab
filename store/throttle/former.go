package throttle

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// DeleteFormer deletes at most limit counts that are over from each of the tables in which servers of the release before this one counted. It
// returns how many. Nothing else is done with these tables, which the next release drops: they may name network addresses, and the last old
// server may leave some.
func (s *Store) DeleteFormer(ctx context.Context, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		var all int64
		now := s.db.Now()
		for _, former := range []struct {
			table  string
			before core.Time
		}{
			{"letter_windows", now.Add(-24 * time.Hour)},
			{"sign_in_failures", now.Add(-15 * time.Minute)},
		} {
			n, err := u.ExecBatch(ctx, `DELETE FROM `+former.table, former.table+` WHERE began_at <= ? ORDER BY began_at LIMIT ?`, former.before, limit)
			if err != nil {
				return 0, fmt.Errorf("delete what is over of %s: %w", former.table, err)
			}
			all += n
		}
		return all, nil
	})
}
