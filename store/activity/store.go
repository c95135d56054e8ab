// Package activity holds who changed what. A line is stored in the transaction of its change.
package activity

import (
	"context"

	"github.com/tillwright/tillwright/store/internal/db"
)

// Store gives access to what was done, in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct{ db *db.DB }

// New returns the room of an open database.
func New(d *db.DB) *Store { return &Store{d} }

// unit is one open transaction, with the store whose use case runs in it.
type unit struct {
	*db.Unit
	store *Store
}

// tx runs a use case in the open transaction of the request, or in one of its own that commits at its end: see db.Tx.
func tx[T any](ctx context.Context, s *Store, fn func(context.Context, *unit) (T, error)) (T, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (T, error) { return fn(ctx, &unit{u, s}) })
}
