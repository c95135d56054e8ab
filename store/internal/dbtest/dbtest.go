// Package dbtest gives the tests of the store's rooms a database with the schema of the program and accounts in it. A room's own
// tests cannot import package store, which imports the rooms.
package dbtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/tests/harness/database"
)

var _ = database.Prepare(migrate)

func migrate(url string) error {
	d, err := open(context.Background(), db.Options{URL: url})
	if err != nil {
		return err
	}
	return errors.Join(d.Migrate(context.Background()), d.Close(context.Background()))
}

func open(ctx context.Context, o db.Options) (*db.DB, error) {
	var err error
	if o.Sealer, err = core.NewSealer(make([]byte, 32)); err != nil {
		return nil, err
	}
	o.Synchronous = "normal"
	return db.Open(ctx, o)
}

// Each runs a test on a database of every engine, in parallel.
func Each(t *testing.T, test func(t *testing.T, d *db.DB)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) { test(t, Open(t, url, nil)) })
}

// Open opens a database and migrates it. It is closed when the test ends. Now is its clock; nil stands for time.Now.
func Open(t testing.TB, url string, now func() time.Time) *db.DB {
	t.Helper()
	return OpenWith(t, db.Options{URL: url, Now: now})
}

// OpenWith is Open with other options than the address and the clock.
func OpenWith(t testing.TB, o db.Options) *db.DB {
	t.Helper()
	d, err := open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close(context.Background())) })
	require.NoError(t, d.Migrate(t.Context()))
	return d
}

// Account makes an account and returns its id.
func Account(t testing.TB, d *db.DB) string {
	t.Helper()
	id := core.NewID(core.KindAccount)
	_, err := db.Tx(t.Context(), d, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			INSERT INTO accounts (id, name, handle, email, default_currency, timezone, locale, plan, remove_branding, checkout_requires_terms, created_at, updated_at)
			VALUES (?, 'Ada''s Shop', ?, 'ada@example.com', 'usd', 'UTC', 'en', 'free', FALSE, FALSE, ?, ?)`, id, id, d.Now(), d.Now())
	})
	require.NoError(t, err)
	return id
}

// Count returns the result of a SELECT count(*).
func Count(t testing.TB, d *db.DB, query string, args ...any) int {
	t.Helper()
	n, err := db.Get[int](context.Background(), d, query, args...)
	require.NoError(t, err)
	return *n
}

// Waiter returns what waits until somebody waits for what an open transaction holds. Begin the transaction, call Waiter, let the other one begin, and
// call what Waiter returned. Either may be called in any goroutine.
func Waiter(t testing.TB, d *db.DB) (await func()) {
	return func() {
		assert.Eventually(t, func() bool {
			if d.Engine == core.SQLite { // has one writer
				return d.Write.Waiting() > 0
			}
			return Count(t, d, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
		}, time.Minute, time.Millisecond, "nobody waits")
	}
}

// Waiting returns once n transactions of the database wait for a lock. On SQLite they wait for their turn instead.
func Waiting(t testing.TB, d *db.DB, n int) {
	t.Helper()
	if d.Engine == core.SQLite {
		return
	}
	require.Eventually(t, func() bool {
		return Count(t, d, `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) >= n
	}, time.Minute, time.Millisecond)
}

// RequireInvalid wants core.CodeInvalid on the field.
func RequireInvalid(t testing.TB, err error, field string) {
	t.Helper()
	var e *core.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, core.CodeInvalid, e.Code, e.Message)
	require.Contains(t, e.Fields, field)
}

// RequireCode wants a *core.Error of the code.
func RequireCode(t testing.TB, err error, code core.Code) {
	t.Helper()
	var e *core.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, e.Message)
}

// AsError returns the refusal in an error, nil if it is none.
func AsError(err error) *core.Error {
	e, _ := errors.AsType[*core.Error](err)
	return e
}

// BrokenBy returns the promises that a statement breaks, as check finds them, and takes the statement back.
func BrokenBy(t testing.TB, d *db.DB, statement string, check func(context.Context) ([]core.Violation, error)) []string {
	t.Helper()
	require.NotEmpty(t, statement)
	var broken []string
	takeBack := errors.New("take it back")
	_, err := db.Tx(t.Context(), d, func(ctx context.Context, u *db.Unit) (any, error) {
		if _, err := u.Exec(ctx, statement); err != nil {
			return nil, err
		}
		violations, err := check(ctx)
		for _, v := range violations {
			broken = append(broken, v.Promise)
		}
		return nil, errors.Join(takeBack, err)
	})
	require.ErrorIs(t, err, takeBack, statement)
	return broken
}
