package webhooks

import (
	"math"
	"sync"

	"github.com/tillwright/tillwright/store"
)

// waitingLimit is how many endpoints a dispatcher remembers. It looks at all of them in every round; of more, it relies on
// scans to find them again.
const waitingLimit = 4096

// unknown is how many deliveries an endpoint has waiting that a scan found.
const unknown = math.MaxInt

// waiting holds the endpoints that something waits for, by id. It belongs to one goroutine.
type waiting map[string]*waiter

type waiter struct {
	store.PendingEndpoint
	deliveries int
	asked      bool // a round claims for it just now
}

// add counts deliveries that are new.
func (w waiting) add(e store.PendingEndpoint, deliveries int) {
	if known := w.of(e); known.deliveries < unknown-deliveries {
		known.deliveries += deliveries
	}
}

// find adds an endpoint that has an unknown number of deliveries waiting.
func (w waiting) find(e store.PendingEndpoint) { w.of(e).deliveries = unknown }

func (w waiting) of(e store.PendingEndpoint) *waiter {
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

// forget drops the endpoints that no round is claiming for.
func (w waiting) forget() {
	for id, known := range w {
		if !known.asked {
			delete(w, id)
		}
	}
}

// news is how the store tells a dispatcher of deliveries: a mailbox that never makes the store wait.
type news struct {
	come chan struct{} // something is in it

	mu         sync.Mutex
	deliveries map[store.PendingEndpoint]int
}

func newNews() news {
	return news{come: make(chan struct{}, 1), deliveries: map[store.PendingEndpoint]int{}}
}

func (n *news) add(e store.PendingEndpoint, deliveries int) {
	n.mu.Lock()
	n.deliveries[e] += deliveries
	n.mu.Unlock()
	select {
	case n.come <- struct{}{}:
	default:
	}
}

func (n *news) take() map[store.PendingEndpoint]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.deliveries
	n.deliveries = map[store.PendingEndpoint]int{}
	return taken
}
