package webhooks

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/outbox"
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

// DispatcherOptions are what a dispatcher needs.
type DispatcherOptions struct {
	Store    *outbox.Store
	Renderer *Renderer
	Sender   *Sender
	Log      *slog.Logger
	Lease    time.Duration // default 15 s; must exceed the timeout of the sender
}

// Dispatcher sends the deliveries that wait in the outbox. It works in rounds: one transaction records the results since
// the last round and claims as many deliveries as there are free slots. What it has claimed is sent at once, each
// delivery in a goroutine of its own.
//
// The store tells it after each commit of this process for which endpoints there is something to claim. A scan once a
// second finds what nobody told it about: what another replica left, or a process that has ended. Everything but the
// sending and the database work happens in the goroutine of Run, and only that goroutine touches the fields below the
// channels.
//
// Any number of dispatchers may work on one database. If a dispatcher dies, its deliveries are sent again when their
// leases have run out, with the same id and the same bytes: Rescue sees to that.
type Dispatcher struct {
	store    *outbox.Store
	renderer *Renderer
	sender   *Sender
	log      *slog.Logger
	lease    time.Duration
	interval time.Duration // between two scans
	news     news
	results  chan result
	scans    chan scan
	rounds   chan round

	slots    *slots
	waiting  waiting
	done     []outbox.DeliveryResult // not recorded yet
	underWay int                     // rounds
	most     int                     // how many endpoints a round claims for: fewer once the database did not answer in time
	lookAt   time.Time               // when to claim again; zero: when somebody says so
	barren   bool                    // the last look found something waiting, but nothing to claim
	scanAt   time.Time               // when to scan; zero: not, or one is under way
	scanning bool
	cursor   string // the endpoint that the next page of the scan comes after
	stopping bool
	due      *time.Timer // the next round or scan
	last     time.Time   // when a round began or ended
	rest     time.Time   // no round before this moment
	saidAt   time.Time   // when it was last said that a secret key is missing
}

// scan is the result of a scan: endpoints for which deliveries wait.
type scan struct {
	endpoints []outbox.PendingEndpoint
	err       error
}

// round is one exchange with the store: it hands in results and asks for claims.
type round struct {
	results []outbox.DeliveryResult
	claims  []outbox.DeliveryClaim
	outbox.Exchange
	err error
}

// result is what a sending goroutine returns.
type result struct {
	endpoint outbox.PendingEndpoint
	outcome  outbox.DeliveryResult
	held     time.Duration // how long it had its slot, reading the answer included; zero if nothing was sent
}

// NewDispatcher returns a dispatcher. It does nothing before Run.
func NewDispatcher(o DispatcherOptions) *Dispatcher {
	d := &Dispatcher{
		store: o.Store, renderer: o.Renderer, sender: o.Sender, log: o.Log, lease: o.Lease, interval: pollInterval,
		news:    newNews(),
		results: make(chan result, maxSlots),
		scans:   make(chan scan, 1),
		rounds:  make(chan round, o.Store.Writers()),
		most:    maxSlots,
		slots:   newSlots(),
		waiting: waiting{},
	}
	if d.lease == 0 {
		d.lease = leaseTime
	}
	return d
}

// Wake tells the dispatcher how many new deliveries there are to an endpoint. It never blocks. It is meant for
// outbox.Store.OnEvent, which is called after a commit.
func (d *Dispatcher) Wake(e outbox.PendingEndpoint, deliveries int) { d.news.add(e, deliveries) }

// Run works until ctx ends. Then it claims nothing more, waits for what is being sent, which takes at most five seconds,
// records the results and returns.
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
			d.poll()
			poll.Reset(jittered(d.interval))
		case s := <-d.scans:
			d.found(s)
		case r := <-d.results:
			d.takeResult(r)
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

// hear reads what the store has told since the last time, and asks for a round.
func (d *Dispatcher) hear() {
	for e, n := range d.news.takeNews() {
		d.waiting.add(e, n)
		d.slots.stir(e)
	}
	d.lookBy(time.Now())
}

// poll asks for a scan for what nobody told this dispatcher about.
func (d *Dispatcher) poll() {
	now := time.Now()
	d.slots.forget(now)
	d.scanBy(now)
}

// lookBy asks for a round that claims, at a time or earlier.
func (d *Dispatcher) lookBy(at time.Time) { d.lookAt = sooner(d.lookAt, at) }

// scanBy asks for a scan, at a time or earlier.
func (d *Dispatcher) scanBy(at time.Time) { d.scanAt = sooner(d.scanAt, at) }

// sooner returns the earlier of two moments. A zero one stands for never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later returns the later of two moments.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// schedule sets the timer to the next round or scan.
func (d *Dispatcher) schedule() {
	at := d.nextRound()
	if !d.scanning && !d.stopping {
		at = sooner(at, d.scanAt)
	}
	if !at.IsZero() {
		d.due.Reset(time.Until(at))
	}
}

// nextRound returns when the next round is due. It is zero if there is nothing to do, or if as many rounds are under way
// as the database can use. Results may gather for a moment; deliveries should not have to wait, unless the last look
// found nothing to claim.
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

