package lead

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// inOrder is the order in which leads are locked: that of the index that finds those of an address. So PostgreSQL takes that index even if it knows of an
// empty table only.
const inOrder = `account_id, email_key, COALESCE(product_id, '')`

// Convert makes the new and qualified leads of an address converted, because the address pays an order; nil is none. It waits for nothing, and is
// sent with what else waits, because most sales have no leads.
func (s *Store) Convert(ctx context.Context, u *db.Unit, account, order string, email *string, now core.Time) error {
	if email == nil {
		return nil
	}
	key := core.EmailKey(*email)
	return u.Later(ctx, db.Change{
		Table: "leads", Rows: db.AnyRows,
		Query: `UPDATE leads SET status = 'converted', converted_at = ?, converted_order_id = ?, updated_at = ?
			FROM (SELECT account_id AS its_account, id AS its_id FROM leads WHERE account_id = ? AND email_key = ? AND status || '' IN ('new', 'qualified')
				ORDER BY ` + inOrder + u.Lock() + `) AS theirs
			WHERE account_id = its_account AND id = its_id`,
		Args: []any{now, order, now, account, key},
	})
}

// Lock locks the leads of a locked customer, and all of the address that they own, as inOrder says, and returns them. They are not ordered by the columns
// themselves, because PostgreSQL would go through all leads of the account in that order.
func (s *Store) Lock(ctx context.Context, u *db.Unit, c *customer.Customer) ([]Lead, error) {
	theirs, err := db.Select[Lead](ctx, u.Locked(), columns.SelectSQL+`
		WHERE account_id = ? AND id IN (
			SELECT id FROM leads WHERE account_id = ? AND customer_id = ? UNION ALL SELECT id FROM leads WHERE account_id = ? AND email_key = ?)
		ORDER BY email_key || '', COALESCE(product_id, '')`, c.AccountID, c.AccountID, c.ID, c.AccountID, c.EmailKey)
	if err != nil {
		return nil, fmt.Errorf("lock the leads of a customer: %w", err)
	}
	return theirs, nil
}

// Forget deletes the leads of a locked customer who is being deleted, and all of the address that they own. That one of them, or the customer, was
// unsubscribed stays known.
func (s *Store) Forget(ctx context.Context, u *db.Unit, c *customer.Customer) error {
	theirs, err := s.Lock(ctx, u, c)
	if err != nil {
		return err
	}
	if _, err := u.Exec(ctx, `DELETE FROM leads WHERE account_id = ? AND customer_id = ?`, c.AccountID, c.ID); err != nil {
		return fmt.Errorf("delete the leads of a customer: %w", err)
	}
	if c.EmailKey != nil {
		if _, err := u.Exec(ctx, `DELETE FROM leads WHERE account_id = ? AND email_key = ?`, c.AccountID, *c.EmailKey); err != nil {
			return fmt.Errorf("delete the leads of an address: %w", err)
		}
	}
	ended := unsubscribed(theirs)
	if c.IsUnsubscribed() && c.Email != nil {
		ended = append(ended, *c.Email)
	}
	return s.keepEndings(ctx, u, c.AccountID, ended...) // leads are locked before endings, as everywhere
}
