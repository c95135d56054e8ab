// Package lineitem holds the lines of checkouts, orders and invoices: what they come to, and the stock that they hold and sell. Which lines
// there are, and when they are sold, says package store.
package lineitem

import (
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Store gives access to the lines in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db    *db.DB
	grant *grant.Store
}

// New returns the room of an open database, which asks grant for the licence keys that are left.
func New(d *db.DB, g *grant.Store) *Store { return &Store{d, g} }
