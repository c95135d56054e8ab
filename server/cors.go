package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// corsExposed are the headers of answers that a page of another site may read, beside those that every page may.
const corsExposed = "Idempotent-Replayed, RateLimit, RateLimit-Policy, Retry-After, X-RateLimit-Reset, X-Request-Id"

// anyOrigin lets pages of every site read the answers of an operation. What has no API key and no cookie gives a page nothing that its
// reader could not ask for anyway.
func anyOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set(echo.HeaderAccessControlAllowOrigin, "*")
		h.Set(echo.HeaderAccessControlExposeHeaders, corsExposed)
		return next(c)
	}
}

// preflight answers a browser that asks whether a page of another site may send these methods.
func preflight(methods []string) echo.HandlerFunc {
	allowed := strings.Join(methods, ", ")
	return anyOrigin(func(c echo.Context) error {
		h := c.Response().Header()
		h.Set(echo.HeaderAccessControlAllowMethods, allowed)
		h.Set(echo.HeaderAccessControlAllowHeaders, echo.HeaderContentType+", "+headerIdempotencyKey)
		h.Set(echo.HeaderAccessControlMaxAge, "86400")
		return c.NoContent(http.StatusNoContent)
	})
}

// mountPreflight answers OPTIONS on the path of operations that pages of every site may call, and returns its methods with that one.
func (s *Server) mountPreflight(path string, there []*Operation, verbs []string) []string {
	if !slices.ContainsFunc(there, func(op *Operation) bool { return op.CORS }) {
		return verbs
	}
	s.echo.Add(http.MethodOptions, path, s.observe(s.guard(true, preflight(verbs))))
	return append(slices.Clone(verbs), http.MethodOptions)
}
