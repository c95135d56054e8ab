// Package lead holds those who left their address: by a form, at a checkout that they did not finish, or as the seller has them. Who buys, and when a
// checkout is given up, says package store.
package lead

import (
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/mailbox"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/tenant"
)

// Rooms are those that leads know.
type Rooms struct {
	Activity *activity.Store
	Advert   *advert.Store // whose networks are told of leads
	Catalog  *catalog.Store
	Content  *content.Store  // whose sites have forms
	Customer *customer.Store // whom leads become
	Mailbox  *mailbox.Store
	Outbox   *outbox.Store
	Tenant   *tenant.Store
}

// Store gives access to the leads in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db    *db.DB
	rooms Rooms
}

// New returns the room of an open database.
func New(d *db.DB, r Rooms) *Store { return &Store{d, r} }
