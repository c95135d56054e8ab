package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// BalanceReason says why a customer's balance changed.
type BalanceReason string

// The reasons. The source of all but the first and the last is an order.
const (
	BalanceReasonOpening  BalanceReason = "opening"  // what the balance was before its changes were written down; the source is the customer
	BalanceReasonCredit   BalanceReason = "credit"   // a change of plan gave what an order had paid
	BalanceReasonApplied  BalanceReason = "applied"  // it paid an order, or a part of it
	BalanceReasonReturned BalanceReason = "returned" // the order that it had paid became void
	BalanceReasonDeleted  BalanceReason = "deleted"  // the customer was deleted, and it with them; the source is the customer
)

// BalanceEntry is one change of a customer's balance in a currency. The balance is the sum of its entries.
type BalanceEntry struct {
	AccountID  string        `db:"account_id"`
	ID         string        `db:"id"`
	CustomerID string        `db:"customer_id"`
	Currency   string        `db:"currency"`
	Amount     int64         `db:"amount"` // below 0 for what was taken
	Reason     BalanceReason `db:"reason"`
	SourceID   string        `db:"source_id"`
	CreatedAt  core.Time     `db:"created_at"`
	UpdatedAt  core.Time     `db:"updated_at"`
}

var balanceEntryColumns = db.ColumnsOf[BalanceEntry]("balance_entries")

// enterBalance writes down a change of a locked customer's balance, which the caller makes and stores. An amount of 0 is none.
func (u *unit) enterBalance(ctx context.Context, c *Customer, currency string, amount int64, reason BalanceReason, source string, now core.Time) error {
	if amount == 0 {
		return nil
	}
	err := u.Insert(ctx, balanceEntryColumns, &BalanceEntry{
		AccountID: c.AccountID, ID: core.NewID(core.KindBalanceEntry), CustomerID: c.ID, Currency: currency, Amount: amount,
		Reason: reason, SourceID: source, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		return fmt.Errorf("write down a change of a balance: %w", err)
	}
	return nil
}

// moveBalance adds an amount to a locked customer's balance because of an order, and writes it down. The caller stores the customer.
func (u *unit) moveBalance(ctx context.Context, c *Customer, o *Order, amount int64, reason BalanceReason, now core.Time) error {
	c.addBalance(o.Currency, amount)
	return u.enterBalance(ctx, c, o.Currency, amount, reason, o.ID, now)
}

// enterAll writes down all that a customer has, or that it is gone: sign is 1 or -1. The source is the customer.
func (u *unit) enterAll(ctx context.Context, c *Customer, sign int64, reason BalanceReason, now core.Time) error {
	for _, currency := range slices.Sorted(maps.Keys(c.Balance.V)) {
		if err := u.enterBalance(ctx, c, currency, sign*c.Balance.V[currency], reason, c.ID, now); err != nil {
			return err
		}
	}
	return nil
}

// balanceInvariants are further invariants, about what customers have to their credit.
func (s *Store) balanceInvariants() []db.Invariant {
	members := s.db.JSONMembers("c.balance")
	return []db.Invariant{
		{Promise: "a balance is the sum of what changed it", Query: `
			SELECT account_id, id FROM (
				SELECT c.account_id, c.id, b.key AS currency, CAST(b.value AS BIGINT) AS amount FROM customers c JOIN ` + members + ` b ON TRUE
				UNION ALL SELECT account_id, customer_id, currency, -amount FROM balance_entries) AS moved
			GROUP BY account_id, id, currency HAVING SUM(amount) <> 0`},
		{Promise: "what an order gave to a balance is written down", Query: `
			SELECT account_id, id FROM (
				SELECT account_id, id, credited_amount AS amount FROM orders WHERE credited_amount <> 0
				UNION ALL SELECT account_id, source_id, -amount FROM balance_entries WHERE reason = 'credit') AS moved
			GROUP BY account_id, id HAVING SUM(amount) <> 0`},
		{Promise: "what an order gave back, to a card or a balance, was paid for it", Query: `
			SELECT account_id, id FROM orders WHERE credited_amount < 0 OR refunded_amount + credited_amount >
				CASE WHEN paid_at IS NULL OR voided_at IS NOT NULL THEN 0 ELSE paid_amount + balance_applied END`},
		{Promise: "a customer has no more to their credit than they paid and did not get back", Query: `
			SELECT account_id, id FROM (
				SELECT c.account_id, c.id, b.key AS currency, CAST(b.value AS BIGINT) AS amount FROM customers c JOIN ` + members + ` b ON TRUE
				UNION ALL SELECT account_id, customer_id, currency, refunded_amount - paid_amount FROM orders) AS moved
			GROUP BY account_id, id, currency HAVING SUM(amount) > 0`},
	}
}
