package harness

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Delivery is a webhook as it arrived: the exact bytes and headers. Nothing is verified here.
type Delivery struct {
	Header http.Header
	Body   []byte
	At     time.Time
}

// Type returns the event type that the body names.
func (d *Delivery) Type() string {
	var event struct{ Type string }
	_ = json.Unmarshal(d.Body, &event)
	return event.Type
}

// Receiver is an HTTP server that takes webhooks and answers 200.
type Receiver struct {
	URL string

	mu  sync.Mutex
	all []*Delivery
}

// NewReceiver starts a receiver that stops with the test.
func NewReceiver(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// ServeHTTP records a delivery.
func (r *Receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, &Delivery{Header: req.Header.Clone(), Body: body, At: time.Now()})
}

// Deliveries returns what has arrived so far.
func (r *Receiver) Deliveries() []*Delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Delivery(nil), r.all...)
}

// Await returns the deliveries once there are n of the event type, and fails the test after ten seconds.
func (r *Receiver) Await(t testing.TB, n int, eventType string) []*Delivery {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		var found []*Delivery
		for _, d := range r.Deliveries() {
			if d.Type() == eventType {
				found = append(found, d)
			}
		}
		if len(found) >= n {
			return found
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d deliveries of %s within ten seconds, %d are needed", len(found), eventType, n)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
