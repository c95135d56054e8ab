package caller

import (
	"context"
	"io"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Shares keep an account from taking all processors. While others are around, so many of its requests compute at once as half of the processors
// can. The next ones wait for their places. What waits for something else, such as a connection or an answer of PostgreSQL, has no place
// meanwhile. Nor has what took a second, since it most likely waits too. An account that is alone does not wait.
type Shares struct {
	half     int
	patience time.Duration
	refusal  error

	mu     sync.Mutex
	of     map[string]*places // by account, of those that have some
	recent [2]visit           // who asked last, and who did before them that was another
}

// places are those of an account.
type places struct {
	taken   map[*Turn]time.Time // since when
	waiting [2][]entrant        // who goes on, which are let in first, and who begins
}

// entrant is a turn that waits for a place. The channel is closed when it has one.
type entrant struct {
	turn *Turn
	let  chan struct{}
}

// visit is when an account asked. That of strangers is "".
type visit struct {
	account string
	at      time.Time
}

// Turn is what one request computes. Its parts may wait at the same time. A nil Turn never waits.
type Turn struct {
	shares  *Shares
	account string
	idle    int // how many of its parts wait
	isOver  bool
}

const (
	around     = 10 * time.Second // how long others are around after they asked
	computes   = time.Second      // how long somebody is thought to compute who does not say that they wait
	goOnWithin = time.Second      // then one goes on without a place: it may hold what others need
	lookAgain  = 100 * time.Millisecond
)

const (
	goingOn = iota
	beginning
)

// NewShares returns the shares of so many processors. A request that waited for as long as patience before it began gets refusal.
func NewShares(processors int, patience time.Duration, refusal error) *Shares {
	return &Shares{half: max(1, processors/2), patience: patience, refusal: refusal, of: map[string]*places{}}
}

// See notes that an account is around, or a stranger, whose account is "".
func (s *Shares) See(account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.see(account)
}

// Begin waits until an account may begin a turn. After nil the caller must call End.
func (s *Shares) Begin(ctx context.Context, account string) (*Turn, error) {
	t := &Turn{shares: s, account: account}
	if err := t.enter(ctx, beginning, s.patience); err != nil {
		return nil, err
	}
	return t, nil
}

// End ends a turn. What goes on after it is not counted.
func (t *Turn) End() {
	t.shares.mu.Lock()
	defer t.shares.mu.Unlock()
	t.isOver = true
	t.leave()
}

// Wait says that the turn waits for something else than a processor. GoOn or Resume must follow.
func (t *Turn) Wait() {
	if t == nil {
		return
	}
	t.shares.mu.Lock()
	defer t.shares.mu.Unlock()
	t.idle++
	t.leave()
}

// GoOn ends what Wait began, at once. It is for whoever holds what other accounts need.
func (t *Turn) GoOn() {
	if t == nil {
		return
	}
	t.shares.mu.Lock()
	defer t.shares.mu.Unlock()
	t.idle--
	t.place()
}

// Resume ends what Wait began once there is a place, but within a second, and when ctx ends.
func (t *Turn) Resume(ctx context.Context) {
	if t == nil {
		return
	}
	s := t.shares
	s.mu.Lock()
	t.idle--
	isIdle := t.idle > 0 || t.isOver
	s.mu.Unlock()
	if isIdle {
		return
	}
	err := t.enter(ctx, goingOn, goOnWithin)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		t.place()
	} else if t.idle > 0 || t.isOver { // another part of the request waits since then
		t.leave()
	}
}

// enter waits for a place.
func (t *Turn) enter(ctx context.Context, queue int, patience time.Duration) error {
	s := t.shares
	s.mu.Lock()
	s.see(t.account)
	p := s.places(t.account)
	if !p.isWaitedFor() && p.computing() < s.most(t.account) {
		p.taken[t] = time.Now()
		s.mu.Unlock()
		return nil
	}
	mine := entrant{t, make(chan struct{})}
	p.waiting[queue] = append(p.waiting[queue], mine)
	s.letIn(t.account, p)
	s.mu.Unlock()

	look, over := time.NewTicker(lookAgain), time.NewTimer(patience)
	defer look.Stop()
	defer over.Stop()
	var err error
	for err == nil {
		select {
		case <-mine.let:
			return nil
		case <-look.C: // others may have gone, and who computed may wait
			s.mu.Lock()
			s.letIn(t.account, p)
			s.mu.Unlock()
		case <-over.C:
			err = s.refusal
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(p.waiting[queue], mine)
	if at < 0 { // let in at the same moment
		return nil
	}
	p.waiting[queue] = slices.Delete(p.waiting[queue], at, at+1)
	s.forget(t.account, p)
	return err
}

// place gives a turn a place, even if that is one too many. The caller holds s.mu, as that of all methods below.
func (t *Turn) place() {
	if t.idle == 0 && !t.isOver {
		t.shares.places(t.account).taken[t] = time.Now()
	}
}

// leave gives the place of a turn back, if it has one.
func (t *Turn) leave() {
	p := t.shares.of[t.account]
	if p == nil {
		return
	}
	delete(p.taken, t)
	t.shares.letIn(t.account, p)
	t.shares.forget(t.account, p)
}

func (s *Shares) see(account string) {
	if s.recent[0].account != account {
		s.recent[1] = s.recent[0]
	}
	s.recent[0] = visit{account, time.Now()}
}

// letIn lets in who waits, as far as there are places.
func (s *Shares) letIn(account string, p *places) {
	if !p.isWaitedFor() {
		return
	}
	free := s.most(account) - p.computing()
	for queue := range p.waiting {
		for ; free > 0 && len(p.waiting[queue]) > 0; free-- {
			next := p.waiting[queue][0]
			p.waiting[queue] = p.waiting[queue][1:]
			p.taken[next.turn] = time.Now()
			close(next.let)
		}
	}
}

// most returns how many places an account has now.
func (s *Shares) most(account string) int {
	other := s.recent[0]
	if other.account == account {
		other = s.recent[1]
	}
	if time.Since(other.at) < around {
		return s.half
	}
	return math.MaxInt
}

func (s *Shares) places(account string) *places {
	if s.of[account] == nil {
		s.of[account] = &places{taken: map[*Turn]time.Time{}}
	}
	return s.of[account]
}

// forget forgets an account that neither has places nor waits for some.
func (s *Shares) forget(account string, p *places) {
	if len(p.taken) == 0 && !p.isWaitedFor() {
		delete(s.of, account)
	}
}

func (p *places) isWaitedFor() bool { return len(p.waiting[goingOn])+len(p.waiting[beginning]) > 0 }

// computing returns how many places are taken, but for those of turns that most likely wait.
func (p *places) computing() (n int) {
	for _, since := range p.taken {
		if time.Since(since) < computes {
			n++
		}
	}
	return n
}

// Awaited is a way to another server. The request for which that one is asked waits for the answer and its body.
type Awaited struct{ http.RoundTripper }

// RoundTrip asks.
func (a Awaited) RoundTrip(r *http.Request) (*http.Response, error) {
	turn := Of(r.Context()).Turn
	turn.Wait()
	defer turn.GoOn()
	answer, err := a.RoundTripper.RoundTrip(r)
	if err == nil && turn != nil {
		answer.Body = awaitedBody{answer.Body, turn}
	}
	return answer, err
}

// awaitedBody is a body for which a turn waits.
type awaitedBody struct {
	io.ReadCloser
	turn *Turn
}

func (b awaitedBody) Read(p []byte) (int, error) {
	b.turn.Wait()
	defer b.turn.GoOn()
	return b.ReadCloser.Read(p)
}
