package webhooks

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/outbox"
)

// mostTime is what an attempt may take: the budget of one delivery, and its last words.
const mostTime = sendTimeout + lastWords

// inBubble runs a test whose clock stands still while anybody works, so that no time depends on the machine. Nothing in it may use
// a socket, nor hold a lock while it waits. A goroutine that waits for the kernel or for a lock stops the clock.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// wire is a network without sockets: whoever dials, whatever the address, reaches serve. What is written waits until it is read.
type wire struct {
	serve func(net.Conn)
	mu    sync.Mutex
	far   []net.Conn
	alive sync.WaitGroup
}

func (w *wire) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.far = append(w.far, far)
	w.alive.Go(func() { defer func() { _ = far.Close() }(); w.serve(far) })
	return near, nil
}

// cut ends all connections, and returns when nobody serves one any more.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.far {
		_ = c.Close()
	}
	w.alive.Wait()
}

// onWire returns a sender that has the time of production, and whose messages all reach serve.
func onWire(t *testing.T, serve func(net.Conn)) *Sender {
	t.Helper()
	s := NewSender(SenderOptions{Service: "Service", Guard: NewGuard(GuardOptions{Development: true}), TLS: &tls.Config{InsecureSkipVerify: true}})
	require.Equal(t, sendTimeout, s.timeout)
	w := &wire{serve: serve}
	s.client.Transport.(*http.Transport).DialContext = bounding(s.timeout, w.dial)
	t.Cleanup(func() {
		s.Close()
		w.cut()
	})
	return s
}

// handled serves connections as an HTTP server does.
func handled(h http.HandlerFunc) func(net.Conn) {
	return func(c net.Conn) {
		closed := make(chan struct{})
		server := &http.Server{Handler: h, ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				close(closed)
			}
		}}
		one := &single{conn: make(chan net.Conn, 1), over: make(chan struct{})}
		one.conn <- c
		go func() { _ = server.Serve(one) }()
		<-closed
		_ = server.Close()
	}
}

// single is a listener to whom one connection comes.
type single struct {
	conn chan net.Conn
	over chan struct{}
}

func (s *single) Accept() (net.Conn, error) {
	select {
	case c := <-s.conn:
		return c, nil
	case <-s.over:
		return nil, net.ErrClosed
	}
}

func (s *single) Close() error {
	select {
	case <-s.over:
	default:
		close(s.over)
	}
	return nil
}

func (s *single) Addr() net.Addr { return &net.TCPAddr{} }

// sendInTime sends, and wants the attempt to be over in time.
func sendInTime(t *testing.T, s *Sender, m Message) Result {
	t.Helper()
	begin := time.Now()
	got := s.Send(t.Context(), m)
	require.LessOrEqual(t, time.Since(begin), mostTime)
	return got
}

// sendOverNet sends over a real network until the attempt ends for the reason that is wanted. A machine that was too busy to answer
// in time does so at another one.
func sendOverNet(t *testing.T, s *Sender, m Message, want outbox.Reason) (got Result) {
	t.Helper()
	require.Equal(t, sendTimeout, s.timeout)
	for begin := time.Now(); time.Since(begin) < patience; {
		if got = s.Send(t.Context(), m); got.Reason == want {
			return got
		}
		require.Equal(t, outbox.ReasonTimeout, got.Reason)
	}
	require.Fail(t, "the attempt is late each time")
	return got
}
