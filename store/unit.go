package store

import (
	"context"

	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/outbox"
)

// unit is one open transaction, with the store whose use case runs in it.
type unit struct {
	*db.Unit
	store *Store
}

// emit stores an event with what the transaction did, and wakes the dispatcher after the commit: see outbox.Store.Emit.
func (u *unit) emit(ctx context.Context, e outbox.NewEvent) error {
	return u.store.Outbox.Emit(ctx, u.Unit, e)
}

// tx runs a use case in the open transaction of the request, or in one of its own that commits at its end: see db.Tx.
func tx[T any](ctx context.Context, s *Store, fn func(context.Context, *unit) (T, error)) (T, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (T, error) { return fn(ctx, &unit{u, s}) })
}

// step runs a use case and commits at once, so that what it has stored is safe before something outside is called: see db.Step.
func step[T any](ctx context.Context, s *Store, fn func(context.Context, *unit) (T, error)) (T, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (T, error) { return fn(ctx, &unit{u, s}) })
}
