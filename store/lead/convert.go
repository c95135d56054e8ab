package lead

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Convert makes the new and qualified leads of an address converted, because the address pays an order; nil is none. They are looked for first, so that a
// sale without leads, as most are, costs one read that locks nothing and sends nothing that waits.
func (s *Store) Convert(ctx context.Context, u *db.Unit, account, order string, email *string, now core.Time) error {
	if email == nil {
		return nil
	}
	ids, err := db.Select[string](ctx, u, `
		SELECT id FROM leads WHERE account_id = ? AND email_key = ? AND status || '' IN ('new', 'qualified') ORDER BY id || ''`, account, core.EmailKey(*email))
	if err != nil || len(ids) == 0 {
		return err
	}
	condition, arg := s.db.In("id", ids)
	_, err = u.Exec(ctx, `
		UPDATE leads SET status = 'converted', converted_at = ?, converted_order_id = ?, updated_at = ?
		WHERE account_id = ? AND status || '' IN ('new', 'qualified') AND `+condition, now, order, now, account, arg)
	if err != nil {
		return fmt.Errorf("convert leads: %w", err)
	}
	return nil
}

// Forget deletes the leads of a locked customer who is being deleted, and all of the address that they own.
func (s *Store) Forget(ctx context.Context, u *db.Unit, c *customer.Customer) error {
	if _, err := u.Exec(ctx, `DELETE FROM leads WHERE account_id = ? AND customer_id = ?`, c.AccountID, c.ID); err != nil {
		return fmt.Errorf("delete the leads of a customer: %w", err)
	}
	if c.EmailKey == nil {
		return nil
	}
	if _, err := u.Exec(ctx, `DELETE FROM leads WHERE account_id = ? AND email_key = ?`, c.AccountID, *c.EmailKey); err != nil {
		return fmt.Errorf("delete the leads of an address: %w", err)
	}
	return nil
}
