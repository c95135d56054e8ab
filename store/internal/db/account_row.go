package db

import (
	"context"
	"fmt"
)

// EnabledAccount is a condition on rows that have an account_id: their account is not disabled. Disabled accounts are few, and
// have an index of their own. OFFSET has PostgreSQL look at each row in its turn. Else it would join. Without statistics of accounts it takes a join
// for what leaves no row. Where rows are read in an order up to a LIMIT, it would read them all and sort them.
const EnabledAccount = `NOT EXISTS (SELECT 1 FROM accounts AS a WHERE a.id = account_id AND a.disabled_at IS NOT NULL LIMIT 1 OFFSET 0)`

// LockAccount locks an account until the transaction ends, so that one transaction at a time decides something about all its
// objects.
func (u *Unit) LockAccount(ctx context.Context, account string) error {
	_, err := Get[string](ctx, u.Locked(), `SELECT id FROM accounts WHERE id = ?`, account)
	if err != nil {
		return fmt.Errorf("lock account: %w", err)
	}
	return nil
}
