package store

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
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

// forever is a read that nobody waits for to end.
const forever = `WITH RECURSIVE many (n) AS (SELECT CAST(? AS bigint) UNION ALL SELECT n + 1 FROM many WHERE n < 1000000000000) SELECT count(*) FROM many`

// A read that may examine much ends with its caller, and gives its reader back.
func TestRead_EndsWithItsCaller(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		var cancel context.CancelFunc
		s.db.Options.Trace = func(context.Context, string, []any) {
			if cancel != nil {
				time.AfterFunc(20*time.Millisecond, cancel) // once it runs
			}
		}
		for range 2 * s.db.Read.Size() {
			var ctx context.Context
			ctx, cancel = context.WithCancel(t.Context())
			_, err := db.Get[int](db.Abortable(ctx), s.db, forever, 1)
			require.ErrorIs(t, err, context.Canceled)
			require.False(t, db.IsMarked(err), "nothing is wrong with the database")
		}
		cancel = nil
		ctx, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer end()
		_, err := db.Get[int](db.Abortable(ctx), s.db, forever, 1)
		away(t, err)
		_, err = db.Tx(t.Context(), s.db, func(inside context.Context, u *db.Unit) (any, error) {
			ctx, end := context.WithTimeout(inside, 20*time.Millisecond)
			defer end()
			_, err := db.Get[int](db.Abortable(ctx), u, forever, 1)
			return nil, err
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
		_, _, err := s.ListCustomers(ctx, s.account, ListCustomers{Page: core.Page{Limit: 1}, ListFilter: core.ListFilter{Q: "ada"}})
		require.ErrorIs(t, err, context.Canceled)
	})
}
