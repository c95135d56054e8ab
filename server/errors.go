package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/store"
)

// The codes that only HTTP has, beside those of the store.
const (
	codeMethodNotAllowed store.Code = "method_not_allowed"
	codeTooLarge         store.Code = "request_too_large"
	codeHeadersTooLarge  store.Code = "request_headers_too_large"
	codeMediaType        store.Code = "unsupported_media_type"
	codeInternal         store.Code = "api_error"
)

const (
	typeInvalidRequest = "invalid_request_error"
	typeValidation     = "validation_error"
	typeAPI            = "api_error"
)

// statusOf is the one table of codes. A code that it does not know is a mistake of ours: 500.
func statusOf(code store.Code) (status int, kind string) {
	switch code {
	case store.CodeBadRequest, store.CodeParameterMissing:
		return http.StatusBadRequest, typeInvalidRequest
	case store.CodeUnauthenticated:
		return http.StatusUnauthorized, typeInvalidRequest
	case store.CodePlan:
		return http.StatusPaymentRequired, typeInvalidRequest
	case store.CodeForbidden:
		return http.StatusForbidden, typeInvalidRequest
	case store.CodeMissing:
		return http.StatusNotFound, typeInvalidRequest
	case codeMethodNotAllowed:
		return http.StatusMethodNotAllowed, typeInvalidRequest
	case store.CodeInProgress:
		return http.StatusConflict, typeInvalidRequest
	case codeTooLarge:
		return http.StatusRequestEntityTooLarge, typeInvalidRequest
	case codeMediaType:
		return http.StatusUnsupportedMediaType, typeInvalidRequest
	case store.CodeInvalid, store.CodeKeyReused:
		return http.StatusUnprocessableEntity, typeValidation
	case store.CodeRateLimit:
		return http.StatusTooManyRequests, typeInvalidRequest
	case codeHeadersTooLarge:
		return http.StatusRequestHeaderFieldsTooLarge, typeInvalidRequest
	}
	return http.StatusInternalServerError, typeAPI
}

// envelope is the body of every failed response.
type envelope struct {
	Error envelopeError `json:"error"`
}

type envelopeError struct {
	Type    string              `json:"type"`
	Code    store.Code          `json:"code"`
	Message string              `json:"message"`
	Param   string              `json:"param,omitempty"`
	Errors  map[string][]string `json:"errors,omitempty"`
}

// refuse writes err as the envelope. What is nobody's fault but ours is logged,
// once, with the request's id; the caller learns only that it happened.
func (s *Server) refuse(c echo.Context, err error) {
	e := translate(err)
	status, kind := statusOf(e.Code)
	if status == http.StatusInternalServerError {
		s.logFailure(c.Request().Context(), err)
	}
	if c.Response().Committed {
		return
	}
	h := c.Response().Header()
	switch e.Code {
	case store.CodeUnauthenticated:
		h.Set(echo.HeaderWWWAuthenticate, "Bearer")
	case store.CodeInProgress:
		h.Set(echo.HeaderRetryAfter, "1")
	}
	body, err := json.Marshal(envelope{envelopeError{kind, e.Code, e.Message, e.Param, e.Fields}})
	if err != nil {
		body = []byte(`{"error":{"type":"api_error","code":"api_error","message":"The error cannot be shown."}}`)
	}
	writeJSON(c.Response(), c.Request().Method, status, append(body, '\n'))
}

func (s *Server) logFailure(ctx context.Context, err error) {
	level := slog.LevelError
	if errors.Is(err, context.Canceled) {
		level = slog.LevelInfo // the client went away
	}
	s.log.LogAttrs(ctx, level, "request failed", slog.String("error", err.Error()))
}

// translate makes the error of any layer one with a code.
func translate(err error) *store.Error {
	var known *store.Error
	if errors.As(err, &known) {
		return known
	}
	var binding *echo.HTTPError
	if errors.As(err, &binding) && binding.Code == http.StatusBadRequest {
		return bindingRefusal(binding)
	}
	return &store.Error{
		Code:    codeInternal,
		Message: "Something went wrong on our side. Repeat the request, and quote x-request-id if it persists.",
	}
}

// bindingRefusal is for what the document's schema lets pass and a Go type does
// not, such as 19.0 for an integer.
func bindingRefusal(err *echo.HTTPError) *store.Error {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		message := fmt.Sprintf("%s cannot be a %s.", mistyped.Field, mistyped.Value)
		if number, ok := strings.CutPrefix(mistyped.Value, "number "); ok {
			message = fmt.Sprintf("%s must be an integer in plain digits, not %s.", mistyped.Field, number)
		}
		return &store.Error{Code: store.CodeBadRequest, Param: mistyped.Field, Message: message}
	}
	message, _ := err.Message.(string)
	refusal := &store.Error{Code: store.CodeBadRequest, Message: message}
	if rest, ok := strings.CutPrefix(message, "Invalid format for parameter "); ok {
		refusal.Param, _, _ = strings.Cut(rest, ":")
		refusal.Message = refusal.Param + " does not have the right format."
	}
	return refusal
}

// writeJSON sends a whole body with its length, or the headers alone to a HEAD.
func writeJSON(w http.ResponseWriter, method string, status int, body []byte) {
	setContent(w.Header(), len(body))
	w.WriteHeader(status)
	if method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone; there is nobody else to tell
	}
}

func routeNotFound(c echo.Context) error {
	return &store.Error{Code: store.CodeMissing, Message: "There is nothing at this path. Paths begin with /v1 and have no slash at the end."}
}

// methodNotAllowed refuses a request to a path that has other methods.
func methodNotAllowed(verbs []string) echo.HandlerFunc {
	allow := strings.Join(verbs, ", ")
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderAllow, allow)
		return &store.Error{Code: codeMethodNotAllowed, Message: "This path takes " + allow + "."}
	}
}
