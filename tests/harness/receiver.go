package harness

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Delivery is a webhook as it arrived: the exact bytes and headers. Nothing is verified here.
type Delivery struct {
	Path   string
	Header http.Header
	Body   []byte
	At     time.Time
}

// Event is what the body of every delivery says of its event.
type Event struct {
	ID        string
	Type      string
	CreatedAt time.Time `json:"created_at"` // a moment before the commit
}

// Event decodes the body.
func (d *Delivery) Event() (e Event) {
	_ = json.Unmarshal(d.Body, &e)
	return e
}

// Type returns the event type that the body names.
func (d *Delivery) Type() string { return d.Event().Type }

// Delay returns how long after its event was stored the delivery arrived, up to a millisecond too much. Both times are of the
// same clock.
func (d *Delivery) Delay() time.Duration { return d.At.Sub(d.Event().CreatedAt) }

// Receiver is an HTTP server that takes webhooks and answers 200.
type Receiver struct {
	URL string

	answer http.HandlerFunc
	mu     sync.Mutex
	all    []*Delivery
}

// NewReceiver starts a receiver that stops with the test.
func NewReceiver(t testing.TB) *Receiver { return NewReceiverThat(t, nil) }

// NewReceiverThat starts a receiver that records a delivery, and then answers with answer.
func NewReceiverThat(t testing.TB, answer http.HandlerFunc) *Receiver {
	t.Helper()
	r := &Receiver{answer: answer}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// ServeHTTP records a delivery.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.record(&Delivery{Path: req.URL.Path, Header: req.Header.Clone(), Body: body, At: time.Now()})
	if r.answer != nil {
		r.answer(w, req)
	}
}

func (r *Receiver) record(d *Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, d)
}

// Count returns how many deliveries have arrived so far.
func (r *Receiver) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}

// Deliveries returns what has arrived so far.
func (r *Receiver) Deliveries() []*Delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*Delivery(nil), r.all...)
}

// Await returns the deliveries once there are n of the event type.
func (r *Receiver) Await(t testing.TB, n int, eventType string) []*Delivery {
	t.Helper()
	deadline := time.Now().Add(Patience)
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
			t.Fatalf("%d deliveries of %s within %s, %d are needed", len(found), eventType, Patience, n)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// NewBlackHole returns the URL of a server that takes connections, reads what is sent, and never answers.
func NewBlackHole(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}
