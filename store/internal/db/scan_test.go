package db_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// A statement may fail behind the row that was asked for. Its transaction is over then, and who is told of that by the next statement alone looks for the
// reason in the wrong place.
func TestGet_InATransactionFailsWithWhatIsLeft(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, database.URL(t, core.PostgreSQL), nil)
	const fails = `SELECT 1 / (2 - n) FROM generate_series(1, 3) AS n`
	_, err := db.Tx(t.Context(), d, func(ctx context.Context, u *db.Unit) (*int, error) {
		first, err := db.Get[int](ctx, u, fails)
		require.Nil(t, first)
		require.ErrorContains(t, err, "division by zero")
		return first, err
	})
	require.ErrorContains(t, err, "division by zero")

	first, err := db.Get[int](t.Context(), d, fails)
	require.NoError(t, err, "outside of a transaction nothing hangs on the rest")
	require.Equal(t, 1, *first)
}
