package harness

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tillwright/tillwright/tests/conformance"
)

// scattered sends each request from an address of its own if one address may ask for its operation only a few times a minute. So the client of an
// account can try all that there is to try.
type scattered struct{ usual, apart http.RoundTripper }

// fewAMinute is below what a test sends.
const fewAMinute = 60

var lastApart atomic.Uint32

// apart returns an address of the loopback network that no other call returns.
func apart() string {
	return net.IP(binary.BigEndian.AppendUint32(nil, 127<<24|64<<16+lastApart.Add(1)%(1<<20))).String()
}

func scatter(t testing.TB, usual http.RoundTripper) http.RoundTripper {
	t.Helper()
	apart := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(apart())}}).DialContext(ctx, network, address)
	}}
	return &scattered{usual, apart}
}

// RoundTrip implements http.RoundTripper.
func (s *scattered) RoundTrip(req *http.Request) (*http.Response, error) {
	if op, _ := conformance.Promised().Match(req.Method, strings.TrimPrefix(req.URL.Path, "/v1")); op != nil && op.Limit < fewAMinute {
		return s.apart.RoundTrip(req)
	}
	return s.usual.RoundTrip(req)
}
