package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// serveRaw serves as the program does and returns the address.
func (f *fixture) serveRaw() string {
	f.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(f.t, err)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- f.server.Serve(ctx, listener) }()
	f.t.Cleanup(func() {
		stop()
		require.NoError(f.t, <-served)
	})
	return listener.Addr().String()
}

// raw sends bytes and returns the responses to them, with their bodies read.
func (f *fixture) raw(address, request string) []*answer {
	f.t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(f.t, err)
	defer conn.Close()
	require.NoError(f.t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, _ = io.WriteString(conn, request) // what is too large may be refused before its end
	var answers []*answer
	for reader := bufio.NewReader(conn); ; {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return answers
		}
		body, err := io.ReadAll(response.Body)
		require.NoError(f.t, err)
		require.NoError(f.t, response.Body.Close())
		answers = append(answers, &answer{response, string(body)})
	}
}

func TestServe_RefusesWhatIsNoHTTPInTheEnvelope(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	address := f.serveRaw()
	fine := "GET /v1/widgets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + f.token + "\r\n\r\n"
	for _, c := range []struct {
		name, request string
		status        int
		code          core.Code
		message       string
	}{
		{"no Host", "GET /v1/widgets HTTP/1.1\r\n\r\n", 400, core.CodeBadRequest, "missing required Host header"},
		{"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, core.CodeBadRequest, "not HTTP"},
		{"a bad header", "GET / HTTP/1.1\r\nHost: a\r\nbad name: b\r\n\r\n", 400, core.CodeBadRequest, "invalid header name"},
		{"a bad escape", "GET /v1/widgets/100% HTTP/1.1\r\nHost: a\r\n\r\n", 400, core.CodeBadRequest, "%25"},
		{"not HTTP at all", "hello\r\n\r\n", 400, core.CodeBadRequest, "not HTTP"},
		{"another HTTP", "GET / HTTP/3.7\r\nHost: a\r\n\r\n", 505, core.CodeBadRequest, "unsupported protocol version"},
		{"an unknown transfer", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501, core.CodeBadRequest, "chunked"},
		{"an unknown expectation", "GET /v1/widgets HTTP/1.1\r\nHost: a\r\nExpect: cake\r\n\r\n", 417, core.CodeBadRequest, "100-continue"},
		{"endless headers", "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n" + strings.Repeat("Y: y\r\n", 2000) + "\r\n", 431, codeHeadersTooLarge, "64 KiB"},
	} {
		for before, request := range []string{c.request, fine + c.request, fine + fine + c.request} {
			asked := time.Now()
			answers := f.raw(address, request)
			require.Len(t, answers, before+1, "%s: each is answered, and then the connection ends", c.name)
			for _, a := range answers[:before] {
				require.Equal(t, 200, a.StatusCode, c.name)
			}
			a := answers[before]
			require.Equal(t, c.status, a.StatusCode, c.name)
			assert.Equal(t, http.StatusText(c.status), strings.TrimPrefix(a.Status, fmt.Sprint(c.status, " ")), c.name)
			problem := a.problem(t)
			assert.Equal(t, typeInvalidRequest, problem.Type, c.name)
			assert.Equal(t, c.code, problem.Code, c.name)
			assert.Contains(t, problem.Message, c.message, c.name)
			assert.Regexp(t, `^req_[0-9a-z]{26}$`, a.Header.Get("X-Request-Id"), c.name)
			assert.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"), c.name)
			assertLimitHeaders(t, asked, a.Header)
			assert.Len(t, f.logged(a.Header.Get("X-Request-Id")), 1, c.name)
			assert.True(t, a.Close, c.name)
		}
	}
}

// An answer may look like a refusal of the library's where the buffer before the connection ends: it goes out as it is.
func TestServe_LeavesAnswersAlone(t *testing.T) {
	t.Parallel()
	const refusal = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	text := ""
	f := newFixture(t, map[string]echo.HandlerFunc{"getWidget": func(c echo.Context) error {
		_, err := c.Response().Write([]byte(text))
		return err
	}})
	address := f.serveRaw()
	one := "GET /v1/widgets/w HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + f.token + "\r\n"
	for shift := range len(refusal) {
		text = strings.Repeat("x", shift) + strings.Repeat(refusal, 100)
		answers := f.raw(address, one+"\r\n"+one+"Connection: close\r\n\r\n")
		require.Len(t, answers, 2)
		for _, a := range answers {
			require.Equal(t, 200, a.StatusCode)
			require.True(t, text == a.body, shift)
		}
	}
}

func TestServe_CountsWhatItCannotReadForTheAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.stopClock()
	for range tenant.RateLimit {
		f.server.refuseMalformed("192.0.2.1:1", 400, "")
	}
	response := string(f.server.refuseMalformed("192.0.2.1:2", 400, ""))
	assert.Contains(t, response, "HTTP/1.1 429 Too Many Requests\r\n")
	assert.Contains(t, response, "\r\nRetry-After: ")
	assert.Contains(t, response, `"code":"rate_limit_exceeded","message":"Too many requests`)
}

func TestPath_MayHaveAPercentSign(t *testing.T) {
	t.Parallel()
	var got string
	f := newFixture(t, map[string]echo.HandlerFunc{"getWidget": func(c echo.Context) error {
		got = c.Param("id") // what the generated code reads: escaped, as RawPath says that it is
		require.NotEmpty(t, c.Request().URL.RawPath)
		return c.JSON(200, json.RawMessage(`{}`))
	}})
	for _, id := range []string{"100%25", "%2541", "50%25%2Foff", "%25zz", "%25"} {
		require.Equal(t, 200, f.send("GET", "/v1/widgets/"+id, "").StatusCode, id)
		assert.Equal(t, id, got)
	}
}
