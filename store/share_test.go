package store

import (
	"context"
	"database/sql/driver"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

type accountKey struct{}

// as returns a context in which something is done for an account.
func as(t *testing.T, account string) context.Context {
	t.Helper()
	return context.WithValue(t.Context(), accountKey{}, account)
}

// sharing has the store give those shares for whom as says that something is done.
func (s *shop) sharing() {
	s.db.Options.Whose = func(ctx context.Context) string {
		account, _ := ctx.Value(accountKey{}).(string)
		return account
	}
}

// An account that asks for more than all there is leaves readers, and connections, to others.
func TestShares_ABystanderIsServedWhileOneAccountFloods(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.sharing()
		began, goOn := make(chan struct{}, 100), make(chan struct{})
		s.db.Options.Trace = func(_ context.Context, _ string, args []any) {
			if len(args) == 1 && args[0] == "flood" {
				began <- struct{}{}
				<-goOn
			}
		}
		var all sync.WaitGroup
		for range 3 * s.db.Read.Size() {
			all.Go(func() {
				_, err := db.Get[int](as(t, "flood"), s.db, `SELECT 1 FROM accounts WHERE id = ?`, "flood")
				require.NoError(t, err)
			})
		}
		for range s.db.Read.Size() / 2 {
			<-began
		}
		_, err := s.Tenant.GetAccount(as(t, s.account), s.account)
		require.NoError(t, err)
		require.NoError(t, s.makeOneAs(as(t, s.account), "one"), "a transaction")
		_, err = s.Tenant.GetAccount(t.Context(), s.account)
		require.NoError(t, err, "and so are those who are not known yet")
		require.Empty(t, began, "that is all that the flood has at a time")
		close(goOn)
		all.Wait()
	})
}

// makeOneAs makes one product, as a request with a key does.
func (s *shop) makeOneAs(ctx context.Context, key string) error {
	_, _, err := s.db.Request(ctx, s.key(key, "create"), s.create(s.Store))
	return err
}

// Transactions have shares, too, and give them back however they end.
func TestShares_OfTransactions(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.sharing()
		for i := range 3 * s.db.Write.Size() {
			require.NoError(t, s.makeOneAs(as(t, s.account), string(rune('a'+i))))
			_, err := db.Tx(as(t, s.account), s.db, func(context.Context, *db.Unit) (any, error) { return nil, core.Invalid("name", "No.") })
			require.Error(t, err)
		}
		for range max(1, s.db.Write.Size()/2) {
			require.NoError(t, s.db.Write.Enter(t.Context(), s.account))
		}
		soon, cancel := context.WithTimeout(as(t, s.account), time.Millisecond)
		defer cancel()
		require.True(t, away(t, s.makeOneAs(soon, "busy")).Busy)
		if s.db.Write.Size() > 1 {
			require.NoError(t, s.makeOneAs(as(t, "another"), "another's"))
		}
		s.db.Write.Leave(s.account)
		require.NoError(t, s.makeOneAs(as(t, s.account), "busy"))
	})
}

// endless is a read that nobody waits for to end. On SQLite its first row says that it runs: what is interrupted before goes on.
var endless = map[string]string{
	core.SQLite:     `WITH RECURSIVE many (n) AS (SELECT ? UNION ALL SELECT n + 1 FROM many WHERE n < 1000000000000) SELECT count(*) FROM many WHERE n > 1 OR test_runs()`,
	core.PostgreSQL: `WITH RECURSIVE many (n) AS (SELECT CAST(? AS bigint) UNION ALL SELECT n + 1 FROM many WHERE n < 1000000000000) SELECT count(*) FROM many`,
}

// runs is what test_runs of SQLite calls, once it is known to that.
var runs atomic.Pointer[func()]

// knowRuns gives connections that SQLite makes from then on the function test_runs.
var knowRuns = sync.OnceValue(func() error {
	return sqlite.RegisterScalarFunction("test_runs", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		(*runs.Load())()
		return true, nil
	})
})

// ending is a context that ends when it is told to, with the error that it has then.
type ending struct {
	context.Context
	over chan struct{}
	why  error
}

func (e *ending) Done() <-chan struct{} { return e.over }

func (e *ending) Err() error {
	select {
	case <-e.over:
		return e.why
	default:
		return nil
	}
}

// readEndless begins an endless read, ends its context once it runs, and returns its error.
func (s *shop) readEndless(t *testing.T, ctx context.Context, where db.Reader, why error) error {
	t.Helper()
	e := &ending{Context: ctx, over: make(chan struct{}), why: why}
	end := sync.OnceFunc(func() { close(e.over) })
	if s.db.Engine == core.SQLite {
		runs.Store(&end)
	} else {
		go func() {
			for dbtest.Count(t, s.db, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE 'WITH RECURSIVE many%'`) == 0 {
				time.Sleep(time.Millisecond)
			}
			end()
		}()
	}
	_, err := db.Get[int](db.Abortable(e), where, endless[s.db.Engine], 1)
	return err
}

// A read that may examine much ends with its caller, and gives its reader back.
func TestRead_EndsWithItsCaller(t *testing.T) {
	require.NoError(t, knowRuns())
	eachShop(t, func(t *testing.T, s *shop) {
		for range 2 * s.db.Read.Size() {
			err := s.readEndless(t, t.Context(), s.db, context.Canceled)
			require.ErrorIs(t, err, context.Canceled)
			require.False(t, db.IsMarked(err), "nothing is wrong with the database")
		}
		away(t, s.readEndless(t, t.Context(), s.db, context.DeadlineExceeded))
		_, err := db.Tx(t.Context(), s.db, func(inside context.Context, u *db.Unit) (any, error) {
			return nil, s.readEndless(t, inside, u, context.DeadlineExceeded)
		})
		away(t, err)
		require.NoError(t, s.makeOne(t, "the transaction is over"))
		_, err = s.Tenant.GetAccount(t.Context(), s.account)
		require.NoError(t, err)
	})
}

// A list with filters ends with its caller.
func TestList_EndsWithItsCaller(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s.db.Options.Trace = func(context.Context, string, []any) { cancel() }
		_, _, err := s.Customer.List(ctx, s.account, customer.List{Page: core.Page{Limit: 1}, ListFilter: core.ListFilter{Q: "ada"}})
		require.ErrorIs(t, err, context.Canceled)
	})
}
