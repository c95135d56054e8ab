package db

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// ProviderLease is how long whoever asks the payment provider is left alone. Asking it three times takes less.
const ProviderLease = time.Minute

// Leases share the open rows of a table among whoever asks the payment provider about them: one at a time, and somebody
// else when the time of one has run out.
type Leases struct{ Table, Open string }

// Due returns rows of a provider that nobody is asking about, the longest waiting first.
func (l Leases) Due(ctx context.Context, d *DB, provider string, limit int) ([]core.Due, error) {
	return Select[core.Due](ctx, d, `
		SELECT account_id, id FROM `+l.Table+`
		WHERE `+l.Open+` AND provider = ? AND lease_until < `+d.NowSQL()+` ORDER BY lease_until LIMIT ?`, provider, limit)
}

// Take claims a due row for whoever asks first, and reports whether that is the caller.
func (l Leases) Take(ctx context.Context, d *DB, account, id string) (bool, error) {
	return l.extend(ctx, d, account, id, ProviderLease, ` AND lease_until < `+d.NowSQL())
}

// Yield ends a lease: the row is due after a pause.
func (l Leases) Yield(ctx context.Context, d *DB, account, id string, pause time.Duration) error {
	_, err := l.extend(ctx, d, account, id, pause, ``)
	return err
}

func (l Leases) extend(ctx context.Context, d *DB, account, id string, length time.Duration, condition string) (bool, error) {
	return Step(ctx, d, func(ctx context.Context, u *Unit) (bool, error) {
		rows, err := u.Exec(ctx, `
			UPDATE `+l.Table+` SET lease_until = `+d.NowSQL()+` + ? WHERE account_id = ? AND id = ? AND `+l.Open+condition,
			length.Microseconds(), account, id)
		return rows == 1, err
	})
}
