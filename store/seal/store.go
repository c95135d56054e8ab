// Package seal proves that the secret keys of a server are those of its database, and finds what they do not open.
package seal

import "github.com/tillwright/tillwright/store/internal/db"

// Store gives access to what is sealed in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct{ db *db.DB }

// New returns the room of an open database.
func New(d *db.DB) *Store { return &Store{d} }
