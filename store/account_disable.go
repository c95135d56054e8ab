package store

import (
	"context"
	"slices"

	"github.com/tillwright/tillwright/store/core"
)

// Rest is a time in which an account was disabled, by its own clock. Unlike a Time in JSON it is stored to the microsecond: what fell
// due just before is not forgiven.
type Rest struct {
	From  int64  `json:"from"`
	Until *int64 `json:"until"` // nil: it still is
}

// rest begins a rest. All that may hold a period are kept, because a subscription can be behind by more than one: no period is
// shorter than a day, so there is one for each day at most.
func (a *Account) rest(now core.Time) {
	short := func(r Rest) bool { return *r.Until-r.From < day.Microseconds() }
	a.Rests.V = append(slices.DeleteFunc(a.Rests.V, short), Rest{From: int64(now)})
}

// wake ends the last rest.
func (a *Account) wake(now core.Time) { a.Rests.V[len(a.Rests.V)-1].Until = new(int64(now)) }

// slept reports whether a period both began and ended in a rest. One that began before it fell due while the account was enabled.
func (a *Account) slept(start, end core.Time) bool {
	return slices.ContainsFunc(a.Rests.V, func(r Rest) bool {
		return r.Until != nil && r.From <= int64(start) && int64(end) <= *r.Until
	})
}

// hasRestedSince reports whether the account was disabled at some time since then.
func (a *Account) hasRestedSince(at core.Time) bool {
	if len(a.Rests.V) == 0 {
		return false
	}
	until := a.Rests.V[len(a.Rests.V)-1].Until
	return until == nil || int64(at) <= *until
}

// DisableAccount switches an account off, and reports whether it was on. Its keys are refused, its checkouts, links and portal
// are missing, and nothing more is charged or delivered for it until it is enabled. What is under way with a payment
// provider is still settled, because money has moved, and documents that were given out stay readable. Nothing of this is
// kept anywhere else: whoever asks after the commit, on whichever replica, is told so.
func (s *Store) DisableAccount(ctx context.Context, account string) (a *Account, changed bool, err error) {
	return s.switchAccount(ctx, account, false)
}

// EnableAccount switches an account on again, and reports whether it was off. What rested goes on: periods
// that began and ended meanwhile are not billed, and payments that failed before are tried again in their old pace.
func (s *Store) EnableAccount(ctx context.Context, account string) (a *Account, changed bool, err error) {
	return s.switchAccount(ctx, account, true)
}

// switchAccount leaves updated_at alone: its merchant sees nothing of it.
func (s *Store) switchAccount(ctx context.Context, account string, on bool) (a *Account, changed bool, err error) {
	a, err = tx(ctx, s, func(ctx context.Context, u *unit) (*Account, error) {
		a, err := s.findAccount(ctx, account, u.Lock())
		if err != nil {
			return nil, err
		}
		if err := s.numberInvoices(ctx, a); err != nil {
			return nil, err
		}
		if changed = on == (a.DisabledAt != nil); !changed {
			return a, nil
		}
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		if on {
			a.DisabledAt = nil
			a.wake(now)
		} else {
			a.DisabledAt = new(s.Now())
			a.rest(now)
		}
		return a, u.Update(ctx, accountColumns, a)
	})
	return a, changed && err == nil, err
}

// isDisabled reports whether an account is disabled.
func (s *Store) isDisabled(ctx context.Context, account string) (bool, error) {
	a, err := s.seller(ctx, account)
	return err == nil && a.DisabledAt != nil, err
}
