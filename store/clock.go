package store

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// maxClockOffset is how far an account's clock may be ahead of the store's.
const maxClockOffset = 100 * 365 * 24 * time.Hour

// clockTolerance is how long ago a moment may be that an account's clock is to be moved to. The clock has gone on by itself since it was read.
const clockTolerance = time.Minute

// AdvanceClock says how far an account's clock is to be moved forward: by a time or to a moment. With neither it stays where it
// is.
type AdvanceClock struct {
	By time.Duration
	To *core.Time
}

// AimClock works out where an account's clock is to be moved to, stores that and returns it, but does not move the clock yet. It
// commits what the request has done so far; the same request sent again gets the same moment. A moment before the account's time is CodeInvalid on
// what was sent, unless it has only just passed. So is one more than a hundred years ahead.
func (s *Store) AimClock(ctx context.Context, account string, in AdvanceClock) (core.Time, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (core.Time, error) {
		last, err := db.Get[struct {
			Effect string    `db:"clock_effect"`
			Target core.Time `db:"clock_target"`
		}](ctx, u.Locked(), `SELECT clock_effect, clock_target FROM accounts WHERE id = ?`, account)
		if err == nil && last == nil {
			err = core.Missing("account", "", account)
		}
		if err != nil {
			return 0, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return 0, err
		}
		effect := s.db.Effect(ctx)
		if last.Effect == effect {
			return max(last.Target, now), nil
		}
		target, err := in.from(now, s.Now())
		if err != nil {
			return 0, err
		}
		_, err = u.Exec(ctx, `UPDATE accounts SET clock_effect = ?, clock_target = ? WHERE id = ?`, effect, target, account)
		return target, err
	})
}

// from returns the moment to move a clock to that shows now. Actual is the store's own time. A moment that is past or too far
// ahead is CodeInvalid.
func (in AdvanceClock) from(now, actual core.Time) (core.Time, error) {
	target, field := now.Add(in.By), "advance_seconds"
	if in.To != nil {
		target, field = *in.To, "now"
	}
	if target < now.Add(-clockTolerance) {
		return 0, core.Invalid(field, fmt.Sprintf("The account's clock shows %s and moves forward only.", now))
	}
	if target > actual.Add(maxClockOffset) {
		return 0, core.Invalid(field, "The account's clock is at most a hundred years ahead.")
	}
	return max(target, now), nil
}

// MoveClock moves an account's clock forward to a moment, and returns what it shows then. If it has passed the moment already it
// stays.
func (s *Store) MoveClock(ctx context.Context, account string, to core.Time) (core.Time, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (core.Time, error) {
		now := s.Now()
		_, err := u.Exec(ctx, `UPDATE accounts SET clock_offset = ? WHERE id = ? AND clock_offset < ?`, to-now, account, to-now)
		if err != nil {
			return 0, err
		}
		return db.BusinessNow(ctx, u, account)
	})
}

// ClockOf returns what an account's clock shows.
func (s *Store) ClockOf(ctx context.Context, account string) (core.Time, error) {
	return db.BusinessNow(ctx, s.db, account)
}

// HasTestClock reports whether accounts have clocks of their own.
func (s *Store) HasTestClock() bool { return s.db.Options.TestClock }

// NextDue returns a time at which something falls due for an account, after one moment and not after until. It counts all that the scans for due work
// find. If several things fall due within a while of the first one, it is the time of the last of these. Nil means that nothing does.
func (s *Store) NextDue(ctx context.Context, account string, after, until core.Time, while time.Duration) (*core.Time, error) {
	next, err := s.edgeOfDue(ctx, account, `MIN`, after, until)
	if err != nil || next == nil {
		return nil, err
	}
	return s.edgeOfDue(ctx, account, `MAX`, after, min(next.Add(while), until))
}

// edgeOfDue returns the first (MIN) or the last (MAX) time in a stretch at which something falls due, nil if nothing does.
func (s *Store) edgeOfDue(ctx context.Context, account, edge string, after, until core.Time) (*core.Time, error) {
	// A payment that waits for its buyer falls due when it has waited that long.
	hold, err := s.Payment.HoldTime(ctx, s.db, account)
	if err != nil {
		return nil, err
	}
	row, err := db.Get[struct {
		At *core.Time `db:"at"`
	}](ctx, s.db, `
		SELECT `+edge+`(at) AS at FROM (
			SELECT `+edge+`(due_at) AS at FROM subscriptions WHERE account_id = ? AND due_at > ? AND due_at <= ?
			UNION ALL
			SELECT `+edge+`(expires_at) FROM checkouts WHERE account_id = ? AND status = 'open' AND expires_at > ? AND expires_at <= ?
			UNION ALL
			SELECT `+edge+`(next_payment_attempt_at) FROM invoices
			WHERE account_id = ? AND subscription_id IS NULL AND next_payment_attempt_at > ? AND next_payment_attempt_at <= ?
			UNION ALL
			SELECT `+edge+`(due_at) FROM invoices
			WHERE account_id = ? AND status = 'open' AND billing_reason = 'manual' AND next_payment_attempt_at IS NULL AND due_at > ? AND due_at <= ?
			UNION ALL
			SELECT `+edge+`(due_at) FROM letters WHERE account_id = ? AND due_at > ? AND due_at <= ?
			UNION ALL
			SELECT `+edge+`(due_at) FROM product_news WHERE account_id = ? AND due_at > ? AND due_at <= ?
			UNION ALL
			SELECT `+edge+`(scheduled_for) FROM blog_posts WHERE account_id = ? AND scheduled_for > ? AND scheduled_for <= ?
			UNION ALL
			SELECT `+edge+`(created_at) + ? FROM payments WHERE account_id = ? AND status = 'requires_action' AND created_at > ? AND created_at <= ?
		) AS stretch`,
		account, after, until, account, after, until, account, after, until, account, after, until, account, after, until, account, after, until,
		account, after, until, hold.Microseconds(), account, after.Add(-hold), until.Add(-hold))
	if err != nil {
		return nil, fmt.Errorf("read what falls due: %w", err)
	}
	return row.At, nil
}

// MovedAccounts returns the accounts whose clock is ahead of the store's. There are none without a test clock.
func (s *Store) MovedAccounts(ctx context.Context) ([]string, error) {
	if !s.db.Options.TestClock {
		return nil, nil
	}
	return db.Select[string](ctx, s.db, `SELECT id FROM accounts WHERE clock_offset > 0`)
}
