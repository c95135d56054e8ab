package store

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestOpen_RefusesOtherURLs(t *testing.T) {
	t.Parallel()
	sealer, err := core.NewSealer(make([]byte, 32))
	require.NoError(t, err)
	for _, url := range []string{"", "sqlite://", "mysql://localhost/x", "tillwright.db"} {
		_, err := Open(t.Context(), Options{URL: url, Sealer: sealer})
		require.ErrorContains(t, err, "sqlite:///path/file.db", url)
	}
	_, err = Open(t.Context(), Options{URL: "sqlite:///nowhere/at/all.db", Sealer: sealer})
	require.ErrorContains(t, err, "/nowhere/at/all.db")
}

func TestOpen_BehindATransactionPooler(t *testing.T) {
	t.Parallel()
	url := database.URL(t, core.PostgreSQL)
	s := newShop(t, url)
	pooled, err := Open(t.Context(), Options{URL: url, Sealer: s.db.Options.Sealer, Render: renderJSON, Pooler: core.PoolerTransaction})
	require.NoError(t, err)
	defer pooled.Close()
	require.NoError(t, pooled.db.Migrate(t.Context()))
	for _, want := range []bool{false, true} {
		_, replayed, err := pooled.db.Request(t.Context(), s.key("k", "create"), s.create(pooled))
		require.NoError(t, err)
		require.Equal(t, want, replayed)
	}
	found, _, err := pooled.Catalog.ListProducts(t.Context(), s.account, catalog.ListProducts{Page: core.Page{Limit: 10}})
	require.NoError(t, err)
	require.Len(t, found, 1)
	byID, err := pooled.Catalog.ProductsByID(t.Context(), s.account, []string{found[0].ID, core.NewID(core.KindProduct)})
	require.NoError(t, err)
	require.Len(t, byID, 1)
	_, token := s.newKey(t, nil)
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			grant, known, err := pooled.Tenant.Authenticate(context.Background(), tenant.HashToken(token), "192.0.2.1")
			if assert.NoError(t, err) {
				assert.True(t, known)
				assert.LessOrEqual(t, grant.Used, grant.Limit)
			}
		})
	}
	all.Wait()
	require.Empty(t, pooled.db.Write.Texts(), "a prepared statement does not survive the pooler")
}
