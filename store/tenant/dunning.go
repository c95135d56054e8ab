package tenant

import (
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// Dunning says how an unpaid renewal is tried again: once after each of these intervals in turn. When the last attempt has
// failed too, OnExhausted says what happens.
type Dunning struct {
	IntervalsDays []int64 `json:"intervals_days"`
	OnExhausted   string  `json:"on_exhausted"` // cancel
}

// The most retries that a schedule may have, and the most days between two of them.
const (
	maxDunningRetries = 10
	maxDunningDays    = 60
)

// NextAttempt returns when the attempt after so many failed ones is due, nil if that was the last. First is when the invoice became past due. It
// follows the schedule of Dunning. But once the account was disabled in between, attempts may be late. Then each keeps its distance from the one
// before, instead of all following at once.
func (a *Account) NextAttempt(first, now core.Time, failed int64) *core.Time {
	at := a.Dunning.V.next(first, failed)
	if at != nil && a.hasRestedSince(first) {
		at = new(now.Add(24 * time.Hour * time.Duration(a.Dunning.V.IntervalsDays[failed-1])))
	}
	return at
}

// next returns when the attempt after so many failed ones is due, nil if that was the last. The intervals add up from the
// moment of the first failed attempt.
func (d Dunning) next(first core.Time, failed int64) *core.Time {
	if failed > int64(len(d.IntervalsDays)) {
		return nil
	}
	at := first
	for _, days := range d.IntervalsDays[:failed] {
		at = at.Add(24 * time.Hour * time.Duration(days))
	}
	return &at
}
