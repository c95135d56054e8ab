package ads

import (
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/advert"
)

// Figures say which figures a network gives.
type Figures struct {
	UTC    bool // its days are those of UTC, not of the ad account
	Days   int  // how many days ago the first one may be; 0 = no limit
	Months int  // the same in months

	ReportDays int // how many days ago the first one may be in a report that the network makes when it is asked; 0 = it makes none

	Breakdowns []Breakdown // what it divides them by
}

// Counted returns the part of some days that the network counts, or false if that is none of them.
func (f Figures) Counted(from, to Date, now time.Time) (first, last Date, counts bool) {
	now = now.UTC()
	if f.UTC {
		to = earlier(to, DateOf(now))
	}
	if f.Days > 0 {
		from = later(from, DateOf(now).AddDays(-f.Days))
	}
	if f.Months > 0 {
		from = later(from, DateOf(now.AddDate(0, -f.Months, 1))) // where the ad account is, it may be tomorrow already
	}
	if to.Compare(from) < 0 {
		return Date{}, Date{}, false
	}
	return from, to, true
}

func earlier(a, b Date) Date {
	if a.Compare(b) < 0 {
		return a
	}
	return b
}

func later(a, b Date) Date {
	if a.Compare(b) > 0 {
		return a
	}
	return b
}

// zone returns the time zone whose days the network counts for an ad account, which may be nil.
func (f Figures) zone(a *advert.Account) *time.Location {
	if f.UTC || a == nil {
		return time.UTC
	}
	return locationOf(a.Timezone)
}

// Days are the days of figures that were counted, `to` included; both are zero if there was none. Warnings have a
// sentence about the other days that were asked for.
type Days struct {
	From, To Date
	Warnings []string
}

// counted returns the days that a network counts, of those that are asked for.
func (c Caps) counted(from, to Date, now time.Time) Days {
	first, last, counts := c.Figures.Counted(from, to, now)
	switch {
	case !counts && !c.Figures.isAhead(from, now):
		return Days{Warnings: []string{c.uncounted(from, to)}}
	case counts && first != from:
		return Days{first, last, []string{c.uncounted(from, first.AddDays(-1))}}
	}
	return Days{From: first, To: last}
}

// isAhead reports whether a day has not begun where the network counts.
func (f Figures) isAhead(day Date, now time.Time) bool { return day.Compare(DateOf(now.UTC())) > 0 }

// uncounted says that the figures of some days are not there any more.
func (c Caps) uncounted(from, to Date) string {
	keeps := fmt.Sprintf("%d days", max(c.Figures.Days, c.Figures.ReportDays))
	if c.Figures.Days == 0 {
		keeps = fmt.Sprintf("%d months", c.Figures.Months)
	}
	return fmt.Sprintf("metrics: The days from %s to %s are not counted, because %s tells no figures that are older than %s.", from, to, c.Platform, keeps)
}
