// Package tenant holds who sells on this server, and who may ask for them: accounts with their settings and secrets, and API keys. It also counts
// how often each may ask.
package tenant

import (
	"context"
	"errors"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Store gives access to the accounts and API keys in one database. It is safe for concurrent use. An exported method is atomic: see
// package store.
type Store struct {
	// OnAPIKey is called in the transaction that makes an API key. Nil: nobody is.
	OnAPIKey func(ctx context.Context, k *APIKey) error

	db           *db.DB
	livePayments bool
	quota        quota
	keyUses      keyUses
}

// New returns the room of an open database. If livePayments is set, new accounts are paid through Stripe, and none may choose the
// test provider. A process that serves an embedded database alone keeps its counters in a file beside it, until Close.
func New(d *db.DB, livePayments bool) *Store {
	s := &Store{db: d, livePayments: livePayments}
	if d.Engine == core.PostgreSQL {
		s.quota = &sharedQuota{store: s, patience: quotaPatience}
		return s
	}
	local := &localQuota{store: s}
	if d.Options.Exclusive {
		local.keep(d.Path() + "-quota")
	}
	s.quota = local
	return s
}

// Close writes what is kept in memory. The database must still be open.
func (s *Store) Close(ctx context.Context) error {
	var err error
	if local, ok := s.quota.(*localQuota); ok {
		err = local.end()
	}
	return errors.Join(err, s.FlushKeyUse(ctx))
}

// Now returns the store's time.
func (s *Store) Now() core.Time { return s.db.Now() }
