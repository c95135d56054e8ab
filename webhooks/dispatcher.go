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
	pageGap      = 20 * time.Millisecond // before the next page of endpoints, when nothing could be claimed of one
	roundTimeout = 5 * time.Second
	retryAfter   = time.Second            // after a round that failed
	scanLimit    = 256                    // endpoints looked at in one round
	scanTime     = 100 * time.Millisecond // how long a scan is good for, if nobody says that there is more
	scanRest     = 1                      // after a scan, times as long as it took: scans get half of the time at most
	leaseTime    = 15 * time.Second
)

// DispatcherOptions are what a dispatcher works with.
type DispatcherOptions struct {
	Store    *store.Store
	Renderer *Renderer
	Sender   *Sender
	Log      *slog.Logger
	Lease    time.Duration // default 15 s; must exceed the 5 s of a delivery
}

// Dispatcher sends what waits in the outbox. It works in rounds: one transaction records the results since the last
// round and claims what fits into the free slots; what it claimed is sent at once, each in a goroutine of its own.
// Everything but the sending happens in the goroutine of Run, which alone touches the fields below the channels.
//
// Any number of dispatchers may work on one database. A delivery whose dispatcher dies is sent again when its lease
// has run out, with the same id and the same bytes.
type Dispatcher struct {
	store    *store.Store
	renderer *Renderer
	sender   *Sender
	log      *slog.Logger
	lease    time.Duration
	wake     chan struct{}
	results  chan result

	slots    *slots
	waiting  []store.PendingEndpoint // what the last scan found, as far as it is known to have more
	scanned  time.Time               // when that was
	scanTook time.Duration
	woken    bool                   // there is more than the last scan found
	done     []store.DeliveryResult // not recorded yet
	cursor   string                 // the endpoint that the next scan comes after
	scanAt   time.Time              // when to look for deliveries again; zero: when somebody says so
	backlog  bool                   // the last scan found something waiting
	barren   bool                   // but nothing to claim
	stopping bool
	due      *time.Timer // the next round
	last     time.Time   // when the last one ended
	rest     time.Time   // none before this moment
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
		store: o.Store, renderer: o.Renderer, sender: o.Sender, log: o.Log, lease: o.Lease,
		wake:    make(chan struct{}, 1),
		results: make(chan result, maxSlots),
		slots:   newSlots(),
	}
	if d.lease == 0 {
		d.lease = leaseTime
	}
	return d
}

// Wake tells the dispatcher that there are new deliveries. It never blocks: store.OnEvent calls it after a commit.
func (d *Dispatcher) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run works until ctx ends, then claims nothing more, waits for what is being sent, which takes at most five
// seconds, records it and returns.
func (d *Dispatcher) Run(ctx context.Context) {
	stop, work := ctx.Done(), context.WithoutCancel(ctx)
	poll := time.NewTimer(0)
	defer poll.Stop()
	d.due = time.NewTimer(time.Hour)
	defer d.due.Stop()
	for !d.stopping || d.slots.total > 0 {
		select {
		case <-stop:
			d.stopping, stop = true, nil
		case <-d.wake:
			d.woken = true
			d.scanBy(time.Now())
		case <-poll.C:
			d.poll(work)
			poll.Reset(pollInterval*4/5 + rand.N(pollInterval*2/5))
		case r := <-d.results:
			d.settle(r)
		case <-d.due.C:
			d.round(work)
		}
		d.schedule()
	}
	d.round(work)
}

// poll looks for what nobody told this dispatcher about.
func (d *Dispatcher) poll(ctx context.Context) {
	now := time.Now()
	d.scanBy(now)
	d.slots.forget(now)
	ctx, cancel := context.WithTimeout(ctx, roundTimeout)
	defer cancel()
	released, err := await(ctx, func() (int64, error) { return d.store.ReleaseExpiredDeliveries(ctx) })
	if err != nil {
		d.log.Error("release expired deliveries", "error", err)
	} else if released > 0 {
		d.log.Warn("deliveries without a result are sent again", "count", released)
	}
}

// scanBy asks for a scan at a time, or earlier.
func (d *Dispatcher) scanBy(at time.Time) {
	if d.scanAt.IsZero() || at.Before(d.scanAt) {
		d.scanAt = at
	}
}

