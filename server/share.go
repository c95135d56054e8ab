package server

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
)

// sharePatience is how long a request waits before it begins, at most, while others of its account compute.
const sharePatience = 10 * time.Second

// inShare has a request with a key wait for its account's share of the processors. Nobody waits for what has no key: how much of that an address
// may send is bounded. What a page asks from inside does not wait either, since the page has begun.
func (s *Server) inShare(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		who := caller.Of(c.Request().Context())
		if who.Account == "" || who.PersonID != "" {
			s.shares.See(who.Account)
			return next(c)
		}
		if who.Turn, err = s.shares.Begin(c.Request().Context(), who.Account); err != nil {
			return err
		}
		defer who.Turn.End()
		response := c.Response()
		writer := response.Writer
		response.Writer = awaitedAnswer{writer, who.Turn}
		defer func() { response.Writer = writer }()
		return next(c)
	}
}

// seen notes that a stranger is around, whom accounts leave half of the processors.
func (s *Server) seen(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		s.shares.See("")
		return next(c)
	}
}

// awaitedAnswer is an answer for which the turn of its request waits.
type awaitedAnswer struct {
	http.ResponseWriter
	turn *caller.Turn
}

func (a awaitedAnswer) Write(p []byte) (int, error) {
	a.turn.Wait()
	defer a.turn.GoOn()
	return a.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (a awaitedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
