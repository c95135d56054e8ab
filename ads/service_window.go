package ads

import (
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

const (
	defaultDays = 90
	maxDays     = 730
)

// window is the range of days for which a request wants figures. A day that is zero takes its default: `to` is today,
// and `from` is such that the window has 90 days.
type window struct {
	from, to Date
}

// windowOf reads from and to; "" means that one was not sent. A day that does not exist is CodeBadRequest. So is a window
// that ends before it begins, lies in the future, or has more than maxDays.
func windowOf(from, to string, now core.Time) (window, error) {
	var w window
	if err := w.read(from, to); err != nil {
		return w, err
	}
	latest := w.to
	if latest.IsZero() {
		latest = DateOf(now.Time()).AddDays(1) // it may be tomorrow already where the ad account is
	}
	first, last := w.in(time.UTC, now)
	switch {
	case first.Compare(latest) > 0:
		return w, badRequest("from", "from must not be after to, or in the future.")
	case first.DaysUntil(last) >= maxDays:
		return w, badRequest("from", fmt.Sprintf("from and to can be at most %d days apart.", maxDays))
	}
	return w, nil
}

// read reads the two days, which may be empty.
func (w *window) read(from, to string) (err error) {
	if from != "" {
		if w.from, err = ParseDate(from); err != nil {
			return badRequest("from", "from "+err.Error()+".")
		}
	}
	if to != "" {
		if w.to, err = ParseDate(to); err != nil {
			return badRequest("to", "to "+err.Error()+".")
		}
	}
	return nil
}

// in returns the first and the last day of the window in a time zone, with the defaults filled in.
func (w window) in(where *time.Location, now core.Time) (from, to Date) {
	from, to = w.from, w.to
	if to.IsZero() {
		to = DateOf(now.Time().In(where))
		if to.Compare(from) < 0 {
			to = from
		}
	}
	if from.IsZero() {
		from = to.AddDays(1 - defaultDays)
	}
	return from, to
}

// locationOf returns the time zone of an ad account, or UTC if this machine does not know it.
func locationOf(timezone string) *time.Location {
	where, err := time.LoadLocation(timezone)
	if err != nil {
		return time.UTC
	}
	return where
}
