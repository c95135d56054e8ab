package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	answers "github.com/tillwright/tillwright/openapi/answer"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/core"
)

// The codes of errors that only HTTP has. The store has the others.
const (
	codeMethodNotAllowed core.Code = "method_not_allowed"
	codeHeadersTooLarge  core.Code = "request_headers_too_large"
	codeInternal         core.Code = "api_error"

	// outOfReach is sent as codeInternal: both mean the same to a client, and the status tells them apart.
	outOfReach core.Code = "unavailable"
)

// unavailableFor is how long a client should wait before it asks again. The database restarts within seconds.
const unavailableFor = time.Second

const (
	typeInvalidRequest = "invalid_request_error"
	typeValidation     = "validation_error"
	typeAPI            = "api_error"
)

// statusOf returns the status and the type of error of each code. A code that is missing here is a mistake of ours: 500.
func statusOf(code core.Code) (status int, kind string) {
	switch code {
	case core.CodeBadRequest, core.CodeParameterMissing:
		return http.StatusBadRequest, typeInvalidRequest
	case core.CodeUnauthenticated:
		return http.StatusUnauthorized, typeInvalidRequest
	case core.CodePlan:
		return http.StatusPaymentRequired, typeInvalidRequest
	case core.CodeForbidden:
		return http.StatusForbidden, typeInvalidRequest
	case core.CodeMissing:
		return http.StatusNotFound, typeInvalidRequest
	case codeMethodNotAllowed:
		return http.StatusMethodNotAllowed, typeInvalidRequest
	case core.CodeInProgress, core.CodeNotActivated, core.CodePermission, core.CodeMedia, core.CodeUploadConflict:
		return http.StatusConflict, typeInvalidRequest
	case core.CodeGone:
		return http.StatusGone, typeInvalidRequest
	case core.CodeTooLarge:
		return http.StatusRequestEntityTooLarge, typeInvalidRequest
	case core.CodeMediaType:
		return http.StatusUnsupportedMediaType, typeInvalidRequest
	case core.CodeInvalid, core.CodeKeyReused, core.CodeSpendLimit:
		return http.StatusUnprocessableEntity, typeValidation
	case core.CodeRateLimit:
		return http.StatusTooManyRequests, typeInvalidRequest
	case codeHeadersTooLarge:
		return http.StatusRequestHeaderFieldsTooLarge, typeInvalidRequest
	case outOfReach:
		return http.StatusServiceUnavailable, typeAPI
	}
	return http.StatusInternalServerError, typeAPI
}

// envelope is the body of every failed response.
type envelope struct {
	Error envelopeError `json:"error"`
}

type envelopeError struct {
	Type    string              `json:"type"`
	Code    core.Code           `json:"code"`
	Message string              `json:"message"`
	Param   string              `json:"param,omitempty"`
	Errors  map[string][]string `json:"errors,omitempty"`
}

// refuse answers with err in an envelope. A failure of ours is logged, once, with the request's id; the client learns only that
// it happened.
func (s *Server) refuse(c echo.Context, err error) {
	e := explain(err, c.Request())
	status, kind := statusOf(e.Code)
	if status >= http.StatusInternalServerError {
		s.logFailure(c.Request().Context(), err)
	}
	if c.Response().Committed {
		return
	}
	h := c.Response().Header()
	switch e.Code {
	case core.CodeUnauthenticated:
		h.Set(echo.HeaderWWWAuthenticate, "Bearer")
	case core.CodeInProgress:
		h.Set(echo.HeaderRetryAfter, "1")
	}
	if e.After > 0 && !(status >= http.StatusInternalServerError && isForm(c)) {
		h.Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(e.After.Seconds()))))
	}
	code := e.Code
	if code == outOfReach {
		code = codeInternal
	}
	caller.Of(c.Request().Context()).Code = string(code)
	if s.refusePage(c, status) {
		return
	}
	body, err := json.Marshal(envelope{bounded(envelopeError{kind, code, e.Message, e.Param, e.Fields})})
	if err != nil {
		body = []byte(`{"error":{"type":"api_error","code":"api_error","message":"The error cannot be shown."}}`)
	}
	caller.Of(c.Request().Context()).Refusal = body
	writeJSON(c.Response(), c.Request().Method, status, append(body, '\n'))
}

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

// refusePage answers with a page if a page was asked for, and reports whether it did.
func (s *Server) refusePage(c echo.Context, status int) bool {
	if s.errorPage == nil || c.Get(pageKey) == nil && !asksForPage(c.Request()) {
		return false
	}
	if err := s.errorPage(c, status); err != nil {
		s.logFailure(c.Request().Context(), err)
	}
	return c.Response().Committed
}

// The most that an envelope may contain, in characters and fields. Any of them may repeat what the client sent.
const (
	maxMessage = 1000
	maxParam   = 200
	maxFields  = 100
)

// bounded shortens an error that repeats so much of the request that the answer would be as long.
func bounded(e envelopeError) envelopeError {
	e.Message, e.Param = shorten(e.Message, maxMessage), shorten(e.Param, maxParam)
	if e.Errors == nil {
		return e
	}
	fields := slices.Sorted(maps.Keys(e.Errors))
	all := e.Errors
	e.Errors = make(map[string][]string, min(len(fields), maxFields))
	for _, field := range fields[:min(len(fields), maxFields)] {
		for _, message := range all[field] {
			at := shorten(field, maxParam)
			e.Errors[at] = append(e.Errors[at], shorten(message, maxMessage))
		}
	}
	return e
}

