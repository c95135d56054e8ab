package webhooks

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/outbox"
)

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
		if d.over != nil {
			d.over()
		}
		d.rounds <- r
	}()
}

// finish sends what a round has claimed and gives unused slots back. If the round failed, its results are kept for the next one. Rounds then
// claim for half as many endpoints, down to one, until they succeed again. So an endpoint that the database is not done with in time keeps
// no other waiting for long.
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

// claimed notes how many deliveries a claim got. If it got fewer than it asked for, what still waits comes after something that is being
// sent. If this process sends that, the result brings the endpoint back. If another replica does, a scan finds the endpoint.
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
