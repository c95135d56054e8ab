package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// maxTags bounds the tags of a customer.
const maxTags = 50

// The tables whose rows become another customer's when two are merged: those that are locked before the customer, those that
// are locked after, and those that are locked after the grants, each in the order of locking. The rows of the tables in rowsEndedBy are
// deleted instead: they let somebody see what is one customer's alone.
var (
	rowsBeforeCustomer = []string{"checkouts", "subscriptions", "payments"}
	rowsAfterCustomer  = []string{"invoices", "orders", "refunds", "discount_redemptions", "payment_methods", "ad_conversions", "leads", "letters", "balance_transactions", "trials"}
	rowsAfterGrants    = []string{"license_keys"} // a grant that ends has its key end
	rowsEndedBy        = []string{"portal_sessions", "portal_links"}
)

// MergeCustomer makes everything that another customer has this customer's: checkouts, subscriptions, orders, invoices, payments, refunds
// and grants. So it does with redemptions, trials, payment methods, leads, letters, licence keys, balance and what was spent, and with what
// waits to be told to ad networks. Lines of activity about the other are about the customer then, so that they are forgotten with them. What
// is not known of the customer is taken from the other one, who is deleted then. Orders and invoices still say what they said about their
// buyer, and nothing is charged. A customer merged into itself is CodeInvalid on from. So is one with whose
// balance this one's would be more than core.MaxAmount.
func (s *Store) MergeCustomer(ctx context.Context, account, ref, from string) (*Customer, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Customer, error) {
		other, err := s.getCustomer(ctx, account, from, "from")
		if err != nil {
			return nil, err
		}
		c, err := s.getCustomer(ctx, account, ref, "")
		if err != nil {
			return nil, err
		}
		if c.ID == other.ID {
			return nil, core.Invalid("from", "This is the customer itself. Send the one whose orders it is to get.")
		}
		now, err := s.db.BusinessNow(ctx, account)
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
		if err := c.absorbBalance(other); err != nil {
			return nil, err
		}
		gone := &Customer{AccountID: account, ID: other.ID, Type: other.Type, DeletedAt: &now, CreatedAt: other.CreatedAt, UpdatedAt: now}
		if err := u.Update(ctx, customerColumns, gone); err != nil { // first, so that the customer can take over its external_id
			return nil, err
		}
		c.absorb(other, now)
		return c, u.Update(ctx, customerColumns, c)
	})
}

// ownedBy returns the SQL condition on a customer's rows in a table, and its arguments. Payments have no index by customer, but
// one by invoice, so that they are found by the customer's invoices.
func (c *Customer) ownedBy(table string) (string, []any) {
	if table == "payments" {
		return `account_id = ? AND customer_id = ? AND invoice_id IN (SELECT id FROM invoices WHERE account_id = ? AND customer_id = ?)`,
			[]any{c.AccountID, c.ID, c.AccountID, c.ID}
	}
	return `account_id = ? AND customer_id = ?`, []any{c.AccountID, c.ID}
}

// lockRows locks a customer's rows in these tables, in the order of their ids. They are not ordered by the column itself, because SQLite would go
// through all payments of the account in that order.
func (s *Store) lockRows(ctx context.Context, u *db.Unit, tables []string, c *Customer) error {
	for _, table := range tables {
		of, args := c.ownedBy(table)
		if _, err := db.Select[string](ctx, u, `SELECT id FROM `+table+` WHERE `+of+` ORDER BY id || ''`+u.Lock(), args...); err != nil {
			return fmt.Errorf("lock %s of a customer: %w", table, err)
		}
	}
	return nil
}

// moveRows gives one customer's rows in these tables to another customer.
func (s *Store) moveRows(ctx context.Context, u *db.Unit, tables []string, from, to *Customer, now core.Time) error {
	for _, table := range tables {
		of, args := from.ownedBy(table)
		if _, err := u.Exec(ctx, `UPDATE `+table+` SET customer_id = ?, updated_at = ? WHERE `+of, append([]any{to.ID, now}, args...)...); err != nil {
			return fmt.Errorf("give %s to another customer: %w", table, err)
		}
	}
	return nil
}

