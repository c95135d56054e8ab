// Package offer holds what can be bought: a price variant with its product, and the lines that are made of it. Who buys, and what is taken off or
// added, is said by those who ask.
package offer

import (
	"github.com/tillwright/tillwright/store/catalog"
)

// Store gives access to the offers in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	rooms Rooms
}

// Rooms are those that offers know.
type Rooms struct {
	Catalog *catalog.Store
}

// New returns the room.
func New(r Rooms) *Store { return &Store{r} }
