package webhooks

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/outbox"
)

func TestSend_ChecksTLS(t *testing.T) {
	t.Parallel()
	ok := func(http.ResponseWriter, *http.Request) {}
	good := tlsReceiver(t, &tls.Config{}, ok)
	roots := x509.NewCertPool()
	roots.AddCert(good.Certificate())
	s := newTestSender(t, roots)
	require.Empty(t, s.Send(t.Context(), message(good.URL)).Reason)

	old := tlsReceiver(t, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10}, ok)
	expired := tlsReceiver(t, &tls.Config{Certificates: []tls.Certificate{certificate(t, time.Now().Add(-time.Hour))}}, ok)
	roots.AddCert(expired.Certificate())
	selfSigned := tlsReceiver(t, &tls.Config{Certificates: []tls.Certificate{certificate(t, time.Now().Add(time.Hour))}}, ok)
	plain := receiver(t, ok)
	for name, url := range map[string]string{
		"TLS 1.0":     old.URL,
		"expired":     expired.URL,
		"self-signed": selfSigned.URL,
		"wrong host":  strings.Replace(good.URL, "127.0.0.1", "localhost", 1),
		"plain HTTP":  strings.Replace(plain.URL, "http:", "https:", 1),
	} {
		require.Equal(t, outbox.ReasonTLSError, s.Send(t.Context(), message(url)).Reason, name)
	}
}

func TestSend_SpeaksHTTP2(t *testing.T) {
	t.Parallel()
	var version atomic.Int32
	r := tlsReceiver(t, &tls.Config{}, func(_ http.ResponseWriter, r *http.Request) { version.Store(int32(r.ProtoMajor)) })
	roots := x509.NewCertPool()
	roots.AddCert(r.Certificate())
	require.Empty(t, newTestSender(t, roots).Send(t.Context(), message(r.URL)).Reason)
	require.Equal(t, int32(2), version.Load())
}

func tlsReceiver(t *testing.T, config *tls.Config, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS, s.EnableHTTP2 = config, true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it would list the refused handshakes
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func certificate(t *testing.T, notAfter time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: notAfter.Add(-24 * time.Hour), NotAfter: notAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}
