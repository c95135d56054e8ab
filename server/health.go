package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/ui"
)

// plainRoutes returns the routes that need no key and are not in the API's document. Those of health are not counted, because whatever
// watches the server asks often, also when the database is gone.
func (s *Server) plainRoutes(d Deps) map[string]echo.HandlerFunc {
	return map[string]echo.HandlerFunc{
		"/healthz":      alive,
		"/readyz":       s.ready,
		"/openapi.json": s.countPage(showDocument(echo.MIMEApplicationJSON, d.describedAs(asJSON))),
		"/openapi.yaml": s.countPage(showDocument("application/yaml", d.describedAs(asYAML))),

		"/openapi-3.1.json": s.countPage(showDocument(echo.MIMEApplicationJSON, d.describedAs(asJSON31))),
	}
}

// showDocument serves a form of the document, compressed to who can read that. A client that has it already is answered 304: it is large, and stays
// the same until the next release.
func showDocument(media string, described func() ([]byte, error)) echo.HandlerFunc {
	packed := sync.OnceValues(func() (*ui.Packed, error) {
		text, err := described()
		if err != nil {
			return nil, err
		}
		return ui.Pack(media, text)
	})
	return func(c echo.Context) error {
		p, err := packed()
		if err != nil {
			return err
		}
		c.Response().Header().Set(echo.HeaderCacheControl, "no-cache")
		return p.Write(c.Response(), c.Request(), http.StatusOK)
	}
}

func alive(c echo.Context) error {
	writeJSON(c.Response(), c.Request().Method, http.StatusOK, []byte(`{"status":"ok"}`))
	return nil
}

// ready answers 200 if requests can be served. If not, the log says why.
func (s *Server) ready(c echo.Context) error {
	ctx := c.Request().Context()
	status, body := http.StatusOK, `{"status":"ready"}`
	if err := s.readiness.ask(ctx, s.store.CheckReady); err != nil {
		s.log.WarnContext(ctx, "not ready", "error", err.Error())
		status, body = http.StatusServiceUnavailable, `{"status":"unavailable"}`
	}
	writeJSON(c.Response(), c.Request().Method, status, []byte(body))
	return nil
}

// readyTime is how long an answer about readiness may take.
const readyTime = 2 * time.Second

// readiness asks the database one question at a time. Those who ask meanwhile share its answer, so that statements do not pile
// up at a database that hangs.
type readiness struct {
	mu      sync.Mutex
	current *inquiry
}

type inquiry struct {
	done chan struct{}
	err  error // once done is closed
}

// ask returns what check returns, or an error after two seconds. A statement that runs is not ended by its context, so it is
// left to itself.
func (r *readiness) ask(ctx context.Context, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	asked := r.join(check)
	select {
	case <-asked.done:
		return asked.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join returns the question that is being asked, or begins one.
func (r *readiness) join(check func(context.Context) error) *inquiry {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil {
		return r.current
	}
	asked := &inquiry{done: make(chan struct{})}
	r.current = asked
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), readyTime)
		defer cancel()
		asked.err = check(ctx)
		r.mu.Lock()
		r.current = nil
		r.mu.Unlock()
		close(asked.done)
	}()
	return asked
}
