package billing

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

const (
	// advanceTime is how long the work on a clock's way may take, below the deadline of a request.
	advanceTime = 40 * time.Second

	// clockStep is how far a clock goes at once while something falls due: as long as the worker waits between two looks.
	clockStep = reconcileInterval
)

// TestClock is an account's clock after it was moved. Done says that it has reached its target, and that nothing is due any
// more.
type TestClock struct {
	Now       core.Time
	Target    core.Time
	Done      bool
	Processed int
}

// AdvanceClock moves an account's clock and does what falls due on its way, one thing after the other and each when it is
// due. It stops on the way after forty seconds. What fails is logged, and does not keep the rest from being done.
func (b *Billing) AdvanceClock(ctx context.Context, account string, in store.AdvanceClock) (*TestClock, error) {
	return b.advanceClock(ctx, account, in, time.Now().Add(advanceTime))
}

func (b *Billing) advanceClock(ctx context.Context, account string, in store.AdvanceClock, until time.Time) (*TestClock, error) {
	target, err := b.store.AimClock(ctx, account, in)
	if err != nil {
		return nil, err
	}
	ctx = store.Detached(ctx)
	w := &walk{Billing: b, account: account, clock: TestClock{Target: target}, until: until}
	if err := w.run(ctx); err != nil {
		return nil, err
	}
	if err := w.count.err(); err != nil {
		slog.ErrorContext(ctx, "do what is due on the way of a clock", "account", account, "error", err)
	}
	w.clock.Processed = w.count.done
	return &w.clock, ctx.Err()
}

// walk is a clock on its way.
type walk struct {
	*Billing
	account string
	clock   TestClock
	until   time.Time
	count   tally
}

// run walks until the clock is where it is to be, or the time is over. The worker has no part in it: what it is in the
// middle of would end later than it began.
func (w *walk) run(ctx context.Context) (err error) {
	alone := w.walker(w.account)
	for !alone.TryLock() {
		if ctx.Err() != nil || time.Now().After(w.until) {
			w.clock.Now, err = w.store.ClockOf(ctx, w.account)
			return err
		}
		time.Sleep(time.Millisecond)
	}
	defer alone.Unlock()
	for {
		seen, err := w.settle(ctx)
		w.clock.Now = seen
		if err != nil || ctx.Err() != nil || time.Now().After(w.until) {
			return err
		}
		next, err := w.store.NextDue(ctx, w.account, seen, w.clock.Target, clockStep)
		if err != nil {
			return err
		}
		if next == nil && seen >= w.clock.Target {
			w.clock.Done = true
			return nil
		}
		if next == nil {
			next = &w.clock.Target
		}
		if _, err := w.store.MoveClock(ctx, w.account, *next); err != nil {
			return err
		}
	}
}

// settle does what is due until nothing is, and returns what the clock showed when it began to look for the last time.
func (w *walk) settle(ctx context.Context) (core.Time, error) {
	for {
		seen, err := w.store.ClockOf(ctx, w.account)
		if err != nil {
			return 0, err
		}
		before := w.count.done
		for _, duty := range w.duties() {
			t := &turn{w.Billing, duty, w.until, make(chan struct{}, 1), 1, &w.count}
			t.drain(ctx, w.account)
		}
		if w.count.done == before {
			return seen, nil
		}
	}
}

// walker is the lock that a walk of an account's clock holds, and that what the worker does for the account shares.
func (b *Billing) walker(account string) *sync.RWMutex {
	lock, _ := b.walkers.LoadOrStore(account, &sync.RWMutex{})
	return lock.(*sync.RWMutex)
}

// unlessMoved does nothing for an account whose clock is on its way.
func (b *Billing) unlessMoved(do func(ctx context.Context, account, id string) (bool, error)) func(ctx context.Context, account, id string) (bool, error) {
	if !b.store.HasTestClock() {
		return do
	}
	return func(ctx context.Context, account, id string) (bool, error) {
		lock := b.walker(account)
		if !lock.TryRLock() {
			return false, nil
		}
		defer lock.RUnlock()
		return do(ctx, account, id)
	}
}
