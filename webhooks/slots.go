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

	// An endpoint is in the slow lane after an answer that took slowAfter or longer, and until its first answer. The lane has
	// slowSlots, so that there is always room for those that are known to be quick. Those that proved slow have slowProven of these,
	// so that new endpoints get their turn. Before the first answer an endpoint is sent one at a time.
	slowAfter      = time.Second
	briskAnswer    = 100 * time.Millisecond
	slowSlots      = maxSlots * 7 / 8
	slowProven     = maxSlots / 2
	slowPerAccount = perAccount / 2
)

const (
	// quietFor is how long an endpoint is left alone that had something waiting and nothing to claim. What waits for it comes after
	// something that is still being sent, here or by another replica.
	quietFor = 100 * time.Millisecond
	// closedFor is how long an endpoint is left to other replicas if our keys do not open its secret. Then it is tried
	// again.
	closedFor = time.Minute
	// rememberFor is how long the speed of an endpoint counts after its last answer.
	rememberFor = 10 * time.Minute
)

// gap is the least time between two messages to a chat service, which would otherwise refuse some. Slack takes about one a
// second, Discord 30 a minute.
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

// slots counts the deliveries that are being sent, and knows how endpoints answered. Only one goroutine may use it.
type slots struct {
	total, slow, proven int // slow: of endpoints that are not known to be quick; proven: of those that were seen to be slow

	accounts  map[string]*accountSlots  // those to which something is being sent
	endpoints map[string]*endpointSlots // those, and those of which something is remembered
}

// accountSlots are the slots of an account, all of them and those of its endpoints that were seen to be slow.
type accountSlots struct{ busy, slow int }

// endpointSlots are the slots of an endpoint, and what decides how many it may have.
type endpointSlots struct {
	busy int

	answered     time.Time // the last time; zero: not that we remember
	quick, brisk bool      // how it answered then

	// Until when it is left alone.
	quiet  time.Time
	paced  time.Time
	closed time.Time // nobody here can sign for it
}

func newSlots() *slots {
	return &slots{accounts: map[string]*accountSlots{}, endpoints: map[string]*endpointSlots{}}
}

// of returns what is known of an endpoint, which may be changed.
func (s *slots) of(e outbox.PendingEndpoint) *endpointSlots {
	known := s.endpoints[e.EndpointID]
	if known == nil {
		known = &endpointSlots{}
		s.endpoints[e.EndpointID] = known
	}
	return known
}

// inAccount returns the slots of an account, which may be changed.
func (s *slots) inAccount(id string) *accountSlots {
	known := s.accounts[id]
	if known == nil {
		known = &accountSlots{}
		s.accounts[id] = known
	}
	return known
}

// isSlow reports whether the last answer of an endpoint took long.
func (e *endpointSlots) isSlow() bool { return !e.answered.IsZero() && !e.quick }

// freeSlots returns how many more deliveries may be sent to an endpoint now. No account takes more slots than it leaves free. So
// a few accounts with a full share each do not shut out the next one.
func (s *slots) freeSlots(e outbox.PendingEndpoint) int {
	endpoint, account := s.of(e), accountSlots{}
	if known := s.accounts[e.AccountID]; known != nil {
		account = *known
	}
	left := min(s.share(e)-endpoint.busy, perAccount-account.busy, (maxSlots-s.total-account.busy+1)/2)
	if !endpoint.quick {
		left = min(left, slowSlots-s.slow)
	}
	if endpoint.isSlow() {
		left = min(left, slowProven-s.proven, slowPerAccount-account.slow)
	}
	return max(0, left)
}

// share returns how many deliveries to an endpoint may be under way at once, sent by all replicas together.
func (s *slots) share(e outbox.PendingEndpoint) int {
	endpoint := s.of(e)
	switch {
	case endpoint.answered.IsZero() || gap(e.Format) > 0:
		return 1
	case endpoint.brisk:
		return perBrisk
	default:
		return perEndpoint
	}
}

// occupySlots occupies n slots.
func (s *slots) occupySlots(e outbox.PendingEndpoint, n int) {
	account := s.inAccount(e.AccountID)
	s.total += n
	account.busy += n
	s.of(e).busy += n
	s.takeSlow(e, n)
	if account.busy == 0 {
		delete(s.accounts, e.AccountID)
	}
}

// takeSlow occupies n slots of the slow lane, if the endpoint is in it.
func (s *slots) takeSlow(e outbox.PendingEndpoint, n int) {
	endpoint := s.of(e)
	if endpoint.quick {
		return
	}
	s.slow += n
	if endpoint.isSlow() {
		s.proven += n
		s.inAccount(e.AccountID).slow += n
	}
}

// free gives n slots back.
func (s *slots) free(e outbox.PendingEndpoint, n int) { s.occupySlots(e, -n) }

// judge puts an endpoint into the lane that its last answer belongs to, with all that is still under way to it.
func (s *slots) judge(e outbox.PendingEndpoint, took time.Duration, now time.Time) {
	endpoint := s.of(e)
	if endpoint.busy > 0 {
		s.takeSlow(e, -endpoint.busy)
	}
	endpoint.answered, endpoint.quick, endpoint.brisk = now, took < slowAfter, took < briskAnswer
	if endpoint.busy > 0 {
		s.takeSlow(e, endpoint.busy)
	}
}

// underWay returns how many deliveries to an endpoint are being sent.
func (s *slots) underWay(e outbox.PendingEndpoint) int { return s.of(e).busy }

// hush leaves an endpoint alone for a moment. stir ends that earlier.
func (s *slots) hush(e outbox.PendingEndpoint, now time.Time) { s.of(e).quiet = now.Add(quietFor) }

// pace leaves an endpoint alone after a message for as long as its format needs.
func (s *slots) pace(e outbox.PendingEndpoint, now time.Time) {
	if gap := gap(e.Format); gap > 0 {
		s.of(e).paced = now.Add(gap)
	}
}

// close leaves an endpoint to other replicas for a while. Nothing that happens to it ends that earlier.
func (s *slots) close(e outbox.PendingEndpoint, now time.Time) { s.of(e).closed = now.Add(closedFor) }

// quietUntil returns until when an endpoint is left alone. It is in the past for one that is not.
func (s *slots) quietUntil(e outbox.PendingEndpoint) time.Time { return s.of(e).aloneUntil() }

func (e *endpointSlots) aloneUntil() time.Time { return later(later(e.quiet, e.paced), e.closed) }

// stir ends a hush, because one of the endpoint's deliveries has a result or a new one waits.
func (s *slots) stir(e outbox.PendingEndpoint) { s.of(e).quiet = time.Time{} }

// forget drops the endpoints to which nothing is being sent, that are not left alone, and that have not answered for a long time.
func (s *slots) forget(now time.Time) {
	for id, e := range s.endpoints {
		if e.busy == 0 && now.After(e.aloneUntil()) && now.Sub(e.answered) > rememberFor {
			delete(s.endpoints, id)
		}
	}
}
