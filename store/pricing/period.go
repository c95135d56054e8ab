package pricing

import "time"

// IntervalUnit is the unit in which the time between two charges is counted.
type IntervalUnit string

// The units of an interval.
const (
	IntervalUnitDay   IntervalUnit = "day"
	IntervalUnitWeek  IntervalUnit = "week"
	IntervalUnitMonth IntervalUnit = "month"
	IntervalUnitYear  IntervalUnit = "year"
)

// Interval is the time between two charges, such as 3 months.
type Interval struct {
	Unit  IntervalUnit
	Count int64
}

// maxInterval is the greatest count of an interval. It keeps dates within the four digits of a year in RFC 3339; nobody charges
// less often.
const maxInterval = 1000

// Next returns when the period ends that starts at from, at the same time of day in UTC. Months and years end on the anchor day, or on the last
// day of a month that is shorter. The anchor day is the day of the month on which the first period started. After 31 January come 28 or 29
// February, then 31 March. Days and weeks have no anchor and ignore it. It returns ErrRange for an interval that does not exist and, for months
// and years, for an anchor outside 1 to 31.
func (i Interval) Next(from time.Time, anchorDay int) (time.Time, error) {
	if i.Count < 1 || i.Count > maxInterval {
		return time.Time{}, ErrRange
	}
	count, from := int(i.Count), from.UTC()
	switch i.Unit {
	case IntervalUnitDay:
		return from.AddDate(0, 0, count), nil
	case IntervalUnitWeek:
		return from.AddDate(0, 0, 7*count), nil
	case IntervalUnitMonth:
		return addMonths(from, count, anchorDay)
	case IntervalUnitYear:
		return addMonths(from, 12*count, anchorDay)
	}
	return time.Time{}, ErrRange
}

// addMonths returns the anchor day of the month that lies so many months after from, at the same time of day. In a shorter month it is the last
// day. With time.AddDate it would be in the month after a short one.
func addMonths(from time.Time, months, anchorDay int) (time.Time, error) {
	if anchorDay < 1 || anchorDay > 31 {
		return time.Time{}, ErrRange
	}
	year, month := from.Year(), from.Month()+time.Month(months)
	last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	hour, minute, second := from.Clock()
	return time.Date(year, month, min(anchorDay, last), hour, minute, second, from.Nanosecond(), time.UTC), nil
}

// Period is the time for which one charge pays. It counts in whole seconds.
type Period struct {
	Start, End time.Time
}

// Unused returns the part of amount, the price of the whole period, that falls on the time from at to its end. Before the start
// that is all of it, after the end nothing. It returns ErrRange for a period that is empty or an amount below 0.
func (p Period) Unused(amount int64, at time.Time) (int64, error) {
	start, end := p.Start.Unix(), p.End.Unix()
	if end <= start {
		return 0, ErrRange
	}
	return Prorate(amount, min(max(end-at.Unix(), 0), end-start), end-start)
}

// Prorate returns the part of amount, the price of a period of so many seconds, that falls on the remaining ones, rounded once.
// It returns ErrRange unless 0 <= remaining <= period, 0 < period and 0 <= amount.
func Prorate(amount, remaining, period int64) (int64, error) {
	if remaining > period {
		return 0, ErrRange
	}
	return mulDiv(amount, remaining, period, nearest)
}
