package db

import (
	"net"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"
)

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
