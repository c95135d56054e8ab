// Package server serves the API over HTTP. Each of its conventions has a file. They are driven by the table of operations that is read
// from the OpenAPI document. A new operation gets all of them by being in the document.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// Deps is what a server is made of.
type Deps struct {
	Store    *store.Store
	Handlers api.StrictServerInterface
	Log      *slog.Logger

	// TrustedProxies are the networks whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// AccountQuota is how many requests a minute all keys of an account may send together; 0 bounds each key alone.
	AccountQuota int
	// Pages are what people look at, by "/path" (GET and HEAD) or "POST /path", where a path may have :parameters. They are not
	// part of the API, and are counted per address.
	Pages map[string]echo.HandlerFunc
	// ErrorPage answers an error to a person who asked for a page. IsCrowded says that nothing was done, because too much is under way. If
	// ErrorPage is nil, they get an envelope as well.
	ErrorPage func(c echo.Context, status int, isCrowded bool) error

	// LargeForms are how the paths of pages begin whose forms may have 1 MiB. Those of others may have 64 KiB.
	LargeForms []string

	// Media are files of pages, by "/path". They are counted by their bytes per address, which their handlers tell by caller.Hold.
	Media map[string]echo.HandlerFunc

	// Transfers take and give bytes of any size, by "/path" or "METHOD /path". They are not part of the API, are counted per address, bound
	// their bodies and deadlines themselves, and answer errors in an envelope.
	Transfers map[string]echo.HandlerFunc

	// Hooks are where providers notify us, by "POST /path". They have a quota of their own.
	Hooks map[string]echo.HandlerFunc

	// Prepare may put something into a request's context that its headers ask for. In development these are faults of the
	// built-in ad networks. It may be nil.
	Prepare func(context.Context, http.Header) (context.Context, error)

	// Inside is the transport by which pages ask the API for people who are signed in. New sets where it leads. It may be nil.
	Inside *Inside

	// Development mounts the operations that only a development server has.
	Development bool

	// PublicURL and Release are what the server's document says about the server. An empty one is left out. If PublicURL is of https,
	// every answer has browsers come by https alone, also on the hosts of sites.
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
	reads      map[string]read // by path
	proxies    []netip.Prefix
	prepare    func(context.Context, http.Header) (context.Context, error)
	develops   bool
	isSecure   bool // browsers reach it by https
	readiness  readiness
	errorPage  func(c echo.Context, status int, isCrowded bool) error
	strangers  strangers
	requests   *requestLog
	underWay   *underWay
	media      *spending
	shares     *caller.Shares
	itemTurns  *itemTurns
	bodyPause  time.Duration

	accountQuota int
}

// New reads the operations from the document and mounts them. It is an error if the document promises what the server does not
// keep.
func New(d Deps) (*Server, error) {
	operations, err := d.operations()
	if err != nil {
		return nil, err
	}
	if d.Register == nil {
		d.Register = func(r api.EchoRouter) { api.RegisterHandlers(r, api.NewStrictHandler(d.Handlers, nil)) }
	}
	s := &Server{
		store: d.Store, log: d.Log, echo: echo.New(), operations: operations, reads: map[string]read{},
		proxies: d.TrustedProxies, prepare: d.Prepare, develops: d.Development, isSecure: strings.HasPrefix(d.PublicURL, "https:"), errorPage: d.ErrorPage,
		requests: newRequestLog(), underWay: newUnderWay(), media: newSpending(addressMediaMinute), shares: caller.NewShares(runtime.GOMAXPROCS(0), sharePatience, &core.CrowdedError{}), itemTurns: newItemTurns(itemPatience), bodyPause: bodyPause, accountQuota: d.AccountQuota,
	}
	if d.Inside != nil {
		d.Inside.server = s
	}
	notFound := s.observe(s.guard(true, routeNotFound))
	s.echo.HTTPErrorHandler = func(_ error, c echo.Context) { _ = notFound(c) } // of OPTIONS * alone: every path has a route
	routes := s.plainRoutes(d)
	for route, page := range d.Pages {
		routes[route] = asPage(s.countPage(s.seen(limitHeaderSize(s.boundBody(limitForm(d.formLimit(route), plainPath(page)))))))
	}
	for route, h := range d.Media {
		routes[route] = asPage(s.countMedia(s.seen(limitHeaderSize(plainPath(h)))))
	}
	for route, h := range d.Transfers {
		routes[route] = s.guard(true, s.seen(plainPath(h)))
	}
	for route, hook := range d.Hooks {
		routes[route] = s.countHook(s.seen(limitHeaderSize(s.boundHook(limitForm(hookMaxBody, hook)))))
	}
	s.mountPlain(routes)
	s.leadToPages(d.Pages)
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

// chain returns the handler of an operation behind all checks, of which the outermost is first. Their order is the same for
// every operation; those that an operation does not need are left out.
func (s *Server) chain(op *Operation, h echo.HandlerFunc) echo.HandlerFunc {
	chain := []echo.MiddlewareFunc{}
	use := func(when bool, m echo.MiddlewareFunc) {
		if when {
			chain = append(chain, m)
		}
	}
	use(op.deprecation != nil, op.deprecation.headers)
	use(op.CORS, anyOrigin)
	use(op.AddressLimit == 0, s.identify(op.Public)) // 401, then 429
	use(op.AddressLimit > 0, s.countOperation(op))   // 429
	use(true, limitHeaderSize)                       // 431
	use(op.Scope != "" && op.Scope != scopeNone, needScope(op.Scope, op.Self))
	for _, scope := range op.MoreScopes {
		use(true, needScope(scope, false))
	}
	use(op.Write(), checkKey) // 400
	use(s.prepare != nil, s.prepared)
	use(op.takesSecret() && op.body != nil, s.knowSecret) // 404
	use(op.body != nil, s.boundBody)
	use(true, takeBody(op, s.inShare)) // 413, 415, 429, 400
	use(true, validate(op))            // 400, 422
	use(len(op.outdated) > 0, op.outdated.headers)
	use(op.Each != "", judgeItems(op))
	use(op.Write(), s.transact(op))  // replay, 422, 409; of a bulk write 429
	use(op.Each != "", s.countItems) // 429
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

// identify returns the check that counts every request, and finds out who asks unless the operation is public.
func (s *Server) identify(public bool) echo.MiddlewareFunc {
	if public {
		return s.countAddress
	}
	return s.authenticate
}

// guard puts the checks before a handler that is no operation, such as that of a route that does not exist.
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
	s.startBody(w, r)
	s.echo.ServeHTTP(w, r)
}

// shutdownTime is how long requests have to finish once the server is told to stop. The program has ten seconds for that and
// for everything that comes after it.
const shutdownTime = 7 * time.Second

// Serve answers on the listener until ctx ends. Then it waits for the requests under way, for at most 7 seconds.
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

// answerTime is how long a request may take from its headers to the last byte of its answer. It is a minute for the body, one for the
// work, and one for the client to read.
const answerTime = 3 * time.Minute

// listening returns the HTTP server. None of its connections lasts for ever, whatever the client does or does not do.
func (s *Server) listening() *http.Server {
	return &http.Server{
		Handler:                      s,
		ConnContext:                  withConnection,
		ConnState:                    s.watch,
		DisableGeneralOptionsHandler: true, // OPTIONS * is answered like the rest
		ReadHeaderTimeout:            10 * time.Second,
		ReadTimeout:                  bodyTime, // of a body, too, which may stop for less: see incoming
		MaxHeaderBytes:               maxHeaderSize,
		WriteTimeout:                 answerTime,
		IdleTimeout:                  2 * time.Minute,
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
}
