package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
)

// NewLogger returns a logger. Each line that is written within a request carries the request's id. The format is LogJSON or
// LogText.
func NewLogger(w io.Writer, format string) *slog.Logger {
	if format == LogJSON {
		return slog.New(requestHandler{slog.NewJSONHandler(w, nil)})
	}
	return slog.New(requestHandler{slog.NewTextHandler(w, nil)})
}

// requestHandler adds the request id from the context.
type requestHandler struct{ slog.Handler }

func (h requestHandler) Handle(ctx context.Context, line slog.Record) error {
	if id := caller.RequestID(ctx); id != "" {
		line.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, line)
}

func (h requestHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestHandler{h.Handler.WithAttrs(attrs)}
}

func (h requestHandler) WithGroup(name string) slog.Handler {
	return requestHandler{h.Handler.WithGroup(name)}
}

var (
	nosniff = []string{"nosniff"}
	secure  = []string{"max-age=31536000"}
)

// observe is around every request. It gives the request its id, turns an error or a panic into an answer, and logs one line
// about it. If the answer had begun before, the connection is broken off, so that nobody takes a part for the whole.
func (s *Server) observe(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		began := time.Now()
		request := c.Request()
		if caller.Of(request.Context()).PersonID != "" {
			if err := s.survive(c, h); err != nil {
				s.refuse(c, err)
				s.logFailure(request.Context(), caller.Of(request.Context()).Failure)
			}
			return nil // the page that asks is observed
		}
		who := &caller.Caller{RequestID: newRequestID(began), Address: s.address(request)}
		c.SetRequest(request.WithContext(caller.With(request.Context(), who)))
		header := c.Response().Header()
		header["X-Request-Id"] = []string{who.RequestID}
		header["X-Content-Type-Options"] = nosniff
		if s.isSecure {
			header["Strict-Transport-Security"] = secure
		}
		err := s.survive(c, h)
		begun := c.Response().Committed
		if err != nil {
			s.refuse(c, err)
		}
		s.logAccess(c, who, began)
		s.noteRequest(c, who, began)
		if err != nil && begun {
			panic(http.ErrAbortHandler)
		}
		return nil
	}
}

// survive runs h and turns a panic into an error. The stack is only logged.
func (s *Server) survive(c echo.Context, h echo.HandlerFunc) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			s.log.ErrorContext(c.Request().Context(), "panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	return h(c)
}

// levelOf returns how grave a failure of ours is.
func levelOf(failure error) slog.Level {
	if failure == nil || errors.Is(failure, context.Canceled) { // the client went away
		return slog.LevelInfo
	}
	return slog.LevelError
}

// logFailure logs what failed where no line about a request follows, if something did.
func (s *Server) logFailure(ctx context.Context, failure error) {
	if failure != nil {
		s.log.LogAttrs(ctx, levelOf(failure), "request failed", slog.String("error", failure.Error()))
	}
}

// logAccess logs a request, and with it why we failed, if we did. It names the route by its pattern, because paths of public operations contain
// secrets. It adds the request id itself, so that the line does not have to grow a second time for each request.
func (s *Server) logAccess(c echo.Context, who *caller.Caller, began time.Time) {
	response := c.Response()
	line := []slog.Attr{
		slog.String("request_id", who.RequestID),
		slog.String("method", c.Request().Method),
		slog.String("route", c.Path()),
		slog.Int("status", response.Status),
		slog.Int64("bytes", response.Size),
		slog.Float64("took_ms", float64(time.Since(began).Microseconds())/1000),
		slog.String("address", who.Address),
		slog.String("account", who.Account),
		slog.String("key", who.KeyID),
		slog.String("code", who.Code),
	}
	if who.Failure != nil {
		line = append(line, slog.String("error", who.Failure.Error()))
	}
	s.log.LogAttrs(context.Background(), levelOf(who.Failure), "request", line...)
}
