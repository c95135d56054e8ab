// Package testbank holds the books of the built-in test provider. Its tables stand for a provider's own database. No use case of ours looks at
// them, only the promises that doctor asks. What is put there commits on its own, before the payment or refund that it belongs to is settled.
package testbank

import (
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Store gives access to the books in one database. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the books in an open database.
func New(d *db.DB) *Store { return &Store{d} }

// Now returns the store's time.
func (s *Store) Now() core.Time { return s.db.Now() }
