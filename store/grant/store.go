// Package grant holds what customers have: which product, by what, and until when; and the files that products open. What a purchase is, and
// when it ends, is decided in package store, whose transactions give and take.
package grant

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Limits bound the files of an account.
type Limits struct {
	FileSize int64 // bytes of one file; 0 = DefaultFileSize
	Quota    int64 // bytes of all files of an account; 0 = any number
}

// Store gives access to grants and files in one database. It is safe for concurrent use. An exported method is atomic: see package store.
// Those that take a unit run in its transaction.
type Store struct {
	// OnKey is called in the transaction that gives a grant the licence key for which its customer had to wait. Nil: nobody is.
	OnKey func(ctx context.Context, u *db.Unit, g *Grant) error

	db     *db.DB
	limits Limits
}

// New returns the room of an open database.
func New(d *db.DB, l Limits) *Store {
	if l.FileSize == 0 {
		l.FileSize = DefaultFileSize
	}
	return &Store{db: d, limits: l}
}

// Now returns the store's time.
func (s *Store) Now() core.Time { return s.db.Now() }
