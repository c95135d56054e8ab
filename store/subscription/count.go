package subscription

import (
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/report"
)

// monthly returns what a subscription counts with in the metrics: what its current period costs, for a month, rounded half up. It is nil for
// one that is neither active nor past due.
func (s *Subscription) monthly() *int64 {
	if s.Status != StatusActive && s.Status != StatusPastDue {
		return nil
	}
	months := 12 * s.IntervalCount // for so many times per periods
	per := map[string]int64{"day": 365, "week": 52, "month": 12, "year": 1}[s.Interval]
	return new((2*s.PeriodAmount*per + months) / (2 * months))
}

// Count counts what has changed about a locked subscription since it was last stored, and notes it in there. What ends it counts
// for when it ended.
func (s *Store) Count(u *db.Unit, sub *Subscription, now core.Time) {
	at, counts := now, sub.monthly()
	f := report.Figures{MRR: core.Deref(counts) - core.Deref(sub.MonthlyAmount), Active: one(counts) - one(sub.MonthlyAmount)}
	if sub.Ends {
		at = *sub.EndedAt
		if sub.Status == StatusCanceled {
			f.Churned = 1
		}
	}
	sub.MonthlyAmount, sub.Ends = counts, false
	s.rooms.Report.Count(u, sub.AccountID, sub.Currency, at, f)
}

// one returns 1 for a value and 0 for nil.
func one(counts *int64) int64 {
	if counts == nil {
		return 0
	}
	return 1
}
