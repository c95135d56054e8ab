package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk/signature"
)

var (
	// ErrNotSigned means that a delivery carries no signature header.
	ErrNotSigned = errors.New("sdk: the webhook carries no signature")
	// ErrBadSignature means that the body was not signed with this secret, or was changed on the way.
	ErrBadSignature = errors.New("sdk: the webhook's signature does not match its body")
)

// webhookTolerance is how far webhook-timestamp may be from now, in both directions.
const webhookTolerance = 5 * time.Minute

// WebhookOption configures VerifyWebhook.
type WebhookOption func(*verification)

type verification struct {
	header string
	now    func() time.Time
}

// WithSignatureHeader accepts the signature in this header only, for example "X-Acme-Hmac-SHA256". While a secret is being
// rotated, it also accepts "X-Acme-Hmac-SHA256-Previous". Without this option any header X-<Service>-Hmac-SHA256 will do, and
// those of Standard Webhooks. The name is a setting of the server; only the secret makes a signature good.
func WithSignatureHeader(name string) WebhookOption {
	return func(v *verification) { v.header = name }
}

// VerifyWebhook checks that a delivery was signed with the endpoint's secret (`whsec_...`), and returns its event. It compares in
// constant time. body must be the bytes as they were received. Answer 401 if errors.Is finds ErrNotSigned or ErrBadSignature. A
// signed body that is no event is another error.
//
// One good signature is enough, in the service's own header or in webhook-signature of Standard Webhooks. The latter is good
// within five minutes of its webhook-timestamp. While a secret is being rotated, the old and the new one both verify, so you
// can change over at any time.
//
// The same event may come twice: remember Event.ID. Answer 2xx within five seconds, and work later.
func VerifyWebhook(body []byte, header http.Header, secret string, options ...WebhookOption) (*Event, error) {
	v := verification{now: time.Now}
	for _, option := range options {
		option(&v)
	}
	if strings.TrimPrefix(secret, signature.Prefix) == "" {
		return nil, errors.New("sdk: VerifyWebhook: the secret is empty")
	}
	if err := v.verify(body, header, secret); err != nil {
		return nil, err
	}
	return parseEvent(body)
}

// verify checks the signatures of a delivery: first the service's own, then the one of Standard Webhooks. One good signature is
// enough.
func (v *verification) verify(body []byte, header http.Header, secret string) error {
	own := valuesOf(header, v.accepts)
	if signature.Verify(body, secret, own...) {
		return nil
	}
	standard := v.standard(header)
	switch {
	case len(own) == 0 && standard == nil:
		return ErrNotSigned
	case standard == nil || !signature.StandardVerify(standard.id, standard.timestamp, body, secret, standard.signatures):
		return ErrBadSignature
	case !v.recent(standard.timestamp):
		return fmt.Errorf("%w: its webhook-timestamp is more than five minutes off", ErrBadSignature)
	}
	return nil
}

func (v *verification) accepts(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), "-previous")
	if v.header != "" {
		return name == strings.ToLower(v.header)
	}
	return strings.HasPrefix(name, "x-") && strings.HasSuffix(name, "-hmac-sha256")
}

// standardHeader holds the three headers of the Standard Webhooks specification.
type standardHeader struct{ id, timestamp, signatures string }

// standard returns the headers of Standard Webhooks. It is nil if the delivery has none, or if WithSignatureHeader asks for
// another header.
func (v *verification) standard(header http.Header) *standardHeader {
	named := func(name string) string {
		return strings.Join(valuesOf(header, func(given string) bool { return strings.EqualFold(given, name) }), " ")
	}
	h := &standardHeader{id: named("webhook-id"), timestamp: named("webhook-timestamp"), signatures: named("webhook-signature")}
	if v.header != "" || h.signatures == "" {
		return nil
	}
	return h
}

func (v *verification) recent(timestamp string) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	return err == nil && v.now().Sub(time.Unix(seconds, 0)).Abs() <= webhookTolerance
}

// valuesOf returns the values of all headers whose name is wanted. It does not rely on their case, because not every framework
// canonicalises names.
func valuesOf(header http.Header, wanted func(name string) bool) []string {
	var found []string
	for name, values := range header {
		if wanted(name) {
			found = append(found, values...)
		}
	}
	return found
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
