package db

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
)

// Attempt runs fn as a part of the transaction that can fail alone. If fn is refused, all that it has changed is undone, the refusal is
// returned, and the transaction goes on. The same is done if fn is overtaken or violates a unique key; then the error is ErrOvertaken, and
// fn may be run again. Any other error has to end the transaction. Fn emits events last: these are not undone.
func (u *Unit) Attempt(ctx context.Context, fn func() error) (refused *core.Error, err error) {
	ctx = context.WithoutCancel(ctx) // as Exec does
	if err := u.beforeChange(ctx); err != nil {
		return nil, err
	}
	if err := u.mark(ctx, "SAVEPOINT attempt"); err != nil {
		return nil, err
	}
	failed, changed := u.request.failed, u.request.changed
	err = fn()
	if err == nil {
		return nil, u.mark(ctx, "RELEASE SAVEPOINT attempt")
	}
	isOvertaken := errors.Is(err, ErrOvertaken) || IsUnique(err)
	if !isOvertaken && (!errors.As(err, &refused) || refused.Outcome != core.Refused) {
		return nil, err
	}
	u.waiting, u.waitingArgs, u.broken = nil, 0, nil
	u.request.failed, u.request.changed = failed, changed
	if err := u.mark(ctx, "ROLLBACK TO SAVEPOINT attempt"); err != nil {
		return nil, err
	}
	if err := u.mark(ctx, "RELEASE SAVEPOINT attempt"); err != nil || !isOvertaken {
		return refused, err
	}
	return nil, ErrOvertaken
}

// mark runs a statement about a savepoint, behind the changes that wait.
func (u *Unit) mark(ctx context.Context, statement string) error {
	if err := u.Send(ctx); err != nil {
		return err
	}
	defer u.db.asks(ctx)()
	if _, err := u.tx.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, u.db.writeError(err))
	}
	return nil
}

// UpsertAll writes each item by itself, in their order, and returns what became of each. One that is refused leaves the others as they are. If
// an object came or went meanwhile, lookAgain locks the one with that external id, and the item is written again.
func UpsertAll[T any](ctx context.Context, u *Unit, items []core.Upsert[T], lookAgain func(externalID string) error, write func(*core.Upsert[T]) (id string, status core.UpsertStatus, err error)) ([]core.Upserted, error) {
	all := make([]core.Upserted, len(items))
	for i := range items {
		item, result := &items[i], &all[i]
		result.ExternalID, result.Err = item.ExternalID, item.Refused
		if result.Err == nil {
			var err error
			if result.Err, err = u.attemptAgain(ctx, func() error { return lookAgain(item.ExternalID) }, func() (err error) {
				result.ID, result.Status, err = write(item)
				return err
			}); err != nil {
				return nil, err
			}
		}
		if result.Err != nil {
			result.ID, result.Status = "", core.UpsertFailed
		}
	}
	return all, nil
}

// attemptAgain does what Attempt does, and does it again up to MaxRetries times if it was overtaken, each time behind lookAgain.
func (u *Unit) attemptAgain(ctx context.Context, lookAgain, fn func() error) (*core.Error, error) {
	for n := 0; ; n++ {
		refused, err := u.Attempt(ctx, fn)
		if n == MaxRetries || !errors.Is(err, ErrOvertaken) {
			return refused, err
		}
		if err := lookAgain(); err != nil {
			return nil, err
		}
	}
}

// ExternalIDs returns the own ids of those items that were not refused, each once.
func ExternalIDs[T any](items []core.Upsert[T]) []string {
	var ids []string
	for i := range items {
		if items[i].Refused == nil {
			ids = append(ids, items[i].ExternalID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// OvertakenOn returns ErrOvertaken in the place of a refusal on a parameter and of a violated unique key. The object that is in the way came
// meanwhile. Any other error comes back as it is.
func OvertakenOn(param string, err error) error {
	var refused *core.Error
	if errors.As(err, &refused) && refused.Param == param || IsUnique(err) {
		return ErrOvertaken
	}
	return err
}
