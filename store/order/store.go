// Package order holds what was bought: what it came to, what of that is paid and given back, and its receipt. What makes an order, and what its payment
// gives, says package store.
package order

import (
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/signed"
	"github.com/tillwright/tillwright/store/subscription"
)

// Store gives access to the orders in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db    *db.DB
	rooms Rooms
}

// Rooms are those that orders know.
type Rooms struct {
	Catalog      *catalog.Store
	Checkout     *checkout.Store
	Customer     *customer.Store
	Discount     *discount.Store
	Lines        *lineitem.Store
	Signed       *signed.Store
	Subscription *subscription.Store
}

// New returns the room of an open database.
func New(d *db.DB, r Rooms) *Store { return &Store{d, r} }
