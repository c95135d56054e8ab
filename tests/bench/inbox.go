package main

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// inbox takes a shop's webhooks and remembers only how many came, and how long they took.
type inbox struct {
	url    string
	server *http.Server
	came   chan struct{} // has something in it after an arrival

	mu          sync.Mutex
	first, last time.Time
	delays      []time.Duration // from the event to its arrival
}

// newInbox listens on a free port.
func newInbox() (*inbox, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	in := &inbox{url: "http://" + listener.Addr().String(), came: make(chan struct{}, 1)}
	in.server = &http.Server{Handler: in}
	go func() { _ = in.server.Serve(listener) }()
	return in, nil
}

// ServeHTTP answers 200, after a look at the time in the body.
func (in *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	created, timeErr := createdAt(body)
	if err := errors.Join(err, timeErr); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	in.mu.Lock()
	in.last = time.Now()
	if in.first.IsZero() {
		in.first = in.last
	}
	in.delays = append(in.delays, in.last.Sub(created))
	in.mu.Unlock()
	select {
	case in.came <- struct{}{}:
	default:
	}
}

// createdAt finds the time without decoding the body, which would cost more than all the rest.
func createdAt(body []byte) (time.Time, error) {
	_, rest, _ := bytes.Cut(body, []byte(`"created_at":"`))
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	return time.Parse(time.RFC3339, string(text))
}

// forget begins anew.
func (in *inbox) forget() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.first, in.last, in.delays = time.Time{}, time.Time{}, nil
}

func (in *inbox) count() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.delays)
}

// await returns when n have come.
func (in *inbox) await(n int) error {
	limit := time.After(settleTime)
	for in.count() < n {
		select {
		case <-in.came:
		case <-limit:
			return errors.New("webhooks do not arrive")
		}
	}
	return nil
}
