package server

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/activity"
)

// pageKey marks in an echo.Context that a person asks, who is answered with a page instead of an envelope.
const pageKey = "page"

// asPage has a handler answer a person, who does what it does.
func asPage(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Set(pageKey, true)
		r := c.Request()
		by := activity.Actor{Type: activity.ActorCustomer, RequestID: caller.RequestID(r.Context())}
		c.SetRequest(r.WithContext(activity.As(r.Context(), by)))
		return h(c)
	}
}

// isForm reports whether a person sent a form. Forms have no Idempotency-Key. After a failure of ours nobody knows how far a
// form got, so nobody is invited to send it again.
func isForm(c echo.Context) bool {
	return c.Get(pageKey) != nil && c.Request().Method == http.MethodPost
}

// asksForPage reports whether a browser asks for something that is no part of the API.
func asksForPage(r *http.Request) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return first != "v1" && first != "public" && first != "hooks" && strings.Contains(r.Header.Get(echo.HeaderAccept), "text/html")
}

// refusePage answers with a page if a page was asked for, and reports whether it did. Of what was refused because too much is under way it is
// known that nothing was done.
func (s *Server) refusePage(c echo.Context, status int, isCrowded bool) bool {
	if s.errorPage == nil || c.Get(pageKey) == nil && !asksForPage(c.Request()) {
		return false
	}
	if err := s.errorPage(c, status, isCrowded); err != nil {
		s.logFailure(c.Request().Context(), err)
	}
	return c.Response().Committed
}
