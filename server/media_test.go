package server

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/server/caller"
)

// showMedia serves a file of 100,000 bytes.
func showMedia(c echo.Context) error {
	release, err := caller.Hold(c.Request().Context(), 100_000)
	if err != nil {
		return err
	}
	defer release()
	return c.Blob(http.StatusOK, "image/png", make([]byte, 100_000))
}

// Pictures are counted by their bytes: those that are held for slow readers, and those of a minute. They use up nothing that pages have.
func TestServer_BoundsMediaByBytes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	now := time.Unix(1_800_000_010, 0)
	f.server.media.now = func() time.Time { return now }
	get := func() *answer { return f.send(http.MethodGet, "/media/a", "", "Authorization", "") }
	held := holderOf("127.0.0.1")
	f.server.underWay.media = newBudget(250_000, 10_000_000)
	assert.Equal(t, granted, f.server.underWay.media.take(held, 200_000))
	assert.Equal(t, http.StatusTooManyRequests, get().StatusCode, "others of the address are being read")
	f.server.underWay.media.give(held, 100_000)
	assert.Equal(t, http.StatusOK, get().StatusCode)
	assert.Equal(t, int64(100_000), f.server.underWay.media.used, "what was read is held no more")

	f.server.media.each = f.server.media.of[held.name] + 150_000
	assert.Equal(t, http.StatusOK, get().StatusCode)
	refused := get()
	assert.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
	assert.Equal(t, strconv.Itoa(60-1_800_000_010%60), refused.Header.Get("Retry-After"))
	assert.Equal(t, http.StatusOK, f.send(http.MethodGet, "/shop/1", "", "Authorization", "").StatusCode, "pages are counted apart")
	now = now.Add(time.Minute)
	assert.Equal(t, http.StatusOK, get().StatusCode)
	assert.Len(t, f.server.media.of, 2, "nothing is kept of the minute before")
}

// timed tells the deadlines by which its connections have to take what is written.
type timed struct {
	net.Listener
	deadlines chan time.Time
}

func (l timed) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return timedConn{conn, l.deadlines}, err
}

type timedConn struct {
	net.Conn
	deadlines chan time.Time
}

func (c timedConn) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() {
		c.deadlines <- at
	}
	return c.Conn.SetWriteDeadline(at)
}

// Who reads nothing holds what others could have.
func TestServer_GivesReadersOfMediaLittleTime(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 84*time.Second, mediaTime(1<<20))
	f := newFixture(t, nil)
	server, deadlines := httptest.NewUnstartedServer(f.server), make(chan time.Time, 9)
	server.Listener = timed{server.Listener, deadlines}
	server.Start()
	t.Cleanup(server.Close)
	began := time.Now()
	response, err := server.Client().Get(server.URL + "/media/a")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Len(t, deadlines, 1)
	assert.WithinRange(t, <-deadlines, began.Add(mediaTime(100_000)), time.Now().Add(mediaTime(100_000)))
}
