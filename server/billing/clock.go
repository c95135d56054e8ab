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
	// advanceTime is how long AdvanceClock may work. It is less than what a request may take.
	advanceTime = 40 * time.Second

	// clockStep is how far a clock is moved at once while there is something due on the way. As much time passes between two looks
	// of the worker.
	clockStep = reconcileInterval
)

// TestClock says how far an account's clock was moved. Done means that it has reached its target and that nothing is due any
// more; otherwise the time for the work was over first. Processed is how many things were done on the way.
type TestClock struct {
	Now       core.Time
	Target    core.Time
	Done      bool
	Processed int
}

// AdvanceClock moves an account's clock and does what falls due on the way, one thing after the other and each at its own
// moment. It stops after forty seconds, wherever the clock is then. What fails is logged, and does not keep the rest from being
// done.
func (b *Billing) AdvanceClock(ctx context.Context, account string, in store.AdvanceClock) (*TestClock, error) {
	return b.advanceClock(ctx, account, in, time.Now().Add(advanceTime))
}

// advanceClock is AdvanceClock with the moment at which to stop.
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

// walk moves the clock of one account to its target.
type walk struct {
	*Billing
	account string
	clock   TestClock
	until   time.Time
	count   tally
}

// run moves the clock until it is at its target and nothing is due, or until the time is over. It holds the account's lock
// meanwhile, so that the worker does nothing for the account. Work that the worker had begun would end at a later time of the
// clock than it began.
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
		seen, err := w.doAllDue(ctx)
		w.clock.Now = seen
		if err != nil || ctx.Err() != nil || time.Now().After(w.until) {
			return err
		}
		if w.Letters != nil {
			w.count.add(false, w.Letters(ctx, w.account))
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

// doAllDue does everything that is due at the clock's time, until nothing is left. It returns what the clock showed when the last
// look found nothing more.
func (w *walk) doAllDue(ctx context.Context) (core.Time, error) {
	for {
		seen, err := w.store.ClockOf(ctx, w.account)
		if err != nil {
			return 0, err
		}
		before := w.count.done
		for _, duty := range w.duties() {
			t := &dutyTurn{w.Billing, duty, w.until, make(chan struct{}, 1), 1, &w.count}
			t.drain(ctx, w.account)
		}
		if w.count.done == before {
			return seen, nil
		}
	}
}

// walker returns the lock of an account that keeps AdvanceClock and the worker apart. Whoever moves the clock holds it alone;
// the worker shares it for each thing that it does for the account.
func (b *Billing) walker(account string) *sync.RWMutex {
	lock, _ := b.walkers.LoadOrStore(account, &sync.RWMutex{})
	return lock.(*sync.RWMutex)
}

// unlessMoved wraps do so that it does nothing, and reports false, while the account's clock is being moved. Without test
// clocks it returns do itself.
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
