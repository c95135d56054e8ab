package subscription

import (
	"fmt"

	"github.com/tillwright/tillwright/store/core"
)

// Failure names the latest attempt to collect from a subscription that is past due.
func (s *Subscription) Failure() string {
	return fmt.Sprintf("%d.%d", core.Deref(s.PastDueAt), s.AttemptCount)
}

// How long before the end of a trial its customer is told: sooner if more is to be paid at once.
const (
	trialNotice       = 3 * core.Day
	yearlyTrialNotice = 7 * core.Day
)

// TrialNoticeAt returns when the customer of a subscription is told that its trial is over soon; the zero time if it has none.
func (s *Subscription) TrialNoticeAt() core.Time {
	if s.TrialEnd == nil {
		return 0
	}
	notice := trialNotice
	if s.IsYearly() {
		notice = yearlyTrialNotice
	}
	return s.TrialEnd.Add(-notice)
}

// IsYearly reports whether a period of the plan lasts a year or more.
func (s *Subscription) IsYearly() bool {
	return s.Interval == "year" || s.Interval == "month" && s.IntervalCount >= 12
}
