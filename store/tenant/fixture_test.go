package tenant

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// shop is a replica of a database with one account.
type shop struct {
	*Store
	account string
}

// eachShop runs a test on both engines.
func eachShop(t *testing.T, test func(t *testing.T, s *shop)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) { test(t, newShop(t, url)) })
}

func newShop(t *testing.T, url string) *shop {
	t.Helper()
	s := &shop{Store: openStore(t, url)}
	account, err := s.CreateAccount(t.Context(), NewAccount{Name: "Ada's Shop", Email: "ada@example.com"})
	require.NoError(t, err)
	s.account = account.ID
	return s
}

// openStore opens another replica of a database.
func openStore(t *testing.T, url string) *Store { return closing(t, dbtest.Open(t, url, nil)) }

// closing returns the room of a database, and closes it before that.
func closing(t *testing.T, d *db.DB) *Store {
	s := New(d, false)
	t.Cleanup(func() { require.NoError(t, s.Close(context.Background())) })
	return s
}

// count returns the result of a SELECT count(*).
func (s *shop) count(t *testing.T, query string, args ...any) int {
	t.Helper()
	return dbtest.Count(t, s.db, query, args...)
}

func ref[T any](v T) *T { return &v }
