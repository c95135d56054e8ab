package tiktok

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
)

// envelope is what every answer stands in.
type envelope struct {
	Code      int             `json:"code"`
	Message   string          `json:"message"`
	RequestID string          `json:"request_id"`
	Data      json.RawMessage `json:"data"`
}

// TikTok's codes ("Appendix - Return Codes"). Those from 50000 on are faults of its own: what was asked for may have been done.
const (
	codeOK           = 0
	codePartly       = 20001 // a part of the request was done
	codeNoPermission = 40001
	codeTooFast      = 40100
	codeAppRefused   = 40101 // the app or its secret is wrong
	codeExpired      = 40102
	codeNoToken      = 40104
	codeBadToken     = 40105
	codeBadAuthCode  = 40110
	codeFault        = 50000
)

// open reads the envelope of an answer. Without one, a server or a proxy failed, and the request may or may not have been carried out.
func (r *reply) open() (envelope, error) {
	var said struct {
		envelope
		Code *int `json:"code"`
	}
	if r.status >= 500 || r.status == http.StatusRequestTimeout || r.status/100 == 3 {
		return envelope{}, fmt.Errorf("status %d", r.status)
	}
	if r.status == http.StatusTooManyRequests {
		return envelope{Code: codeTooFast}, nil
	}
	if err := json.Unmarshal(r.body, &said); err != nil || said.Code == nil {
		return envelope{}, fmt.Errorf("status %d without an answer that can be read", r.status)
	}
	said.envelope.Code = *said.Code
	if *said.Code >= codeFault || *said.Code == codePartly {
		return envelope{}, fmt.Errorf("code %d: %s (request %s)", *said.Code, said.Message, said.RequestID)
	}
	return said.envelope, nil
}

// refusal returns the error for an answer, or nil if it is a success.
func (e envelope) refusal(c ads.Conn, r request, answer *reply) error {
	why := fmt.Errorf("code %d: %s (request %s)", e.Code, e.Message, e.RequestID)
	switch e.Code {
	case codeOK:
		return nil
	case codeTooFast:
		return &ads.RateLimited{After: retryAfter(answer.header)}
	case codeExpired, codeNoToken, codeBadToken, codeBadAuthCode:
		return failure(c, r, ads.ErrUnauthorized, why)
	case codeAppRefused:
		return failure(c, r, ads.ErrOperator, why)
	case codeNoPermission:
		return failure(c, r, ads.ErrForbidden, why)
	}
	return &ads.Rejected{Message: clean(c, e.Message), Raw: strconv.Itoa(e.Code)}
}

// retryAfter returns how long the network takes no requests, or 0 if it does not say.
func retryAfter(h http.Header) time.Duration {
	return ads.PauseSeconds(h.Get("Retry-After"))
}

// clean removes the channel's token from a text, and cuts the text if it is long.
func clean(c ads.Conn, text string) string {
	if token := c.Token.Reveal(); token != "" {
		text = strings.ReplaceAll(text, token, "[secret]")
	}
	return strings.ToValidUTF8(text[:min(len(text), longest)], "")
}

// rejected is a refusal that is known without asking.
func rejected(field, message string) error {
	return &ads.Rejected{Field: field, Message: message, Raw: field}
}

// isRejected reports whether the network refused a write because of what it asks for.
func isRejected(err error) bool {
	var refused *ads.Rejected
	return errors.As(err, &refused)
}

// notFound says that TikTok has no such thing.
func notFound(kind, id string) error {
	return fmt.Errorf("tiktok: %s %s: %w", kind, id, ads.ErrNotFound)
}

// harmless returns the error of an upload as one after which nothing was changed: a file alone does nothing.
func harmless(c ads.Conn, err error) error {
	if errors.Is(err, ads.ErrIndeterminate) {
		return fmt.Errorf("tiktok: %w: %s", ads.ErrUnavailable, clean(c, err.Error()))
	}
	return err
}
