// Package advert holds what paid advertising leaves in the database. That is the channels with their accounts at ad networks, and the campaigns, ad
// groups, ads and audiences found there. It is also what was asked of a network and what came of it, and the sandbox's state. It speaks to no
// network: package ads does.
package advert

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Store gives access to what is about advertising in one database. It is safe for concurrent use. An exported method is
// atomic: see package store.
type Store struct{ db *db.DB }

// New returns the room of an open database.
func New(d *db.DB) *Store { return &Store{d} }

// Now returns the store's time.
func (s *Store) Now() core.Time { return s.db.Now() }

// Leave ends the transaction of a request that is about to ask a network something, and commits the claim of its key. That is
// for questions alone: before a request changes something outside, a step has to commit the intent.
func (s *Store) Leave(ctx context.Context) error { return s.db.Leave(ctx) }

// InTx reports whether a transaction is open. Then no network may be called.
func InTx(ctx context.Context) bool { return db.InTx(ctx) }

// HasKey reports whether the request has an Idempotency-Key, under which it goes on when it is sent again.
func HasKey(ctx context.Context) bool { return db.HasKey(ctx) }
