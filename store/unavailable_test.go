package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// away returns what err says of the database, and fails the test if it blames anything else.
func away(t *testing.T, err error) *core.UnavailableError {
	t.Helper()
	var unavailable *core.UnavailableError
	require.ErrorAs(t, err, &unavailable, "%v", err)
	return unavailable
}

// write makes one product, as a request with a key does.
func (s *shop) makeOne(t *testing.T, key string) error {
	t.Helper()
	_, _, err := s.db.Request(t.Context(), s.key(key, "create"), s.create(s.Store))
	return err
}

func TestUnavailable_PostgresIsAway(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, core.PostgreSQL))
	proxy := database.NewProxy(t, s.db.Options.URL)
	through := &shop{Store: openStore(t, proxy.URL), account: s.account}
	require.NoError(t, through.makeOne(t, "before"))
	proxy.Down()
	for range 3 { // with a broken connection of the pool, and without one
		assert.False(t, away(t, through.makeOne(t, "k")).Unclear)
		_, err := through.Tenant.GetAccount(t.Context(), s.account)
		away(t, err)
		_, _, err = through.Tenant.Authenticate(t.Context(), make([]byte, 32), "127.0.0.1")
		away(t, err)
		require.Error(t, through.db.CheckReady(t.Context()))
	}
	proxy.Up(t)
	require.NoError(t, through.makeOne(t, "k"))
	require.NoError(t, through.db.CheckReady(t.Context()))
	require.Equal(t, 2, s.products(t))
}

func TestCheckReady_TellsAStandby(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, core.PostgreSQL))
	s.alter(t, `CREATE FUNCTION public.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT TRUE'`)
	require.NoError(t, s.db.CheckReady(t.Context()))
	separator := "?"
	if strings.Contains(s.db.Options.URL, "?") {
		separator = "&"
	}
	standby := openStore(t, s.db.Options.URL+separator+"search_path=public,pg_catalog") // PostgreSQL's own function comes last
	require.ErrorContains(t, standby.db.CheckReady(t.Context()), "read-only")
}

// alter runs a statement that is none of the store's.
func (s *shop) alter(t *testing.T, statement string) {
	t.Helper()
	_, err := s.db.Write.DB.ExecContext(t.Context(), statement)
	require.NoError(t, err)
}

func TestUnavailable_TheDiskOfSQLiteIsFull(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, core.SQLite))
	s.alter(t, `PRAGMA max_page_count = 1`) // as many as there are, and none more
	full := func() error {
		for i := range 1000 {
			if err := s.makeOne(t, fmt.Sprint(i)); err != nil {
				return err
			}
		}
		return nil
	}
	assert.False(t, away(t, full()).Unclear)
	require.ErrorContains(t, s.db.CheckReady(t.Context()), "full", "a write is tried, because one has failed")
	s.alter(t, `PRAGMA max_page_count = 1000000`)
	require.NoError(t, s.db.CheckReady(t.Context()))
	require.NoError(t, full())
}

func TestUnavailable_SQLiteIsReadOnlyOrLocked(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, core.SQLite))
	s.alter(t, `PRAGMA query_only = on`)
	assert.False(t, away(t, s.makeOne(t, "k")).Unclear)
	require.Error(t, s.db.CheckReady(t.Context()))
	s.alter(t, `PRAGMA query_only = off`)
	require.NoError(t, s.db.CheckReady(t.Context()))

	other := &shop{Store: openStore(t, s.db.Options.URL), account: s.account}
	other.alter(t, `PRAGMA busy_timeout = 50`)
	_, err := db.Tx(t.Context(), s.db, func(context.Context, *db.Unit) (any, error) {
		assert.False(t, away(t, other.makeOne(t, "k")).Unclear)
		return nil, nil
	})
	require.NoError(t, err)
	require.NoError(t, other.makeOne(t, "k"))
}

func TestCheckReady_TellsAFullDisk(t *testing.T) {
	t.Parallel()
	s := newShop(t, database.URL(t, core.SQLite))
	s.db.FreeSpace = func(string) (int64, error) { return db.LeastSpace - 1, nil }
	require.EqualError(t, s.db.CheckReady(t.Context()), "the disk of the database has 63 MiB left, less than 64")
	s.db.FreeSpace = func(string) (int64, error) { return db.LeastSpace, nil }
	require.NoError(t, s.db.CheckReady(t.Context()))
	free, err := newShop(t, database.URL(t, core.SQLite)).db.FreeSpace(t.TempDir())
	require.NoError(t, err)
	require.Positive(t, free)
}

func TestUnavailable_AMistakeOfOursIsNot(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		_, err := db.Get[int](t.Context(), s.Store.db, `SELECT count(*) FROM nothing`)
		require.Error(t, err)
		require.False(t, db.IsMarked(err), err)
		_, err = db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
			return u.Exec(ctx, `INSERT INTO products (id) VALUES (NULL)`)
		})
		require.Error(t, err)
		require.False(t, db.IsMarked(err), err)
		require.NoError(t, s.db.CheckReady(t.Context()))
	})
}

func TestUnavailable_TimeIsUp(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
			<-ctx.Done()
			time.Sleep(20 * time.Millisecond) // database/sql rolls back by itself
			return u.Exec(ctx, `UPDATE accounts SET name = '' WHERE id = ?`, s.account)
		})
		away(t, err)
	})
}

func TestUnavailable_States(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{
		"08006": true, "08P01": true, "53100": true, "53300": true, "57P01": true, "57P03": true, "57014": true, "25006": true, "40001": true, "55P03": true, "58030": true,
		"42P01": false, "23505": false, "22P02": false, "25P02": false, "XX000": false, "42501": false,
	} {
		err := fmt.Errorf("read: %w", &pq.Error{Code: pqerror.Code(state)})
		require.Equal(t, want, db.IsMarked(db.DatabaseError(err)), state)
	}
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	require.True(t, db.IsMarked(db.DatabaseError(refused)))
	require.False(t, db.IsMarked(refused), "of something else than the database")
	require.NoError(t, db.DatabaseError(nil))
}

// TestUnavailable_SaysWhatMayHaveBeenDone cuts the connection after COMMIT was sent, and leaves nobody to ask what became of it.
func TestUnavailable_SaysWhatMayHaveBeenDone(t *testing.T) {
	t.Parallel()
	for _, key := range []*core.Key{nil, {Key: "k"}} {
		s := newShop(t, database.URL(t, core.PostgreSQL))
		if key != nil {
			key = s.key("k", "create")
		}
		proxy := &cuttingProxy{t: t, url: s.db.Options.URL, away: true}
		through := openStore(t, proxy.start())
		require.NoError(t, through.Ping(t.Context()))
		proxy.arm()
		_, _, err := through.db.Request(t.Context(), key, s.create(through))
		require.True(t, away(t, err).Unclear)
		require.True(t, proxy.cut(), "the connection was not cut: this test shows nothing")
		require.Eventually(t, func() bool { return s.products(t) == 1 }, time.Minute, 20*time.Millisecond, "and so it was")
	}
	for _, engine := range database.Engines() {
		s := newShop(t, database.URL(t, engine))
		lost := &core.UnavailableError{Cause: errors.New("gone")}
		_, _, err := s.db.Request(t.Context(), nil, func(ctx context.Context) (*core.Answer, error) {
			require.NoError(t, s.db.Leave(ctx)) // a step that commits what it did
			return nil, lost
		})
		require.True(t, away(t, err).Unclear)
		_, _, err = s.db.Request(t.Context(), nil, func(context.Context) (*core.Answer, error) { return nil, lost })
		require.False(t, away(t, err).Unclear)
	}
}
