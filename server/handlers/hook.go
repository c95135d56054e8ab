package handlers

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
)

// Hooks returns where others notify us, by pattern.
func (h *Handlers) Hooks() map[string]echo.HandlerFunc {
	return map[string]echo.HandlerFunc{"POST /hooks/:provider": h.providerHook}
}

// providerHook takes a notification of a payment provider. Any answer but 200 has it sent again.
func (h *Handlers) providerHook(c echo.Context) error {
	r := c.Request()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	err = h.billing.Notify(context.WithoutCancel(r.Context()), c.Param("provider"), r.Header, body)
	if errors.Is(err, payments.ErrForged) {
		return &store.Error{Code: store.CodeBadRequest, Message: "The signature is not that of the provider, or is too old. Sign with the secret that the account has."}
	}
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusOK)
}
