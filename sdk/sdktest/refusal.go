package sdktest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/sdk"
)

// codeNotFaked is the code of what the real server does and this one does not. Only this package sends it.
const codeNotFaked = "not_faked"

// refusal is an error of the API.
type refusal struct {
	status int

	Type    string              `json:"type"`
	Code    string              `json:"code"`
	Message string              `json:"message"`
	Param   string              `json:"param,omitempty"`
	Errors  map[string][]string `json:"errors,omitempty"`
}

// Error is the message.
func (r *refusal) Error() string { return r.Message }

// errorCodes are the codes that a status has, if it is not said otherwise.
var errorCodes = map[int]string{
	http.StatusBadRequest:            sdk.CodeBadRequest,
	http.StatusUnauthorized:          sdk.CodeAuthentication,
	http.StatusPaymentRequired:       sdk.CodePlanUpgradeRequired,
	http.StatusForbidden:             sdk.CodeForbidden,
	http.StatusNotFound:              sdk.CodeResourceMissing,
	http.StatusMethodNotAllowed:      sdk.CodeMethodNotAllowed,
	http.StatusConflict:              sdk.CodeRequestInProgress,
	http.StatusGone:                  sdk.CodeResourceGone,
	http.StatusRequestEntityTooLarge: sdk.CodeRequestTooLarge,
	http.StatusUnsupportedMediaType:  sdk.CodeUnsupportedMediaType,
	http.StatusUnprocessableEntity:   sdk.CodeValidationFailed,
	http.StatusTooManyRequests:       sdk.CodeRateLimitExceeded,
	http.StatusNotImplemented:        codeNotFaked,
}

// refuse returns an error of the API with the code and type of its status. Of a 422 the message is about param, too.
func refuse(status int, param, message string) *refusal {
	r := &refusal{status: status, Type: "invalid_request_error", Code: errorCodes[status], Message: message, Param: param}
	switch {
	case status == http.StatusUnprocessableEntity:
		r.Type = "validation_error"
		if param != "" {
			r.Errors = map[string][]string{param: {message}}
		}
	case status >= http.StatusInternalServerError:
		r.Type = "api_error"
	}
	if r.Code == "" {
		r.Code = sdk.CodeBadRequest
		if status >= http.StatusInternalServerError {
			r.Code = sdk.CodeAPIError
		}
	}
	return r
}

// unfaked says that this server does not do something that the real one does.
func unfaked(what string) *refusal {
	return refuse(http.StatusNotImplemented, "", "sdktest does not "+what+". Its package documentation lists what it does. "+
		"Use a development server for the rest: tillwright serve --demo.")
}

// missing says that there is no such object. Param names the field that refers to it, and is empty for the path.
func missing(kind, ref, param string) *refusal {
	return refuse(http.StatusNotFound, param, fmt.Sprintf("No such %s: '%s'.", kind, ref))
}

// problems are the messages of a 422 by field.
type problems map[string][]string

// check adds a message about a field, unless ok.
func (p problems) check(ok bool, field, message string) {
	if !ok {
		p[field] = append(p[field], message)
	}
}

// err returns the 422, and nil if there is no problem.
func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	var fields []string
	for field := range p {
		fields = append(fields, field)
	}
	slices.Sort(fields)
	first := p[fields[0]][0]
	r := refuse(http.StatusUnprocessableEntity, fields[0], first)
	r.Errors = p
	if strings.HasPrefix(first, "must ") { // of the document: it goes on after the field's name
		r.Message = fields[0] + " " + first + "."
	}
	return r
}
