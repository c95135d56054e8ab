// Package impatient ends a request at the moment when a fake network stops answering it. The caller sees the same as after a
// timeout. So no test has to wait for one, nor guess how long a busy machine may take for an answer that does come.
package impatient

import (
	"context"
	"net/http"
	"strconv"
	"sync"
)

// header is the header that tells the fake the number of a request.
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

// GiveUp ends a request. The fake calls it with the request as received when it stops answering. A request that came from
// elsewhere is left alone.
func (t *Transport) GiveUp(received *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if end := t.ends[received.Header.Get(header)]; end != nil {
		end()
	}
}
