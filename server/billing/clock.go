package billing

import (
	"context"
	"errors"
	"time"

	"github.com/tillwright/tillwright/store"
)

const (
	// advanceTime is how long the work after a move of a clock may take, below the deadline of a request.
	advanceTime = 40 * time.Second
	// workBatch is how many things of a kind are looked up at once.
	workBatch = 100
)

// TestClock is an account's clock after it was moved. Done says that nothing is due any more.
type TestClock struct {
	Now       store.Time
	Done      bool
	Processed int
}

// AdvanceClock moves an account's clock and does what is due by it, for at most forty seconds.
func (b *Billing) AdvanceClock(ctx context.Context, account string, in store.AdvanceClock) (*TestClock, error) {
	deadline := time.Now().Add(advanceTime)
	now, err := b.store.AdvanceClock(ctx, account, in)
	if err != nil {
		return nil, err
	}
	clock := &TestClock{Now: now}
	ctx = store.Detached(ctx)
	for time.Now().Before(deadline) {
		n, err := b.round(ctx, account, deadline)
		clock.Processed += n
		if err != nil {
			return nil, err
		}
		if n == 0 {
			clock.Done = true
			break
		}
	}
	return clock, nil
}

// Work does what is due by now, of every account. Any number of replicas may run it.
func (b *Billing) Work(ctx context.Context) error {
	moved, err := b.store.MovedAccounts(ctx)
	errs := []error{err}
	for _, account := range append([]string{""}, moved...) {
		for {
			n, err := b.round(ctx, account, time.Now().Add(advanceTime))
			errs = append(errs, err)
			if n == 0 || err != nil {
				break
			}
		}
	}
	return errors.Join(errs...)
}

// round does what is due of an account, or of all, once, and returns how much of it was done. What fails does not keep
// the rest from being done.
func (b *Billing) round(ctx context.Context, account string, deadline time.Time) (int, error) {
	done := 0
	var errs []error
	for _, kind := range b.duties() {
		due, err := kind.find(ctx, account, workBatch)
		errs = append(errs, err)
		for _, one := range due {
			if ctx.Err() != nil || time.Now().After(deadline) {
				return done, errors.Join(append(errs, ctx.Err())...)
			}
			did, err := kind.do(ctx, one.AccountID, one.ID)
			errs = append(errs, err)
			if did {
				done++
			}
		}
	}
	return done, errors.Join(errs...)
}

// duty is a kind of things that fall due.
type duty struct {
	find func(ctx context.Context, account string, limit int) ([]store.Due, error)
	do   func(ctx context.Context, account, id string) (bool, error)
}

func (b *Billing) duties() []duty {
	return []duty{
		{b.waiting, b.stopWaiting},
		{b.store.DueCheckouts, b.store.EndCheckout},
		{b.store.DueSubscriptions, b.advance},
		{b.store.UncollectedInvoices, b.collectInvoice},
		{b.store.DueInvoices, b.store.PassInvoiceDue},
	}
}

// waiting finds the payments whose buyer did not come back, for an account whose clock was moved: the reconciler meets
// the others.
func (b *Billing) waiting(ctx context.Context, account string, limit int) ([]store.Due, error) {
	if account == "" {
		return nil, nil
	}
	return b.store.WaitingPayments(ctx, account, actionLifetime, limit)
}

func (b *Billing) stopWaiting(ctx context.Context, account, id string) (bool, error) {
	begun, err := b.store.GetConfirmation(ctx, account, id)
	if err != nil || begun.Payment.Status.IsFinal() {
		return false, err
	}
	err = b.abandon(ctx, begun)
	if store.OutcomeOf(err) == store.Recorded {
		return true, nil // given up: that is an outcome
	}
	return err == nil, err
}
