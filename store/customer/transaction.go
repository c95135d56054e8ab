package customer

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

// The reasons. The first, what was done by hand and the last have no source, the others an order or a refund.
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
	SourceID    *string       `db:"source_id"`   // the order or the refund that it came of
	Description *string       `db:"description"` // what the seller says of a change by hand
	CreatedAt   core.Time     `db:"created_at"`
	UpdatedAt   core.Time     `db:"updated_at"`
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

// BalanceTransactionColumns are those of a BalanceTransaction.
var BalanceTransactionColumns = db.ColumnsOf[BalanceTransaction]("balance_transactions")

// ListTransactions returns a page of the changes of a customer's balance, newest first, and whether there are more.
func (s *Store) ListTransactions(ctx context.Context, account, customer string, in ListBalanceTransactions) ([]BalanceTransaction, bool, error) {
	c, err := s.Named(ctx, s.db, account, customer, "")
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	if in.Currency == "" && in.Reason == "" {
		f.OrderedIfSet("customer_id", c.ID)
	}
	f.OrderedOfIfSet("customer_id", c.ID, "currency", in.Currency)
	f.OrderedOfIfSet("customer_id", c.ID, "reason", string(in.Reason))
	return db.Page(ctx, s.db, BalanceTransactionColumns, core.KindBalanceTransaction, account, in.Page, &f)
}

// CreateTransaction gives something to a customer's balance by hand, or takes it. More than there is cannot be taken, and no balance
// exceeds core.MaxAmount: both are CodeInvalid on amount. No event follows.
func (s *Store) CreateTransaction(ctx context.Context, account, customerID string, in NewBalanceTransaction) (*BalanceTransaction, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*BalanceTransaction, error) {
		c, err := s.LockNamed(ctx, u, account, customerID, "")
		if err != nil {
			return nil, err
		}
		if err := in.check(c.Balance.V[in.Currency]); err != nil {
			return nil, err
		}
		if c.UpdatedAt, err = db.BusinessNow(ctx, u, account); err != nil {
			return nil, err
		}
		t := &BalanceTransaction{Currency: in.Currency, Amount: in.Amount, Reason: BalanceReasonManual, Description: &in.Description}
		if err := s.MoveBalance(ctx, u, c, t, c.UpdatedAt); err != nil {
			return nil, err
		}
		return t, u.Update(ctx, Columns, c)
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
		p.Add("amount", fmt.Sprintf("There is nothing to take: the balance in %s is %d. Send more than 0.", in.Currency, has))
	case has+in.Amount < 0 && in.Amount < 0:
		p.Add("amount", fmt.Sprintf("There is less to take: the balance in %s is %d. Send %d at the least.", in.Currency, has, -has))
	case has+in.Amount > core.MaxAmount:
		p.Add("amount", fmt.Sprintf("The balance in %s is %d, and can be %d at most. Send at most %d.", in.Currency, has, core.MaxAmount, core.MaxAmount-has))
	case currency.Exponent == 3 && in.Amount%10 != 0 && in.Amount != -has: // what is left to be charged could not be
		p.Add("amount", fmt.Sprintf("An amount in %s, in its minor unit, is divisible by 10, unless it takes all there is.", in.Currency))
	}
	return p.Err()
}

// MoveBalance adds the amount of a transaction to a locked customer's balance, and writes the transaction down. The caller says the
// currency, the amount and the reason, and stores the customer. An amount of 0 changes nothing. Nothing else changes a balance, but a merge: see
// Customer.AbsorbBalance.
func (s *Store) MoveBalance(ctx context.Context, u *db.Unit, c *Customer, t *BalanceTransaction, now core.Time) error {
	if t.Amount == 0 {
		return nil
	}
	c.Balance = core.JSONOf(Sum(c.Balance.V, map[string]int64{t.Currency: t.Amount}))
	t.AccountID, t.ID, t.CustomerID, t.CreatedAt, t.UpdatedAt = c.AccountID, core.NewID(core.KindBalanceTransaction), c.ID, now, now
	if err := u.Insert(ctx, BalanceTransactionColumns, t); err != nil {
		return fmt.Errorf("write down a change of a balance: %w", err)
	}
	return nil
}

// MoveOrderBalance is MoveBalance because of an order.
func (s *Store) MoveOrderBalance(ctx context.Context, u *db.Unit, c *Customer, order, currency string, amount int64, reason BalanceReason, now core.Time) error {
	return s.MoveBalance(ctx, u, c, &BalanceTransaction{Currency: currency, Amount: amount, Reason: reason, SourceID: &order}, now)
}

// DropBalance takes all that a customer has, because they are deleted.
func (s *Store) DropBalance(ctx context.Context, u *db.Unit, c *Customer, now core.Time) error {
	for _, currency := range slices.Sorted(maps.Keys(c.Balance.V)) {
		t := &BalanceTransaction{Currency: currency, Amount: -c.Balance.V[currency], Reason: BalanceReasonDeleted}
		if err := s.MoveBalance(ctx, u, c, t, now); err != nil {
			return err
		}
	}
	return nil
}

// ForgetDescriptions takes out of the changes of a locked customer's balance what was said of them.
func (s *Store) ForgetDescriptions(ctx context.Context, u *db.Unit, c *Customer) error {
	_, err := u.Exec(ctx, `UPDATE balance_transactions SET description = NULL WHERE account_id = ? AND customer_id = ? AND description IS NOT NULL`, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("forget why a balance was changed: %w", err)
	}
	return nil
}
