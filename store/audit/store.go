// Package audit holds the promises about several rows that hold after every transaction, and finds the rows that break them. Rooms that can
// make their own promises do; those of commerce are here.
package audit

import (
	"context"
	"slices"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/picture"
	"github.com/tillwright/tillwright/store/tenant"
	"github.com/tillwright/tillwright/store/throttle"
)

// Store checks one database. It is safe for concurrent use.
type Store struct {
	db     *db.DB
	tenant *tenant.Store
}

// New returns the room of an open database.
func New(d *db.DB, t *tenant.Store) *Store { return &Store{d, t} }

// Check returns all rows that break a promise: see CheckEach.
func (s *Store) Check(ctx context.Context, keep outbox.DeliveryRetention) ([]core.Violation, error) {
	var all []core.Violation
	err := s.CheckEach(ctx, keep, func(_ string, broken []core.Violation) { all = append(all, broken...) })
	return all, err
}

// CheckEach reads every row, and calls checked for each promise with the rows that break it. Of events it reads those that the
// retention has not begun to delete. It takes no locks. It may run at any time on a database at work, since each promise is one statement and
// holds after every transaction.
func (s *Store) CheckEach(ctx context.Context, keep outbox.DeliveryRetention, checked func(promise string, broken []core.Violation)) error {
	promised := slices.Concat(commerceInvariants, deliveryInvariants, metricsInvariants, arrayInvariants(s.db), balanceInvariants(s.db), picture.Invariants(s.db), s.tenant.Invariants(), advert.Invariants, grant.LicenseInvariants, grant.FileInvariants, throttle.Invariants)
	if err := s.db.CheckAll(ctx, promised, checked); err != nil {
		return err
	}
	return s.db.CheckAll(ctx, eventInvariants, checked, s.db.Now().Add(-min(keep.Succeeded, keep.Failed)))
}

// eventInvariants hold for the events since a moment, which is their argument. It is to be so late that none of these events was deleted yet.
// Older ones are deleted one by one, so that nothing can be said of their numbers. An order with an event_key may have events under its id too: a
// server of the release before numbered them on there.
var eventInvariants = []db.Invariant{
	{Promise: "events of one key are numbered without gaps", Query: `
		SELECT e.account_id, COALESCE(o.event_key, e.ordering_key) AS id
		FROM events e LEFT JOIN orders o ON o.account_id = e.account_id AND o.id = e.ordering_key
		WHERE e.created_at > ? GROUP BY e.account_id, COALESCE(o.event_key, e.ordering_key)
		HAVING COUNT(*) <> MAX(e.key_seq) - MIN(e.key_seq) + 1 OR COUNT(DISTINCT e.key_seq) <> COUNT(*)`},
	// Without the empty text SQLite reads all events of an account for each of its orders: see "an active product has an active price variant".
	{Promise: "an order's last event is its newest", Query: `
		SELECT o.account_id, o.id FROM (
			SELECT account_id, id, event_seq, id AS events_by FROM orders UNION ALL
			SELECT account_id, id, event_seq, event_key FROM orders WHERE event_key IS NOT NULL) o
		JOIN events e ON e.account_id || '' = o.account_id AND e.ordering_key = o.events_by
		WHERE e.created_at > ? GROUP BY o.account_id, o.id, o.event_seq HAVING MAX(e.key_seq) <> o.event_seq`},
}
