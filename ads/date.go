package ads

import (
	"errors"
	"time"
)

// Date is a calendar day, without a time zone. The zero value is no day.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

var errDate = errors.New("must be a date such as 2026-02-28")

// ParseDate reads YYYY-MM-DD. A day that does not exist is an error.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return Date{}, errDate
	}
	return DateOf(t), nil
}

// DateOf returns the day of t in the time zone that t has.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// String returns YYYY-MM-DD.
func (d Date) String() string { return d.Start(time.UTC).Format(time.DateOnly) }

// Start returns the first moment of the day in a time zone.
func (d Date) Start(where *time.Location) time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, where)
}

// End returns the first moment after the day in a time zone.
func (d Date) End(where *time.Location) time.Time { return d.AddDays(1).Start(where) }

// AddDays returns the day n days later.
func (d Date) AddDays(n int) Date {
	return DateOf(time.Date(d.Year, d.Month, d.Day+n, 0, 0, 0, 0, time.UTC))
}

// Compare returns -1, 0 or +1 for a day before, equal to or after another one.
func (d Date) Compare(other Date) int { return d.Start(time.UTC).Compare(other.Start(time.UTC)) }

// DaysUntil returns how many days later the other day is.
func (d Date) DaysUntil(other Date) int {
	return int(other.Start(time.UTC).Sub(d.Start(time.UTC)) / (24 * time.Hour))
}

// IsZero reports whether the date is not set.
func (d Date) IsZero() bool { return d == Date{} }
