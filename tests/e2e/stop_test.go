package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// stopLimit is what the guide to production promises of SIGTERM. Everywhere but in make soak, ending may take as long as a test waits.
const stopLimit = 10 * time.Second

// neverAnswers returns the URL of a receiver that takes webhooks in and answers none, and what tells of one.
func neverAnswers(t *testing.T) (url string, came <-chan struct{}) {
	t.Helper()
	arrived, over := make(chan struct{}, 100), make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-over
	}))
	t.Cleanup(func() { close(over); receiver.Close() })
	return receiver.URL, arrived
}

// deliverToNobody makes the server send a webhook that is not answered, and returns once it is under way.
func deliverToNobody(t *testing.T, c *harness.Client) {
	t.Helper()
	url, came := neverAnswers(t)
	c.Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": url})
	c.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "told to nobody"})
	select {
	case <-came:
	case <-time.After(harness.Patience):
		t.Fatal("no webhook is sent")
	}
}

// beginRequest sends the headers of a request and half of its body, and returns once the server is inside and waits for the rest.
func beginRequest(t *testing.T, s *site, server *harness.Process) {
	t.Helper()
	conn, err := net.Dial("tcp", server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	expect(t, conn, s.key, 100)
	if _, err := fmt.Fprint(conn, `{"name": `); err != nil {
		t.Fatal(err)
	}
}

// expect sends the headers of a request for a product whose body has so many bytes, and returns when the server asks for the body.
func expect(t *testing.T, conn net.Conn, key string, length int, headers ...string) *bufio.Reader {
	t.Helper()
	_, err := fmt.Fprintf(conn, "POST /v1/products HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n%s\r\n", key, length, strings.Join(headers, ""))
	if err != nil {
		t.Fatal(err)
	}
	answer := bufio.NewReader(conn)
	line, err := answer.ReadString('\n')
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(line, "HTTP/1.1 100 "), line)
	if _, err := answer.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return answer
}

// A client that never ends its request, and a receiver that never answers.
func TestTerminate_WaitsForNobodyForEver(t *testing.T) {
	t.Parallel()
	s := newSite(t, database.URL(t, "sqlite"))
	server := s.binary.Serve(t, "")
	deliverToNobody(t, s.client(server))
	beginRequest(t, s, server)
	took, _ := server.Terminate(t)
	harness.Within(t, stopLimit, took, "ending")
	states := harness.OpenDatabase(t, s.url).Strings(t, "SELECT state FROM webhook_deliveries")
	require.Len(t, states, 1, "the delivery under way is recorded")
	assert.Equal(t, "failed", states[0], "the delivery under way is recorded")
}

// A database that hangs while requests, deliveries and everything else wait for it.
func TestTerminate_LeavesADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	s := newSite(t, database.URL(t, "postgres"))
	proxy := database.NewProxy(t, s.url)
	b := &harness.Binary{Path: s.binary.Path, Env: append(s.binary.Env, "TILLWRIGHT_DATABASE_URL="+proxy.URL)}
	server := b.Serve(t, "")
	c := s.client(server)
	deliverToNobody(t, c)
	proxy.Freeze()
	for i := range 20 {
		go func() { _, _ = c.Try(http.MethodPost, "/v1/products", map[string]any{"name": fmt.Sprint("hangs ", i)}) }()
	}
	begin := time.Now()
	if ready := c.As("").Do(t, http.MethodGet, "/readyz", nil); ready.Status != http.StatusServiceUnavailable {
		t.Errorf("/readyz answers %d", ready.Status)
	}
	harness.Within(t, stopLimit, time.Since(begin), "/readyz of a database that hangs")
	if alive := c.As("").Do(t, http.MethodGet, "/healthz", nil); alive.Status != http.StatusOK {
		t.Errorf("/healthz answers %d", alive.Status)
	}
	took, code := server.Terminate(t)
	harness.Within(t, stopLimit, took, "ending")
	if code == 0 {
		t.Error("the server says that it has finished what it could not finish")
	}
}

// switchesProtocol returns the URL of a receiver that answers each webhook with another protocol and keeps the connection.
func switchesProtocol(t *testing.T) (url string, came <-chan struct{}) {
	t.Helper()
	arrived := make(chan struct{}, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n")
		arrived <- struct{}{}
		_, _ = io.Copy(io.Discard, conn) // until the server hangs up
		_ = conn.Close()
	}))
	t.Cleanup(func() { receiver.CloseClientConnections(); receiver.Close() })
	return receiver.URL, arrived
}

// A receiver that answers with another protocol has answered, and not with success.
func TestTerminate_WaitsForNoOtherProtocol(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := newSite(t, url)
		server := s.binary.Serve(t, "")
		receiver, came := switchesProtocol(t)
		c := s.client(server)
		c.Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": receiver})
		c.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": "told in another protocol"})
		select {
		case <-came:
		case <-time.After(harness.Patience):
			t.Fatal("no webhook is sent")
		}
		took, code := server.Terminate(t)
		harness.Within(t, stopLimit, took, "ending")
		if code != 0 {
			t.Errorf("the server ended with code %d", code)
		}
		states := harness.OpenDatabase(t, s.url).Strings(t, "SELECT state || ' ' || reason FROM webhook_deliveries")
		require.Len(t, states, 1, "the delivery is recorded")
		assert.Equal(t, "failed http_status", states[0], "the delivery is recorded")
	})
}
