package server

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// plainRoutes are what needs no key and is not part of the API's document.
func (s *Server) plainRoutes(document, yaml []byte) map[string]echo.HandlerFunc {
	return map[string]echo.HandlerFunc{
		"/healthz":      alive,
		"/readyz":       s.ready,
		"/openapi.json": func(c echo.Context) error { return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, document) },
		"/openapi.yaml": func(c echo.Context) error { return c.Blob(http.StatusOK, "application/yaml", yaml) },
	}
}

func alive(c echo.Context) error {
	writeJSON(c.Response(), c.Request().Method, http.StatusOK, []byte(`{"status":"ok"}`))
	return nil
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
