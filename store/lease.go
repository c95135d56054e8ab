package store

import (
	"context"
	"github.com/tillwright/tillwright/store/core"
	"time"
)

// providerLease is how long whoever asks the payment provider is left alone. Asking it three times takes less.
const providerLease = time.Minute

// leases share the open rows of a table among whoever asks the payment provider about them: one at a time, and somebody
// else when the time of one has run out.
type leases struct{ table, open string }

// due returns rows of a provider that nobody is asking about, the longest waiting first.
func (l leases) due(ctx context.Context, s *Store, provider string, limit int) ([]core.Due, error) {
	return selectAll[core.Due](ctx, s, `
		SELECT account_id, id FROM `+l.table+`
		WHERE `+l.open+` AND provider = ? AND lease_until < `+s.dbNow()+` ORDER BY lease_until LIMIT ?`, provider, limit)
}

// take claims a due row for whoever asks first, and reports whether that is the caller.
func (l leases) take(ctx context.Context, s *Store, account, id string) (bool, error) {
	return l.extend(ctx, s, account, id, providerLease, ` AND lease_until < `+s.dbNow())
}

// yield ends a lease: the row is due after a pause.
func (l leases) yield(ctx context.Context, s *Store, account, id string, pause time.Duration) error {
	_, err := l.extend(ctx, s, account, id, pause, ``)
	return err
}

func (l leases) extend(ctx context.Context, s *Store, account, id string, length time.Duration, condition string) (bool, error) {
	return step(ctx, s, func(ctx context.Context, u *unit) (bool, error) {
		rows, err := u.exec(ctx, `
			UPDATE `+l.table+` SET lease_until = `+s.dbNow()+` + ? WHERE account_id = ? AND id = ? AND `+l.open+condition,
			length.Microseconds(), account, id)
		return rows == 1, err
	})
}
