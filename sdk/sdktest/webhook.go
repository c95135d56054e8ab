package sdktest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"time"

	"github.com/tillwright/tillwright/sdk/signature"
)

// event is what happened, until it is delivered.
type event struct {
	id, kind string
	body     []byte
}

// hooks are what takes events.
type hooks struct {
	handler http.Handler
	secret  string
	isHeld  bool
	held    []*event
	sent    []Delivery
}

// Delivery is a webhook that was handed to the handler.
type Delivery struct {
	EventID string
	// Type is one of the Event constants of the SDK.
	Type string
	Body []byte
	// Status is what the handler answered.
	Status int
}

// Webhooks has every event from now on handed to a handler, signed with a secret (`whsec_...`) in all ways in which the real server signs.
// An event is delivered after the change that it tells of, and before the call that made it returns. So a test needs not wait. A handler
// may call the server. [Server.HoldWebhooks] has events wait.
func (s *Server) Webhooks(handler http.Handler, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks.handler, s.hooks.secret, s.hooks.held = handler, secret, nil
}

// HoldWebhooks has events wait until Flush, for example to deliver them after the answer, as the real server mostly does.
func (s *Server) HoldWebhooks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks.isHeld = true
}

// Flush delivers the events that wait in their order, and returns what the handler made of them.
func (s *Server) Flush() []Delivery {
	s.mu.Lock()
	held := s.hooks.held
	s.hooks.held = nil
	s.mu.Unlock()
	return s.deliver(held)
}

// Deliveries returns what was delivered so far.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.hooks.sent)
}

// Send delivers an event of any type with any resource, at once, and returns what the handler made of it. It is for what nothing here
// brings about, such as invoice.past_due. Without a handler it ends the test.
func (s *Server) Send(eventType string, resource any) Delivery {
	s.t.Helper()
	data, err := json.Marshal(resource)
	if err != nil {
		s.t.Fatalf("sdktest: Send: the resource has no JSON: %v", err)
	}
	s.mu.Lock()
	handler, secret := s.hooks.handler, s.hooks.secret
	e := s.state.newEvent(eventType, json.RawMessage(data))
	s.mu.Unlock()
	if handler == nil {
		s.t.Fatal("sdktest: Send: there is no handler: call Webhooks first")
	}
	return s.hand(e, handler, secret)
}

// Redeliver hands an event over once more, as a seller can ask for. An unknown one ends the test.
func (s *Server) Redeliver(eventID string) Delivery {
	s.t.Helper()
	s.mu.Lock()
	stored := s.state.lookup(webhookEvents.object(), eventID)
	handler, secret := s.hooks.handler, s.hooks.secret
	s.mu.Unlock()
	if stored == nil || handler == nil {
		s.t.Fatalf("sdktest: Redeliver: there is no event %q, or no handler", eventID)
	}
	return s.hand(&event{id: eventID, kind: textOf(stored, "type"), body: payload(stored)}, handler, secret)
}

// happened returns the events of the call that was done, unless they are held. The server is locked.
func (s *Server) happened() []*event {
	events := s.state.events
	s.state.events = nil
	if s.hooks.isHeld {
		s.hooks.held = append(s.hooks.held, events...)
		return nil
	}
	return events
}

// deliver hands events over, one after the other.
func (s *Server) deliver(events []*event) (done []Delivery) {
	s.mu.Lock()
	handler, secret := s.hooks.handler, s.hooks.secret
	s.mu.Unlock()
	for _, e := range events {
		if handler != nil {
			done = append(done, s.hand(e, handler, secret))
		}
	}
	return done
}

// hand makes the request of a delivery and has the handler answer it. A handler that panics fails the test.
func (s *Server) hand(e *event, handler http.Handler, secret string) (d Delivery) {
	now := time.Now()
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(e.body))
	for name, value := range map[string]string{
		"Content-Type":          "application/json",
		"User-Agent":            "Service-Webhooks/1",
		"X-Service-Hmac-SHA256": signature.Sign(e.body, secret),
		"X-Service-Event-Id":    e.id,
		"X-Service-Attempt":     "1",
		"Webhook-Id":            e.id,
		"Webhook-Timestamp":     strconv.FormatInt(now.Unix(), 10),
		"Webhook-Signature":     signature.StandardSign(e.id, now, e.body, secret),
	} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	d = Delivery{EventID: e.id, Type: e.kind, Body: e.body, Status: http.StatusInternalServerError}
	defer func() {
		if p := recover(); p != nil {
			s.t.Errorf("sdktest: the webhook handler panicked at %s: %v", e.kind, p)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hooks.sent = append(s.hooks.sent, d)
	}()
	handler.ServeHTTP(w, r)
	d.Status = w.Code
	return d
}

// emit notes an event with an object as it is now, and the references expanded that the event has.
func (c *call) emit(kind string, o object, expanded ...string) {
	c.events = append(c.events, c.newEvent(kind, c.expanded(o, expanded...)))
}

// newEvent stores an event.
func (s *state) newEvent(kind string, data any) *event {
	c := &call{state: s, now: timestamp(time.Now())}
	o := c.blank(webhookEvents)
	o["type"], o["api_version"], o["data"], o["status"] = kind, "v1", data, nil
	s.put(o)
	return &event{id: textOf(o, "id"), kind: kind, body: payload(o)}
}

// payload returns the body of a delivery.
func payload(o object) []byte {
	return bytes.TrimSpace(encode(object{"id": o["id"], "created_at": o["created_at"], "type": o["type"], "api_version": o["api_version"], "data": o["data"]}))
}

var webhookEvents = &kind{schema: "WebhookEvent"}
