package webhooks

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store"
)

const (
	pollInterval = time.Second           // how soon an event of another replica is seen
	roundGap     = 10 * time.Millisecond // between two rounds, in which results gather
	busyGap      = time.Millisecond      // the same when something waits to be sent
	pageGap      = 20 * time.Millisecond // before the next page of a scan
	roundTimeout = 5 * time.Second
	retryAfter   = time.Second // after a round or a scan that failed
	scanLimit    = 256         // endpoints of a page
	leaseTime    = 15 * time.Second
)

// DispatcherOptions are what a dispatcher works with.
type DispatcherOptions struct {
	Store    *store.Store
	Renderer *Renderer
	Sender   *Sender
	Log      *slog.Logger
	Lease    time.Duration // default 15 s; must exceed the timeout of the sender
}

// Dispatcher sends what waits in the outbox. It works in rounds: one transaction records the results since the last
// round and claims what fits into the free slots; what it claimed is sent at once, each in a goroutine of its own.
// Which endpoints to claim for it hears from the store, after each commit of this process. A scan, once a second, finds
// what nobody told it about: what another replica left, or a process that has ended. Everything but the sending and the
// database happens in the goroutine of Run, which alone touches the fields below the channels.
//
// Any number of dispatchers may work on one database. A delivery whose dispatcher dies is sent again when its lease
// has run out, with the same id and the same bytes.
type Dispatcher struct {
	store    *store.Store
	renderer *Renderer
	sender   *Sender
	log      *slog.Logger
	lease    time.Duration
	interval time.Duration // between looks at what nobody told of
	news     news
	results  chan result
	scans    chan scan
	rounds   chan round

	slots    *slots
	waiting  waiting
	done     []store.DeliveryResult // not recorded yet
	underWay int                    // rounds
	lookAt   time.Time              // when to claim again; zero: when somebody says so
	barren   bool                   // the last look found something waiting, but nothing to claim
	scanAt   time.Time              // when to scan; zero: not, or one is under way
	scanning bool
	cursor   string // the endpoint that the next page of the scan comes after
	stopping bool
	due      *time.Timer // the next round or scan
	last     time.Time   // when a round began or ended
	rest     time.Time   // no round before this moment
	saidAt   time.Time   // when it was last said that a secret key is missing
}

// scan is what a look for waiting deliveries found.
type scan struct {
	endpoints []store.PendingEndpoint
	err       error
}

// round is one exchange with the store: results for claims.
type round struct {
	results []store.DeliveryResult
	claims  []store.DeliveryClaim
	store.Exchange
	err error
}

// result is what a sending goroutine hands back.
type result struct {
	endpoint store.PendingEndpoint
	outcome  store.DeliveryResult
	held     time.Duration // how long it had its slot, reading the answer included; zero if nothing was sent
}

// NewDispatcher returns a dispatcher that does nothing before Run.
func NewDispatcher(o DispatcherOptions) *Dispatcher {
	d := &Dispatcher{
		store: o.Store, renderer: o.Renderer, sender: o.Sender, log: o.Log, lease: o.Lease, interval: pollInterval,
		news:    newNews(),
		results: make(chan result, maxSlots),
		scans:   make(chan scan, 1),
		rounds:  make(chan round, o.Store.Writers()),
		slots:   newSlots(),
		waiting: waiting{},
	}
	if d.lease == 0 {
		d.lease = leaseTime
	}
	return d
}

// Wake tells the dispatcher that there are so many new deliveries to an endpoint. It never blocks: store.OnEvent calls
// it after a commit.
func (d *Dispatcher) Wake(e store.PendingEndpoint, deliveries int) { d.news.add(e, deliveries) }

// Run works until ctx ends, then claims nothing more, waits for what is being sent, which takes at most five
// seconds, records it and returns.
func (d *Dispatcher) Run(ctx context.Context) {
	stop, work := ctx.Done(), context.WithoutCancel(ctx)
	poll := time.NewTimer(0)
	defer poll.Stop()
	d.due = time.NewTimer(time.Hour)
	defer d.due.Stop()
	for !d.stopping || d.slots.total > 0 || d.underWay > 0 || d.scanning {
		select {
		case <-stop:
			d.stopping, stop = true, nil
		case <-d.news.come:
			d.hear()
		case <-poll.C:
			d.poll(work)
			poll.Reset(d.interval*4/5 + rand.N(d.interval*2/5))
		case s := <-d.scans:
			d.found(s)
		case r := <-d.results:
			d.settle(r)
		case r := <-d.rounds:
			d.finish(work, r)
		case <-d.due.C:
			d.act(work)
		}
		d.schedule()
	}
	if len(d.done) > 0 {
		d.exchange(work, nil)
		d.finish(work, <-d.rounds)
	}
}

// hear takes in what the store told since the last time.
func (d *Dispatcher) hear() {
	for e, n := range d.news.take() {
		d.waiting.add(e, n)
		d.slots.stir(e)
	}
	d.lookBy(time.Now())
}

