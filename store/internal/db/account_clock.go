package db

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
)

// BusinessNow is what an account takes for the time wherever it does business: when a checkout expires, when a period
// ends, when an invoice is overdue. It is the store's time, but on a server with a test clock the account's own.
// Leases, quotas, idempotency, retention, ids and the times of events are by the store's time everywhere.
func (d *DB) BusinessNow(ctx context.Context, account string) (core.Time, error) {
	now := d.Now()
	if !d.Options.TestClock {
		return now, nil
	}
	u := UnitOf(ctx)
	if u != nil && u.ahead != nil && u.ahead.account == account {
		return now + u.ahead.offset, nil
	}
	offset, err := Get[core.Time](ctx, d, `SELECT clock_offset FROM accounts WHERE id = ?`, account)
	if err != nil {
		return 0, fmt.Errorf("read the account's clock: %w", err)
	}
	if offset == nil {
		return now, nil
	}
	if u != nil {
		u.ahead = &ahead{account, *offset}
	}
	return now + *offset, nil
}

// ahead is how far an account's clock is ahead of the store's.
type ahead struct {
	account string
	offset  core.Time
}

// Due runs a scan whose one argument is the time: of one account by its own clock, or of all by the store's. No
// account's clock is behind that, and those that are ahead are MovedAccounts. The longest waiting come first.
func (d *DB) Due(ctx context.Context, account, query, at string, limit int) ([]core.Due, error) {
	if account == "" {
		return Select[core.Due](ctx, d, query+` ORDER BY `+at+` LIMIT ?`, d.Now(), limit)
	}
	now, err := d.BusinessNow(ctx, account)
	if err != nil {
		return nil, err
	}
	return Select[core.Due](ctx, d, query+` AND account_id = ? ORDER BY `+at+`, id LIMIT ?`, now, account, limit)
}
