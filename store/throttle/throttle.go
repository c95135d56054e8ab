// Package throttle holds rate limits: how many attempts somebody has within which window, and how long whoever made too many has to wait. All
// replicas count together. What is under way is counted elsewhere: see the guards of payments in package payment.
package throttle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Store counts in one database. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the room of an open database.
func New(d *db.DB) *Store { return &Store{db: d} }

// Limit is how often something may be done for a subject within a window, which begins with the first time. The subject says what is
// done and by whom. It can be read in the database: hash what nobody may read there.
type Limit struct {
	Subject string
	Most    int64
	Window  time.Duration
	OfAll   bool  // it is counted over all accounts
	Times   int64 // how often it is done now; 0 = once
}

// EveryAccount stands in the place of an account where all are counted together.
const EveryAccount = ""

// Over is a limit that is exceeded. Wait is how long until its window ends, in whole seconds.
type Over struct {
	Limit
	Wait time.Duration
}

// Refuse returns CodeRateLimit on a parameter. The message ends with how long to wait, after words such as "Try again in".
func (o *Over) Refuse(param, message string) error {
	return &core.Error{Code: core.CodeRateLimit, Param: param, After: o.Wait, Message: message + " " + Spoken(o.Wait) + "."}
}

// window is what was counted for one subject until now.
type window struct {
	Subject string    `db:"subject"`
	Counted int64     `db:"counted"`
	EndsAt  core.Time `db:"ends_at"`
}

// Count counts what is done now under each limit; no two of them may have the same subject. If some are exceeded it returns what refuse makes of the
// first of them, and nothing is counted. The rows stay locked until the transaction ends, in the order of their subjects, which is the same for
// everybody. Whoever counts twice in a transaction keeps that order too.
func (s *Store) Count(ctx context.Context, account string, refuse func(*Over) error, limits ...Limit) error {
	_, err := db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (any, error) {
		now, args := s.db.Now(), []any{}
		for _, l := range slices.SortedFunc(slices.Values(limits), func(a, b Limit) int { return cmp.Compare(a.Subject, b.Subject) }) {
			whose := account
			if l.OfAll {
				whose = EveryAccount
			}
			args = append(args, whose, l.Subject, max(l.Times, 1), now.Add(l.Window))
		}
		windows, err := db.Select[window](ctx, u, `
			INSERT INTO throttles AS t (account_id, subject, counted, ends_at)
			VALUES `+strings.Repeat(`, (?, ?, ?, ?)`, len(limits))[2:]+`
			ON CONFLICT (account_id, subject) DO UPDATE SET
				counted = CASE WHEN t.ends_at <= ? THEN excluded.counted ELSE t.counted + excluded.counted END,
				ends_at = CASE WHEN t.ends_at <= ? THEN excluded.ends_at ELSE t.ends_at END
			RETURNING subject, counted, ends_at`, append(args, now, now)...)
		if err != nil {
			return nil, fmt.Errorf("count for limits: %w", err)
		}
		for _, l := range limits {
			for _, w := range windows {
				if w.Subject == l.Subject && w.Counted > l.Most {
					return nil, refuse(&Over{l, (w.EndsAt.Time().Sub(now.Time()) + time.Second - 1).Truncate(time.Second)})
				}
			}
		}
		return nil, nil
	})
	return err
}

// TakeBack takes back what was counted last for a subject.
func (s *Store) TakeBack(ctx context.Context, u *db.Unit, account, subject string) error {
	_, err := u.Exec(ctx, `UPDATE throttles SET counted = counted - 1 WHERE account_id = ? AND subject = ? AND counted > 0`, account, subject)
	return err
}

// Forget has the count of a subject begin anew.
func (s *Store) Forget(ctx context.Context, u *db.Unit, account, subject string) error {
	_, err := u.Exec(ctx, `DELETE FROM throttles WHERE account_id = ? AND subject = ?`, account, subject)
	return err
}

// DeleteOver deletes at most limit windows that are over, and returns how many.
func (s *Store) DeleteOver(ctx context.Context, limit int) (int64, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (int64, error) {
		return u.ExecBatch(ctx, `DELETE FROM throttles`, `throttles WHERE ends_at <= ? ORDER BY ends_at LIMIT ?`, s.db.Now(), limit)
	})
}

// Waits are how long nobody may try again after failures. As long as there are fewer than Free nobody waits. From then on each makes the
// next one wait: first the time of First, then twice as long each time, up to Longest.
type Waits struct {
	Free           int64
	First, Longest time.Duration
}

// After returns the wait after so many failures, 0 if there is none.
func (w Waits) After(failures int64) time.Duration {
	if failures < w.Free {
		return 0
	}
	wait := w.First
	for n := w.Free; n < failures && wait < w.Longest; n++ {
		wait *= 2
	}
	return min(wait, w.Longest)
}

// Spoken returns a time as people say it: seconds up to 90, then minutes up to 90, then hours, rounded up.
func Spoken(wait time.Duration) string {
	amount, unit := int64(wait/time.Second), "second"
	switch {
	case wait > 90*time.Minute:
		amount, unit = int64((wait+time.Hour-1)/time.Hour), "hour"
	case wait > 90*time.Second:
		amount, unit = int64((wait+time.Minute-1)/time.Minute), "minute"
	}
	if amount == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", amount, unit)
}
