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
	// workAtOnce is how many things are done at the same time, and accountAtOnce how many of them for one account. An account whose
	// provider does not answer leaves room for the others.
	workAtOnce    = 16
	accountAtOnce = 8

	// workBatch is how many due things of a kind are read from the database at a time.
	workBatch = 100
)

// dutyTurn does what is due of one kind, for one account or for all, until its time is over. Several things are done at the same
// time.
type dutyTurn struct {
	*Billing
	duty  duty
	until time.Time
	slots chan struct{} // one for each thing that is done at the same time
	each  int           // how many of them one account may have
	count *tally
}

// drain does what is due of an account, or of all accounts if it is empty. It ends when everything was tried once or the time is
// over.
func (t *dutyTurn) drain(ctx context.Context, account string) {
	stuck := stuck{}
	for t.goesOn(ctx) {
		fresh, err := t.find(ctx, account, &stuck)
		t.count.add(false, err)
		if len(fresh) == 0 {
			return
		}
		_ = atOnce(fresh, t.each, func(one core.Due) error { // try counts what fails
			if !t.try(ctx, one) {
				stuck.add(one)
			}
			return nil
		})
	}
}

// find returns what is due and was not tried in vain in this turn. What is due comes in the order in which it waits. The things
// tried in vain come first again, so find reads that many more to get past them.
func (t *dutyTurn) find(ctx context.Context, account string, stuck *stuck) ([]core.Due, error) {
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

// try does one thing, and reports whether it is done and so no longer due. It waits for a free slot first.
func (t *dutyTurn) try(ctx context.Context, one core.Due) bool {
	t.slots <- struct{}{}
	defer func() { <-t.slots }()
	if !t.goesOn(ctx) {
		return false
	}
	did, err := t.duty.do(ctx, one.AccountID, one.ID)
	t.count.add(did, err)
	return did
}

// goesOn reports whether there is time left.
func (t *dutyTurn) goesOn(ctx context.Context) bool {
	return ctx.Err() == nil && time.Now().Before(t.until)
}

// stuck remembers what was tried in vain and is still due: it failed, or another replica is doing it. It is not tried again in
// this turn.
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

// maxFaults is how many errors a tally keeps; of the others it only keeps the number.
const maxFaults = 10

// tally counts what was done and what failed.
type tally struct {
	mu           sync.Mutex
	done, failed int
	faults       []error
}

// add counts one attempt, whether it did something and whether it failed.
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

// err returns the errors that were kept and how many more there were, or nil if nothing failed.
func (t *tally) err() error {
	err := errors.Join(t.faults...)
	if more := t.failed - len(t.faults); more > 0 {
		err = errors.Join(err, fmt.Errorf("and %d more", more))
	}
	return err
}

// atOnce calls do for every element, at most few at the same time, and returns all their errors joined. One that fails does not
// stop the others.
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
