package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The values of Error.Code. They never change their meaning; a server newer than this package may send others.
const (
	CodeParameterMissing     = "parameter_missing"
	CodeBadRequest           = "bad_request"
	CodeAuthentication       = "authentication_required"
	CodePlanUpgradeRequired  = "plan_upgrade_required"
	CodeForbidden            = "forbidden"
	CodeResourceMissing      = "resource_missing"
	CodeMethodNotAllowed     = "method_not_allowed"
	CodeRequestInProgress    = "idempotency_request_in_progress"
	CodeAccountNotActivated  = "account_not_activated"
	CodeChannelPermission    = "channel_permission_missing"
	CodeMediaProcessing      = "media_processing"
	CodeUploadConflict       = "upload_conflict"
	CodeResourceGone         = "resource_gone"
	CodeRequestTooLarge      = "request_too_large"
	CodeHeadersTooLarge      = "request_headers_too_large"
	CodeUnsupportedMediaType = "unsupported_media_type"
	CodeValidationFailed     = "validation_failed"
	CodeKeyReused            = "idempotency_key_reused"
	CodeSpendLimitExceeded   = "spend_limit_exceeded"
	CodeRateLimitExceeded    = "rate_limit_exceeded"
	CodeAPIError             = "api_error"
)

// snippetLength is how many bytes an error quotes of an answer that does not come from the API.
const snippetLength = 200

// Error is a refusal by the server. Every method returns one when the server answers with a status that is not 2xx. Get it with
// errors.As. Branch on Code; Message is for people.
type Error struct {
	// Operation is the operationId of the call, for example "createProduct".
	Operation string
	// Status is the HTTP status.
	Status int
	// Type is "invalid_request_error", "validation_error" or "api_error".
	Type string
	// Code is one of the Code constants. It is empty when the answer is not the API's, for example a proxy's.
	Code    string
	Message string
	// Param names the offending parameter, if there is one.
	Param string
	// Errors holds the messages by field path, on 422.
	Errors map[string][]string
	// RequestID names the request in the server's log.
	RequestID string
	// RetryAfter is the time that the server asks you to wait, 0 if it does not. It is a year at most.
	RetryAfter time.Duration
}

// Error names the operation, the code and the request, so that a log line is enough to find it.
func (e *Error) Error() string {
	text := fmt.Sprintf("sdk: %s: %d", e.Operation, e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	text += ": " + e.Message
	if e.RequestID != "" {
		text += " (" + e.RequestID + ")"
	}
	return text
}

// CodeOf returns the Code of the Error in err's chain, and "" if there is none.
func CodeOf(err error) string {
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal.Code
	}
	return ""
}

// decodeError reads the error of an answer. If the body is not the API's, as from a proxy, the error quotes its beginning.
func decodeError(operation string, a *answer, now time.Time) *Error {
	var envelope struct {
		Error struct {
			Type    string              `json:"type"`
			Code    string              `json:"code"`
			Message string              `json:"message"`
			Param   string              `json:"param"`
			Errors  map[string][]string `json:"errors"`
		} `json:"error"`
	}
	e := &Error{Operation: operation, Status: a.status, RequestID: requestID(a.header), RetryAfter: retryAfter(a, now)}
	if err := json.Unmarshal(a.body, &envelope); err != nil || envelope.Error.Message == "" {
		e.Message = describe(a)
		return e
	}
	said := envelope.Error
	e.Type, e.Code, e.Message, e.Param, e.Errors = said.Type, said.Code, said.Message, said.Param, said.Errors
	return e
}

// describe quotes the beginning of an answer that does not come from the API.
func describe(a *answer) string {
	text := http.StatusText(a.status)
	body := strings.Join(strings.Fields(strings.ToValidUTF8(string(a.body[:min(len(a.body), snippetLength)]), "")), " ")
	if body == "" {
		return text
	}
	return fmt.Sprintf("%s; the answer is not the API's: %q", text, body)
}

// longestAsked bounds what a server can ask for, so that a sum with it is still a time.
const longestAsked = 365 * 24 * time.Hour

// retryAfter returns how long the server asks to wait, from 0 to longestAsked.
func retryAfter(a *answer, now time.Time) time.Duration {
	return min(max(0, asked(a, now)), longestAsked)
}

// asked returns what Retry-After says, and on a 429 without it the time until the quota's window ends.
func asked(a *answer, now time.Time) time.Duration {
	value := a.header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(0, seconds), int64(longestAsked/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return at.Sub(now)
	}
	reset, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || a.status != http.StatusTooManyRequests {
		return 0
	}
	if date, err := http.ParseTime(a.header.Get("Date")); err == nil {
		now = date // the server's clock: ours may be wrong
	}
	return time.Unix(min(reset, now.Add(longestAsked).Unix()), 0).Sub(now)
}

func requestID(header http.Header) string { return header.Get("X-Request-Id") }
