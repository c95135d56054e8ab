// Package team joins people and accounts: who signs up and owns an account, who is invited to one, and who may change its members.
package team

import (
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

// Store gives access to the teams in one database. It is safe for concurrent use. An exported method is atomic: see package store.
type Store struct {
	db       *db.DB
	tenant   *tenant.Store
	person   *person.Store
	activity *activity.Store
}

// New returns the room of an open database, which has others keep the accounts, the people and what was done.
func New(d *db.DB, t *tenant.Store, p *person.Store, a *activity.Store) *Store {
	return &Store{d, t, p, a}
}
