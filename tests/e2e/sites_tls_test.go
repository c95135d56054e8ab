package e2e

import (
	"crypto/tls"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
)

// TestServe_SpeaksTLSForTheDomainsOfSites does not ask a certificate authority: visitors of unknown names make it ask for nothing.
func TestServe_SpeaksTLSForTheDomainsOfSites(t *testing.T) {
	t.Parallel()
	sites := harness.FreeAddr(t)
	b := harness.Build(t)
	b.Env = append(b.Env, "TILLWRIGHT_DATA_DIR="+t.TempDir(), "TILLWRIGHT_SITES_TLS=acme", "TILLWRIGHT_SITES_TLS_ADDR="+sites, "TILLWRIGHT_SITES_ACME_URL=https://127.0.0.1:9/none")
	s := b.Serve(t, "")
	for _, protocols := range [][]string{nil, {"acme-tls/1"}} {
		_, err := tls.Dial("tcp", sites, &tls.Config{ServerName: "ada.example", NextProtos: protocols, MinVersion: tls.VersionTLS12})
		require.ErrorContains(t, err, "remote error: tls: internal error")
	}
	assert.NotContains(t, s.Log(), "handshake", "scanners fill no log")
	took, code := s.Terminate(t)
	assert.Zero(t, code, s.Log())
	harness.Within(t, stopLimit, took, "ending")
}
