package payment

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// HoldTime returns how long a payment in this account waits for its buyer's action.
func (s *Store) HoldTime(ctx context.Context, r db.Reader, account string) (time.Duration, error) {
	minutes, err := db.Get[int64](ctx, r, `SELECT payment_hold_minutes FROM accounts WHERE id = ?`, account)
	return time.Duration(core.Deref(minutes)) * time.Minute, err
}

// ScarceHold is how long a payment waits while it and others that wait hold more of something than they leave.
const ScarceHold = 5 * time.Minute

// Waiting returns at most limit payments of an account, the oldest first. Their buyers have not done what was required of them within the time
// that the seller gives them.
func (s *Store) Waiting(ctx context.Context, account string, limit int) ([]core.Due, error) {
	now, err := db.BusinessNow(ctx, s.db, account)
	if err != nil {
		return nil, err
	}
	hold, err := s.HoldTime(ctx, s.db, account)
	if err != nil {
		return nil, err
	}
	return db.Select[core.Due](ctx, s.db, `
		SELECT account_id, id FROM payments WHERE account_id = ? AND status = 'requires_action' AND created_at <= ? ORDER BY created_at, id LIMIT ?`,
		account, now.Add(-hold), limit)
}

// leases makes sure that one process at a time asks the provider about a payment without an outcome.
var leases = db.Leases{Table: "payments", Open: "status IN ('pending', 'requires_action')"}

// Due returns at most limit payments of a provider, of any account, that have no outcome and that nobody is charging
// now. They are candidates: another process may take one first, or settle it, until Lease has claimed it.
func (s *Store) Due(ctx context.Context, provider string, limit int) ([]core.Due, error) {
	return leases.Due(ctx, s.db, provider, limit)
}

// Lease claims a due payment for the caller, and reports false if somebody else was first or it has its outcome.
func (s *Store) Lease(ctx context.Context, account, id string) (bool, error) {
	return leases.Take(ctx, s.db, account, id)
}

// Yield ends the caller's lease on a payment whose outcome is not known yet: it is due again after the pause.
func (s *Store) Yield(ctx context.Context, account, id string, pause time.Duration) error {
	return leases.Yield(ctx, s.db, account, id, pause)
}
