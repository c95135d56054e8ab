package metafake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// Error is an error as Meta writes it.
type Error struct {
	Status  int    `json:"-"`
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    int    `json:"code"`
	Subcode int    `json:"error_subcode,omitempty"`
	Title   string `json:"error_user_title,omitempty"`
	User    string `json:"error_user_msg,omitempty"`
	Trace   string `json:"fbtrace_id"`
	Data    any    `json:"error_data,omitempty"`

	Rule   string `json:"-"` // the number of Meta's rule that was broken, see rule.go
	regain int    // minutes until a rate limit is over
}

const trace = "AfakeTraceOfTheRequest0"

// invalid returns Meta's error for a parameter that is wrong.
func invalid(format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Message: "(#100) " + fmt.Sprintf(format, args...), Type: "OAuthException", Code: 100, Trace: trace}
}

// refused returns an error whose reason people can read.
func refused(subcode int, user string) *Error {
	return &Error{Status: http.StatusBadRequest, Message: "Invalid parameter", Type: "OAuthException", Code: 100, Subcode: subcode,
		Title: "Invalid parameter", User: user, Trace: trace}
}

// blame adds to an error which parameter is wrong.
func (e *Error) blame(param string) *Error {
	e.Data = map[string]any{"blame_field_specs": [][]string{{param}}}
	return e
}

// missing returns the error for an object that does not exist or is not the caller's.
func missing(method, id string) *Error {
	verb := map[string]string{"GET": "get", "POST": "post", "DELETE": "delete"}[method]
	return &Error{Status: http.StatusBadRequest, Type: "GraphMethodException", Code: 100, Subcode: 33, Trace: trace,
		Message: fmt.Sprintf("Unsupported %s request. Object with ID '%s' does not exist, cannot be loaded due to missing permissions, "+
			"or does not support this operation", verb, id)}
}

// unauthorized returns an error that repeats the token, as careless software does. No driver may pass that on.
func unauthorized(token string) *Error {
	return &Error{Status: http.StatusUnauthorized, Type: "OAuthException", Code: 190, Trace: trace,
		Message: "Error validating access token " + token + ": Session has expired"}
}

// oauth returns an error about the token itself.
func oauth(status, code int, message string) *Error {
	return &Error{Status: status, Message: message, Type: "OAuthException", Code: code, Trace: trace}
}

func rateLimited(code, minutes int) *Error {
	e := &Error{Status: http.StatusBadRequest, Type: "OAuthException", Code: code, Trace: trace, regain: minutes}
	switch code {
	case 17:
		e.Message, e.Subcode = "User request limit reached", 2446079
	case 613:
		e.Message, e.Subcode = "Calls to this api have exceeded the rate limit.", 1487742
	default:
		e.Message = fmt.Sprintf("(#%d) There have been too many calls to this ad-account. Wait a bit and try again.", code)
		e.Subcode = 2446079
	}
	return e
}

// write answers with the error and, for a rate limit, with the usage header that says how long it lasts.
func (e *Error) write(w http.ResponseWriter, account string) {
	if e.regain > 0 {
		usage := map[string][]map[string]any{account: {{"type": "ads_management", "call_count": 100, "total_cputime": 25,
			"total_time": 25, "estimated_time_to_regain_access": e.regain}}}
		text, _ := json.Marshal(usage)
		w.Header().Set("X-Business-Use-Case-Usage", string(text))
	}
	answer(w, e.Status, map[string]any{"error": e})
}

func answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text)
}
