package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
)

// silent opens a connection and sends the beginning of something on it.
func silent(t *testing.T, address, beginning string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(conn, beginning)
	require.NoError(t, err)
	return conn
}

// readAnswer reads the answer on a connection.
func readAnswer(t *testing.T, conn net.Conn) *answer {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return &answer{response, string(body)}
}

func (f *fixture) connections() int64 {
	b := f.server.underWay.connections
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

func TestServe_BoundsTheConnectionsOfAnAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.server.underWay.connections = newBudget(2, 100)
	address := f.serveRaw()
	first, second := silent(t, address, ""), silent(t, address, "")
	require.Eventually(t, func() bool { return f.connections() == 2 }, time.Minute, time.Millisecond)
	a := readAnswer(t, silent(t, address, ""))
	assert.Equal(t, 429, a.StatusCode)
	assert.Equal(t, core.CodeRateLimit, a.problem(t).Code)
	assert.Equal(t, "1", a.Header.Get("Retry-After"))
	assert.NotEmpty(t, a.Header.Get("X-Request-Id"))

	require.NoError(t, first.Close())
	require.Eventually(t, func() bool { return f.connections() == 1 }, time.Minute, time.Millisecond)
	require.Len(t, f.raw(address, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 1, "one that is closed makes room")
	require.NoError(t, second.Close())
	require.Eventually(t, func() bool { return f.connections() == 0 }, time.Minute, time.Millisecond)
	assert.Empty(t, f.server.underWay.connections.of)
	assert.Empty(t, f.server.underWay.open)
}

func TestServe_BoundsAllConnections(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.server.underWay.connections = newBudget(1, 2)
	f.server.proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	address := f.serveRaw()
	silent(t, address, "")
	silent(t, address, "")
	require.Eventually(t, func() bool { return f.connections() == 2 }, time.Minute, time.Millisecond, "a trusted proxy has the connections of many addresses")
	a := readAnswer(t, silent(t, address, ""))
	assert.Equal(t, 503, a.StatusCode)
	assert.Equal(t, codeInternal, a.problem(t).Code)
}

func TestServe_BoundsTheHeadsUnderWay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.server.underWay.heads = newBudget(20_000, 20_000)
	address := f.serveRaw()
	held := func(want int64) {
		t.Helper()
		require.Eventually(t, func() bool {
			f.server.underWay.heads.mu.Lock()
			defer f.server.underWay.heads.mu.Unlock()
			return f.server.underWay.heads.used == want
		}, time.Minute, time.Millisecond)
	}
	beginning := "GET /healthz HTTP/1.1\r\nX: " + strings.Repeat("x", 14_000)
	first := silent(t, address, beginning)
	held(int64(len(beginning)))
	_, err := io.ReadAll(silent(t, address, beginning)) // whether the 429 arrives before the end does not depend on us
	var late net.Error
	assert.False(t, errors.As(err, &late) && late.Timeout(), "the second one is closed: %v", err)
	held(int64(len(beginning)))
	_, err = io.WriteString(first, "\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	assert.Equal(t, 200, readAnswer(t, first).StatusCode)
	held(0)
}

func TestServe_TakesHeadersOfSixtyFourKiB(t *testing.T) {
	t.Parallel()
	assert.Equal(t, maxHeaderSize, newFixture(t, nil).server.listening().MaxHeaderBytes)
}

func TestServe_LetsGoOfABodyThatStops(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.server.bodyPause = 50 * time.Millisecond
	address := f.serveRaw()
	for name, c := range map[string]struct {
		head   string
		status int
	}{
		"an operation":           {"POST /v1/widgets HTTP/1.1\r\nAuthorization: Bearer " + f.token + "\r\nContent-Type: application/json\r\n", 400},
		"one that is refused":    {"POST /v1/widgets HTTP/1.1\r\n", 401},
		"one that takes no body": {"GET /v1/widgets HTTP/1.1\r\nAuthorization: Bearer " + f.token + "\r\n", 200},
		"a page":                 {"POST /shop/7 HTTP/1.1\r\n", 413},
	} {
		conn := silent(t, address, c.head+"Host: x\r\nContent-Length: 1000\r\n\r\n{")
		a := readAnswer(t, conn)
		assert.Equal(t, c.status, a.StatusCode, "%s: %s", name, a.body)
		_, err := conn.Read(make([]byte, 1))
		assert.ErrorIs(t, err, io.EOF, "%s: the connection is closed", name)
	}
}

// pipes is a listener without sockets.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// A handler may take longer than a body may stop.
func TestServe_GivesTimeAfterTheBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Server{underWay: newUnderWay(), bodyPause: bodyPause}
		var gone error
		handle := s.boundBody(func(c echo.Context) error {
			body, err := io.ReadAll(c.Request().Body)
			_, again := c.Request().Body.Read(make([]byte, 1)) // as some do who want to be sure that it was the end
			assert.Equal(t, io.EOF, again)
			time.Sleep(2 * bodyPause)
			gone = c.Request().Context().Err()
			return errors.Join(err, c.Blob(http.StatusCreated, "text/plain", body))
		})
		server := &http.Server{ReadTimeout: bodyTime, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.startBody(w, r)
			assert.NoError(t, handle(echo.New().NewContext(r, w)))
		})}
		listener, served := make(pipes), make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		near, far := net.Pipe()
		listener <- far
		_, err := io.WriteString(near, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nConnection: close\r\n\r\nball")
		require.NoError(t, err)
		a := readAnswer(t, near)
		assert.Equal(t, 201, a.StatusCode)
		assert.Equal(t, "ball", a.body)
		assert.NoError(t, gone, "the request goes on")
		close(listener)
		require.Error(t, <-served)
		require.NoError(t, server.Close())
		require.NoError(t, near.Close())
	})
}

