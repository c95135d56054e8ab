package webhooks

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/webhooks/chat"
)

// Renderer turns an event into the message that an endpoint is sent.
type Renderer struct {
	store *outbox.Store
	base  string

	saysShorter sync.Once
}

// NewRenderer returns a renderer whose chat messages link to objects below base, the public address of the API:
// https://shop.example/v1.
func NewRenderer(s *outbox.Store, base string) *Renderer { return &Renderer{store: s, base: base} }

// message makes the message for an endpoint from the stored body of an event: in the endpoint's format, with the secrets
// that sign it now. The same body always gives the same message.
func (r *Renderer) message(e *outbox.WebhookEndpoint, eventID string, body []byte, attempt int) (Message, error) {
	secret, previous, err := r.store.OpenWebhookSecrets(e)
	if err != nil {
		return Message{}, err
	}
	if previous == "" && e.PreviousSecretAt(r.store.Now()) != nil {
		r.saysShorter.Do(func() {
			slog.Error("webhooks are signed with the new secret alone before the overlap of its rotation is over; no key here opens the one before",
				"endpoint", e.ID, "setting", "TILLWRIGHT_SECRET_KEY")
		})
	}
	m := Message{EventID: eventID, URL: e.URL, Secret: secret, PreviousSecret: previous, Body: body, Attempt: attempt}
	switch e.Format {
	case outbox.WebhookFormatSlack:
		m.Body, err = chat.Slack(body, r.base)
	case outbox.WebhookFormatDiscord:
		m.Body, err = chat.Discord(body, r.base)
	default:
		return m, nil
	}
	if err != nil {
		return Message{}, fmt.Errorf("%s message of %s: %w", e.Format, eventID, err)
	}
	m.Chat = true
	return m, nil
}
