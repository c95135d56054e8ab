package wire

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

// timeLayout is RFC 3339 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is a timestamp as it is in JSON: RFC 3339. The API writes it in UTC with milliseconds and reads any offset. It stays a
// text because a page of resources holds dozens of them, and few are looked at.
type Time string

// TimeOf returns t in the form in which the API writes it.
func TimeOf(t time.Time) Time { return Time(t.UTC().Format(timeLayout)) }

// Time returns the moment, and the zero time if t is empty or not RFC 3339.
func (t Time) Time() time.Time {
	at, err := ParseTime(string(t))
	if err != nil {
		return time.Time{}
	}
	return at
}

// moment matches a moment as RFC 3339 writes it, in letters of either case.
var moment = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)

// ParseTime reads, as core.ParseTime of the server does, all that RFC 3339 allows: t and z may be small, and the last minute of a month in UTC may have a second of 60, which is
// the moment of the next one. A moment that does not exist is an error.
func ParseTime(text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil && moment.MatchString(text) {
		return at, nil
	}
	if !moment.MatchString(text) {
		return time.Time{}, errors.New("no moment of RFC 3339")
	}
	text = strings.ToUpper(text)
	const second = 17 // where it begins
	if text[second:second+2] != "60" {
		return time.Parse(time.RFC3339Nano, text)
	}
	at, err := time.Parse(time.RFC3339Nano, text[:second]+"59"+text[second+2:])
	if err != nil {
		return time.Time{}, err
	}
	next := at.Truncate(time.Second).Add(time.Second)
	if utc := next.UTC(); utc.Day() != 1 || utc.Hour() != 0 || utc.Minute() != 0 {
		return time.Time{}, errors.New("this minute has no second of 60")
	}
	return next, nil
}

// String returns the text. It makes a pointer to a Time, which many fields are, print as the text.
func (t Time) String() string { return string(t) }
