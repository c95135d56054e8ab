package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// What is deleted together is one batch, however little PostgreSQL knows of the table.
func TestExecBatch_HoldsItsLimit(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		if s.db.Engine == core.PostgreSQL {
			_, err := s.db.Write.DB.ExecContext(t.Context(), `ALTER TABLE throttles SET (autovacuum_enabled = false)`)
			require.NoError(t, err)
		}
		over := func(many int) {
			t.Helper()
			_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
				return u.Exec(ctx, `
					INSERT INTO throttles (account_id, subject, counted, ends_at)
					WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
					SELECT CAST(? AS text), CAST(? AS text) || n, 1, 1 FROM numbers`, many, s.account, core.NewULID())
			})
			require.NoError(t, err)
		}
		over(1)
		_, err := s.db.Write.DB.ExecContext(t.Context(), `ANALYZE throttles`)
		require.NoError(t, err)
		for n := range 10 { // after six, PostgreSQL may keep a plan
			if n > 0 {
				over(1)
			}
			deleted, err := s.Throttle.DeleteOver(t.Context(), 200)
			require.NoError(t, err)
			require.EqualValues(t, 1, deleted)
		}
		over(450)
		for _, want := range []int64{200, 200, 50, 0} {
			deleted, err := s.Throttle.DeleteOver(t.Context(), 200)
			require.NoError(t, err)
			assert.Equal(t, want, deleted)
		}
	})
}