func (s *Server) logFailure(ctx context.Context, err error) {
	level := slog.LevelError
	if errors.Is(err, context.Canceled) {
		level = slog.LevelInfo // the client went away
	}
	s.log.LogAttrs(ctx, level, "request failed", slog.String("error", err.Error()))
}

// explain turns whatever ended a request into an error with a code.
func explain(err error, r *http.Request) *core.Error {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return &core.Error{Code: outOfReach, Message: "The request was given up before it was answered."} // nobody reads it; it stands in the log of requests
	}
	if away, ok := errors.AsType[*core.UnavailableError](err); ok {
		return unavailable(away, r.Header[headerIdempotencyKey] != nil)
	}
	return translate(err, r.Body)
}

// translate turns an error of any layer into one with a code. Body is the body of the request.
func translate(err error, body io.Reader) *core.Error {
	var known *core.Error
	if errors.As(err, &known) {
		return known
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &core.Error{Code: core.CodeTooLarge, Message: fmt.Sprintf("The body is larger than the %d bytes that are taken here.", tooLarge.Limit)}
	}
	if tooMuch, ok := errors.AsType[*answers.TooLargeError](err); ok {
		return &core.Error{Code: core.CodeBadRequest, Param: "limit",
			Message: fmt.Sprintf("The answer would be larger than %d MiB: the first %d objects are all that fit. Ask for fewer.", answers.Most>>20, tooMuch.Fit)}
	}
	var binding *echo.HTTPError
	if errors.As(err, &binding) && binding.Code == http.StatusBadRequest {
		return bindingRefusal(binding, body)
	}
	return &core.Error{
		Code:    codeInternal,
		Message: "Something went wrong on our side. Repeat the request, and quote x-request-id if it persists.",
	}
}

// unavailable returns the error for a database that could not be reached. If the request may have been done all the same, the
// client is not told to send it again, unless a key makes sure that it is not done twice.
func unavailable(err *core.UnavailableError, hasKey bool) *core.Error {
	switch {
	case err.Busy && !err.Unclear:
		return &core.Error{Code: outOfReach, After: unavailableFor,
			Message: "Too many requests are under way at once, and nothing was changed. Send fewer at a time, and the same request again."}
	case !err.Unclear:
		return &core.Error{Code: outOfReach, After: unavailableFor,
			Message: "The database is not available at the moment, and nothing was changed. Send the same request again."}
	case hasKey:
		return &core.Error{Code: outOfReach, After: unavailableFor,
			Message: "The database was lost on the way: the change may have been made. Send the same request again with the same Idempotency-Key, which finds out and does nothing twice."}
	}
	return &core.Error{Code: codeInternal,
		Message: "The database was lost on the way: the change may have been made. Look whether it was before you send the request again, and send an Idempotency-Key, which spares you that."}
}

// bindingRefusal refuses values that the document's schema allows and a Go type does not, such as 19.0 for an integer.
func bindingRefusal(err *echo.HTTPError, body io.Reader) *core.Error {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		field := mistyped.Field
		message := fmt.Sprintf("%s cannot be a %s.", field, mistyped.Value)
		if number, ok := strings.CutPrefix(mistyped.Value, "number "); ok {
			if body, ok := body.(interface{ ValidatedValue() any }); ok {
				if path, found := pathTo(body.ValidatedValue(), strings.Split(field, "."), number); found {
					field = strings.Join(path, ".")
				}
			}
			message = fmt.Sprintf("%s must be an integer in plain digits, not %s.", field, number)
		}
		return &core.Error{Code: core.CodeBadRequest, Param: field, Message: message}
	}
	message, _ := err.Message.(string)
	refusal := &core.Error{Code: core.CodeBadRequest, Message: message}
	if rest, ok := strings.CutPrefix(message, "Invalid format for parameter "); ok {
		refusal.Param, _, _ = strings.Cut(rest, ":")
		refusal.Message = refusal.Param + " does not have the right format."
	}
	return refusal
}

// pathTo returns where a number stands in a value, including the indexes of arrays. Names are the fields on the way to it: Go's
// decoder leaves the indexes out.
func pathTo(value any, names []string, number string) (path []string, found bool) {
	switch v := value.(type) {
	case json.Number:
		return nil, len(names) == 0 && v.String() == number
	case map[string]any:
		if len(names) > 0 {
			path, found = pathTo(v[names[0]], names[1:], number)
			return append([]string{names[0]}, path...), found
		}
	case []any:
		for i, item := range v {
			if path, found = pathTo(item, names, number); found {
				return append([]string{strconv.Itoa(i)}, path...), true
			}
		}
	}
	return nil, false
}

// writeJSON sends a whole body with its length. The answer to a HEAD is the headers alone.
func writeJSON(w http.ResponseWriter, method string, status int, body []byte) {
	setContent(w.Header(), len(body))
	w.WriteHeader(status)
	if method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone; there is nobody else to tell
	}
}

func routeNotFound(c echo.Context) error {
	return &core.Error{Code: core.CodeMissing, Message: "There is nothing at this path. Paths begin with /v1 and have no slash at the end."}
}

// methodNotAllowed answers 405, and names the methods that the path has.
func methodNotAllowed(verbs []string) echo.HandlerFunc {
	allow := strings.Join(verbs, ", ")
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderAllow, allow)
		return &core.Error{Code: codeMethodNotAllowed, Message: "This path takes " + allow + "."}
	}
}
