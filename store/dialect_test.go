package store

import (
	"net"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
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

func TestPostgresConfig_RequiresTLSAwayFromHome(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]pq.SSLMode{
		"postgres://u@db.example.com/x":                     pq.SSLModeRequire,
		"postgres://u@db.example.com/x?sslmode=verify-full": pq.SSLModeVerifyFull,
		"postgres://u@127.0.0.1/x":                          pq.SSLModeDisable,
		"postgres://u@[::1]/x":                              pq.SSLModeDisable,
		"postgres://u@localhost/x":                          pq.SSLModeDisable,
		"postgres://u@/x?host=/var/run/postgresql":          pq.SSLModeDisable,
		"postgres://u@localhost/x?sslmode=require":          pq.SSLModeRequire,
	} {
		config, err := postgresConfig(Options{URL: url})
		require.NoError(t, err, url)
		require.Equal(t, want, config.SSLMode, url)
		require.NotZero(t, config.ConnectTimeout, url)
	}
}

func TestOpen_BehindATransactionPooler(t *testing.T) {
	t.Parallel()
	url := database.URL(t, core.PostgreSQL)
	s := newShop(t, url)
	pooled, err := Open(t.Context(), Options{URL: url, Sealer: s.options.Sealer, Render: renderJSON, Pooler: PoolerTransaction})
	require.NoError(t, err)
	defer pooled.Close()
	require.NoError(t, pooled.Migrate(t.Context()))
	for _, want := range []bool{false, true} {
		_, replayed, err := pooled.Request(t.Context(), s.key("k", "create"), s.create(pooled))
		require.NoError(t, err)
		require.Equal(t, want, replayed)
	}
	found, _, err := pooled.ListProducts(t.Context(), s.account, ListProducts{Page: core.Page{Limit: 10}})
	require.NoError(t, err)
	require.Len(t, found, 1)
	byID, err := pooled.ProductsByID(t.Context(), s.account, []string{found[0].ID, core.NewID(core.KindProduct)})
	require.NoError(t, err)
	require.Len(t, byID, 1)
	_, token := s.newKey(t, "products:read")
	passed, _ := hammer(t, 200, []*Store{pooled}, HashToken(token))
	require.Equal(t, int64(200), passed)
	require.Empty(t, pooled.write.statements.entries, "a prepared statement does not survive the pooler")
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	m := core.NewMetadata(map[string]string{"b": "2", "a": "1"})
	require.Equal(t, core.Metadata(`{"a":"1","b":"2"}`), m)
	require.Equal(t, core.Metadata(`{"b":"3","c":"4"}`), m.Merge(map[string]*string{"a": nil, "b": ref("3"), "c": ref("4")}))
	require.Equal(t, core.Metadata(""), m.Merge(map[string]*string{"a": nil, "b": nil}))
	require.Equal(t, "{}", core.Metadata("").Text())
	require.Equal(t, map[string]string{}, core.Metadata("").Map())

	long := make([]byte, core.MetadataMaxValue+1)
	for i := range long {
		long[i] = 'x'
	}
	for _, bad := range []map[string]string{{"k": string(long)}, {string(long[:core.MetadataMaxKey+1]): "v"}, {"": "v"}} {
		var p core.Problems
		core.NewMetadata(bad).Check(&p)
		require.Error(t, p.Err())
	}
	var p core.Problems
	core.NewMetadata(map[string]string{"k": string(long[1:])}).Check(&p)
	require.NoError(t, p.Err())
}

func TestDialer_GivesUpOnADatabaseThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	conn, err := dialer{patience: 50 * time.Millisecond}.Dial("tcp", silent.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })

	_, err = conn.Read(make([]byte, 1))
	var failed net.Error
	require.ErrorAs(t, err, &failed)
	require.True(t, failed.Timeout())
	require.True(t, isConnectionLost(err), "nobody knows what became of the statement")
}