// act begins the scan and the round that are due.
func (d *Dispatcher) act(ctx context.Context) {
	now := time.Now()
	if !d.scanning && !d.stopping && !d.scanAt.IsZero() && !d.scanAt.After(now) {
		d.scan(ctx)
	}
	if at := d.nextRound(); at.IsZero() || at.After(now) {
		return
	}
	if d.most < maxSlots && len(d.done) > 0 { // by themselves: what the database cannot claim in time keeps no result from being recorded
		d.last = now
		if d.exchange(ctx, nil); d.underWay == cap(d.rounds) {
			return
		}
	}
	var claims []outbox.DeliveryClaim
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

// scan looks for endpoints for which deliveries wait: one page of them, beginning behind the cursor.
func (d *Dispatcher) scan(ctx context.Context) {
	d.scanning, d.scanAt = true, time.Time{}
	after := d.cursor
	go func() {
		ctx, cancel := context.WithTimeout(ctx, roundTimeout)
		defer cancel()
		var s scan
		s.endpoints, s.err = await(ctx, func() ([]outbox.PendingEndpoint, error) { return d.store.PendingEndpoints(ctx, after, scanLimit) })
		d.scans <- s
	}()
}

// found takes in the result of a scan. If the page was full, the next one is scanned soon.
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

// choose returns the claims of a round: for each endpoint with waiting deliveries as many as there is room for. It
// reserves the slots. The order of a map is different each time, so every endpoint is first at some time. No endpoint is
// in two rounds at once. What is too much for one round is for the next, at once.
func (d *Dispatcher) choose(now time.Time) []outbox.DeliveryClaim {
	var claims []outbox.DeliveryClaim
	for _, w := range d.waiting {
		if len(claims) == d.most {
			d.lookBy(now)
			break
		}
		if w.asked {
			continue
		}
		if until := d.slots.quietUntil(w.PendingEndpoint); until.After(now) {
			d.lookBy(until)
			continue
		}
		if n := d.slots.freeSlots(w.PendingEndpoint); n > 0 {
			w.asked = true
			d.slots.occupySlots(w.PendingEndpoint, n)
			claims = append(claims, outbox.DeliveryClaim{PendingEndpoint: w.PendingEndpoint, Limit: n, AtMost: d.slots.share(w.PendingEndpoint)})
		}
	}
	return claims
}

// exchange begins a round, which ends within five seconds. If the database does not answer in that time and has claimed
// something all the same, that is released when the lease ends.
func (d *Dispatcher) exchange(ctx context.Context, claims []outbox.DeliveryClaim) {
	r := round{results: d.done, claims: claims}
	d.done = nil
	d.underWay++
	go func() {
		ctx, cancel := context.WithTimeout(ctx, roundTimeout)
		defer cancel()
		r.Exchange, r.err = await(ctx, func() (outbox.Exchange, error) {
			return d.store.ExchangeDeliveries(ctx, r.results, slices.Clone(r.claims), d.lease)
		})
		d.rounds <- r
	}()
}

// finish sends what a round has claimed and gives unused slots back. If the round failed, its results are kept for the
// next one, and rounds claim for half as many endpoints, down to one, until they succeed again: so an endpoint that the database is not done
// with in time keeps no other waiting for long.
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
		if n := len(r.claims); n > 0 {
			d.most = max(1, min(d.most, n)/2)
		}
		d.rest = now.Add(retryAfter)
		d.lookBy(d.rest)
		return
	}
	if len(r.claims) > 0 {
		d.most = min(maxSlots, 2*d.most)
	}
	got := map[string]int{}
	for _, c := range r.Claimed {
		endpoint := endpointOf(c)
		d.slots.occupySlots(endpoint, 1)
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

// claimed notes how many deliveries a claim got. If it got fewer than it asked for, what still waits comes after
// something that is being sent: either by this process, and then the result brings the endpoint back, or by another
// replica, and then a scan finds it.
func (d *Dispatcher) claimed(claim outbox.DeliveryClaim, got int, now time.Time) {
	w := d.waiting[claim.EndpointID]
	w.deliveries -= got
	switch underWay := d.slots.underWay(claim.PendingEndpoint) > 0; {
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

// leave leaves an endpoint to a replica that has the key of its secret, and logs that from time to time.
func (d *Dispatcher) leave(claim outbox.DeliveryClaim, now time.Time) {
	delete(d.waiting, claim.EndpointID)
	d.slots.close(claim.PendingEndpoint, now)
	if now.Sub(d.saidAt) >= closedFor {
		d.saidAt = now
		d.log.Error("webhooks wait for a server that has the secret key of their endpoint; no key here opens its signing secret",
			"endpoint", claim.EndpointID, "setting", "TILLWRIGHT_SECRET_KEY")
	}
}

// takeResult takes in the result of a delivery, frees its slot, and asks for a round if something waits.
func (d *Dispatcher) takeResult(r result) {
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

// send sends one delivery. It always returns a result, even if the sending panics.
func (d *Dispatcher) send(ctx context.Context, c outbox.ClaimedDelivery) {
	r := result{endpoint: endpointOf(c), outcome: outbox.DeliveryResult{Account: c.AccountID, Endpoint: c.EndpointID, ID: c.ID, Lease: c.Lease, Reason: outbox.ReasonAborted}}
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

// endpointOf returns the endpoint of a claimed delivery.
func endpointOf(c outbox.ClaimedDelivery) outbox.PendingEndpoint {
	return outbox.PendingEndpoint{AccountID: c.AccountID, EndpointID: c.EndpointID, Format: c.Endpoint.Format}
}
