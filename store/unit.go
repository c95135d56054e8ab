package store

import (
	"context"

	"github.com/tillwright/tillwright/store/internal/db"
)

// unit is one open transaction of commerce.
type unit struct {
	*db.Unit
	store *Store
}

// tx runs a use case in the request's transaction, or in one of its own: db.Tx.
func tx[T any](ctx context.Context, s *Store, fn func(context.Context, *unit) (T, error)) (T, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (T, error) { return fn(ctx, &unit{u, s}) })
}

// step runs a use case that commits at once, before a call to the outside: db.Step.
func step[T any](ctx context.Context, s *Store, fn func(context.Context, *unit) (T, error)) (T, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (T, error) { return fn(ctx, &unit{u, s}) })
}
