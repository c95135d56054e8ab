package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	answers "github.com/tillwright/tillwright/openapi/answer"
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

// explain turns whatever ended a request into an error with a code.
func explain(err error, r *http.Request) *core.Error {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return &core.Error{Code: outOfReach, Message: "The request was given up before it was answered."} // nobody reads it; it stands in the log of requests
	}
	if away, ok := errors.AsType[*core.UnavailableError](err); ok {
		return unavailable(away, r.Header[headerIdempotencyKey] != nil)
	}
	if refused, ok := errors.AsType[*core.CrowdedError](err); ok {
		return crowded(refused)
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
// client is told to send it again only with a key. The key makes sure that it is not done twice.
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
