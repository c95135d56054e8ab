package webhooks

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
)

// testsPerMinute is how many test events one endpoint may be sent in a minute. There must be a limit, because whoever
// owns the account need not own the receiver. There are twelve types, and somebody who builds a receiver tries each of
// them a few times.
const testsPerMinute = 60

// Tester sends test events. They stand for nothing that happened and are not stored.
type Tester struct {
	store    *outbox.Store
	renderer *Renderer
	sender   *Sender

	mu     sync.Mutex
	minute time.Time
	sent   map[string]int // to which endpoint in that minute
}

// NewTester returns a tester.
func NewTester(s *outbox.Store, r *Renderer, sender *Sender) *Tester {
	return &Tester{store: s, renderer: r, sender: sender}
}

// Test sends a test event of a type, with the data, to an active endpoint and returns the delivery, which is not stored.
// An inactive endpoint, an unknown type and more than sixty tests within a minute are CodeInvalid. No transaction is
// open while it sends.
func (t *Tester) Test(ctx context.Context, account, endpoint, kind string, data []byte) (*outbox.Delivery, error) {
	e, err := t.store.BeginWebhookTest(ctx, account, endpoint, kind)
	if err != nil {
		return nil, err
	}
	if !t.admit(e.ID) {
		return nil, core.Invalid("base", fmt.Sprintf("An endpoint is sent at most %d test events a minute.", testsPerMinute))
	}
	event := &outbox.Event{ID: core.NewID(core.KindEvent), Type: kind, CreatedAt: t.store.Now()}
	message, err := t.renderer.message(e, event.ID, testBody(event, data), 1)
	if err != nil {
		return nil, err
	}
	return testDelivery(event, e, t.sender.Send(ctx, message)), nil
}

// testBody returns the body of an event that is marked as a test.
func testBody(e *outbox.Event, data []byte) []byte {
	body := []byte(outbox.EventBody(e, data))
	return append(body[:len(body)-1], `,"test":true}`...)
}

// testDelivery returns the delivery as it would be stored.
func testDelivery(event *outbox.Event, e *outbox.WebhookEndpoint, r Result) *outbox.Delivery {
	d := &outbox.Delivery{
		EndpointID: e.ID, EventID: event.ID, Type: event.Type, State: outbox.DeliverySucceeded, Attempts: 1, CreatedAt: event.CreatedAt,
		DurationMS: new(r.Duration.Milliseconds()),
	}
	if r.Reason != "" {
		d.State, d.Reason = outbox.DeliveryFailed, &r.Reason
	}
	if r.StatusCode != 0 {
		d.StatusCode = &r.StatusCode
	}
	if r.Response != "" {
		d.Response = &r.Response
	}
	return d
}

// admit counts a test and reports whether the endpoint may be sent one more in this minute. It remembers only the
// current minute.
func (t *Tester) admit(endpoint string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.store.Now().Time().Truncate(time.Minute); !now.Equal(t.minute) {
		t.minute, t.sent = now, map[string]int{}
	}
	t.sent[endpoint]++
	return t.sent[endpoint] <= testsPerMinute
}
