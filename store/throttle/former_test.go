package throttle

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// A server of the release before goes on counting while the new ones start, and what it leaves is gone as soon as before.
func TestDeleteFormer_LeavesOldServersTheirTables(t *testing.T) {
	each(t, func(t *testing.T, r replica) {
		counts := func() {
			_, err := db.Tx(t.Context(), r.db, func(ctx context.Context, u *db.Unit) (any, error) {
				now := r.db.Now()
				for statement, args := range map[string][]any{
					`INSERT INTO letter_windows AS w (account_id, subject, began_at, sent) VALUES (?, ?, ?, 1)
						ON CONFLICT (account_id, subject) DO UPDATE SET sent = w.sent + 1`: {"acct_1", "address:203.0.113.7/32", now},
					`INSERT INTO sign_in_failures (id, failures, began_at) VALUES (?, 1, ?)
						ON CONFLICT (id) DO UPDATE SET failures = sign_in_failures.failures + 1`: {"hash", now},
					`INSERT INTO ai_site_generations (account_id, hour, used) VALUES (?, ?, 1)
						ON CONFLICT (account_id, hour) DO UPDATE SET used = ai_site_generations.used + 1`: {"acct_1", now.Time().Unix() / 3600},
				} {
					if _, err := u.Exec(ctx, statement, args...); err != nil {
						return nil, err
					}
				}
				return nil, nil
			})
			require.NoError(t, err)
		}
		counts()
		counts()
		for _, c := range []struct {
			by   time.Duration
			want int64
		}{{15*time.Minute - time.Millisecond, 0}, {time.Millisecond, 1}, {23 * time.Hour, 0}, {time.Hour, 1}, {time.Hour, 0}} {
			r.move(c.by)
			deleted, err := r.DeleteFormer(t.Context(), 100)
			require.NoError(t, err)
			require.Equal(t, c.want, deleted, c.by)
		}
		for _, table := range []string{"letter_windows", "sign_in_failures"} {
			require.Zero(t, dbtest.Count(t, r.db, `SELECT count(*) FROM `+table), table)
		}
	})
}
