package tenant

import (
	"context"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Rest is a stretch of time in which an account was disabled, by the account's own clock. Unlike a Time in JSON it is stored to
// the microsecond, so that a period that ended just before is billed.
type Rest struct {
	From  int64  `json:"from"`
	Until *int64 `json:"until"` // nil: it still is
}

// rest begins a rest. It drops the earlier ones that were shorter than a day: no billing period is, so none lies within them.
// All others are kept, because a subscription can be behind by more than one period; there is at most one for each day.
func (a *Account) rest(now core.Time) {
	short := func(r Rest) bool { return *r.Until-r.From < (24 * time.Hour).Microseconds() }
	a.Rests.V = append(slices.DeleteFunc(a.Rests.V, short), Rest{From: int64(now)})
}

// wake ends the last rest, which must be under way.
func (a *Account) wake(now core.Time) { a.Rests.V[len(a.Rests.V)-1].Until = new(int64(now)) }

// Slept reports whether a period both began and ended within one rest that is over. A period that began before the rest fell due
// while the account was enabled, and is billed.
func (a *Account) Slept(start, end core.Time) bool {
	return slices.ContainsFunc(a.Rests.V, func(r Rest) bool {
		return r.Until != nil && r.From <= int64(start) && int64(end) <= *r.Until
	})
}

// hasRestedSince reports whether the account was disabled at any moment from then until now.
func (a *Account) hasRestedSince(at core.Time) bool {
	if len(a.Rests.V) == 0 {
		return false
	}
	until := a.Rests.V[len(a.Rests.V)-1].Until
	return until == nil || int64(at) <= *until
}

// DisableAccount switches an account off, and reports whether it was on. Its keys are refused, its checkouts, links and portal
// are missing, and nothing more is charged or delivered for it until it is enabled. What is under way with a payment provider is
// still settled, because money has moved, and documents that were given out stay readable. The row alone says so, and no
// replica caches it: all obey from the commit on.
func (s *Store) DisableAccount(ctx context.Context, account string) (a *Account, changed bool, err error) {
	return s.switchAccount(ctx, account, false)
}

// EnableAccount switches an account on again, and reports whether it was off. What stood still goes on. Periods that began and ended meanwhile
// are not billed, and payments that failed before are tried again in their old pace.
func (s *Store) EnableAccount(ctx context.Context, account string) (a *Account, changed bool, err error) {
	return s.switchAccount(ctx, account, true)
}

// switchAccount locks the account and enables or disables it, and reports whether that changed anything. It leaves updated_at
// alone: the merchant sees nothing of it.
func (s *Store) switchAccount(ctx context.Context, account string, on bool) (a *Account, changed bool, err error) {
	a, err = db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Account, error) {
		a, err := s.lockAccount(ctx, u, account)
		if err != nil {
			return nil, err
		}
		if err := s.numberInvoices(ctx, u, a); err != nil {
			return nil, err
		}
		if changed = on == (a.DisabledAt != nil); !changed {
			return a, nil
		}
		now, err := db.BusinessNow(ctx, u, account)
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

// IsDisabled reports whether an account is disabled.
func (s *Store) IsDisabled(ctx context.Context, account string) (bool, error) {
	return s.IsDisabledIn(ctx, s.db, account)
}

// IsDisabledIn does what IsDisabled does, where r says.
func (s *Store) IsDisabledIn(ctx context.Context, r db.Reader, account string) (bool, error) {
	a, err := s.Seller(ctx, r, account)
	return err == nil && a.DisabledAt != nil, err
}
