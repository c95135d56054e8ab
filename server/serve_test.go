package server

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestServe_FinishesRequestsUnderWay(t *testing.T) {
	t.Parallel()
	inside, goOn := make(chan struct{}), make(chan struct{})
	f := newFixture(t, map[string]echo.HandlerFunc{"getWidget": func(c echo.Context) error {
		close(inside)
		<-goOn
		return c.JSON(200, "done")
	}})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- f.server.Serve(ctx, listener) }()

	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "GET /v1/widgets/w HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", f.token)
	require.NoError(t, err)
	<-inside
	stop()
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", listener.Addr().String())
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, time.Minute, 10*time.Millisecond, "nothing new is accepted")
	close(goOn)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	assert.Equal(t, 200, response.StatusCode)
	require.NoError(t, response.Body.Close())
	require.NoError(t, <-served)
}

// The connection of a client that does not read what it asked for ends all the same.
func TestServe_LetsGoOfAClientThatNeverReads(t *testing.T) {
	t.Parallel()
	gone := make(chan error, 1)
	f := newFixture(t, map[string]echo.HandlerFunc{"getWidget": func(c echo.Context) error {
		_, err := c.Response().Writer.Write(make([]byte, 64<<20)) // more than fits between the two
		gone <- err
		return err
	}})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := f.server.listening()
	server.WriteTimeout /= 360 // half a second instead of three minutes
	go func() { _ = server.Serve(listener) }()
	defer server.Close()

	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "GET /v1/widgets/w HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", f.token)
	require.NoError(t, err)
	select {
	case err := <-gone:
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	case <-time.After(time.Minute):
		require.Fail(t, "the server waits for ever")
	}
	assert.GreaterOrEqual(t, f.server.listening().WriteTimeout, 2*f.server.listening().ReadTimeout, "a body that takes its time leaves time for the answer")
}