func TestServer_BoundsTheBodiesUnderWay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	body := `{"name": "` + strings.Repeat("x", 50) + `"}`
	f.server.underWay.known = newBudget(20, 100)
	a := f.send("POST", "/v1/widgets", body)
	assert.Equal(t, 429, a.StatusCode)
	assert.Equal(t, "1", a.Header.Get("Retry-After"))
	f.server.underWay.known = newBudget(100, 20)
	a = f.send("POST", "/v1/widgets", body)
	assert.Equal(t, 503, a.StatusCode)
	assert.Equal(t, "1", a.Header.Get("Retry-After"))
	f.server.underWay.known = newBudget(100, 100)
	for range 3 {
		assert.Less(t, f.send("POST", "/v1/widgets", body).StatusCode, 429, "what was answered is counted no more")
	}
	assert.Zero(t, f.server.underWay.known.used)
	assert.Zero(t, f.server.underWay.strange.used)

	f.server.underWay.strange = newBudget(20, 100)
	assert.Equal(t, 413, f.send("POST", "/shop/7", body).StatusCode, "a form is a stranger's")
}

func TestServer_BoundsTheRequestsUnderWayWithoutAKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.server.underWay.requests = newBudget(0, 10)
	for _, path := range []string{"/shop/7", "/public/tickets/one", "/nowhere"} {
		assert.Equal(t, 429, f.send("GET", path, "", "Authorization", "").StatusCode, path)
	}
	assert.Equal(t, 200, f.send("GET", "/v1/widgets", "").StatusCode)
	f.server.underWay.requests = newBudget(10, 0)
	assert.Equal(t, 503, f.send("GET", "/shop/7", "", "Authorization", "").StatusCode)
}

func TestBudget_CountsAHolderAndAll(t *testing.T) {
	t.Parallel()
	b, first, second := newBudget(3, 5), holder{name: "a"}, holder{name: "b"}
	assert.Equal(t, granted, b.take(first, 3))
	assert.Equal(t, tooMuch, b.take(first, 1))
	assert.Equal(t, granted, b.take(second, 2))
	assert.Equal(t, allInUse, b.take(second, 1))
	b.give(first, 3)
	assert.Equal(t, granted, b.take(second, 1))
	b.give(second, 3)
	assert.Empty(t, b.of)
	assert.Equal(t, holderOf("2001:db8:1:2:3::1"), holderOf("2001:db8:1:2:4::9"), "a subscriber has a /64")
	assert.NotEqual(t, holderOf("192.0.2.1"), holderOf("192.0.2.2"))
}

// Who has very many addresses, as whoever has a /48 of IPv6, gets an eighth of all.
func TestBudget_CountsTheNetworkAroundAnAddress(t *testing.T) {
	t.Parallel()
	for _, addresses := range []string{"192.0.2.%d", "2001:db8:1:%x::1"} {
		b, got := newBudget(4, 160), 0
		for i := range 100 {
			if b.take(holderOf(fmt.Sprintf(addresses, i)), 1) == granted {
				got++
			}
		}
		assert.Equal(t, 20, got, addresses)
		assert.Equal(t, granted, b.take(holderOf("198.51.100.7"), 4), "others have room")
		for i := range 100 {
			if i < 20 {
				b.give(holderOf(fmt.Sprintf(addresses, i)), 1)
			}
		}
		b.give(holderOf("198.51.100.7"), 4)
		assert.Empty(t, b.of)
	}
}

// What strangers send keeps no notification of a provider out.
func TestServer_HasABudgetForHooks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.server.underWay.strange = newBudget(0, 0)
	assert.Equal(t, 200, f.send("POST", "/hooks/echo", `{"name":"ball"}`, "Authorization", "").StatusCode)
	f.server.underWay.hooks = newBudget(1, 100)
	assert.Equal(t, 429, f.send("POST", "/hooks/echo", `{"name":"ball"}`, "Authorization", "").StatusCode)
}
