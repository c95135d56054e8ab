// Package request holds what programs asked the API for: a row for each request with a key, for a while.
package request

import (
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Store gives access to the requests in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct{ db *db.DB }

// New returns the room of an open database.
func New(d *db.DB) *Store { return &Store{db: d} }

// Now returns the store's time.
func (s *Store) Now() core.Time { return s.db.Now() }
