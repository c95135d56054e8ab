// Package content holds what a creator publishes: posts, legal pages, experiences, AI-built sites with their subdomains.
package content

import (
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/throttle"
)

// Store gives access to the content in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db       *db.DB
	throttle *throttle.Store
}

// New returns the room of an open database.
func New(d *db.DB) *Store { return &Store{db: d, throttle: throttle.New(d)} }

// Now returns the store's time.
func (s *Store) Now() core.Time { return s.db.Now() }