// poll has what nobody told this dispatcher about looked for.
func (d *Dispatcher) poll(ctx context.Context) {
	now := time.Now()
	d.slots.forget(now)
	d.scanBy(now)
	ctx, cancel := context.WithTimeout(ctx, roundTimeout)
	defer cancel()
	released, err := await(ctx, func() (int64, error) { return d.store.ReleaseExpiredDeliveries(ctx) })
	if err != nil {
		d.log.Error("release expired deliveries", "error", err)
	} else if released > 0 {
		d.log.Warn("deliveries without a result are sent again", "count", released)
	}
}

// lookBy asks for a round that claims, at a time or earlier.
func (d *Dispatcher) lookBy(at time.Time) { d.lookAt = sooner(d.lookAt, at) }

// scanBy asks for a scan at a time, or earlier.
func (d *Dispatcher) scanBy(at time.Time) { d.scanAt = sooner(d.scanAt, at) }

// sooner returns the earlier one of two moments, of which a zero one is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// schedule sets the timer of what is to be done next.
func (d *Dispatcher) schedule() {
	at := d.nextRound()
	if !d.scanning && !d.stopping {
		at = sooner(at, d.scanAt)
	}
	if !at.IsZero() {
		d.due.Reset(time.Until(at))
	}
}

// nextRound is zero if there is nothing to do in one, or as many are under way as the database can use. Results can
// gather; what waits should not, unless the last look found nothing to claim of it.
func (d *Dispatcher) nextRound() (at time.Time) {
	if d.underWay == cap(d.rounds) {
		return at
	}
	if len(d.done) > 0 {
		at = d.last.Add(roundGap)
	}
	if !d.lookAt.IsZero() && !d.stopping {
		gap := busyGap
		if d.barren {
			gap = roundGap
		}
		at = sooner(at, later(d.lookAt, d.last.Add(gap)))
	}
	if !at.IsZero() {
		at = later(at, d.rest)
	}
	return at
}

// act does what is due.
func (d *Dispatcher) act(ctx context.Context) {
	now := time.Now()
	if !d.scanning && !d.stopping && !d.scanAt.IsZero() && !d.scanAt.After(now) {
		d.scan(ctx)
	}
	if at := d.nextRound(); at.IsZero() || at.After(now) {
		return
	}
	var claims []store.DeliveryClaim
	if !d.stopping && !d.lookAt.IsZero() && !d.lookAt.After(now) {
		d.lookAt = time.Time{}
		claims = d.choose(now)
		d.barren = len(d.waiting) > 0 && len(claims) == 0
	}
	d.last = now
	if len(claims) > 0 || len(d.done) > 0 {
		d.exchange(ctx, claims)
	}
}

// scan looks for endpoints that something waits for, a page of them that begins after the cursor.
func (d *Dispatcher) scan(ctx context.Context) {
	d.scanning, d.scanAt = true, time.Time{}
	after := d.cursor
	go func() {
		ctx, cancel := context.WithTimeout(ctx, roundTimeout)
		defer cancel()
		var s scan
		s.endpoints, s.err = await(ctx, func() ([]store.PendingEndpoint, error) { return d.store.PendingEndpoints(ctx, after, scanLimit) })
		d.scans <- s
	}()
}

func (d *Dispatcher) found(s scan) {
	d.scanning = false
	now := time.Now()
	if s.err != nil {
		d.log.Error("webhook scan", "error", s.err)
		d.scanBy(now.Add(retryAfter))
		return
	}
	for _, e := range s.endpoints {
		d.waiting.find(e)
	}
	if d.cursor = ""; len(s.endpoints) == scanLimit {
		d.cursor = s.endpoints[scanLimit-1].EndpointID
		d.scanBy(now.Add(pageGap))
	}
	if len(s.endpoints) > 0 {
		d.lookBy(now)
	}
}

