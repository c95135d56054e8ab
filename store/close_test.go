package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness/database"
)

// A database that does not answer keeps nobody from ending.
func TestClose_LeavesADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	proxy := database.NewProxy(t, database.URL(t, PostgreSQL))
	sealer, err := NewSealer(make([]byte, 32))
	require.NoError(t, err)
	s, err := Open(t.Context(), Options{URL: proxy.URL, Sealer: sealer, Render: renderJSON})
	require.NoError(t, err)
	require.NoError(t, s.Migrate(t.Context()))
	proxy.Freeze()
	began := time.Now()
	require.ErrorContains(t, s.Close(), "did not answer")
	require.InDelta(t, closeTime.Seconds(), time.Since(began).Seconds(), 2)
}
