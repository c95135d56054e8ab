package db

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
)

// TestTx_SaysThatItWaitsForAnotherProcess: who waits for SQLite's writer computes nothing, and holds it from then on.
func TestTx_SaysThatItWaitsForAnotherProcess(t *testing.T) {
	t.Parallel()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "shop.db")
	waits, held := make(chan struct{}, 10), make(chan bool, 10)
	d, err := Open(t.Context(), Options{URL: "sqlite://" + path, Sealer: sealer, Waits: func(context.Context) (over func(bool)) {
		waits <- struct{}{}
		return func(holds bool) { held <- holds }
	}})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close(context.Background())) }()

	outside, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer func() { require.NoError(t, outside.Close()) }()
	other, err := outside.Conn(t.Context())
	require.NoError(t, err)
	_, err = other.ExecContext(t.Context(), `BEGIN IMMEDIATE`)
	require.NoError(t, err)

	done := make(chan error, 1)
	go func() {
		_, err := Tx(context.Background(), d, func(ctx context.Context, u *Unit) (int64, error) { return u.Exec(ctx, `CREATE TABLE t (a INTEGER)`) })
		done <- err
	}()
	select {
	case <-waits:
	case err := <-done:
		t.Fatalf("it does not say that it waits: %v", err)
	case <-time.After(time.Minute):
		t.Error("it does not say that it waits")
	}
	require.Empty(t, held)
	_, err = other.ExecContext(t.Context(), `ROLLBACK`)
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.NoError(t, <-done)
	require.True(t, <-held, "it holds what others need")
}
