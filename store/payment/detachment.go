package payment

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/tenant"
)

// Detachment is the intent to tell a provider that a payment method must not be charged any more. It is deleted once the
// provider knows.
type Detachment struct {
	AccountID   string `db:"account_id"`
	ID          string `db:"id"` // the method's id, or the provider's name of its setup if it was not kept here: see DetachGiven
	Provider    string `db:"provider"`
	ProviderRef string `db:"provider_ref"`
	Age         int64  `db:"age"` // in microseconds
}

// detachmentLeases let one caller at a time tell the provider of a method. A method that was saved again under the same name of
// the provider's, or with which a payment is under way, is left out.
var detachmentLeases = db.Leases{Table: "detachments", Open: `NOT EXISTS (
		SELECT 1 FROM payment_methods m
		WHERE m.account_id = detachments.account_id AND m.provider_ref = detachments.provider_ref AND m.provider = detachments.provider AND m.deleted_at IS NULL)
	AND NOT EXISTS (
		SELECT 1 FROM payments p WHERE p.account_id = detachments.account_id AND p.provider = detachments.provider
			AND p.method_ref = detachments.provider_ref AND p.status IN ('pending', 'requires_action'))`}

// DueDetachments names detachments that a provider has yet to be told of and nobody is telling it now, at most limit, of all
// accounts.
func (s *Store) DueDetachments(ctx context.Context, provider string, limit int) ([]core.Due, error) {
	return detachmentLeases.Due(ctx, s.db, provider, limit)
}

// LeaseDetachment gives a detachment to the first who asks for it, for a while. Everybody else gets nil.
func (s *Store) LeaseDetachment(ctx context.Context, account, id string) (*Detachment, error) {
	mine, err := detachmentLeases.Take(ctx, s.db, account, id)
	if err != nil || !mine {
		return nil, err
	}
	return db.Get[Detachment](ctx, s.db, `
		SELECT account_id, id, provider, provider_ref, `+s.db.NowSQL()+` - created_at AS age FROM detachments WHERE account_id = ? AND id = ?`, account, id)
}

// YieldDetachment puts a detachment off for a pause, after the provider could not be told.
func (s *Store) YieldDetachment(ctx context.Context, account, id string, pause time.Duration) error {
	return detachmentLeases.Yield(ctx, s.db, account, id, pause)
}

// EndDetachment deletes a detachment that the provider knows of.
func (s *Store) EndDetachment(ctx context.Context, d *Detachment) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `DELETE FROM detachments WHERE account_id = ? AND id = ?`, d.AccountID, d.ID)
	})
	return err
}

// DetachGiven stores the intent to detach a method that was given to the provider, but is not kept here. Giving is the
// provider's name of the setup by which it was given: stored twice, the intent is there once.
func (s *Store) DetachGiven(ctx context.Context, account, provider, giving, ref string) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			INSERT INTO detachments (account_id, id, provider, provider_ref, lease_until, created_at) VALUES (?, ?, ?, ?, 0, `+s.db.NowSQL()+`)
			ON CONFLICT (account_id, id) DO NOTHING`, account, giving, provider, ref)
	})
	return err
}

// detach stores the intent to detach a customer's saved methods at their providers: one of them, or all if id is empty. The test
// provider keeps none, so that nothing is stored for it.
func (s *Store) detach(ctx context.Context, u *db.Unit, c *customer.Customer, id string) error {
	_, err := u.Exec(ctx, `
		INSERT INTO detachments (account_id, id, provider, provider_ref, lease_until, created_at)
		SELECT account_id, id, provider, provider_ref, 0, `+s.db.NowSQL()+` FROM payment_methods
		WHERE account_id = ? AND customer_id = ? AND provider <> ? AND deleted_at IS NULL AND (id = ? OR ? = '')`,
		c.AccountID, c.ID, tenant.PaymentsProviderTest, id, id)
	if err != nil {
		return fmt.Errorf("intend to detach payment methods: %w", err)
	}
	return nil
}
