package db

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
)

// BusinessNow returns the time by which an account does business. Checkouts expire, periods end and invoices become overdue by it. It also says when
// anything that the account sells, is paid for, or sells with was made, changed or published. It is the store's time, except that on a server with
// test clocks each account has its own. Leases, quotas, idempotency, retention, ids and the times of events always go by the store's time. A
// transaction reads it once, and locks nothing by it.
func BusinessNow(ctx context.Context, r Reader, account string) (core.Time, error) {
	d, u := r.place(ctx)
	now := d.Now()
	if !d.Options.TestClock {
		return now, nil
	}
	if u != nil && u.ahead != nil && u.ahead.account == account {
		return now + u.ahead.offset, nil
	}
	offset, err := Get[core.Time](ctx, Unlocked(r), `SELECT clock_offset FROM accounts WHERE id = ?`, account)
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

// Due returns at most limit rows for which a moment has come. Query is a scan whose one argument is the time; at is the column
// of that moment, and the longest waiting come first. With an account it returns rows of that account by its own clock; with ""
// rows of all accounts by the store's time. No account's clock is behind that time, and those whose clock is ahead are found by
// MovedAccounts.
func (d *DB) Due(ctx context.Context, account, query, at string, limit int) ([]core.Due, error) {
	if account == "" {
		return Select[core.Due](ctx, d, query+` ORDER BY `+at+` LIMIT ?`, d.Now(), limit)
	}
	now, err := BusinessNow(ctx, d, account)
	if err != nil {
		return nil, err
	}
	return Select[core.Due](ctx, d, query+` AND account_id = ? ORDER BY `+at+`, id LIMIT ?`, now, account, limit)
}
