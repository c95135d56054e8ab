// Package outbox holds the events that tell of what happened, the webhook endpoints that are told, and a delivery for each
// event and endpoint. A use case emits its events in its own transaction, so that they exist exactly if what they tell of does.
package outbox

import (
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
