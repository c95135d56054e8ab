package store

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// shop is a migrated store with one account.
type shop struct {
	*Store
	account string
}

func newShop(t testing.TB, url string) *shop {
	t.Helper()
	s := &shop{Store: openStore(t, url)}
	require.NoError(t, s.db.Migrate(t.Context()))
	account, err := s.Tenant.CreateAccount(t.Context(), tenant.NewAccount{Name: "Ada's Shop", Email: "ada@example.com"})
	require.NoError(t, err)
	s.account = account.ID
	return s
}

// openStore opens another replica of a database.
func openStore(t testing.TB, url string) *Store {
	t.Helper()
	return openWith(t, Options{URL: url})
}

// openPatient is openStore with a database that gives up neither a statement nor a wait for a lock, however slow the machine is.
func openPatient(t testing.TB, url string) *Store {
	t.Helper()
	return openWith(t, Options{URL: url, Patient: true, Pooler: core.PoolerTransaction})
}

func openWith(t testing.TB, o Options) *Store {
	t.Helper()
	var err error
	o.Sealer, err = core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	o.Synchronous, o.Render = "normal", renderJSON
	s, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// renderJSON stands in for the view, which this package cannot import.
func renderJSON(_ string, v any) ([]byte, error) { return json.Marshal(v) }

// eachShop runs a test on both engines.
func eachShop(t *testing.T, test func(t *testing.T, s *shop)) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) { test(t, newShop(t, url)) })
}

// eventTypes returns the types of the events about an object in their order.
func (s *shop) eventTypes(t *testing.T, key string) []string {
	t.Helper()
	types, err := db.Select[string](t.Context(), s.Store.db, `SELECT type FROM events WHERE account_id = ? AND ordering_key = ? ORDER BY key_seq`, s.account, key)
	require.NoError(t, err)
	return types
}

// count returns the result of a SELECT count(*).
func (s *shop) count(t *testing.T, query string, args ...any) int {
	t.Helper()
	return dbtest.Count(t, s.Store.db, query, args...)
}

// newKey makes an API key that may do everything, with its token: the owner's, or one that another key has made.
func (s *shop) newKey(t *testing.T, by *tenant.APIKey) (*tenant.APIKey, string) {
	t.Helper()
	var granted tenant.Granted
	if by != nil {
		granted.KeyID = &by.ID
	}
	k, token, err := s.Tenant.CreateAPIKey(t.Context(), s.account, granted, tenant.NewAPIKey{})
	require.NoError(t, err)
	return k, token
}

// keyOf makes an API key as newKey does.
func (s *shop) keyOf(t *testing.T, by *tenant.APIKey) *tenant.APIKey {
	t.Helper()
	k, _ := s.newKey(t, by)
	return k
}

func ref[T any](v T) *T { return &v }

func fixedPrice(amount int64) catalog.PriceVariant {
	return catalog.PriceVariant{Amount: amount, Currency: "usd"}
}
