package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// ownRefusals is a listener that replaces the HTTP library's own refusals by ours. The library answers some requests without
// asking any handler: those that it cannot read, such as one without a Host, and those with an Expect that it does not know.
type ownRefusals struct {
	net.Listener
	server *Server
}

func (l ownRefusals) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		return &connection{TCPConn: tcp, server: l.server}, nil
	}
	return conn, err
}

// connection is a TCP connection that knows whether a handler is answering on it. What is written then is passed on unchanged.
type connection struct {
	*net.TCPConn
	server    *Server
	answering atomic.Bool
	head      int64 // bytes that were read since the last answer and are counted
}

// Read counts the head of a request, and ends the connection if all together have too much of that under way.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if n == 0 || c.answering.Load() {
		return n, err
	}
	if c.server.underWay.heads.take("", int64(n)) != granted {
		return 0, errors.New("too much is under way")
	}
	c.head += int64(n)
	return n, err
}

// headRead counts the head no more.
func (c *connection) headRead() {
	c.server.underWay.heads.give("", c.head)
	c.head = 0
}

type connectionKey struct{}

// withConnection puts the connection into the context of its requests.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// begin notes on the connection that a handler is answering from now on.
func begin(ctx context.Context) {
	if conn, ok := ctx.Value(connectionKey{}).(*connection); ok {
		conn.answering.Store(true)
		conn.headRead()
	}
}

// watch counts connections, and notes when the last byte of an answer was sent.
func (s *Server) watch(conn net.Conn, state http.ConnState) {
	own, isOwn := conn.(*connection)
	switch state {
	case http.StateActive:
	case http.StateNew:
		s.opened(conn)
	case http.StateIdle:
		if isOwn {
			own.answering.Store(false)
		}
	case http.StateClosed, http.StateHijacked:
		s.closed(conn)
		if isOwn {
			own.headRead()
		}
	}
}

// Write replaces a refusal that the library writes by itself with an envelope of ours.
func (c *connection) Write(p []byte) (int, error) {
	if !c.answering.Load() {
		if status, reason, ok := libraryRefusal(p); ok {
			if _, err := c.TCPConn.Write(c.server.refuseMalformed(c.RemoteAddr().String(), status, reason)); err != nil {
				return 0, err
			}
			return len(p), nil
		}
	}
	return c.TCPConn.Write(p)
}

// libraryRefusal reads the status and the reason of a refusal that the library writes. It returns false for anything else.
func libraryRefusal(p []byte) (status int, reason string, ok bool) {
	line, _, ok := bytes.Cut(p, []byte("\r\n"))
	words := strings.SplitN(string(line), " ", 3)
	if !ok || len(words) < 2 || !strings.HasPrefix(words[0], "HTTP/1.") {
		return 0, "", false
	}
	status, err := strconv.Atoi(words[1])
	if err != nil || status < http.StatusBadRequest {
		return 0, "", false
	}
	_, reason, _ = strings.Cut(string(line), ": ")
	return status, reason, true
}

// refuseMalformed returns a whole response that refuses a request. The request is counted for the peer's address, like all that
// have no key.
func (s *Server) refuseMalformed(peer string, status int, reason string) []byte {
	began := time.Now()
	who := &caller.Caller{RequestID: newRequestID(began)}
	ctx, cancel := context.WithTimeout(caller.With(context.Background(), who), 2*time.Second)
	defer cancel()
	e := envelopeError{Type: typeInvalidRequest, Code: core.CodeBadRequest, Message: "The request is malformed: " + reason + "."}
	switch {
	case status == http.StatusRequestHeaderFieldsTooLarge:
		e.Code, e.Message = codeHeadersTooLarge, "The request line and headers are larger than 64 KiB."
	case status == http.StatusExpectationFailed:
		e.Message = "Send no Expect header, or Expect: 100-continue."
	case status == http.StatusNotImplemented:
		e.Message = "Send the body with a Content-Length, or with Transfer-Encoding: chunked."
	case reason == "":
		e.Message = "The request is not HTTP as this server reads it. Look at its first line and at its headers, and escape a % in the path as %25."
	}
	h := http.Header{}
	address := s.address(&http.Request{RemoteAddr: peer})
	grant, err := s.store.Tenant.CountAddress(ctx, address)
	switch {
	case err != nil:
		s.limitUnknown(h, tenant.RateLimit)
	case grant.Used > grant.Limit:
		limitHeaders(h, grant)
		status, e = http.StatusTooManyRequests, envelopeError{Type: typeInvalidRequest, Code: core.CodeRateLimit, Message: overLimit(h, grant).Error()}
	default:
		limitHeaders(h, grant)
	}
	response := rawResponse(h, status, e, who.RequestID, began)
	s.log.LogAttrs(ctx, slog.LevelInfo, "malformed request", slog.Int("status", status), slog.String("reason", reason), slog.String("address", address), slog.String("code", string(e.Code)))
	return response
}

// rawResponse returns a whole response that refuses a request and ends its connection.
func rawResponse(h http.Header, status int, e envelopeError, requestID string, now time.Time) []byte {
	body, _ := json.Marshal(envelope{e}) // of strings alone
	body = append(body, '\n')
	setContent(h, len(body))
	h["X-Request-Id"], h["X-Content-Type-Options"] = []string{requestID}, nosniff
	h.Set("Date", now.UTC().Format(http.TimeFormat))
	h.Set(echo.HeaderConnection, "close")
	var response bytes.Buffer
	response.WriteString("HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n")
	_ = h.Write(&response) // into memory
	response.WriteString("\r\n")
	response.Write(body)
	return response.Bytes()
}

// turnAway answers a connection that is one too many. Whoever has sent something by then may not see it.
func (c *connection) turnAway(t taken) {
	now, h := time.Now(), http.Header{}
	c.server.limitUnknown(h, tenant.RateLimit)
	h.Set(echo.HeaderRetryAfter, "1")
	status, e := http.StatusServiceUnavailable, envelopeError{Type: typeAPI, Code: codeInternal, Message: "The server has too many connections. Send the same request again."}
	if t == tooMuch {
		status, e = http.StatusTooManyRequests, envelopeError{Type: typeInvalidRequest, Code: core.CodeRateLimit, Message: "Too many connections are open from this address. Close some, or use them again."}
	}
	_ = c.TCPConn.SetWriteDeadline(now.Add(time.Second))
	_, _ = c.TCPConn.Write(rawResponse(h, status, e, newRequestID(now), now))
}
