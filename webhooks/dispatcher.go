package webhooks

import (
	"context"
	"log/slog"
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
// leases have run out. They have the same id and the same bytes. Rescue sees to that.
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
	over     func()      // called after each round, before its result is taken in; nil outside of tests
}

// scan is the result of a scan: endpoints for which deliveries wait.
type scan struct {
	endpoints []outbox.PendingEndpoint
	err       error
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
