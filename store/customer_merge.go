package store

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// These are the tables whose rows become another customer's when two are merged. Some are locked before the customer, some after, and some after the
// grants, each in the order of locking. The rows of the tables in rowsEndedBy are deleted instead: they let somebody see what is one customer's
// alone.
var (
	rowsBeforeCustomer = []string{"checkouts", "subscriptions", "payments"}
	rowsAfterCustomer  = []string{"invoices", "orders", "refunds", "discount_redemptions", "payment_methods", "leads", "ad_conversions", "letters", "balance_transactions", "trials"}
	rowsAfterGrants    = []string{"license_keys"} // a grant that ends has its key end
	rowsEndedBy        = []string{"portal_sessions", "portal_links"}
)

// MergeCustomer makes everything that another customer has this customer's: checkouts, subscriptions, orders, invoices, payments, refunds
// and grants. So it does with redemptions, trials, payment methods, leads, letters, licence keys, balance and what was spent. It does so, too, with
// what waits to be told to ad networks. Lines of activity about the other are about the customer then, so that they are forgotten with them. What is
// not known of the customer is taken from the other one, who is deleted then. Orders and invoices still say what they said about their buyer, and
// nothing is charged. A customer merged into itself is CodeInvalid on from. So is one with whose balance this one's would be more than
// core.MaxAmount.
func (s *Store) MergeCustomer(ctx context.Context, account, ref, from string) (*customer.Customer, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*customer.Customer, error) {
		other, err := s.Customer.Named(ctx, u, account, from, "from")
		if err != nil {
			return nil, err
		}
		c, err := s.Customer.Named(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		if c.ID == other.ID {
			return nil, core.Invalid("from", "This is the customer itself. Send the one whose orders it is to get.")
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		if err := s.lockRows(ctx, u, rowsBeforeCustomer, other); err != nil {
			return nil, err
		}
		if err := s.moveRows(ctx, u, rowsBeforeCustomer, other, c, now); err != nil {
			return nil, err
		}
		if c, other, err = s.lockBoth(ctx, u, c, other); err != nil {
			return nil, err
		}
		// Before the customer was locked, others could still give them new rows: then all this is done again.
		if err := s.checkMoved(ctx, u, rowsBeforeCustomer, other); err != nil {
			return nil, err
		}
		if err := s.moveRows(ctx, u, rowsAfterCustomer, other, c, now); err != nil {
			return nil, err
		}
		if err := s.Grant.Move(ctx, u, account, other.ID, c.ID); err != nil {
			return nil, err
		}
		if err := s.moveRows(ctx, u, rowsAfterGrants, other, c, now); err != nil {
			return nil, err
		}
		if err := s.Activity.Move(ctx, u, account, other.ID, c.ID); err != nil {
			return nil, err
		}
		if err := s.endRows(ctx, u, other); err != nil {
			return nil, err
		}
		if err := s.keepEnding(ctx, u, c, other, now); err != nil {
			return nil, err
		}
		if err := c.AbsorbBalance(other); err != nil {
			return nil, err
		}
		gone := &customer.Customer{AccountID: account, ID: other.ID, Type: other.Type, DeletedAt: &now, CreatedAt: other.CreatedAt, UpdatedAt: now}
		if err := u.Update(ctx, customer.Columns, gone); err != nil { // first, so that the customer can take over its external_id
			return nil, err
		}
		c.Absorb(other, now)
		if err := u.Update(ctx, customer.Columns, c); err != nil {
			return nil, err
		}
		return c, s.writeCards(ctx, u, c, now)
	})
}

// lockRows locks a customer's rows in these tables, in the order of their ids. They are not ordered by the column itself, because SQLite would go
// through all payments of the account in that order.
func (s *Store) lockRows(ctx context.Context, u *db.Unit, tables []string, c *customer.Customer) error {
	for _, table := range tables {
		of, args := c.OwnedBy(table)
		if _, err := db.Select[string](ctx, u.Locked(), `SELECT id FROM `+table+` WHERE `+of+` ORDER BY id || ''`, args...); err != nil {
			return fmt.Errorf("lock %s of a customer: %w", table, err)
		}
	}
	return nil
}

// moveRows gives one customer's rows in these tables to another customer.
func (s *Store) moveRows(ctx context.Context, u *db.Unit, tables []string, from, to *customer.Customer, now core.Time) error {
	for _, table := range tables {
		if table == "leads" { // which have an order of their own
			if _, err := s.Lead.Lock(ctx, u, from); err != nil {
				return err
			}
		}
		of, args := from.OwnedBy(table)
		if _, err := u.Exec(ctx, `UPDATE `+table+` SET customer_id = ?, updated_at = ? WHERE `+of, append([]any{to.ID, now}, args...)...); err != nil {
			return fmt.Errorf("give %s to another customer: %w", table, err)
		}
	}
	return nil
}

// checkMoved returns db.ErrOvertaken if a customer has got new rows in these tables since theirs were moved.
func (s *Store) checkMoved(ctx context.Context, u *db.Unit, tables []string, from *customer.Customer) error {
	for _, table := range tables {
		of, args := from.OwnedBy(table)
		id, err := db.Get[string](ctx, u, `SELECT id FROM `+table+` WHERE `+of+` LIMIT 1`, args...)
		if err != nil {
			return fmt.Errorf("look for %s of a customer: %w", table, err)
		}
		if id != nil {
			return fmt.Errorf("%s: %w", *id, db.ErrOvertaken)
		}
	}
	return nil
}

// endRows deletes the rows that are of no use without their customer: see rowsEndedBy.
func (s *Store) endRows(ctx context.Context, u *db.Unit, c *customer.Customer) error {
	for _, table := range rowsEndedBy {
		if _, err := u.Exec(ctx, `DELETE FROM `+table+` WHERE account_id = ? AND customer_id = ?`, c.AccountID, c.ID); err != nil {
			return fmt.Errorf("delete %s of a customer: %w", table, err)
		}
	}
	return nil
}

// lockBoth locks two customers in the order of their ids, and returns them as they are now, in the order of the arguments. One
// that was deleted meanwhile is CodeMissing.
func (s *Store) lockBoth(ctx context.Context, u *db.Unit, c, other *customer.Customer) (*customer.Customer, *customer.Customer, error) {
	locked, err := db.Select[customer.Customer](ctx, u.Locked(), customer.Columns.SelectSQL+`
		WHERE account_id = ? AND id IN (?, ?) AND deleted_at IS NULL ORDER BY id`, c.AccountID, c.ID, other.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("lock customers: %w", err)
	}
	found := map[string]*customer.Customer{}
	for i := range locked {
		found[locked[i].ID] = &locked[i]
	}
	switch {
	case found[other.ID] == nil:
		return nil, nil, core.Missing("customer", "from", other.ID)
	case found[c.ID] == nil:
		return nil, nil, core.Missing("customer", "", c.ID)
	}
	return found[c.ID], found[other.ID], nil
}

// keepEnding keeps of a locked customer, who will be gone, that they wanted no news. If both have the same mailbox, the other one wants none either.
func (s *Store) keepEnding(ctx context.Context, u *db.Unit, c, gone *customer.Customer, now core.Time) error {
	if !gone.IsUnsubscribed() || gone.Email == nil {
		return nil
	}
	ended := []string{*gone.Email}
	if c.Email != nil && core.MailboxKey(*c.Email) == core.MailboxKey(*gone.Email) {
		ended = append(ended, *c.Email)
	}
	return s.Lead.End(ctx, u, c.AccountID, now, ended...)
}
