// Package report holds what sums up an account: its figures by time. Those who change something count it here, in their own transaction.
package report

import (
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
)

// Store gives access to the reports in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db    *db.DB
	rooms Rooms
}

// Rooms are those that reports know.
type Rooms struct {
	Tenant *tenant.Store // whose time zone and currency an account's figures have
}

// New returns the room of an open database.
func New(d *db.DB, r Rooms) *Store { return &Store{d, r} }
