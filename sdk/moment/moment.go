// Package moment reads moments as RFC 3339 writes them, for the server and for the SDK alike. It depends on nothing.
package moment

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

// form matches a moment as RFC 3339 writes it, in letters of either case.
var form = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)

// Parse reads all that RFC 3339 allows: t and z may be small. The last minute of a month in UTC may have a second of 60, which is
// read as the start of the next minute. A moment that does not exist is an error.
func Parse(text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil && form.MatchString(text) {
		return at, nil
	}
	if !form.MatchString(text) {
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
