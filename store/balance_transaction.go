package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// BalanceReason says why a customer's balance changed.
type BalanceReason string

// The reasons. The source of the first, of what was done by hand and of the last is the customer, that of
// the others an order or a refund.
const (
	BalanceReasonOpening  BalanceReason = "opening"  // what the balance was before its changes were written down
	BalanceReasonCredit   BalanceReason = "credit"   // a change of plan gave what an order had paid
	BalanceReasonApplied  BalanceReason = "applied"  // it paid an order, or a part of it
	BalanceReasonReturned BalanceReason = "returned" // the order that it had paid became void
	BalanceReasonRefunded BalanceReason = "refunded" // a refund gave back what it had paid, or below 0 took that back
	BalanceReasonManual   BalanceReason = "manual"   // the seller gave or took it by hand
	BalanceReasonDeleted  BalanceReason = "deleted"  // the customer was deleted, and it with them
)

// BalanceTransaction is one change of a customer's balance in a currency. The balance is the sum of them.
type BalanceTransaction struct {
	AccountID   string        `db:"account_id"`
	ID          string        `db:"id"`
	CustomerID  string        `db:"customer_id"`
	Currency    string        `db:"currency"`
	Amount      int64         `db:"amount"` // below 0 for what was taken
	Reason      BalanceReason `db:"reason"`
	SourceID    string        `db:"source_id"`
	Description *string       `db:"description"` // what the seller says of a change by hand
	CreatedAt   core.Time     `db:"created_at"`
	UpdatedAt   core.Time     `db:"updated_at"`
}

// HasSource reports whether something else than the seller or the customer brought it about: its SourceID is not the customer then.
func (t *BalanceTransaction) HasSource() bool {
	return !slices.Contains([]BalanceReason{BalanceReasonOpening, BalanceReasonManual, BalanceReasonDeleted}, t.Reason)
}

// NewBalanceTransaction is a change of a balance by hand: what is given, or taken if it is below 0, and why.
type NewBalanceTransaction struct {
	Currency    string
	Amount      int64
	Description string
}

// ListBalanceTransactions holds the filters of a list of changes of a balance. An empty one does not filter.
type ListBalanceTransactions struct {
	core.Page
	Currency string
	Reason   BalanceReason
}

var balanceTransactionColumns = db.ColumnsOf[BalanceTransaction]("balance_entries")

// ListBalanceTransactions returns a page of the changes of a customer's balance, newest first, and whether there are more.
func (s *Store) ListBalanceTransactions(ctx context.Context, account, customer string, in ListBalanceTransactions) ([]BalanceTransaction, bool, error) {
	c, err := s.findCustomer(ctx, account, customer, "", "")
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.Is("customer_id", c.ID)
	if in.Currency != "" { // a customer has few changes of any kind
		f.And("currency = ?", in.Currency)
	}
	if in.Reason != "" {
		f.And("reason = ?", in.Reason)
	}
	return db.Page(ctx, s.db, balanceTransactionColumns, core.KindBalanceTransaction, account, in.Page, &f)
}

// CreateBalanceTransaction gives something to a customer's balance by hand, or takes it. More than there is cannot be taken, and no balance
// exceeds MaxAmount: both are CodeInvalid on amount. No event follows.
func (s *Store) CreateBalanceTransaction(ctx context.Context, account, customer string, in NewBalanceTransaction) (*BalanceTransaction, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*BalanceTransaction, error) {
		c, err := s.findCustomer(ctx, account, customer, "", u.Lock())
		if err != nil {
			return nil, err
		}
		if err := in.check(c.Balance.V[in.Currency]); err != nil {
			return nil, err
		}
		if c.UpdatedAt, err = s.db.BusinessNow(ctx, account); err != nil {
			return nil, err
		}
		c.addBalance(in.Currency, in.Amount)
		if err := u.Update(ctx, customerColumns, c); err != nil {
			return nil, err
		}
		t := &BalanceTransaction{
			Currency: in.Currency, Amount: in.Amount, Reason: BalanceReasonManual, SourceID: c.ID, Description: &in.Description,
		}
		return t, u.insertBalance(ctx, c, t, c.UpdatedAt)
	})
}

