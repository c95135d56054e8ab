package webhooks

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/outbox"
)

// network is what a name can point to in these tests. At 127.0.0.9 is a receiver, which stands for a public address. At
// 127.0.0.1, on the same port, is a service that nobody may reach. The guard is otherwise that of production.
type network struct {
	public  *httptest.Server
	inside  *trap
	guard   *Guard
	url     string        // of the receiver, by a name that its certificate is for
	timeout time.Duration // of its senders
}

const publicAddress = "127.0.0.9"

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{inside: newTrap(t), timeout: patience}
	listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", publicAddress, n.inside.port))
	require.NoError(t, err)
	n.public = httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	_ = n.public.Listener.Close()
	n.public.Listener = listener
	n.public.StartTLS()
	t.Cleanup(n.public.Close)
	n.guard = NewGuard(GuardOptions{Ports: []uint16{n.inside.port}, Allow: []netip.Prefix{netip.MustParsePrefix(publicAddress + "/32")}})
	n.url = fmt.Sprintf("https://example.com:%d/hook", n.inside.port)
	return n
}

// sender returns a sender that looks names up with the resolver.
func (n *network) sender(t *testing.T, r *net.Resolver) *Sender {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(n.public.Certificate())
	s := NewSender(SenderOptions{Service: "Service", Guard: n.guard, TLS: &tls.Config{RootCAs: roots}, Resolver: r, Timeout: n.timeout})
	t.Cleanup(s.Close)
	return s
}

// trap counts the connections to a port of 127.0.0.1.
type trap struct {
	port    uint16
	came    atomic.Int32
	counted signal
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	s := &trap{port: netip.MustParseAddrPort(l.Addr().String()).Port()}
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			s.came.Add(1)
			s.counted.send()
			_ = c.Close()
		}
	}()
	return s
}

// requireUntouched connects once itself, so that whatever connected before has been counted, too.
func (s *trap) requireUntouched(t *testing.T) {
	t.Helper()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.port))
	require.NoError(t, err)
	_ = c.Close()
	s.counted.until(t, func() bool { return s.came.Load() > 0 })
	require.Equal(t, int32(1), s.came.Load(), "something connected to the inside")
	s.came.Store(0)
}

func TestSend_ANameReboundAfterItsCheckIsBlocked(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	s := n.sender(t, newNameServer(t, func(_ string, lookup int) []netip.Addr {
		if lookup == 1 {
			return addrs(publicAddress)
		}
		return addrs("127.0.0.1")
	}))
	_, err := n.guard.CheckURL(n.url)
	require.NoError(t, err)
	require.Empty(t, s.Send(t.Context(), message(n.url)).Reason, "the first lookup finds a public address")
	s.Close() // the next delivery needs a connection of its own, and looks the name up again
	require.Equal(t, outbox.ReasonBlockedIP, s.Send(t.Context(), message(n.url)).Reason)
	n.inside.requireUntouched(t)
}

func TestSend_OfMixedAddressesOnlyPublicOnesAreDialled(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	for _, answer := range [][]string{
		{publicAddress, "127.0.0.1"}, {"127.0.0.1", publicAddress}, {"::1", publicAddress}, {"::ffff:127.0.0.1", publicAddress},
		{"10.0.0.1", "fd00::1", "169.254.169.254", publicAddress}, {"64:ff9b::7f00:1", "127.0.0.1", publicAddress},
	} {
		s := n.sender(t, newNameServer(t, always(answer...)))
		require.Empty(t, s.Send(t.Context(), message(n.url)).Reason, "%v", answer)
	}
	n.public.Close()
	for _, answer := range [][]string{{publicAddress, "127.0.0.1"}, {"127.0.0.1", publicAddress}, {"127.0.0.1", "::1"}, {"::ffff:127.0.0.1"}} {
		s := n.sender(t, newNameServer(t, always(answer...)))
		require.NotEmpty(t, s.Send(t.Context(), message(n.url)).Reason, "%v", answer)
	}
	n.inside.requireUntouched(t)
}

// An internal address is blocked however it is spelled, as a name or as a number, and whatever a resolver makes of it.
// Go's own finds nothing behind a name of digits, that of the C library an address.
func TestSend_EverySpellingOfAnInternalAddressIsBlocked(t *testing.T) {
	t.Parallel()
	inside := newNameServer(t, always("127.0.0.1", "::1"))
	s := NewSender(SenderOptions{Service: "Service", Guard: NewGuard(GuardOptions{}), Resolver: inside, Timeout: patience})
	t.Cleanup(s.Close)
	for _, host := range append([]string{"hooks.example.com", "127.0.0.1.nip.io", "instance-data", "metadata"}, blockedHosts...) {
		for _, port := range []string{"", ":443", ":8443", ":22", ":5432", ":6379"} {
			result := s.Send(t.Context(), message("https://"+host+port+"/"))
			refused := Result{StartedAt: result.StartedAt, Duration: result.Duration, Reason: outbox.ReasonBlockedIP}
			if looksNumeric(host) && result.Reason == outbox.ReasonDNSError {
				refused.Reason = outbox.ReasonDNSError
			}
			require.Equal(t, refused, result, "%s%s", host, port)
		}
	}
}

// The outcome for a blocked address says nothing about what is there: nobody ever goes and looks.
func TestSend_ABlockedAddressAnswersAlikeWhateverListensThere(t *testing.T) {
	t.Parallel()
	open := newTrap(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	targets := map[string]netip.AddrPort{
		"open":   netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), open.port),
		"closed": netip.MustParseAddrPort(closed.Addr().String()),
		"silent": netip.MustParseAddrPort(fullListener(t)),
	}
	var ports []uint16
	for _, target := range targets {
		ports = append(ports, target.Port())
	}
	s := NewSender(SenderOptions{
		Service: "Service", Guard: NewGuard(GuardOptions{Ports: ports}), Resolver: newNameServer(t, always("127.0.0.1")), Timeout: patience,
	})
	t.Cleanup(s.Close)
	for name, target := range targets {
		for _, host := range []string{"127.0.0.1", "example.com"} {
			result := s.Send(t.Context(), message(fmt.Sprintf("https://%s:%d/", host, target.Port())))
			require.Equal(t, Result{StartedAt: result.StartedAt, Duration: result.Duration, Reason: outbox.ReasonBlockedIP}, result, name)
		}
	}
	open.requireUntouched(t)
}

func TestSend_ANameServerThatNeverAnswersIsBounded(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	n.timeout = sendTimeout
	s := n.sender(t, newNameServer(t, nil))
	sendOverNet(t, s, message("https://example.com/"), outbox.ReasonDNSError)
}

// What the log of an endpoint shows of an open and of a closed port inside is the same.
func TestDispatcher_RecordsBlockedAddressesAlike(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		open := newTrap(t)
		closed, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, closed.Close())
		shut := netip.MustParseAddrPort(closed.Addr().String()).Port()
		guard := NewGuard(GuardOptions{Ports: []uint16{open.port, shut}})
		sender := NewSender(SenderOptions{Service: "Service", Guard: guard, Resolver: newNameServer(t, always("127.0.0.1")), Timeout: patience})
		w.dispatch(w.Outbox, func(d *Dispatcher) { d.sender = sender })
		for _, port := range []uint16{open.port, shut} {
			w.endpoint(fmt.Sprintf("https://example.com:%d/", port))
		}
		w.product("for both")
		require.Equal(t, []delivery{{"failed", "blocked_ip", 1}, {"failed", "blocked_ip", 1}}, w.settled())
		open.requireUntouched(t)
	})
}
