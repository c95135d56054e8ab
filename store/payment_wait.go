package store

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// paymentHold returns how long a payment in this account waits for its buyer's action.
func (s *Store) paymentHold(ctx context.Context, account string) (time.Duration, error) {
	minutes, err := db.Get[int64](ctx, s.db, `SELECT payment_hold_minutes FROM accounts WHERE id = ?`, account)
	return time.Duration(core.Deref(minutes)) * time.Minute, err
}

// scarceHold is how long a payment waits while it and others that wait hold more of something than they leave.
const scarceHold = 5 * time.Minute

// HoldIsOver reports whether the buyer's time is over for an action that their payment requires, by the account's clock. It
// ends after the time that the seller gives buyers, or after scarceHold if it and others hold more of something than is left, and at the
// latest when the checkout expires. One that holds something alone has all the time. It is false for a payment that requires no action.
func (s *Store) HoldIsOver(ctx context.Context, begun *Confirmation) (bool, error) {
	p := begun.Payment
	if p.Status != PaymentStatusRequiresAction {
		return false, nil
	}
	now, err := s.db.BusinessNow(ctx, p.AccountID)
	if err != nil {
		return false, err
	}
	if begun.Checkout != nil && begun.Checkout.ExpiresAt <= now {
		return true, nil
	}
	hold, err := s.paymentHold(ctx, p.AccountID)
	if err != nil || p.CreatedAt.Add(hold) <= now {
		return err == nil, err
	}
	if begun.Checkout == nil || now < p.CreatedAt.Add(scarceHold) {
		return false, nil
	}
	items, err := s.Lines.OfCheckout(ctx, p.AccountID, begun.Checkout.ID)
	if err != nil {
		return false, err
	}
	return s.holdsTooMuch(ctx, begun.Checkout, p, items)
}

// WaitingPayments returns at most limit payments of an account whose buyers have not done what was required of them within the
// time that the seller gives them, the oldest first.
func (s *Store) WaitingPayments(ctx context.Context, account string, limit int) ([]core.Due, error) {
	now, err := s.db.BusinessNow(ctx, account)
	if err != nil {
		return nil, err
	}
	hold, err := s.paymentHold(ctx, account)
	if err != nil {
		return nil, err
	}
	return db.Select[core.Due](ctx, s.db, `
		SELECT account_id, id FROM payments WHERE account_id = ? AND status = 'requires_action' AND created_at <= ? ORDER BY created_at, id LIMIT ?`,
		account, now.Add(-hold), limit)
}

// paymentLeases makes sure that one process at a time asks the provider about a payment without an outcome.
var paymentLeases = db.Leases{Table: "payments", Open: "status IN ('pending', 'requires_action')"}

// DuePayments returns at most limit payments of a provider, of any account, that have no outcome and that nobody is charging
// now. They are candidates: another process may take one first, or settle it, until LeasePayment has claimed it.
func (s *Store) DuePayments(ctx context.Context, provider string, limit int) ([]core.Due, error) {
	return paymentLeases.Due(ctx, s.db, provider, limit)
}

// LeasePayment claims a due payment for the caller, and reports false if somebody else was first or it has its outcome.
func (s *Store) LeasePayment(ctx context.Context, account, id string) (bool, error) {
	return paymentLeases.Take(ctx, s.db, account, id)
}

// YieldPayment ends the caller's lease on a payment whose outcome is not known yet: it is due again after the pause.
func (s *Store) YieldPayment(ctx context.Context, account, id string, pause time.Duration) error {
	return paymentLeases.Yield(ctx, s.db, account, id, pause)
}
