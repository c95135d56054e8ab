package testbank

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Charge is a charge in the books of the test provider.
type Charge struct {
	AccountID   string    `db:"account_id"`
	ID          string    `db:"id"`
	Token       string    `db:"token"` // unique: the same token is the same charge
	Amount      int64     `db:"amount"`
	Currency    string    `db:"currency"`
	MethodRef   string    `db:"method_ref"`
	OffSession  bool      `db:"off_session"`
	Status      string    `db:"status"`
	DeclineCode string    `db:"decline_code"`
	CreatedAt   core.Time `db:"created_at"`
	UpdatedAt   core.Time `db:"updated_at"`
}

var chargeColumns = db.ColumnsOf[Charge]("test_charges")

// PutCharge stores a charge. If there is one with its token already, that is returned instead.
func (s *Store) PutCharge(ctx context.Context, c Charge) (*Charge, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Charge, error) {
		c.CreatedAt = s.Now()
		c.UpdatedAt = c.CreatedAt
		rows, err := u.Exec(ctx, chargeColumns.InsertSQL+` ON CONFLICT (account_id, token) DO NOTHING`,
			chargeColumns.Values(&c)...)
		if err != nil {
			return nil, fmt.Errorf("insert test charge: %w", err)
		}
		if rows == 1 {
			return &c, nil
		}
		return db.Get[Charge](ctx, u, chargeColumns.SelectSQL+` WHERE account_id = ? AND token = ?`, c.AccountID, c.Token)
	})
}

// GetCharge returns a charge, nil if there is none.
func (s *Store) GetCharge(ctx context.Context, account, id string) (*Charge, error) {
	return db.Get[Charge](ctx, s.db, chargeColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
}

// History says how often a method was charged in all, and how often while its buyer was away. Charges of 0 do not count.
type History struct {
	Charges    int64 `db:"charges"`
	OffSession int64 `db:"off_session"`
}

// HistoryOf counts the charges of a method. One whose reference does not begin with tok_ has none: the query uses an index
// of those alone.
func (s *Store) HistoryOf(ctx context.Context, account, methodRef string) (*History, error) {
	return db.Get[History](ctx, s.db, `
		SELECT COUNT(*) AS charges, COALESCE(SUM(CASE WHEN off_session THEN 1 ELSE 0 END), 0) AS off_session
		FROM test_charges WHERE account_id = ? AND method_ref = ? AND method_ref >= 'tok_' AND amount > 0`, account, methodRef)
}

// MoveCharge changes the status of a charge from one to another. A charge that has any other status stays as it is.
func (s *Store) MoveCharge(ctx context.Context, account, id, from, to string) error {
	_, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.Exec(ctx, `UPDATE test_charges SET status = ?, updated_at = ? WHERE account_id = ? AND id = ? AND status = ?`,
			to, s.Now(), account, id, from)
	})
	return err
}
