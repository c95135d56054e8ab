package core

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk/moment"
)

// Time is a moment in Unix microseconds, as both engines store it. A moment that may be absent is a *Time.
type Time int64

// Day is 24 hours: retries, trials and notices are counted in them.
const Day = 24 * time.Hour

// timeLayout is RFC 3339 in UTC with milliseconds, the one form of a moment on the wire.
const timeLayout = "2006-01-02T15:04:05.000Z"

// TimeOf converts a time.Time, and drops what is finer than a microsecond.
func TimeOf(t time.Time) Time { return Time(t.UnixMicro()) }

// Time converts to a time.Time in UTC.
func (t Time) Time() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Add returns the moment d later.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Microseconds()) }

// String returns the wire form, 2026-11-21T00:00:00.000Z. It is written by hand, in a third of the time of Format:
// every object has two of them.
func (t Time) String() string {
	at := t.Time()
	year, month, day := at.Date()
	hour, minute, second := at.Clock()
	if year < 0 || year > 9999 {
		return at.Format(timeLayout)
	}
	text := []byte("0000-00-00T00:00:00.000Z")
	digits(text[0:4], year)
	digits(text[5:7], int(month))
	digits(text[8:10], day)
	digits(text[11:13], hour)
	digits(text[14:16], minute)
	digits(text[17:19], second)
	digits(text[20:23], at.Nanosecond()/int(time.Millisecond))
	return string(text)
}

// digits writes n in decimal over the whole of text, with leading zeros.
func digits(text []byte, n int) {
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = byte('0' + n%10)
		n /= 10
	}
}

// MarshalJSON writes the wire form.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON reads a moment in any form of RFC 3339.
func (t *Time) UnmarshalJSON(text []byte) error {
	var written *string
	if err := json.Unmarshal(text, &written); err != nil || written == nil {
		return err
	}
	at, err := moment.Parse(*written)
	if err != nil {
		return err
	}
	*t = TimeOf(at)
	return nil
}

// ParseTime is moment.Parse.
func ParseTime(text string) (time.Time, error) { return moment.Parse(text) }

// LoadZone returns the time zone with an IANA name. Other names that an operating system knows are none. These are the names of the machine's own
// zone, and of copies of the database that count leap seconds or do not.
func LoadZone(name string) (*time.Location, error) {
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "", "Local", "localtime", "posixrules", "Factory", "posix", "right":
		return nil, fmt.Errorf("time zone %q is not an IANA name", name)
	}
	return time.LoadLocation(name)
}

// Latest returns the latest of the moments that are not nil, nil if there is none.
func Latest(times ...*Time) *Time {
	var last *Time
	for _, t := range times {
		if t != nil && (last == nil || *t > *last) {
			last = t
		}
	}
	return last
}
