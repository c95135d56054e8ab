// Package outbox holds the events that tell of what happened, the webhook endpoints that are told, and a delivery for each
// event and endpoint. A use case emits its events in its own transaction, so that they exist exactly if what they tell of does.
package outbox

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Store gives access to the events, endpoints and deliveries in one database. It is safe for concurrent use. An exported method
// is atomic: see package store.
type Store struct {
	// OnEvent, if set before the first request, is called after a transaction that stored deliveries has committed, once
	// for each endpoint.
	OnEvent func(e PendingEndpoint, deliveries int)

	db     *db.DB
	render Render
}

// Render returns the `data` of an event of a type as it is sent. It must be pure.
type Render func(kind string, v any) ([]byte, error)

// New returns the room of an open database. A store that emits nothing needs no render.
func New(d *db.DB, render Render) *Store { return &Store{db: d, render: render} }

// Now returns the store's time.
func (s *Store) Now() core.Time { return s.db.Now() }

// Writers returns how many transactions a background job should run at a time.
func (s *Store) Writers() int { return s.db.Writers() }

// unit is one open transaction, with the store whose use case runs in it.
type unit struct {
	*db.Unit
	store *Store
}

// tx runs a use case in the open transaction of the request, or in one of its own that commits at its end: see db.Tx.
func tx[T any](ctx context.Context, s *Store, fn func(context.Context, *unit) (T, error)) (T, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (T, error) { return fn(ctx, &unit{u, s}) })
}

// step runs a use case and commits at once, so that what it has stored is safe before something outside is called: see db.Step.
func step[T any](ctx context.Context, s *Store, fn func(context.Context, *unit) (T, error)) (T, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (T, error) { return fn(ctx, &unit{u, s}) })
}
