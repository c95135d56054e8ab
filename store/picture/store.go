// Package picture holds the pictures of accounts, products and posts: the address at which each was found, and the files that were made of it. Triggers make a
// row when the address of one changes, and delete it, with its files, when there is none any more.
package picture

import "github.com/tillwright/tillwright/store/internal/db"

// Store gives access to the pictures in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db     *db.DB
	bounds Bounds
}

// New returns the room of an open database. No bounds are the usual ones.
func New(d *db.DB, b Bounds) *Store {
	if b == (Bounds{}) {
		b = Usual
	}
	return &Store{d, b}
}
