package webhooks

import (
	"math"
	"sync"

	"github.com/tillwright/tillwright/store/outbox"
)

// waitingLimit is how many endpoints a dispatcher remembers, all of which it looks at in every round. If there are more,
// it forgets some and relies on scans to find them again.
const waitingLimit = 4096

// unknown is the number of deliveries that wait for an endpoint which a scan has found: it does not count them.
const unknown = math.MaxInt

// waiting holds the endpoints that deliveries wait for, by id. Only one goroutine may use it.
type waiting map[string]*waiter

// waiter is an endpoint with the number of deliveries that wait for it.
type waiter struct {
	outbox.PendingEndpoint
	deliveries int
	asked      bool // a round claims for it just now
}

// add adds new deliveries to an endpoint's number.
func (w waiting) add(e outbox.PendingEndpoint, deliveries int) {
	if known := w.of(e); known.deliveries < unknown-deliveries {
		known.deliveries += deliveries
	}
}

// find adds an endpoint for which an unknown number of deliveries waits.
func (w waiting) find(e outbox.PendingEndpoint) { w.of(e).deliveries = unknown }

// of returns the waiter of an endpoint, and makes one if there is none.
func (w waiting) of(e outbox.PendingEndpoint) *waiter {
	known := w[e.EndpointID]
	if known == nil {
		if len(w) >= waitingLimit {
			w.forget()
		}
		known = &waiter{PendingEndpoint: e}
		w[e.EndpointID] = known
	}
	known.PendingEndpoint = e // its format may have changed
	return known
}

// forget drops the endpoints for which no round is claiming at this moment.
func (w waiting) forget() {
	for id, known := range w {
		if !known.asked {
			delete(w, id)
		}
	}
}

// news is a mailbox in which the store tells a dispatcher of new deliveries. The store never has to wait for it.
type news struct {
	come chan struct{} // something is in it

	mu         sync.Mutex
	deliveries map[outbox.PendingEndpoint]int
}

func newNews() news {
	return news{come: make(chan struct{}, 1), deliveries: map[outbox.PendingEndpoint]int{}}
}

// add counts new deliveries for an endpoint and wakes the reader.
func (n *news) add(e outbox.PendingEndpoint, deliveries int) {
	n.mu.Lock()
	n.deliveries[e] += deliveries
	n.mu.Unlock()
	select {
	case n.come <- struct{}{}:
	default:
	}
}

// takeNews returns what was added since the last call.
func (n *news) takeNews() map[outbox.PendingEndpoint]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.deliveries
	n.deliveries = map[outbox.PendingEndpoint]int{}
	return taken
}
