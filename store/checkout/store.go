// Package checkout holds purchases under way, and the links that open them: who buys, what, at which price, and whether they may. How they are paid,
// and what is made of them then, says package store.
package checkout

import (
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/mailbox"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/report"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/store/throttle"
)

// Store gives access to the checkouts in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db    *db.DB
	rooms Rooms
}

// Rooms are those that checkouts know.
type Rooms struct {
	Catalog  *catalog.Store
	Content  *content.Store // whose legal pages are accepted
	Customer *customer.Store
	Discount *discount.Store
	Lead     *lead.Store // what is left of an abandoned checkout
	Lines    *lineitem.Store
	Mailbox  *mailbox.Store
	Offer    *offer.Store
	Outbox   *outbox.Store
	Payment  *payment.Store
	Report   *report.Store
	Tenant   *tenant.Store
	Throttle *throttle.Store
}

// New returns the room of an open database.
func New(d *db.DB, r Rooms) *Store { return &Store{d, r} }
