package core

import (
	"errors"
	"fmt"
	"time"
)

// Code tells a caller of the API what went wrong. Codes are forever; messages may change.
type Code string

// The codes of the store. The server maps each to one status and error type.
const (
	CodeMissing          Code = "resource_missing"
	CodeInvalid          Code = "validation_failed"
	CodeBadRequest       Code = "bad_request"
	CodeParameterMissing Code = "parameter_missing"
	CodeUnauthenticated  Code = "authentication_required"
	CodeForbidden        Code = "forbidden"
	CodePlan             Code = "plan_upgrade_required"
	CodeKeyReused        Code = "idempotency_key_reused"
	CodeInProgress       Code = "idempotency_request_in_progress"
	CodeRateLimit        Code = "rate_limit_exceeded"
	CodeNotActivated     Code = "account_not_activated"
	CodeSpendLimit       Code = "spend_limit_exceeded"
	CodePermission       Code = "channel_permission_missing"
	CodeMedia            Code = "media_processing"
	CodeUploadConflict   Code = "upload_conflict"
	CodeGone             Code = "resource_gone"
	CodeTooLarge         Code = "request_too_large"
	CodeMediaType        Code = "unsupported_media_type"
)

// Outcome says what an error means for the write request that it ends: what is stored, and whether its Idempotency-Key is free
// again.
type Outcome int

const (
	// Refused changed nothing: the request rolls back and its Idempotency-Key is free again.
	Refused Outcome = iota
	// Recorded is an answer as a success is, such as a declined charge: it commits and is replayed.
	Recorded
	// Unknown may have had an effect outside: the key stays taken, and the same request sent again finds out what became of it.
	Unknown
)

// Error is a failure that the caller of the API can do something about.
type Error struct {
	Code    Code
	Param   string              // the offending parameter, when there is one
	Message string              // for the integrator's developer: says what to send instead
	Fields  map[string][]string // for CodeInvalid: field path to messages
	Reason  string              // for pages, which say it in the reader's language: why, in one word such as expired_card; empty if Message alone says it
	Named   []any               // what pages put into that: a name and its value, and so on
	Outcome Outcome
	After   time.Duration // for CodeRateLimit, CodeUploadConflict and CodeInProgress: how long to wait before asking again, if it is not the server's own limit

	ForSeller bool // Message is for the seller alone: a page does not show it to a customer
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// CrowdedError refuses a request because too much is under way at once, before anything of it was done. Too much is under way by whoever asks, or,
// with ByAll, by all together. A moment later there may be room.
type CrowdedError struct{ ByAll bool }

// Error says so, for the log.
func (e *CrowdedError) Error() string {
	if e.ByAll {
		return "too much is under way in all"
	}
	return "too much is under way from one address or account"
}

// UnknownError ends a request when nobody knows what became of it outside, or when something was done already. Then it must not be taken for a
// request that changed nothing. It hides its cause from errors.As: an *Error inside it would be taken for the answer and free the Idempotency-Key.
// Only an *UnavailableError shows, which is no answer.
type UnknownError struct {
	what  string
	cause error
}

// NewUnknownError returns an UnknownError. What says what was being done, for the log.
func NewUnknownError(what string, cause error) *UnknownError { return &UnknownError{what, cause} }

// Error returns what was being done, and why nobody knows what became of it.
func (e *UnknownError) Error() string { return fmt.Sprintf("%s: %v", e.what, e.cause) }

// As finds an *UnavailableError in the cause, and nothing else.
func (e *UnknownError) As(target any) bool {
	_, wanted := target.(**UnavailableError)
	return wanted && errors.As(e.cause, target)
}

// UnavailableError says that the database could not do its part: it is away, starting, stopping, full, read-only or too busy.
// The request is not to blame, and may succeed later.
type UnavailableError struct {
	Cause error // for the log
	// Unclear is true if something may have been done all the same: a COMMIT was sent, or an earlier step has committed. The
	// same request with the same Idempotency-Key finds out what became of it; without a key somebody has to look.
	Unclear bool
	// Busy is true if too much was under way at once, of everybody or of one account, and nothing is wrong with the database.
	Busy bool
}

// Error returns what the database said, or what happened on the way to it. It is for the log.
func (e *UnavailableError) Error() string {
	return fmt.Sprintf("the database is not available: %v", e.Cause)
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Cause }

// OutcomeOf returns the outcome of an error: that of an *Error itself, and Refused for nil. Any other error is Unknown, because
// nobody can say how far it got; so is an *UnknownError.
func OutcomeOf(err error) Outcome {
	var e *Error
	var unknown *UnknownError
	switch {
	case err == nil:
		return Refused
	case errors.As(err, &unknown):
		return Unknown
	case errors.As(err, &e):
		return e.Outcome
	default:
		return Unknown
	}
}

// Missing returns CodeMissing: the account has no such object. Param is the parameter that named it, "" if the path did.
func Missing(object, param, ref string) *Error {
	if characters := []rune(ref); len(characters) > 100 { // nobody's own id is that long
		ref = string(characters[:100]) + "…"
	}
	return &Error{Code: CodeMissing, Param: param, Message: fmt.Sprintf("No such %s: '%s'.", object, ref)}
}

// Invalid returns CodeInvalid for one field, whose value is well-formed but not acceptable.
func Invalid(field, message string) *Error {
	return &Error{Code: CodeInvalid, Param: field, Message: message, Fields: map[string][]string{field: {message}}}
}

// Because returns the error with its reason. Named are names and values that pages say with it: "plan", "Club", and so on.
func (e *Error) Because(reason string, named ...any) *Error {
	e.Reason, e.Named = reason, named
	return e
}

// Problems collects what is wrong with the fields of one request. The zero value is ready to use.
type Problems map[string][]string

// Add notes a message for a field.
func (p *Problems) Add(field, message string) {
	if *p == nil {
		*p = Problems{}
	}
	(*p)[field] = append((*p)[field], message)
}

// Check notes the message for the field unless ok is true.
func (p *Problems) Check(ok bool, field, message string) {
	if !ok {
		p.Add(field, message)
	}
}

// First returns the first field in alphabetical order that has a problem, "" if none has.
func (p Problems) First() string {
	first := ""
	for field := range p {
		if first == "" || field < first {
			first = field
		}
	}
	return first
}

// Err returns nil if there are no problems, else one CodeInvalid with all of them. Its Param is that of First.
func (p Problems) Err() error {
	first := p.First()
	if first == "" {
		return nil
	}
	return &Error{Code: CodeInvalid, Param: first, Message: p[first][0], Fields: p}
}
