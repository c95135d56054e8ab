package catalog

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
	"github.com/tillwright/tillwright/store/outbox"
)

// shop is an account with its catalog.
type shop struct {
	*Store
	account string
}

// eachShop runs a test on both engines.
func eachShop(t *testing.T, test func(t *testing.T, s *shop)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		render := func(_ string, v any) ([]byte, error) { return json.Marshal(v) }
		test(t, &shop{New(d, outbox.New(d, render)), dbtest.Account(t, d)})
	})
}

// eventTypes returns the types of the events about an object in their order.
func (s *shop) eventTypes(t *testing.T, key string) []string {
	t.Helper()
	types, err := db.Select[string](t.Context(), s.db, `SELECT type FROM events WHERE account_id = ? AND ordering_key = ? ORDER BY key_seq`, s.account, key)
	require.NoError(t, err)
	return types
}

// count returns the result of a SELECT count(*).
func (s *shop) count(t *testing.T, query string, args ...any) int {
	t.Helper()
	return dbtest.Count(t, s.db, query, args...)
}

func ref[T any](v T) *T { return &v }

func fixedPrice(amount int64) PriceVariant { return PriceVariant{Amount: amount, Currency: "usd"} }
