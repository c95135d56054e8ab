package webhooks

import (
	"time"

	"github.com/tillwright/tillwright/store"
)

// How many deliveries one process sends at a time. The two smaller limits are what keeps a dead endpoint, or a busy
// account, from delaying the others.
const (
	maxSlots    = 256
	perAccount  = maxSlots / 4
	perEndpoint = 4
)

// quietFor is how long an endpoint is left alone that had something waiting and nothing to claim: what waits for it
// comes after something that is still being sent, here or by another replica.
const quietFor = 100 * time.Millisecond

// slots counts what is being sent. It belongs to one goroutine.
type slots struct {
	total      int
	ofAccount  map[string]int
	ofEndpoint map[string]int
	quiet      map[string]time.Time // until when
}

func newSlots() *slots {
	return &slots{ofAccount: map[string]int{}, ofEndpoint: map[string]int{}, quiet: map[string]time.Time{}}
}

func (s *slots) full() bool { return s.total >= maxSlots }

// room is how many more deliveries of the endpoint may be sent now.
func (s *slots) room(e store.PendingEndpoint) int {
	return max(0, min(maxSlots-s.total, perAccount-s.ofAccount[e.AccountID], perEndpoint-s.ofEndpoint[e.EndpointID]))
}

// crowdedOut reports whether the endpoint could be sent more if others left room for it.
func (s *slots) crowdedOut(e store.PendingEndpoint) bool {
	return s.ofEndpoint[e.EndpointID] < perEndpoint && s.room(e) == 0
}

// take occupies n slots.
func (s *slots) take(e store.PendingEndpoint, n int) {
	s.total += n
	s.ofAccount[e.AccountID] += n
	s.ofEndpoint[e.EndpointID] += n
}

// free gives n slots back. What is at zero is forgotten, so that the maps hold only what is busy.
func (s *slots) free(e store.PendingEndpoint, n int) {
	s.take(e, -n)
	if s.ofAccount[e.AccountID] == 0 {
		delete(s.ofAccount, e.AccountID)
	}
	if s.ofEndpoint[e.EndpointID] == 0 {
		delete(s.ofEndpoint, e.EndpointID)
	}
}

// hush leaves an endpoint alone for a moment.
func (s *slots) hush(e store.PendingEndpoint, now time.Time) {
	s.quiet[e.EndpointID] = now.Add(quietFor)
}

// quietUntil is in the past for an endpoint that is not left alone.
func (s *slots) quietUntil(e store.PendingEndpoint) time.Time { return s.quiet[e.EndpointID] }

// stir ends that, because one of the endpoint's deliveries has its result.
func (s *slots) stir(e store.PendingEndpoint) { delete(s.quiet, e.EndpointID) }

// forget drops the moments that have passed.
func (s *slots) forget(now time.Time) {
	for id, until := range s.quiet {
		if now.After(until) {
			delete(s.quiet, id)
		}
	}
}
