package store

import (
	"context"
	"fmt"
	"time"
)

// maxClockOffset is how far an account's clock may be ahead.
const maxClockOffset = 100 * 365 * 24 * time.Hour

// AdvanceClock moves an account's clock forward, by a time or to a moment. With neither it stays where it is.
type AdvanceClock struct {
	By time.Duration
	To *Time
}

// businessNow is what an account takes for the time wherever it does business: when a checkout expires, when a period
// ends, when an invoice is overdue. It is the store's time, but on a server with a test clock the account's own.
// Leases, quotas, idempotency, retention, ids and the times of events are by the store's time everywhere.
func (s *Store) businessNow(ctx context.Context, account string) (Time, error) {
	now := s.Now()
	if !s.options.TestClock {
		return now, nil
	}
	u := openUnit(ctx)
	if u != nil && u.ahead != nil && u.ahead.account == account {
		return now + u.ahead.offset, nil
	}
	offset, err := get[Time](ctx, s, `SELECT clock_offset FROM accounts WHERE id = ?`, account)
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
	offset  Time
}

// AdvanceClock moves the account's clock and returns its time. It commits at once. A moment before the account's time
// is CodeInvalid on now, and more than a hundred years ahead on what was sent.
func (s *Store) AdvanceClock(ctx context.Context, account string, in AdvanceClock) (Time, error) {
	return step(ctx, s, func(ctx context.Context, u *unit) (Time, error) {
		offset, err := get[Time](ctx, s, `SELECT clock_offset FROM accounts WHERE id = ?`+u.lock(), account)
		if err != nil {
			return 0, err
		}
		if offset == nil {
			return 0, Missing("account", "", account)
		}
		now, field := s.Now(), "advance_seconds"
		ahead := offset.Add(in.By)
		if in.To != nil {
			ahead, field = *in.To-now, "now"
		}
		if ahead < *offset {
			return 0, Invalid(field, fmt.Sprintf("The account's clock shows %s and moves forward only.", now+*offset))
		}
		if ahead > Time(0).Add(maxClockOffset) {
			return 0, Invalid(field, "The account's clock is at most a hundred years ahead.")
		}
		_, err = u.exec(ctx, `UPDATE accounts SET clock_offset = ? WHERE id = ?`, ahead, account)
		return now + ahead, err
	})
}

// Due names something that somebody may have to do by now. It is a candidate: what it is by then shows under its lock.
type Due struct {
	AccountID string `db:"account_id"`
	ID        string `db:"id"`
}

// due runs a scan whose one argument is the time: of one account by its own clock, or of all by the store's. No
// account's clock is behind that, and those that are ahead are MovedAccounts.
func (s *Store) due(ctx context.Context, account, query, order string, limit int) ([]Due, error) {
	if account == "" {
		return selectAll[Due](ctx, s, query+order+` LIMIT ?`, s.Now(), limit)
	}
	now, err := s.businessNow(ctx, account)
	if err != nil {
		return nil, err
	}
	return selectAll[Due](ctx, s, query+` AND account_id = ?`+order+` LIMIT ?`, now, account, limit)
}

// MovedAccounts returns the accounts whose clock is ahead of the store's. There are none without a test clock.
func (s *Store) MovedAccounts(ctx context.Context) ([]string, error) {
	if !s.options.TestClock {
		return nil, nil
	}
	return selectAll[string](ctx, s, `SELECT id FROM accounts WHERE clock_offset > 0`)
}

// Detached returns a context outside of any request: what runs under it commits by itself. A request has to have left
// its transaction before, which would hold the rows, and an embedded database whole.
func Detached(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, (*request)(nil))
}
