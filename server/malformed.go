package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
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
// asking any handler. They are those that it cannot read, such as one without a Host, and those with an Expect that it does not
// know.
type ownRefusals struct {
	net.Listener
	server *Server
}

func (l ownRefusals) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	_, isPlain := conn.(*net.TCPConn)
	return &connection{Conn: conn, server: l.server, isPlain: isPlain}, nil
}

// connection is a connection that knows whether a handler is answering on it. What is written then is passed on unchanged.
type connection struct {
	net.Conn
	server    *Server
	isPlain   bool   // what is written goes out at once, without TLS
	holder    holder // whose it is
	answering atomic.Bool
	head      int64 // bytes that were read since the last answer and are counted
}

// Read counts the head of a request, and ends the connection if its address, or all together, have too much of that under way.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 || c.answering.Load() {
		return n, err
	}
	if t := c.server.underWay.heads.take(c.holder, int64(n)); t != granted {
		c.turnAway(t)
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: net.ErrClosed} // which the HTTP library answers by closing
	}
	c.head += int64(n)
	return n, err
}

// headRead counts the head no more.
func (c *connection) headRead() {
	c.server.underWay.heads.give(c.holder, c.head)
	c.head = 0
}

// ReadFrom sends a file without copying it, where that is possible.
func (c *connection) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// CloseWrite says that nothing follows, so that the other side reads the answer to its end before the connection is closed.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
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
			if _, err := c.Conn.Write(c.server.refuseMalformed(c.RemoteAddr().String(), status, reason)); err != nil {
				return 0, err
			}
			return len(p), nil
		}
	}
	return c.Conn.Write(p)
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
	response := s.rawResponse(h, status, e, who.RequestID, began)
	s.log.LogAttrs(ctx, slog.LevelInfo, "malformed request", slog.Int("status", status), slog.String("reason", reason), slog.String("address", address), slog.String("code", string(e.Code)))
	return response
}

// rawResponse returns a whole response that refuses a request and ends its connection.
func (s *Server) rawResponse(h http.Header, status int, e envelopeError, requestID string, now time.Time) []byte {
	body, _ := json.Marshal(envelope{e}) // of strings alone
	body = append(body, '\n')
	setContent(h, len(body))
	h["X-Request-Id"], h["X-Content-Type-Options"] = []string{requestID}, nosniff
	if s.isSecure {
		h["Strict-Transport-Security"] = secure
	}
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
	status, e := http.StatusServiceUnavailable, envelopeError{Type: typeAPI, Code: codeInternal, Message: "The server has too much under way. Send the same request again."}
	if t == tooMuch {
		status, e = http.StatusTooManyRequests, envelopeError{Type: typeInvalidRequest, Code: core.CodeRateLimit, Message: "Too many connections are open from this address, or too much is sent on them. Close some, or use them again."}
	}
	_ = c.Conn.SetWriteDeadline(now.Add(time.Second))
	_, _ = c.Conn.Write(c.server.rawResponse(h, status, e, newRequestID(now), now))
}
