package server

import (
	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

// scopeNone is the x-scope of an operation that every key may call, and that looks itself what it may show.
const scopeNone = "none"

// needScope refuses an API key that lacks the scope. If self is true (x-self), a key may always ask about itself.
func needScope(scope string, self bool) echo.MiddlewareFunc {
	refusal := &core.Error{
		Code: core.CodeForbidden, Param: scope,
		Message: "This API key lacks the scope " + scope + ". Make a key with it, or one without scopes, which may do everything.",
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			who := caller.Of(c.Request().Context())
			if !who.May(scope) && !(self && c.Param("id") == who.KeyID) {
				return refusal
			}
			who.Needed = append(who.Needed, scope)
			return next(c)
		}
	}
}