// schedule sets the timer of the next round, if there is something to do in it. Results can gather; what waits should not,
// unless the last scan found nothing to claim of it.
func (d *Dispatcher) schedule() {
	var at time.Time
	if len(d.done) > 0 {
		at = d.last.Add(roundGap)
	}
	if !d.scanAt.IsZero() && !d.stopping {
		gap := busyGap
		if d.barren {
			gap = roundGap
		}
		scan := later(d.scanAt, d.last.Add(gap))
		if at.IsZero() || scan.Before(at) {
			at = scan
		}
	}
	if !at.IsZero() {
		d.due.Reset(time.Until(later(at, d.rest)))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// round records results and claims deliveries, within five seconds. Results that could not be recorded stay for the
// next round; what a database that does not answer has claimed for this one is released when its lease ends.
func (d *Dispatcher) round(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, roundTimeout)
	defer cancel()
	claims, err := d.plan(ctx)
	var claimed []store.ClaimedDelivery
	if err == nil && (len(claims) > 0 || len(d.done) > 0) {
		done := slices.Clone(d.done) // the call may outlast the round
		claimed, err = await(ctx, func() ([]store.ClaimedDelivery, error) {
			return d.store.ExchangeDeliveries(ctx, done, claims, d.lease)
		})
	}
	now := time.Now()
	d.last = now
	d.give(claims)
	if err != nil {
		d.log.Error("webhook round", "error", err)
		d.rest = now.Add(retryAfter)
		d.scanBy(d.rest)
		return
	}
	d.done = d.done[:0]
	d.start(ctx, claims, claimed)
}

// plan chooses what to claim and occupies the slots for it.
func (d *Dispatcher) plan(ctx context.Context) ([]store.DeliveryClaim, error) {
	now := time.Now()
	if d.stopping || d.scanAt.IsZero() || d.scanAt.After(now) {
		return nil, nil
	}
	if at := d.rescanAt(); !at.After(now) {
		if err := d.scan(ctx); err != nil {
			return nil, err
		}
	} else if len(d.waiting) == 0 {
		d.scanAt = at
		return nil, nil
	}
	d.backlog, d.scanAt = len(d.waiting) > 0, time.Time{}
	claims := d.choose(now)
	d.barren = d.backlog && len(claims) == 0
	if d.cursor != "" { // there are endpoints that this scan did not see
		if len(claims) == 0 {
			now = now.Add(pageGap)
		}
		d.scanBy(now)
	}
	if len(claims) == 0 {
		d.waiting = nil
	}
	return claims, nil
}

// rescanAt is when what the last scan found is not good enough any more.
func (d *Dispatcher) rescanAt() time.Time {
	rested := d.scanned.Add(scanRest * d.scanTook)
	if d.woken || d.cursor != "" || len(d.waiting) == 0 {
		return rested
	}
	return later(rested, d.scanned.Add(scanTime))
}

// scan finds the endpoints that something waits for, at most a page of them, beginning after the cursor and going
// round.
func (d *Dispatcher) scan(ctx context.Context) error {
	begun := time.Now()
	d.woken = false
	defer func() { d.scanned, d.scanTook = time.Now(), time.Since(begun) }()
	waiting, err := d.pending(ctx, d.cursor, scanLimit)
	if err != nil {
		return err
	}
	if len(waiting) < scanLimit && d.cursor != "" {
		rest, err := d.pending(ctx, "", scanLimit-len(waiting))
		if err != nil {
			return err
		}
		for _, endpoint := range rest {
			if endpoint.EndpointID <= d.cursor {
				waiting = append(waiting, endpoint)
			}
		}
	}
	d.waiting, d.cursor = waiting, ""
	if len(waiting) == scanLimit {
		d.cursor = waiting[scanLimit-1].EndpointID
	}
	return nil
}

func (d *Dispatcher) pending(ctx context.Context, after string, limit int) ([]store.PendingEndpoint, error) {
	return await(ctx, func() ([]store.PendingEndpoint, error) { return d.store.PendingEndpoints(ctx, after, limit) })
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

// choose gives each endpoint that waits the room that there is for it. It begins anywhere among them, so that everybody
// is first at some time.
func (d *Dispatcher) choose(now time.Time) []store.DeliveryClaim {
	var claims []store.DeliveryClaim
	first := rand.N(len(d.waiting) + 1)
	for _, endpoint := range slices.Concat(d.waiting[first:], d.waiting[:first]) {
		if until := d.slots.quietUntil(endpoint); until.After(now) {
			d.scanBy(until)
			continue
		}
		if n := d.slots.room(endpoint); n > 0 {
			d.slots.take(endpoint, n)
			claims = append(claims, store.DeliveryClaim{PendingEndpoint: endpoint, Limit: n, AtMost: d.slots.share(endpoint)})
		}
	}
	return claims
}

// start sends what was claimed.
func (d *Dispatcher) start(ctx context.Context, claims []store.DeliveryClaim, claimed []store.ClaimedDelivery) {
	now, got := time.Now(), map[string]int{}
	for _, c := range claimed {
		endpoint := endpointOf(c)
		d.slots.take(endpoint, 1)
		d.slots.pace(endpoint, now)
		got[c.EndpointID]++
		go d.send(context.WithoutCancel(ctx), c)
	}
	drained := map[string]bool{}
	for _, claim := range claims {
		drained[claim.EndpointID] = got[claim.EndpointID] < claim.Limit
		if got[claim.EndpointID] == 0 {
			d.slots.hush(claim.PendingEndpoint, now)
			d.scanBy(now.Add(quietFor))
		}
	}
	d.waiting = slices.DeleteFunc(d.waiting, func(e store.PendingEndpoint) bool { return drained[e.EndpointID] })
	if len(claimed) > 0 {
		d.scanBy(now) // the endpoints may have more than was asked for
	}
	if d.slots.full() {
		d.scanAt = time.Time{} // the next result will ask
	}
}

func (d *Dispatcher) give(claims []store.DeliveryClaim) {
	for _, claim := range claims {
		d.slots.free(claim.PendingEndpoint, claim.Limit)
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
	if d.backlog {
		d.scanBy(time.Now())
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
