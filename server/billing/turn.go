package billing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

const (
	// workAtOnce is how much is done at the same time, and accountAtOnce how much of it for one account: one whose
	// provider does not answer leaves room for the others.
	workAtOnce    = 16
	accountAtOnce = 8

	// workBatch is how many things of a kind are looked up at once.
	workBatch = 100
)

// turn does what is due of one kind, several things at the same time, until its time is over.
type turn struct {
	*Billing
	duty  duty
	until time.Time
	slots chan struct{} // one for each thing that is done at the same time
	each  int           // how many of them one account may have
	count *tally
}

// drain does what is due of an account, or of all, until there is nothing that it has not tried.
func (t *turn) drain(ctx context.Context, account string) {
	stuck := stuck{}
	for t.goesOn(ctx) {
		fresh, err := t.find(ctx, account, &stuck)
		t.count.add(false, err)
		if len(fresh) == 0 {
			return
		}
		_ = atOnce(fresh, t.each, func(one core.Due) error { // what fails is counted
			if !t.try(ctx, one) {
				stuck.add(one)
			}
			return nil
		})
	}
}

// find looks up what is due and is not stuck: it lies behind what is, which has waited longer.
func (t *turn) find(ctx context.Context, account string, stuck *stuck) ([]core.Due, error) {
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	due, err := t.duty.find(ctx, account, workBatch+len(stuck.due))
	fresh := due[:0]
	for _, one := range due {
		if !stuck.due[one] {
			fresh = append(fresh, one)
		}
	}
	return fresh, err
}

// try does one thing, and reports whether that took it off what is due.
func (t *turn) try(ctx context.Context, one core.Due) bool {
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	if !t.goesOn(ctx) {
		return false
	}
	did, err := t.duty.do(ctx, one.AccountID, one.ID)
	t.count.add(did, err)
	return did
}

func (t *turn) goesOn(ctx context.Context) bool {
	return ctx.Err() == nil && time.Now().Before(t.until)
}

// stuck is what was tried and is due all the same: it failed, or somebody else is at it.
type stuck struct {
	mu  sync.Mutex
	due map[core.Due]bool
}

func (s *stuck) add(one core.Due) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.due == nil {
		s.due = map[core.Due]bool{}
	}
	s.due[one] = true
}

// maxFaults is how many errors a tally tells apart.
const maxFaults = 10

// tally counts what was done and what failed.
type tally struct {
	mu           sync.Mutex
	done, failed int
	faults       []error
}

func (t *tally) add(did bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if did {
		t.done++
	}
	if err == nil {
		return
	}
	if t.failed++; len(t.faults) < maxFaults {
		t.faults = append(t.faults, err)
	}
}

// err is what went wrong, nil for nothing.
func (t *tally) err() error {
	err := errors.Join(t.faults...)
	if more := t.failed - len(t.faults); more > 0 {
		err = errors.Join(err, fmt.Errorf("and %d more", more))
	}
	return err
}

// atOnce does something to all, to a few at a time, and returns what went wrong.
func atOnce[T any](all []T, few int, do func(T) error) error {
	errs, free := make([]error, len(all)), make(chan struct{}, few)
	var group sync.WaitGroup
	for i, one := range all {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			errs[i] = do(one)
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
