package server

import (
	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store"
)

// needScope refuses a key that was made for other things.
func needScope(scope string) echo.MiddlewareFunc {
	refusal := &store.Error{
		Code: store.CodeForbidden, Param: scope,
		Message: "This API key lacks the scope " + scope + ". Make a key with it, or one without scopes, which may do everything.",
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if !caller.Of(c.Request().Context()).May(scope) {
				return refusal
			}
			return next(c)
		}
	}
}
