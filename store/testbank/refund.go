package testbank

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Refund is a refund in the books of the test provider.
type Refund struct {
	AccountID     string    `db:"account_id"`
	ID            string    `db:"id"`
	Token         string    `db:"token"` // unique: the same token is the same refund
	ChargeID      string    `db:"charge_id"`
	Amount        int64     `db:"amount"`
	Status        string    `db:"status"`
	FailureReason string    `db:"failure_reason"`
	CreatedAt     core.Time `db:"created_at"`
	UpdatedAt     core.Time `db:"updated_at"`
}

var refundColumns = db.ColumnsOf[Refund]("test_refunds")

// PutRefund stores a refund. If there is one with its token already, that is returned instead. A refund of more than is
// left of its charge is stored as failed.
func (s *Store) PutRefund(ctx context.Context, r Refund) (*Refund, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Refund, error) {
		left, err := s.lockCharge(ctx, u, r.AccountID, r.ChargeID)
		if err != nil {
			return nil, err
		}
		if made, err := s.refundOfIn(ctx, u, r.AccountID, r.Token); err != nil || made != nil {
			return made, err
		}
		if r.Amount > left {
			r.Status, r.FailureReason = "failed", "charge_already_refunded"
		}
		r.CreatedAt = s.Now()
		r.UpdatedAt = r.CreatedAt
		return &r, u.Insert(ctx, refundColumns, &r)
	})
}

// lockCharge locks a charge and returns how much of it can still be refunded: 0 if it did not succeed or does not exist.
func (s *Store) lockCharge(ctx context.Context, u *db.Unit, account, id string) (int64, error) {
	charge, err := db.Get[Charge](ctx, u.Locked(), chargeColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return 0, fmt.Errorf("lock test charge: %w", err)
	}
	if charge == nil || charge.Status != "succeeded" {
		return 0, nil
	}
	refunded, err := db.Get[int64](ctx, u, `
		SELECT COALESCE(SUM(amount), 0) FROM test_refunds
		WHERE account_id = ? AND charge_id = ? AND status IN ('pending', 'succeeded')`, account, id)
	if err != nil {
		return 0, fmt.Errorf("sum test refunds: %w", err)
	}
	return charge.Amount - *refunded, nil
}

// RefundOf returns the refund that has a token, nil if there is none.
func (s *Store) RefundOf(ctx context.Context, account, token string) (*Refund, error) {
	return s.refundOfIn(ctx, s.db, account, token)
}

// refundOfIn does what RefundOf does, where r says.
func (s *Store) refundOfIn(ctx context.Context, r db.Reader, account, token string) (*Refund, error) {
	return db.Get[Refund](ctx, r, refundColumns.SelectSQL+` WHERE account_id = ? AND token = ?`, account, token)
}

// GetRefund returns a refund, nil if there is none.
func (s *Store) GetRefund(ctx context.Context, account, id string) (*Refund, error) {
	return db.Get[Refund](ctx, s.db, refundColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
}

// MoveRefund gives a pending refund its outcome. Any other refund stays as it is.
func (s *Store) MoveRefund(ctx context.Context, account, id, to, reason string) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `
			UPDATE test_refunds SET status = ?, failure_reason = ?, updated_at = ?
			WHERE account_id = ? AND id = ? AND status = 'pending'`, to, reason, s.Now(), account, id)
	})
	return err
}
