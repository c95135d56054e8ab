package handlers

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
)

// Hooks returns the handlers of notifications that others send us, by route.
func (h *Handlers) Hooks() map[string]echo.HandlerFunc {
	return map[string]echo.HandlerFunc{"POST /hooks/:provider": h.providerHook}
}

// providerHook takes a notification of a payment provider. After any answer but 200 the provider sends it again.
func (h *Handlers) providerHook(c echo.Context) error {
	r := c.Request()
	err := h.billing.Expects(c.Param("provider"), r.Header)
	if err == nil {
		var body []byte
		if body, err = io.ReadAll(r.Body); err != nil {
			return err
		}
		err = h.billing.Notify(context.WithoutCancel(r.Context()), c.Param("provider"), r.Header, body)
	}
	switch {
	case errors.Is(err, payments.ErrForged):
		return &core.Error{Code: core.CodeBadRequest, Message: "The signature is not that of the provider, or is dated more than five minutes from now. Sign with the secret that the account has."}
	case errors.Is(err, payments.ErrUnknownStatus): // answered 200: sent again, it would say the same
		slog.WarnContext(r.Context(), "a notification of a payment provider is left aside", "provider", c.Param("provider"), "error", err)
	case errors.Is(err, payments.ErrUnusable):
		slog.WarnContext(r.Context(), "a notification of a payment provider is refused", "provider", c.Param("provider"), "error", err)
		return &core.Error{Code: core.CodeBadRequest, Message: "The notification is signed, but something in it is missing, of the wrong kind, or not what was asked for."}
	case err != nil:
		return err
	}
	return c.NoContent(http.StatusOK)
}
