package payment

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/internal/db"
)

// ProviderEvent identifies a message of a payment provider, by the provider's own id of it.
type ProviderEvent struct {
	AccountID string
	Provider  string
	ID        string
}

// ApplyProviderEvent runs apply once for each event: in one transaction with a note of the event, and not at all if that note
// exists already. Apply uses the methods of the store, which join the transaction; it must not call anything outside.
func (s *Store) ApplyProviderEvent(ctx context.Context, e ProviderEvent, apply func(context.Context) error) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		fresh, err := u.Exec(ctx, `
			INSERT INTO provider_events (account_id, provider, event_id, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			e.AccountID, e.Provider, e.ID, s.db.Now())
		if err != nil {
			return nil, fmt.Errorf("insert event of provider: %w", err)
		}
		if fresh == 0 {
			return nil, nil
		}
		return nil, apply(ctx)
	})
	return err
}

// ProviderEventLife is how long events are remembered. Providers send one again for days, so it must be longer than that.
const ProviderEventLife = 30 * 24 * time.Hour

// DeleteOldProviderEvents deletes at most limit notes of events older than ProviderEventLife, of any account, and returns how
// many.
func (s *Store) DeleteOldProviderEvents(ctx context.Context, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.ExecBatch(ctx, `DELETE FROM provider_events`, `provider_events WHERE created_at < ? ORDER BY created_at LIMIT ?`, s.db.Now().Add(-ProviderEventLife), limit)
	})
}
