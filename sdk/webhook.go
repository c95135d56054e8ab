package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/webhooks/signature"
)

var (
	// ErrNotSigned means that a delivery carries no signature header.
	ErrNotSigned = errors.New("sdk: the webhook carries no signature")
	// ErrBadSignature means that the body was not signed with this secret, or was changed on the way.
	ErrBadSignature = errors.New("sdk: the webhook's signature does not match its body")
)

// WebhookOption configures VerifyWebhook.
type WebhookOption func(*verification)

type verification struct{ header string }

// WithSignatureHeader accepts the signature in this header only, for example "X-Acme-Hmac-SHA256". Without it any header
// X-<Service>-Hmac-SHA256 will do: the name is the server's setting, the secret is what makes a signature good.
func WithSignatureHeader(name string) WebhookOption {
	return func(v *verification) { v.header = name }
}

// VerifyWebhook checks that a delivery was signed with the endpoint's secret (`whsec_...`), in constant time, and returns its
// event. body must be the bytes as they were received. It returns ErrNotSigned or ErrBadSignature, for errors.Is, for what to
// answer with 401, and another error for a signed body that is no event.
//
// The same event may come twice: remember Event.ID. Answer 2xx within five seconds, work later.
func VerifyWebhook(body []byte, header http.Header, secret string, options ...WebhookOption) (*Event, error) {
	var v verification
	for _, option := range options {
		option(&v)
	}
	if secret == "" {
		return nil, errors.New("sdk: VerifyWebhook: the secret is empty")
	}
	signatures := v.signatures(header)
	if len(signatures) == 0 {
		return nil, ErrNotSigned
	}
	for _, value := range signatures {
		if signature.Verify(body, secret, value) {
			return parseEvent(body)
		}
	}
	return nil, ErrBadSignature
}

// signatures compares names in any case, because not every framework canonicalises them.
func (v *verification) signatures(header http.Header) []string {
	var found []string
	for name, values := range header {
		if v.accepts(name) {
			found = append(found, values...)
		}
	}
	return found
}

func (v *verification) accepts(name string) bool {
	if v.header != "" {
		return strings.EqualFold(name, v.header)
	}
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "x-") && strings.HasSuffix(name, "-hmac-sha256")
}

func parseEvent(body []byte) (*Event, error) {
	event := new(Event)
	if err := json.Unmarshal(body, event); err != nil {
		return nil, fmt.Errorf("sdk: the webhook is signed but its body is no event: %w", err)
	}
	if event.ID == "" || event.Type == "" {
		return nil, errors.New("sdk: the webhook is signed but its body is no event: it has no id or no type")
	}
	return event, nil
}
