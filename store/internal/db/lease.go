package db

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// ProviderLease is how long a row is left to whoever asks the payment provider about it. Asking three times takes less.
const ProviderLease = time.Minute

// LeaseUntil returns when a lease ends that begins now, by the database's own time. A request with an Idempotency-Key has read that with its
// claim, so that it need not ask again.
func (u *Unit) LeaseUntil(ctx context.Context, length time.Duration) (core.Time, error) {
	if r := u.request; r.claimed != nil {
		return r.claimed.database.Add(time.Since(r.claimed.at) + length), nil
	}
	now, err := Get[core.Time](ctx, u, `SELECT `+u.db.NowSQL())
	if err != nil {
		return 0, fmt.Errorf("read the database's clock: %w", err)
	}
	return now.Add(length), nil
}

// Leases divide the rows of a table that have no outcome yet among the processes that ask the payment provider about them. A
// row belongs to one of them at a time, and to another one once its time has run out. Open is the condition that a row has no
// outcome.
type Leases struct{ Table, Open string }

// Due returns at most limit rows of a provider that nobody is asking about, the longest waiting first. If more wait, each account has one before any
// has a second: of one account any number may wait whose provider does not answer.
func (l Leases) Due(ctx context.Context, d *DB, provider string, limit int) ([]core.Due, error) {
	from := ` FROM ` + l.Table + ` WHERE ` + l.Open + ` AND provider = ? AND lease_until < ` + d.NowSQL()
	due, err := Select[core.Due](ctx, d, `SELECT account_id, id`+from+` ORDER BY lease_until LIMIT ?`, provider, limit)
	if err != nil || len(due) < limit {
		return due, err
	}
	return Select[core.Due](ctx, d, `
		SELECT account_id, id FROM (
			SELECT account_id, id, lease_until, row_number() OVER (PARTITION BY account_id ORDER BY lease_until) AS place`+from+`
		) AS waiting ORDER BY place, lease_until LIMIT ?`, provider, limit)
}

// Take claims a due row for the caller and commits. It reports false if somebody else was first, or the row has its outcome.
func (l Leases) Take(ctx context.Context, d *DB, account, id string) (bool, error) {
	return l.extend(ctx, d, account, id, ProviderLease, ` AND lease_until < `+d.NowSQL())
}

// Yield ends a lease and commits: the row is due again after the pause.
func (l Leases) Yield(ctx context.Context, d *DB, account, id string, pause time.Duration) error {
	_, err := l.extend(ctx, d, account, id, pause, ``)
	return err
}

// extend makes a lease on an open row last for length from now, if the condition holds, and commits. It reports whether it did.
func (l Leases) extend(ctx context.Context, d *DB, account, id string, length time.Duration, condition string) (bool, error) {
	return Step(ctx, d, func(ctx context.Context, u *Unit) (bool, error) {
		rows, err := u.Exec(ctx, `
			UPDATE `+l.Table+` SET lease_until = `+d.NowSQL()+` + ? WHERE account_id = ? AND id = ? AND `+l.Open+condition,
			length.Microseconds(), account, id)
		return rows == 1, err
	})
}
