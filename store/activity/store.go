// Package activity holds who changed what. A line is stored in the transaction of its change.
package activity

import "github.com/tillwright/tillwright/store/internal/db"

// Store gives access to what was done, in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct{ db *db.DB }

// New returns the room of an open database.
func New(d *db.DB) *Store { return &Store{d} }
