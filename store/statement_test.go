package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

func TestStatements_SurviveMoreTextsThanAreKept(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for i := range 2 * db.CacheLimit {
			text := `SELECT count(*) FROM products WHERE account_id = ?` + " -- " + core.NewID(core.KindEvent)
			_, err := db.Get[int](t.Context(), s.Store.db, text, s.account)
			require.NoError(t, err, i)
		}
		require.Len(t, s.db.Read.Texts(), db.CacheLimit)
	})
}

func TestRead_WaitsForAConnectionOnlySoLong(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for range s.db.Read.Size() {
			require.NoError(t, s.db.Read.Enter(t.Context(), ""))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := s.Tenant.GetAccount(ctx, s.account)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		s.db.Read.Leave("")
		_, err = s.Tenant.GetAccount(t.Context(), s.account)
		require.NoError(t, err)
	})
}
