// Package invoice holds what is asked to be paid: drafts, the bills that orders and invoices make together, and their events. What follows from a
// payment says package store.
package invoice

import (
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/signed"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// Store gives access to the invoices in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db    *db.DB
	rooms Rooms
}

// Rooms are those that invoices know.
type Rooms struct {
	Catalog      *catalog.Store
	Customer     *customer.Store
	Discount     *discount.Store
	Lines        *lineitem.Store
	Order        *order.Store
	Outbox       *outbox.Store
	Payment      *payment.Store
	Signed       *signed.Store
	Subscription *subscription.Store
	Tenant       *tenant.Store
}

// New returns the room of an open database.
func New(d *db.DB, r Rooms) *Store { return &Store{d, r} }