// await waits for a call on the database, and not longer than ctx: no context ends a statement that is under way.
func await[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ended := make(chan outcome, 1)
	go func() {
		value, err := call()
		ended <- outcome{value, err}
	}()
	select {
	case o := <-ended:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// choose gives each endpoint that waits the room that there is for it. The order of a map is another one each time, so
// that everybody is first at some time. No endpoint is asked for by two rounds at once.
func (d *Dispatcher) choose(now time.Time) []store.DeliveryClaim {
	var claims []store.DeliveryClaim
	for _, w := range d.waiting {
		if w.asked {
			continue
		}
		if until := d.slots.quietUntil(w.PendingEndpoint); until.After(now) {
			d.lookBy(until)
			continue
		}
		if n := d.slots.room(w.PendingEndpoint); n > 0 {
			w.asked = true
			d.slots.take(w.PendingEndpoint, n)
			claims = append(claims, store.DeliveryClaim{PendingEndpoint: w.PendingEndpoint, Limit: n, AtMost: d.slots.share(w.PendingEndpoint)})
		}
	}
	return claims
}

// exchange begins a round, which ends within five seconds. What a database that does not answer has claimed for it is
// released when its lease ends.
func (d *Dispatcher) exchange(ctx context.Context, claims []store.DeliveryClaim) {
	r := round{results: d.done, claims: claims}
	d.done = nil
	d.underWay++
	go func() {
		ctx, cancel := context.WithTimeout(ctx, roundTimeout)
		defer cancel()
		r.Exchange, r.err = await(ctx, func() (store.Exchange, error) {
			return d.store.ExchangeDeliveries(ctx, r.results, slices.Clone(r.claims), d.lease)
		})
		d.rounds <- r
	}()
}

// finish sends what a round has claimed. Results that could not be recorded stay for the next one.
func (d *Dispatcher) finish(ctx context.Context, r round) {
	now := time.Now()
	d.underWay--
	d.last = now
	for _, claim := range r.claims {
		d.waiting[claim.EndpointID].asked = false
		d.slots.free(claim.PendingEndpoint, claim.Limit)
	}
	if r.err != nil {
		d.log.Error("webhook round", "error", r.err)
		d.done = append(r.results, d.done...)
		d.rest = now.Add(retryAfter)
		d.lookBy(d.rest)
		return
	}
	got := map[string]int{}
	for _, c := range r.Claimed {
		endpoint := endpointOf(c)
		d.slots.take(endpoint, 1)
		d.slots.pace(endpoint, now)
		got[c.EndpointID]++
		go d.send(context.WithoutCancel(ctx), c)
	}
	for _, claim := range r.claims {
		if r.Closed[claim.EndpointID] {
			d.leave(claim, now)
			continue
		}
		d.claimed(claim, got[claim.EndpointID], now)
	}
	if len(r.Claimed) > 0 && len(d.waiting) > 0 {
		d.lookBy(now)
	}
}

// claimed takes note of how many deliveries a claim got. If these are fewer than it asked for, what still waits comes
// after something that is being sent: by this process, whose result will stir the endpoint, or by another replica.
func (d *Dispatcher) claimed(claim store.DeliveryClaim, got int, now time.Time) {
	w := d.waiting[claim.EndpointID]
	w.deliveries -= got
	switch underWay := d.slots.ofEndpoint[claim.EndpointID] > 0; {
	case w.deliveries <= 0:
		delete(d.waiting, claim.EndpointID)
	case got == claim.Limit:
	case underWay:
		d.slots.hush(claim.PendingEndpoint, now)
	default:
		delete(d.waiting, claim.EndpointID)
		d.scanBy(now.Add(quietFor))
	}
}

// leave waits for somebody who can sign for an endpoint, and says so once in a while.
func (d *Dispatcher) leave(claim store.DeliveryClaim, now time.Time) {
	delete(d.waiting, claim.EndpointID)
	d.slots.close(claim.PendingEndpoint, now)
	if now.Sub(d.saidAt) >= closedFor {
		d.saidAt = now
		d.log.Error("webhooks wait for a server that has the secret key of their endpoint; no key here opens its signing secret",
			"endpoint", claim.EndpointID, "setting", "TILLWRIGHT_SECRET_KEY")
	}
}

// settle takes a result in, and looks for what had no room before.
func (d *Dispatcher) settle(r result) {
	if r.held > 0 {
		d.slots.judge(r.endpoint, r.held, time.Now())
	}
	d.slots.free(r.endpoint, 1)
	d.slots.stir(r.endpoint)
	d.done = append(d.done, r.outcome)
	if len(d.waiting) > 0 {
		d.lookBy(time.Now())
	}
}

// send makes one delivery. It always hands a result back: one that panics is over, too.
func (d *Dispatcher) send(ctx context.Context, c store.ClaimedDelivery) {
	r := result{endpoint: endpointOf(c), outcome: store.DeliveryResult{Account: c.AccountID, Endpoint: c.EndpointID, ID: c.ID, Lease: c.Lease, Reason: store.ReasonAborted}}
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("delivery panicked", "delivery", c.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
		d.results <- r
	}()
	message, err := d.renderer.message(c.Endpoint, c.EventID, []byte(c.Body), c.Attempt)
	if err != nil {
		d.log.Error("delivery without a message", "delivery", c.ID, "error", err)
		return
	}
	start := time.Now()
	sent := d.sender.Send(ctx, message)
	r.held = time.Since(start)
	r.outcome.Reason, r.outcome.StatusCode, r.outcome.Response = sent.Reason, sent.StatusCode, sent.Response
	r.outcome.DurationMS = sent.Duration.Milliseconds()
}

func endpointOf(c store.ClaimedDelivery) store.PendingEndpoint {
	return store.PendingEndpoint{AccountID: c.AccountID, EndpointID: c.EndpointID, Format: c.Endpoint.Format}
}
