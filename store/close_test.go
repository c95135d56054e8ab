package store

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// openBehind opens a store before whose database a proxy stands.
func openBehind(t *testing.T) (*Store, *database.Proxy) {
	t.Helper()
	proxy := database.NewProxy(t, database.URL(t, core.PostgreSQL))
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	s, err := Open(t.Context(), Options{URL: proxy.URL, Sealer: sealer, Render: renderJSON})
	require.NoError(t, err)
	require.NoError(t, s.db.Migrate(t.Context()))
	return s, proxy
}

// hold begins a transaction and returns what lets it end, and how it ended.
func hold(t *testing.T, s *Store) (release func(), ended <-chan error) {
	t.Helper()
	begun, gate, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := db.Tx(context.Background(), s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
			close(begun)
			<-gate
			return u.Exec(ctx, `UPDATE accounts SET name = ? WHERE id = ?`, "none", "none")
		})
		done <- err
	}()
	<-begun
	return sync.OnceFunc(func() { close(gate) }), done
}

// A database that does not answer keeps nobody from ending.
func TestClose_LeavesADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	s, proxy := openBehind(t)
	release, _ := hold(t, s)
	t.Cleanup(release)
	proxy.Freeze()
	require.ErrorContains(t, s.Close(), "did not answer within 5s")
}

// Ending takes no round trip for every statement of every connection.
func TestClose_SaysNothingWhenNothingIsUnderWay(t *testing.T) {
	t.Parallel()
	s, proxy := openBehind(t)
	_, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada's shop", Email: "ada@example.com"})
	require.NoError(t, err)
	require.NotEmpty(t, s.db.Write.Texts())
	proxy.Freeze()
	require.NoError(t, s.Close(), "it would say that the database did not answer")
}

// What is counted in memory is written while the database is still there.
func TestClose_WritesWhatIsCountedInMemory(t *testing.T) {
	t.Parallel()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	url, now := database.URL(t, core.SQLite), time.Date(2026, 1, 31, 12, 0, 30, 0, time.UTC)
	serving := func() *Store {
		s, err := Open(t.Context(), Options{URL: url, Sealer: sealer, Render: renderJSON, Exclusive: true, Now: func() time.Time { return now }})
		require.NoError(t, err)
		require.NoError(t, s.Migrate(t.Context()))
		return s
	}
	s := &shop{Store: serving()}
	account, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada's Shop", Email: "ada@example.com"})
	require.NoError(t, err)
	s.account = account.ID
	key, token := s.newKey(t, nil)
	for range 5 {
		_, known, err := s.Tenant.Authenticate(t.Context(), tenant.HashToken(token), "192.0.2.1")
		require.NoError(t, err)
		require.True(t, known)
	}
	require.NoError(t, s.Close())

	s.Store = serving()
	defer s.Close()
	used, err := s.Tenant.GetAPIKey(t.Context(), s.account, key.ID)
	require.NoError(t, err)
	require.NotNil(t, used.LastUsedAt)
	grant, _, err := s.Tenant.Authenticate(t.Context(), tenant.HashToken(token), "192.0.2.1")
	require.NoError(t, err)
	require.Equal(t, 6, grant.Used)
}

// What is under way is done.
func TestClose_WaitsForWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	s, _ := openBehind(t)
	release, ended := hold(t, s)
	time.AfterFunc(200*time.Millisecond, release)
	require.NoError(t, s.Close())
	require.NoError(t, <-ended)
}
