package wire

import (
	"time"

	"github.com/tillwright/tillwright/sdk/moment"
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
	at, err := moment.Parse(string(t))
	if err != nil {
		return time.Time{}
	}
	return at
}

// String returns the text. It makes a pointer to a Time, which many fields are, print as the text.
func (t Time) String() string { return string(t) }
