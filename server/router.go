package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// methods are all methods that a request may have. No operation has TRACE.
var methods = [...]string{
	http.MethodConnect, http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions,
	http.MethodPatch, http.MethodPost, http.MethodPut, http.MethodTrace,
}

// router takes the routes of the generated code and mounts each as its operation in the document says. That is under /v1 or at the root, behind
// that operation's own chain.
type router struct {
	server  *Server
	mounted map[*Operation]bool
	unknown []string
}

// mount registers the generated routes, and refuses every other request. It is an error if there is a route that the document
// does not have, or the other way round.
func (s *Server) mount(register func(*router)) error {
	r := &router{server: s, mounted: map[*Operation]bool{}}
	register(r)
	if len(r.unknown) > 0 {
		return fmt.Errorf("routes that the API document does not have: %s", strings.Join(r.unknown, ", "))
	}
	for _, op := range s.operations.All() {
		if !r.mounted[op] {
			return fmt.Errorf("operation %s of the API document has no handler", op.ID)
		}
	}
	r.refuseTheRest()
	return nil
}

// add mounts a route; it implements the generated EchoRouter for every method.
func (r *router) add(method, pattern string, h echo.HandlerFunc, m []echo.MiddlewareFunc) *echo.Route {
	op := r.server.operations.Find(method, pattern)
	if op == nil {
		r.unknown = append(r.unknown, method+" "+pattern)
		return nil
	}
	r.mounted[op] = true
	if !op.Write() {
		r.server.reads[op.Path] = read{op, h}
	}
	if !r.server.has(op) {
		return nil
	}
	h = r.server.observe(r.server.chain(op, h))
	var route *echo.Route
	for _, pattern := range op.patterns() {
		if method == http.MethodGet { // the answer to HEAD is that to GET, without its body
			r.server.echo.Add(http.MethodHead, pattern, h, m...)
		}
		route = r.server.echo.Add(method, pattern, h, m...)
	}
	return route
}

// has reports whether the server has an operation. One for development does not exist on other servers.
func (s *Server) has(op *Operation) bool { return !op.Development || s.develops }

// refuseTheRest answers the other methods of each path with 405, and every other path with 404. Under /v1, except for
// /v1/public, both need a key first, so that a 401 tells nothing about routes. Elsewhere they are counted for the address.
func (r *router) refuseTheRest() {
	s := r.server
	operations := map[string][]*Operation{}
	for _, op := range s.operations.All() {
		if !s.has(op) {
			continue
		}
		for _, pattern := range op.patterns() {
			operations[pattern] = append(operations[pattern], op)
		}
	}
	for pattern, there := range operations {
		var verbs []string
		for _, op := range there {
			verbs = append(verbs, op.Method)
		}
		if slices.Contains(verbs, http.MethodGet) {
			verbs = append(verbs, http.MethodHead)
		}
		verbs = s.mountPreflight(pattern, there, verbs)
		slices.Sort(verbs)
		public := there[len(there)-1].Public
		refuse := s.guard(public, methodNotAllowed(verbs))
		if d := ofPath(there); d != nil {
			refuse = d.headers(refuse)
		}
		s.refuseOthers(pattern, verbs, refuse)
		// A last parameter would take in the slashes after it if nothing followed.
		s.echo.RouteNotFound(pattern+"/*", s.observe(s.guard(public, routeNotFound)))
	}
	s.echo.RouteNotFound("/v1", s.observe(s.guard(false, routeNotFound)))
	s.echo.RouteNotFound("/v1/*", s.observe(s.guard(false, routeNotFound)))
	s.echo.RouteNotFound("/v1/public", s.observe(s.guard(true, routeNotFound)))
	s.echo.RouteNotFound("/v1/public/*", s.observe(s.guard(true, routeNotFound)))
	s.echo.RouteNotFound("/public/*", s.observe(s.guard(true, routeNotFound)))
	s.echo.RouteNotFound("/*", s.observe(s.guard(true, routeNotFound)))
}

// refuseOthers answers every method at a path with refuse, except for verbs.
func (s *Server) refuseOthers(path string, verbs []string, refuse echo.HandlerFunc) {
	refuse = s.observe(refuse)
	for _, method := range methods {
		if !slices.Contains(verbs, method) {
			s.echo.Add(method, path, refuse)
		}
	}
}

// mountPlain registers routes that are not part of the API: "/path" for GET and HEAD, or "METHOD /path".
func (s *Server) mountPlain(routes map[string]echo.HandlerFunc) {
	allowed := map[string][]string{}
	for route, h := range routes {
		verbs := []string{http.MethodGet, http.MethodHead}
		method, path, named := strings.Cut(route, " ")
		if named {
			verbs = []string{method}
		} else {
			path = route
		}
		for _, verb := range verbs {
			s.echo.Add(verb, path, s.observe(h))
		}
		allowed[path] = append(allowed[path], verbs...)
	}
	for path, verbs := range allowed {
		slices.Sort(verbs)
		s.refuseOthers(path, verbs, s.guard(true, methodNotAllowed(verbs)))
	}
}

// leadToPages leads whoever opens the address of a form to the page that the form stands on. They may have it from the list of what they visited.
// The page is the next above that can be looked at.
func (s *Server) leadToPages(pages map[string]echo.HandlerFunc) {
	for route := range pages {
		path, isForm := strings.CutPrefix(route, http.MethodPost+" ")
		if !isForm || pages[path] != nil || pages[http.MethodGet+" "+path] != nil {
			continue
		}
		above := path
		for above != "" && pages[above] == nil {
			above = above[:strings.LastIndex(above, "/")]
		}
		if above == "" {
			continue
		}
		lead := func(c echo.Context) error {
			parts := strings.Split(c.Request().URL.EscapedPath(), "/")
			return c.Redirect(http.StatusSeeOther, strings.Join(parts[:strings.Count(above, "/")+1], "/"))
		}
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			s.echo.Add(method, path, s.observe(asPage(s.countPage(plainPath(lead)))))
		}
	}
}

func (r *router) CONNECT(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return r.add(http.MethodConnect, path, h, m)
}

func (r *router) DELETE(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return r.add(http.MethodDelete, path, h, m)
}

func (r *router) GET(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return r.add(http.MethodGet, path, h, m)
}

func (r *router) HEAD(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return r.add(http.MethodHead, path, h, m)
}

func (r *router) OPTIONS(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return r.add(http.MethodOptions, path, h, m)
}

func (r *router) PATCH(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return r.add(http.MethodPatch, path, h, m)
}

func (r *router) POST(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return r.add(http.MethodPost, path, h, m)
}

func (r *router) PUT(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return r.add(http.MethodPut, path, h, m)
}

func (r *router) TRACE(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) *echo.Route {
	return r.add(http.MethodTrace, path, h, m)
}
