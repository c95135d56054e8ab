package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// FailedRetention is how long the contract keeps failed deliveries. Succeeded ones are not kept longer.
const FailedRetention = 7 * 24 * time.Hour

// DeliveryRetention is how long finished deliveries are kept. An event is kept as long as one of its deliveries is, and
// an event without deliveries as long as a succeeded one. A success that made up for a failure of the same event is kept as long as that failure.
// Otherwise the event would count as failed again.
type DeliveryRetention struct{ Failed, Succeeded time.Duration }

// deliveryRef names a delivery and its event, to delete them.
type deliveryRef struct {
	AccountID string `db:"account_id"`
	ID        string `db:"id"`
	EventID   string `db:"event_id"`
}

// DeleteOldDeliveries deletes deliveries that are past their retention, at most limit of each outcome, and events
// without deliveries, at most limit of them. It returns how many rows it has deleted. The rest is left to the next call.
func (s *Store) DeleteOldDeliveries(ctx context.Context, keep DeliveryRetention, limit int) (int64, error) {
	var deleted int64
	for state, age := range map[DeliveryState]time.Duration{DeliveryFailed: keep.Failed, DeliverySucceeded: keep.Succeeded} {
		old, err := db.Select[deliveryRef](ctx, s.db, `
			SELECT account_id, id, event_id FROM webhook_deliveries AS d
			WHERE state = ? AND state IN ('succeeded', 'failed') AND finished_at < ? AND (state = 'failed' OR NOT EXISTS (
				SELECT 1 FROM webhook_deliveries AS f
				WHERE f.event_id = d.event_id AND f.account_id = d.account_id AND f.state = 'failed' AND `+madeUp("d", "f")+`))
			ORDER BY finished_at LIMIT ?`,
			state, s.Now().Add(-age), limit)
		if err != nil {
			return deleted, fmt.Errorf("find old deliveries: %w", err)
		}
		for account, refs := range byAccount(old) {
			rows, err := s.deleteDeliveries(ctx, account, refs)
			if deleted += rows; err != nil {
				return deleted, fmt.Errorf("delete old deliveries: %w", err)
			}
		}
	}
	orphans, err := s.deleteOrphans(ctx, s.Now().Add(-keep.Succeeded), limit)
	return deleted + orphans, err
}

// deleteDeliveries deletes finished deliveries of an account, and those of their events that have no other delivery.
func (s *Store) deleteDeliveries(ctx context.Context, account string, refs []deliveryRef) (int64, error) {
	events := make([]string, len(refs))
	for i, ref := range refs {
		events[i] = ref.EventID
	}
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		condition, ids := s.db.In("id", idsOf(refs))
		rows, err := u.Exec(ctx, `DELETE FROM webhook_deliveries WHERE account_id = ? AND `+condition+` AND state IN ('succeeded', 'failed')`, account, ids)
		if err != nil {
			return 0, err
		}
		gone, err := s.deleteEvents(ctx, u, account, events)
		return rows + gone, err
	})
}

// deleteEvents deletes those of the events that have no delivery any more. It locks them first, as a redelivery does
// too, so that the DELETE sees a delivery that was made meanwhile and leaves its event alone.
func (s *Store) deleteEvents(ctx context.Context, u *db.Unit, account string, ids []string) (int64, error) {
	condition, arg := s.db.In("id", ids)
	if _, err := db.Select[string](ctx, u.Locked(), `SELECT id FROM events WHERE account_id = ? AND `+condition+` ORDER BY id`, account, arg); err != nil {
		return 0, err
	}
	return u.Exec(ctx, `
		DELETE FROM events WHERE account_id = ? AND `+condition+`
			AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d WHERE d.account_id = events.account_id AND d.event_id = events.id)`,
		account, arg)
}

// deleteOrphans deletes at most limit events that were created before a time and have no deliveries.
func (s *Store) deleteOrphans(ctx context.Context, before core.Time, limit int) (int64, error) {
	orphans, err := db.Select[deliveryRef](ctx, s.db, `
		SELECT account_id, id, id AS event_id FROM events
		WHERE created_at < ? AND NOT EXISTS (
			SELECT 1 FROM webhook_deliveries AS d WHERE d.account_id = events.account_id AND d.event_id = events.id)
		ORDER BY created_at LIMIT ?`, before, limit)
	if err != nil {
		return 0, fmt.Errorf("find old events: %w", err)
	}
	var deleted int64
	for account, refs := range byAccount(orphans) {
		rows, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
			return s.deleteEvents(ctx, u, account, idsOf(refs))
		})
		if deleted += rows; err != nil {
			return deleted, fmt.Errorf("delete old events: %w", err)
		}
	}
	return deleted, nil
}

// byAccount groups rows that a scan over all accounts has found by account, because every statement that writes is about
// one account.
func byAccount(refs []deliveryRef) map[string][]deliveryRef {
	groups := map[string][]deliveryRef{}
	for _, ref := range refs {
		groups[ref.AccountID] = append(groups[ref.AccountID], ref)
	}
	return groups
}

func idsOf(refs []deliveryRef) []string {
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
	}
	return ids
}
