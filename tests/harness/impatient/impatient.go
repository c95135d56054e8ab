// Package impatient ends a request at the moment when a fake network stops answering. A caller sees what a timeout shows it, and no
// test has to wait for one, nor guess how long a busy machine may take for an answer that does come.
package impatient

import (
	"context"
	"net/http"
	"sync"
)

// Transport sends one request at a time through Next.
type Transport struct {
	Next   http.RoundTripper
	mu     sync.Mutex
	giveUp context.CancelFunc
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	t.mu.Lock()
	t.giveUp = cancel
	t.mu.Unlock()
	return t.Next.RoundTrip(r.WithContext(ctx))
}

// GiveUp ends the request that was sent last. The fake calls it when it stops answering.
func (t *Transport) GiveUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.giveUp()
}
