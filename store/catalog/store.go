// Package catalog holds what is for sale: products and their price variants. How many are sold and held is counted by package store,
// in the transactions that sell them.
package catalog

import (
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/outbox"
)

// Store gives access to the catalogs in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db     *db.DB
	outbox *outbox.Store
}

// New returns the room of an open database, which tells the outbox what happens to products.
func New(d *db.DB, o *outbox.Store) *Store { return &Store{d, o} }

// Now returns the store's time.
func (s *Store) Now() core.Time { return s.db.Now() }