// check returns CodeInvalid with the fields that are not acceptable for a customer who has so much in the currency.
func (in *NewBalanceTransaction) check(has int64) error {
	var p core.Problems
	currency, isKnown := core.LookupCurrency(in.Currency)
	p.Check(isKnown, "currency", fmt.Sprintf("Currency '%s' is not supported. Send a lower-case ISO 4217 code such as usd.", in.Currency))
	p.Check(strings.TrimSpace(in.Description) != "", "description", "Say why, in a few words.")
	switch {
	case in.Amount == 0:
		p.Add("amount", "Send more than 0 to give, or less than 0 to take.")
	case in.Amount < 0 && has <= 0:
		p.Add("amount", fmt.Sprintf("There is nothing to take: the balance in %s is %d.", in.Currency, has))
	case has+in.Amount < 0 && in.Amount < 0:
		p.Add("amount", fmt.Sprintf("There is less to take: the balance in %s is %d.", in.Currency, has))
	case has+in.Amount > MaxAmount:
		p.Add("amount", fmt.Sprintf("The balance in %s is %d, and can be %d at most.", in.Currency, has, MaxAmount))
	case currency.Exponent == 3 && in.Amount%10 != 0 && in.Amount != -has: // what is left to be charged could not be
		p.Add("amount", fmt.Sprintf("An amount in %s, in its minor unit, is divisible by 10, unless it takes all there is.", in.Currency))
	}
	return p.Err()
}

// insertBalance stores a change of a locked customer's balance, which the caller makes and stores.
func (u *unit) insertBalance(ctx context.Context, c *Customer, t *BalanceTransaction, now core.Time) error {
	t.AccountID, t.ID, t.CustomerID, t.CreatedAt, t.UpdatedAt = c.AccountID, core.NewID(core.KindBalanceTransaction), c.ID, now, now
	if err := u.Insert(ctx, balanceTransactionColumns, t); err != nil {
		return fmt.Errorf("write down a change of a balance: %w", err)
	}
	return nil
}

// enterBalance writes down a change of a locked customer's balance, which the caller makes and stores. An amount of 0 is none.
func (u *unit) enterBalance(ctx context.Context, c *Customer, currency string, amount int64, reason BalanceReason, source string, now core.Time) error {
	if amount == 0 {
		return nil
	}
	return u.insertBalance(ctx, c, &BalanceTransaction{Currency: currency, Amount: amount, Reason: reason, SourceID: source}, now)
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

// forgetDescriptions takes out of the changes of a locked customer's balance what was said of them.
func (u *unit) forgetDescriptions(ctx context.Context, c *Customer) error {
	_, err := u.Exec(ctx, `UPDATE balance_entries SET description = NULL WHERE account_id = ? AND customer_id = ? AND description IS NOT NULL`, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("forget why a balance was changed: %w", err)
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
		{Promise: "what refunds gave to a balance is written down", Query: `
			SELECT account_id, id FROM (
				SELECT account_id, id, balance_amount AS amount FROM refunds WHERE status = 'succeeded' AND balance_amount <> 0
				UNION ALL SELECT account_id, source_id, -amount FROM balance_entries WHERE reason = 'refunded') AS moved
			GROUP BY account_id, id HAVING SUM(amount) <> 0`},
		{Promise: "what an order gave back, to a card or a balance, was paid for it", Query: `
			SELECT account_id, id FROM orders WHERE credited_amount < 0 OR refunded_amount + refunded_balance + credited_amount >
				CASE WHEN paid_at IS NULL OR voided_at IS NOT NULL THEN 0 ELSE paid_amount + balance_applied END`},
		{Promise: "a customer has no more to their credit than they paid or were given, and did not get back", Query: `
			SELECT account_id, id FROM (
				SELECT c.account_id, c.id, b.key AS currency, CAST(b.value AS BIGINT) AS amount FROM customers c JOIN ` + members + ` b ON TRUE
				UNION ALL SELECT account_id, customer_id, currency, refunded_amount - paid_amount FROM orders
				UNION ALL SELECT account_id, customer_id, currency, -amount FROM balance_entries WHERE reason = 'manual') AS moved
			GROUP BY account_id, id, currency HAVING SUM(amount) > 0`},
	}
}
