package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"
)

// mountPlain registers what needs no key and is not part of the API's document.
func (s *Server) mountPlain(document []byte, yaml []byte) {
	s.plain("/healthz", func(c echo.Context) error {
		writeJSON(c.Response(), c.Request().Method, http.StatusOK, []byte(`{"status":"ok"}`))
		return nil
	})
	s.plain("/readyz", s.ready)
	s.plain("/openapi.json", func(c echo.Context) error { return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, document) })
	s.plain("/openapi.yaml", func(c echo.Context) error { return c.Blob(http.StatusOK, "application/yaml", yaml) })
}

// plain answers GET and HEAD at a path outside of the API.
func (s *Server) plain(path string, h echo.HandlerFunc) {
	verbs := []string{http.MethodGet, http.MethodHead}
	for _, method := range methods {
		if slices.Contains(verbs, method) {
			s.echo.Add(method, path, s.observe(h))
		} else {
			s.echo.Add(method, path, s.observe(methodNotAllowed(verbs)))
		}
	}
}

// ready answers 200 if requests can be served: the database answers and has the
// schema that this binary knows. The reason why not is in the log.
func (s *Server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
	defer cancel()
	status, body := http.StatusOK, `{"status":"ready"}`
	if err := s.checkReady(ctx); err != nil {
		s.log.WarnContext(ctx, "not ready", "error", err.Error())
		status, body = http.StatusServiceUnavailable, `{"status":"unavailable"}`
	}
	writeJSON(c.Response(), c.Request().Method, status, []byte(body))
	return nil
}

func (s *Server) checkReady(ctx context.Context) error {
	if err := s.store.Ping(ctx); err != nil {
		return err
	}
	return s.store.CheckSchema(ctx)
}
