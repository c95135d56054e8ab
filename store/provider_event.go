package store

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/internal/db"
)

// ProviderEvent names what a payment provider told us.
type ProviderEvent struct {
	AccountID string
	Provider  string
	ID        string
}

// ApplyProviderEvent runs apply in one transaction with a note of the event, and not at all if the event has been
// applied before. Apply uses the methods of the store; nothing outside may be called in it.
func (s *Store) ApplyProviderEvent(ctx context.Context, e ProviderEvent, apply func(context.Context) error) error {
	_, err := tx(ctx, s, func(ctx context.Context, u *unit) (any, error) {
		fresh, err := u.Exec(ctx, `
			INSERT INTO provider_events (account_id, provider, event_id, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			e.AccountID, e.Provider, e.ID, s.Now())
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

// providerEventLife is for how long what a provider told us is known as told. Providers try for days.
const providerEventLife = 30 * 24 * time.Hour

// DeleteOldProviderEvents forgets at most limit notes of what providers told us long ago, of any account, and returns
// how many.
func (s *Store) DeleteOldProviderEvents(ctx context.Context, limit int) (int64, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (int64, error) {
		return u.Exec(ctx, `
			DELETE FROM provider_events WHERE (account_id, provider, event_id) IN (
				SELECT account_id, provider, event_id FROM provider_events WHERE created_at < ? LIMIT ?`+u.LockSkip()+`)`,
			s.Now().Add(-providerEventLife), limit)
	})
}

// PaymentOfCharge returns the payment that a provider knows by a reference, nil if there is none.
func (s *Store) PaymentOfCharge(ctx context.Context, account, provider, ref string) (*Payment, error) {
	return db.Get[Payment](ctx, s.db, paymentColumns.SelectSQL+` WHERE account_id = ? AND provider = ? AND provider_ref = ?`, account, provider, ref)
}
