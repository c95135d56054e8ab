package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tillwright/tillwright/store/core"
)

func TestCache_IsBoundedAndKeepsTheFirst(t *testing.T) {
	t.Parallel()
	var c cache[int, int]
	gone := 0
	for i := range cacheLimit + 100 {
		kept, dropped := c.put(i, i)
		require.Equal(t, i, kept)
		gone += len(dropped)
	}
	require.Len(t, c.entries, cacheLimit)
	require.Equal(t, 100, gone)

	last := cacheLimit + 99
	kept, dropped := c.put(last, -1)
	require.Equal(t, last, kept)
	require.Equal(t, []int{-1}, dropped)
	require.Len(t, c.empty(), cacheLimit)
}

func TestStatements_SurviveMoreTextsThanAreKept(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for i := range 2 * cacheLimit {
			text := `SELECT count(*) FROM products WHERE account_id = ?` + " -- " + core.NewID(core.KindEvent)
			_, err := get[int](t.Context(), s.Store, text, s.account)
			require.NoError(t, err, i)
		}
		require.Len(t, s.read.statements.entries, cacheLimit)
	})
}

func TestRead_WaitsForAConnectionOnlySoLong(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for range cap(s.read.readers) {
			require.NoError(t, s.read.enter(t.Context()))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := s.GetAccount(ctx, s.account)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		s.read.leave()
		_, err = s.GetAccount(t.Context(), s.account)
		require.NoError(t, err)
	})
}
