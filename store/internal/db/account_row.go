package db

import (
	"context"
	"fmt"
)

// EnabledAccount is a condition on rows with an account_id: their account is not disabled. Those that are disabled are few, and
// have an index of their own.
const EnabledAccount = `NOT EXISTS (SELECT 1 FROM accounts AS a WHERE a.id = account_id AND a.disabled_at IS NOT NULL)`

// LockAccount lets one transaction at a time decide something about all objects of an account.
func (u *Unit) LockAccount(ctx context.Context, account string) error {
	_, err := Get[string](ctx, u.db, `SELECT id FROM accounts WHERE id = ?`+u.Lock(), account)
	if err != nil {
		return fmt.Errorf("lock account: %w", err)
	}
	return nil
}
