// Package content holds what a creator publishes: posts, legal pages, experiences, AI-built sites with their subdomains.
package content

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Store gives access to the content in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct{ db *db.DB }

// New returns the room of an open database.
func New(d *db.DB) *Store { return &Store{d} }

// Now returns the store's time.
func (s *Store) Now() core.Time { return s.db.Now() }

// unit is one open transaction, with the store whose use case runs in it.
type unit struct {
	*db.Unit
	store *Store
}

// tx runs a use case in the open transaction of the request, or in one of its own that commits at its end: see db.Tx.
func tx[T any](ctx context.Context, s *Store, fn func(context.Context, *unit) (T, error)) (T, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (T, error) { return fn(ctx, &unit{u, s}) })
}
