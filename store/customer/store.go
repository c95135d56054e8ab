// Package customer holds the customers of accounts: who they are, and what they have to their credit. Who buys, and what becomes of a customer's
// orders when they are merged or deleted, says package store.
package customer

import "github.com/tillwright/tillwright/store/internal/db"

// Store gives access to the customers in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct{ db *db.DB }

// New returns the room of an open database.
func New(d *db.DB) *Store { return &Store{d} }
