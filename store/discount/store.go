// Package discount holds discounts: what they take off and for whom, and the uses that are counted of them. Where one is given or typed, and what a
// subscription keeps of it, says package store.
package discount

import (
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Store gives access to the discounts in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db      *db.DB
	catalog *catalog.Store
}

// New returns the room of an open database, which asks the catalog for what discounts name.
func New(d *db.DB, c *catalog.Store) *Store { return &Store{d, c} }
