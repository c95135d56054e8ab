package store

import (
	"context"
	"fmt"
)

// TestCharge is a charge as the built-in test provider knows it. It stands for a provider's own database: nothing
// else in the store looks at it, and it commits on its own, before the payment that it belongs to is settled.
type TestCharge struct {
	AccountID   string `db:"account_id"`
	ID          string `db:"id"`
	Token       string `db:"token"` // unique: the same token is the same charge
	Amount      int64  `db:"amount"`
	Currency    string `db:"currency"`
	MethodRef   string `db:"method_ref"`
	ReturnURL   string `db:"return_url"`
	Status      string `db:"status"`
	DeclineCode string `db:"decline_code"`
	CreatedAt   Time   `db:"created_at"`
	UpdatedAt   Time   `db:"updated_at"`
}

var testChargeColumns = columnsOf[TestCharge]("test_charges")

// PutTestCharge stores a charge, or returns the one that has its token.
func (s *Store) PutTestCharge(ctx context.Context, c TestCharge) (*TestCharge, error) {
	return step(ctx, s, func(ctx context.Context, u *unit) (*TestCharge, error) {
		c.ID, c.CreatedAt = "tch_"+newULID(), s.Now()
		c.UpdatedAt = c.CreatedAt
		_, err := u.exec(ctx, testChargeColumns.insertSQL+` ON CONFLICT (account_id, token) DO NOTHING`,
			values(&c, testChargeColumns.inserted)...)
		if err != nil {
			return nil, fmt.Errorf("insert test charge: %w", err)
		}
		return get[TestCharge](ctx, s, testChargeColumns.selectSQL+` WHERE account_id = ? AND token = ?`, c.AccountID, c.Token)
	})
}

// GetTestCharge returns a charge, or CodeMissing.
func (s *Store) GetTestCharge(ctx context.Context, account, id string) (*TestCharge, error) {
	return s.findTestCharge(ctx, account, id, "")
}

// UpdateTestCharge locks a charge, applies change and stores it.
func (s *Store) UpdateTestCharge(ctx context.Context, account, id string, change func(*TestCharge)) (*TestCharge, error) {
	return step(ctx, s, func(ctx context.Context, u *unit) (*TestCharge, error) {
		c, err := s.findTestCharge(ctx, account, id, u.lock())
		if err != nil {
			return nil, err
		}
		change(c)
		c.UpdatedAt = s.Now()
		return c, u.update(ctx, testChargeColumns, c)
	})
}

func (s *Store) findTestCharge(ctx context.Context, account, id, lock string) (*TestCharge, error) {
	c, err := get[TestCharge](ctx, s, testChargeColumns.selectSQL+` WHERE account_id = ? AND id = ?`+lock, account, id)
	if err == nil && c == nil {
		err = Missing("charge", "", id)
	}
	return c, err
}
