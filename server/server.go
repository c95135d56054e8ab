// Package server is the API over HTTP: its conventions, one mechanism per file,
// driven by the table of operations that it reads from the OpenAPI document. A new
// operation has all of them by being in the document.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store"
)

// Deps are what a server is made of.
type Deps struct {
	Store    *store.Store
	Handlers api.StrictServerInterface
	Log      *slog.Logger

	// TrustedProxies may say in X-Forwarded-For on whose behalf they ask.
	TrustedProxies []netip.Prefix
	// Pages are what people look at, outside of the API, by "/path" (GET and HEAD) or
	// "POST /path", where a path may have :parameters. They are counted per address.
	Pages map[string]echo.HandlerFunc
	// ErrorPage is what those who ask for a page get instead of an envelope, if there is one.
	ErrorPage func(c echo.Context, status int) error

	// Hooks are where others notify us, by "POST /path". They have a quota of their own.
	Hooks map[string]echo.HandlerFunc

	// Prepare, if there is one, puts into a request's context what its headers ask for beside the API: in development,
	// faults of the built-in ad networks.
	Prepare func(context.Context, http.Header) (context.Context, error)

	// Development mounts the operations that only a development server has.
	Development bool

	// PublicURL and Release are what the server's document says about it; without one, it says nothing of it.
	PublicURL, Release string

	// Document and Register replace the bundled API and its generated routes in tests.
	Document []byte
	Register func(api.EchoRouter)
}

// Server serves the API. It is an http.Handler.
type Server struct {
	store      *store.Store
	log        *slog.Logger
	echo       *echo.Echo
	operations *Operations
	proxies    []netip.Prefix
	prepare    func(context.Context, http.Header) (context.Context, error)
	develops   bool
	readiness  readiness
	errorPage  func(c echo.Context, status int) error
	strangers  strangers
}

// New reads the operations from the document and mounts them. It fails if the
// document promises what the server does not keep.
func New(d Deps) (*Server, error) {
	operations, err := d.operations()
	if err != nil {
		return nil, err
	}
	if d.Register == nil {
		d.Register = func(r api.EchoRouter) { api.RegisterHandlers(r, api.NewStrictHandler(d.Handlers, nil)) }
	}
	s := &Server{
		store: d.Store, log: d.Log, echo: echo.New(), operations: operations,
		proxies: d.TrustedProxies, prepare: d.Prepare, develops: d.Development, errorPage: d.ErrorPage,
	}
	notFound := s.observe(s.guard(true, routeNotFound))
	s.echo.HTTPErrorHandler = func(_ error, c echo.Context) { _ = notFound(c) } // of OPTIONS * alone: every path has a route
	routes := s.plainRoutes(d.describing())
	for route, page := range d.Pages {
		routes[route] = asPage(s.countPage(limitHeaderSize(limitForm(page))))
	}
	for route, hook := range d.Hooks {
		routes[route] = s.countHook(limitHeaderSize(limitForm(hook)))
	}
	s.mountPlain(routes)
	return s, s.mount(func(r *router) { d.Register(r) })
}

func (d Deps) operations() (*Operations, error) {
	if d.Document == nil {
		return bundled()
	}
	return ReadOperations(d.Document)
}

// Operations returns the table that the server was built from.
func (s *Server) Operations() *Operations { return s.operations }

// chain is the order of checks, outermost first. It is the same for every
// operation; what an operation does not need is left out when it is mounted.
func (s *Server) chain(op *Operation, h echo.HandlerFunc) echo.HandlerFunc {
	chain := []echo.MiddlewareFunc{}
	use := func(when bool, m echo.MiddlewareFunc) {
		if when {
			chain = append(chain, m)
		}
	}
	use(op.deprecation != nil, op.deprecation.headers)
	use(true, s.identify(op.Public)) // 401, then 429
	use(true, limitHeaderSize)       // 431
	use(op.Scope != "", needScope(op.Scope, op.Self))
	for _, scope := range op.MoreScopes {
		use(true, needScope(scope, false))
	}
	use(op.Write(), checkKey) // 400
	use(s.prepare != nil, s.prepared)
	use(true, takeBody(op)) // 413, 415, 400
	use(true, validate(op)) // 400, 422
	use(len(op.outdated) > 0, op.outdated.headers)
	use(op.Write(), s.transact(op)) // replay, 422, 409
	use(!op.Write(), wholeBody)
	for _, m := range slices.Backward(chain) {
		h = m(h)
	}
	return h
}

// prepared lets Prepare change the context of a request.
func (s *Server) prepared(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		ctx, err := s.prepare(r.Context(), r.Header)
		if err != nil {
			return err
		}
		c.SetRequest(r.WithContext(ctx))
		return next(c)
	}
}

// identify counts every request, and finds out who asks where a key is needed.
func (s *Server) identify(public bool) echo.MiddlewareFunc {
	if public {
		return s.countAddress
	}
	return s.authenticate
}

// guard is what stands before a page, and before a route that does not exist.
func (s *Server) guard(public bool, h echo.HandlerFunc) echo.HandlerFunc {
	return s.identify(public)(limitHeaderSize(h))
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !slices.Contains(methods[:], r.Method) {
		r.Method = http.MethodTrace // a method of its own invention: refused on every path, as this one is
	}
	if strings.Contains(r.URL.Path, "%") { // a sign that was escaped; the router takes it for the beginning of one
		r.URL.RawPath = r.URL.EscapedPath()
	}
	begin(r.Context())
	s.echo.ServeHTTP(w, r)
}

// shutdownTime is how long requests have to finish once the server is told to stop.
// The program has ten seconds for that and for all that comes after it.
const shutdownTime = 7 * time.Second

// Serve answers on the listener until ctx ends, and then finishes the requests
// under way, for at most 7 seconds.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := s.listening()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(ownRefusals{listener, s}) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	deadline, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	if err := server.Shutdown(deadline); err != nil {
		return errors.Join(fmt.Errorf("requests were still running after %s: %w", shutdownTime, err), server.Close())
	}
	return nil
}

// answerTime is from the headers of a request to the last byte of its answer: a
// minute for the body, one for the work, and one for the client to read.
const answerTime = 3 * time.Minute

// listening returns the server of the connections. None of them lasts for ever,
// whatever its client does or leaves undone.
func (s *Server) listening() *http.Server {
	return &http.Server{
		Handler:                      s,
		ConnContext:                  withConnection,
		ConnState:                    watch,
		DisableGeneralOptionsHandler: true, // OPTIONS * is answered like the rest
		ReadHeaderTimeout:            10 * time.Second,
		ReadTimeout:                  60 * time.Second, // of a body, too
		WriteTimeout:                 answerTime,
		IdleTimeout:                  2 * time.Minute,
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
}
