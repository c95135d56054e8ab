package webhooks

import (
	"time"

	"github.com/tillwright/tillwright/store/outbox"
)

// How many deliveries one process sends at a time. Together the limits are what keeps a dead endpoint, or a busy
// account, from delaying the others.
const (
	maxSlots    = 512
	perAccount  = maxSlots / 4
	perEndpoint = 4
	perBrisk    = 16 // to an endpoint that answers within briskAnswer

	// An endpoint is in the slow lane after an answer that took slowAfter or longer, and until its first answer. The
	// lane has slowSlots, so that there is always room for those that are known to be quick, and of those that proved
	// slow slowProven, so that new endpoints get their turn. Before the first answer an endpoint is sent one at a time.
	slowAfter      = time.Second
	briskAnswer    = 100 * time.Millisecond
	slowSlots      = maxSlots * 7 / 8
	slowProven     = maxSlots / 2
	slowPerAccount = perAccount / 2
)

const (
	// quietFor is how long an endpoint is left alone that had something waiting and nothing to claim: what waits for
	// it comes after something that is still being sent, here or by another replica.
	quietFor = 100 * time.Millisecond
	// closedFor is how long an endpoint is left to other replicas if our keys do not open its secret. Then it is tried
	// again.
	closedFor = time.Minute
	// rememberFor is how long the speed of an endpoint counts after its last answer.
	rememberFor = 10 * time.Minute
)

// gap is the least time between two messages to a chat service, which would otherwise refuse some: Slack takes about
// one a second, Discord 30 a minute.
func gap(format outbox.WebhookFormat) time.Duration {
	switch format {
	case outbox.WebhookFormatSlack:
		return time.Second
	case outbox.WebhookFormatDiscord:
		return 2 * time.Second
	default:
		return 0
	}
}

// slots counts the deliveries that are being sent. Only one goroutine may use it.
type slots struct {
	total, slow, proven int // slow: of endpoints that are not known to be quick; proven: of those that were seen to be slow

	ofAccount, slowOfAccount map[string]int
	ofEndpoint               map[string]int

	speeds map[string]speed
	quiet  map[string]time.Time // until when
	paced  map[string]time.Time // until when
	closed map[string]time.Time // until when: nobody here can sign for them
}

// speed says how fast an endpoint answered the last time.
type speed struct {
	quick, brisk bool
	at           time.Time
}

func newSlots() *slots {
	return &slots{
		ofAccount: map[string]int{}, slowOfAccount: map[string]int{}, ofEndpoint: map[string]int{},
		speeds: map[string]speed{}, quiet: map[string]time.Time{}, paced: map[string]time.Time{}, closed: map[string]time.Time{},
	}
}

// freeSlots returns how many more deliveries may be sent to an endpoint now. No account takes more slots than it leaves free,
// so that a few accounts with a full share each do not shut out the next one.
func (s *slots) freeSlots(e outbox.PendingEndpoint) int {
	left := min(s.share(e)-s.ofEndpoint[e.EndpointID], perAccount-s.ofAccount[e.AccountID], (maxSlots-s.total-s.ofAccount[e.AccountID]+1)/2)
	speed, known := s.speeds[e.EndpointID]
	if !speed.quick {
		left = min(left, slowSlots-s.slow)
	}
	if known && !speed.quick {
		left = min(left, slowProven-s.proven, slowPerAccount-s.slowOfAccount[e.AccountID])
	}
	return max(0, left)
}

// share returns how many deliveries to an endpoint may be under way at once, sent by all replicas together.
func (s *slots) share(e outbox.PendingEndpoint) int {
	speed, known := s.speeds[e.EndpointID]
	switch {
	case !known || gap(e.Format) > 0:
		return 1
	case speed.brisk:
		return perBrisk
	default:
		return perEndpoint
	}
}

// occupySlots occupies n slots.
func (s *slots) occupySlots(e outbox.PendingEndpoint, n int) {
	s.total += n
	add(s.ofAccount, e.AccountID, n)
	add(s.ofEndpoint, e.EndpointID, n)
	s.takeSlow(e, n)
}

// takeSlow occupies n slots of the slow lane, if the endpoint is in it.
func (s *slots) takeSlow(e outbox.PendingEndpoint, n int) {
	speed, known := s.speeds[e.EndpointID]
	if speed.quick {
		return
	}
	s.slow += n
	if known {
		s.proven += n
		add(s.slowOfAccount, e.AccountID, n)
	}
}

// free gives n slots back.
func (s *slots) free(e outbox.PendingEndpoint, n int) { s.occupySlots(e, -n) }

// add adds n to a count and removes it at zero, so that the maps hold only what is busy.
func add(counts map[string]int, key string, n int) {
	if counts[key] += n; counts[key] == 0 {
		delete(counts, key)
	}
}

// judge puts an endpoint into the lane that its last answer belongs to, with all that is still under way to it.
func (s *slots) judge(e outbox.PendingEndpoint, took time.Duration, now time.Time) {
	underWay := s.ofEndpoint[e.EndpointID]
	s.takeSlow(e, -underWay)
	s.speeds[e.EndpointID] = speed{quick: took < slowAfter, brisk: took < briskAnswer, at: now}
	s.takeSlow(e, underWay)
}

// hush leaves an endpoint alone for a moment. stir ends that earlier.
func (s *slots) hush(e outbox.PendingEndpoint, now time.Time) {
	s.quiet[e.EndpointID] = now.Add(quietFor)
}

// pace leaves an endpoint alone after a message for as long as its format needs.
func (s *slots) pace(e outbox.PendingEndpoint, now time.Time) {
	if gap := gap(e.Format); gap > 0 {
		s.paced[e.EndpointID] = now.Add(gap)
	}
}

// close leaves an endpoint to other replicas for a while. Nothing that happens to it ends that earlier.
func (s *slots) close(e outbox.PendingEndpoint, now time.Time) {
	s.closed[e.EndpointID] = now.Add(closedFor)
}

// quietUntil returns until when an endpoint is left alone. It is in the past for one that is not.
func (s *slots) quietUntil(e outbox.PendingEndpoint) time.Time {
	return later(later(s.quiet[e.EndpointID], s.paced[e.EndpointID]), s.closed[e.EndpointID])
}

// stir ends a hush, because one of the endpoint's deliveries has a result or a new one waits.
func (s *slots) stir(e outbox.PendingEndpoint) { delete(s.quiet, e.EndpointID) }

// forget drops the moments that have passed, and the speeds of endpoints that were sent nothing for a long time.
func (s *slots) forget(now time.Time) {
	for _, moments := range []map[string]time.Time{s.quiet, s.paced, s.closed} {
		for id, until := range moments {
			if now.After(until) {
				delete(moments, id)
			}
		}
	}
	for id, speed := range s.speeds {
		if now.Sub(speed.at) > rememberFor && s.ofEndpoint[id] == 0 {
			delete(s.speeds, id)
		}
	}
}
