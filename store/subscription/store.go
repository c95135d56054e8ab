// Package subscription holds what is billed period after period: its plan, its periods, what it is charged to, what they cost, and what it gives.
// When a period begins, and what follows from its payment, says package store.
package subscription

import (
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/report"
	"github.com/tillwright/tillwright/store/tenant"
)

// Store gives access to the subscriptions in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db    *db.DB
	rooms Rooms
}

// Rooms are those that subscriptions know.
type Rooms struct {
	Catalog  *catalog.Store
	Customer *customer.Store
	Discount *discount.Store
	Grant    *grant.Store
	Payment  *payment.Store
	Report   *report.Store
	Tenant   *tenant.Store
}

// New returns the room of an open database.
func New(d *db.DB, r Rooms) *Store { return &Store{d, r} }
