package db

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
)

func TestGiveSpaceBack_InSmallSteps(t *testing.T) {
	t.Parallel()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	d, err := Open(t.Context(), Options{URL: "sqlite://" + filepath.Join(t.TempDir(), "shop.db"), Sealer: sealer, Synchronous: "normal"})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close(context.Background())) }()
	run := func(statement string) {
		t.Helper()
		_, err := Tx(t.Context(), d, func(ctx context.Context, u *Unit) (int64, error) { return u.Exec(ctx, statement) })
		require.NoError(t, err)
	}
	run(`CREATE TABLE t (id INTEGER PRIMARY KEY, text BLOB)`)
	run(`INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 24000) SELECT i, zeroblob(4000) FROM n`)
	run(`DELETE FROM t WHERE id % 10 = 1`)
	given, err := d.GiveSpaceBack(t.Context(), 200)
	require.NoError(t, err)
	require.Zero(t, given, "the next rows need it")
	size := func() int64 {
		_, err := d.Write.DB.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
		require.NoError(t, err)
		info, err := os.Stat(d.Path())
		require.NoError(t, err)
		return info.Size()
	}
	before := size()
	run(`DELETE FROM t WHERE id % 5 <> 0`) // what is left is all over the file, and has to move
	steps := 0
	for given = 200; given >= 200; steps++ {
		given, err = d.GiveSpaceBack(t.Context(), 200)
		require.NoError(t, err)
		require.LessOrEqual(t, given, int64(202), "pages of the map go with those that it maps")
	}
	require.Greater(t, steps, 5)
	require.Less(t, size(), before*9/10)
	left, err := Get[int](t.Context(), d, `SELECT count(*) FROM t`)
	require.NoError(t, err)
	require.Equal(t, 4800, *left)
}
