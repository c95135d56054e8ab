// Package impatient ends a request at the moment when a fake network stops answering. A caller sees what a timeout shows it, and no
// test has to wait for one, nor guess how long a busy machine may take for an answer that does come.
package impatient

import (
	"context"
	"net/http"
	"strconv"
	"sync"
)

// header carries the number of a request to the fake.
const header = "X-Impatient"

// Transport sends requests through Next, or through http.DefaultTransport.
type Transport struct {
	Next http.RoundTripper

	mu   sync.Mutex
	ends map[string]context.CancelFunc // by the number of the request
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	r = r.Clone(ctx)
	r.Header.Set(header, t.number(cancel))
	if t.Next == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	return t.Next.RoundTrip(r)
}

func (t *Transport) number(end context.CancelFunc) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends == nil {
		t.ends = map[string]context.CancelFunc{}
	}
	number := strconv.Itoa(len(t.ends))
	t.ends[number] = end
	return number
}

// GiveUp ends a request, as the fake has received it. The fake calls it when it stops answering; a request that came from elsewhere is
// left alone.
func (t *Transport) GiveUp(received *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if end := t.ends[received.Header.Get(header)]; end != nil {
		end()
	}
}
