package stripefake

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Event is a notification that waits to be delivered.
type Event struct {
	ID, Type string
	Body     []byte
}

// emit notes an event about an object. It has an old version of Stripe's API, because a seller's endpoint may have one.
func (f *Fake) emit(kind string, o object) {
	e := f.add("event", "evt", object{"type": kind, "api_version": "2020-08-27", "data": object{"object": copyOf(o)}})
	body, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	f.events = append(f.events, Event{e["id"].(string), kind, body})
}

// Events returns what happened since the last call.
func (f *Fake) Events() []Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	events := f.events
	f.events = nil
	return events
}

// Sign returns the header with which Stripe would send a body at a time.
func (f *Fake) Sign(body []byte, at time.Time) http.Header {
	mac := hmac.New(sha256.New, []byte(f.WebhookSecret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return http.Header{"Stripe-Signature": {fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))}}
}

// Deliver sends an event to an address and returns the status of the answer.
func (f *Fake) Deliver(url string, e Event) (int, error) {
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(e.Body))
	if err != nil {
		return 0, err
	}
	r.Header = f.Sign(e.Body, time.Now())
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}
