// Package payment holds what buyers pay with and how far they have come: payments, saved methods, and the guards that count tries. What a payment is
// for, and what follows from its outcome, says package store.
package payment

import (
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Store gives access to the payments in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db    *db.DB
	rooms Rooms
}

// Rooms are those that payments know.
type Rooms struct {
	Customer *customer.Store // who has saved methods
}

// New returns the room of an open database.
func New(d *db.DB, r Rooms) *Store { return &Store{d, r} }