// checkMoved returns db.ErrOvertaken if a customer has got new rows in these tables since theirs were moved.
func (s *Store) checkMoved(ctx context.Context, u *db.Unit, tables []string, from *Customer) error {
	for _, table := range tables {
		of, args := from.ownedBy(table)
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
func (s *Store) endRows(ctx context.Context, u *db.Unit, c *Customer) error {
	for _, table := range rowsEndedBy {
		if _, err := u.Exec(ctx, `DELETE FROM `+table+` WHERE account_id = ? AND customer_id = ?`, c.AccountID, c.ID); err != nil {
			return fmt.Errorf("delete %s of a customer: %w", table, err)
		}
	}
	return nil
}

// lockBoth locks two customers in the order of their ids, and returns them as they are now, in the order of the arguments. One
// that was deleted meanwhile is CodeMissing.
func (s *Store) lockBoth(ctx context.Context, u *db.Unit, c, other *Customer) (*Customer, *Customer, error) {
	locked, err := db.Select[Customer](ctx, u, customerColumns.SelectSQL+`
		WHERE account_id = ? AND id IN (?, ?) AND deleted_at IS NULL ORDER BY id`+u.Lock(), c.AccountID, c.ID, other.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("lock customers: %w", err)
	}
	found := map[string]*Customer{}
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

// absorb adds to a customer what another one has: counts and sums are added up, and fields that are empty are filled in. Where
// both say something, the customer's own word stands. Consent to marketing is not taken over: it was given for an address that
// is not theirs.
func (c *Customer) absorb(o *Customer, now core.Time) {
	c.OrdersCount += o.OrdersCount
	c.TotalSpent = core.JSONOf(added(c.TotalSpent.V, o.TotalSpent.V))
	if o.Type == CustomerTypeCustomer {
		c.Type = o.Type
	}
	if o.FirstPaidAt != nil && (c.FirstPaidAt == nil || *o.FirstPaidAt < *c.FirstPaidAt) {
		c.FirstPaidAt = o.FirstPaidAt
	}
	if o.LastOrderAt != nil && (c.LastOrderAt == nil || *o.LastOrderAt > *c.LastOrderAt) {
		c.LastOrderAt = o.LastOrderAt
	}
	if o.EmailKey != nil && *o.EmailKey == core.EmailKey(core.Deref(c.Email)) {
		c.EmailKey = o.EmailKey
	}
	c.Name, c.Phone, c.ExternalID = cmp.Or(c.Name, o.Name), cmp.Or(c.Phone, o.Phone), cmp.Or(c.ExternalID, o.ExternalID)
	c.AvatarURL, c.PreferredLocale, c.Notes = cmp.Or(c.AvatarURL, o.AvatarURL), cmp.Or(c.PreferredLocale, o.PreferredLocale), cmp.Or(c.Notes, o.Notes)
	c.BillingAddress.V, c.TaxID.V = cmp.Or(c.BillingAddress.V, o.BillingAddress.V), cmp.Or(c.TaxID.V, o.TaxID.V)
	c.DefaultPaymentMethodID = cmp.Or(c.DefaultPaymentMethodID, o.DefaultPaymentMethodID)
	for _, tag := range o.Tags.V {
		if len(c.Tags.V) < maxTags && !slices.Contains(c.Tags.V, tag) {
			c.Tags.V = append(c.Tags.V, tag)
		}
	}
	c.Metadata = c.Metadata.Fill(o.Metadata)
	c.UpdatedAt = now
}

// added returns the sums of two amounts by currency.
func added(a, b map[string]int64) map[string]int64 {
	sum := maps.Clone(a)
	if sum == nil {
		sum = map[string]int64{}
	}
	for currency, amount := range b {
		sum[currency] += amount
	}
	return sum
}

// lockOwner locks the customer of a row, who may be deleted. If they were merged into another customer while this waited for the
// lock, the row belongs to that one now, who is locked and returned instead.
func (s *Store) lockOwner(ctx context.Context, u *db.Unit, account, customer, table, id string) (*Customer, error) {
	for {
		c, err := s.lockAnyCustomer(ctx, u, account, customer)
		if err != nil || c.DeletedAt == nil {
			return c, err
		}
		owner, err := db.Get[string](ctx, u, `SELECT customer_id FROM `+table+` WHERE account_id = ? AND id = ?`, account, id)
		if err != nil || owner == nil || *owner == customer {
			return c, err
		}
		customer = *owner
	}
}
