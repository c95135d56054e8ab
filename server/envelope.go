package server

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
)

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

// refuse answers with err in an envelope, or with a page. A failure of ours is noted for the log, which has it once, with the request's id; the
// client learns only that it happened.
func (s *Server) refuse(c echo.Context, err error) {
	e := explain(err, c.Request())
	status, kind := statusOf(e.Code)
	code := e.Code
	if code == outOfReach {
		code = codeInternal
	}
	who := caller.Of(c.Request().Context())
	who.Code = string(code)
	if status >= http.StatusInternalServerError {
		who.Failure = err
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
	_, isCrowded := errors.AsType[*core.CrowdedError](err)
	if e.After > 0 && (isCrowded || !(status >= http.StatusInternalServerError && isForm(c))) {
		h.Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(e.After.Seconds()))))
	}
	if s.refusePage(c, status, isCrowded) {
		return
	}
	body, err := json.Marshal(envelope{bounded(envelopeError{kind, code, e.Message, e.Param, e.Fields})})
	if err != nil {
		body = []byte(`{"error":{"type":"api_error","code":"api_error","message":"The error cannot be shown."}}`)
	}
	who.Refusal = body
	writeJSON(c.Response(), c.Request().Method, status, append(body, '\n'))
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

// writeJSON sends a whole body with its length. The answer to a HEAD is the headers alone.
func writeJSON(w http.ResponseWriter, method string, status int, body []byte) {
	setContent(w.Header(), len(body))
	w.WriteHeader(status)
	if method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone; there is nobody else to tell
	}
}
