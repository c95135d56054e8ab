package dashboard

import (
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/store/core"
)

// formMoment is how browsers send the moment that somebody typed.
const formMoment = "2006-01-02T15:04"

// typedMoment returns the moment in the shop's time that a field has.
func (v *visit) typedMoment(name string) (moment sdk.Time, err error) {
	return v.readMoment(name, v.field(name))
}

// readMoment is typedMoment of a text that was typed into a field.
func (v *visit) readMoment(name, text string) (moment sdk.Time, err error) {
	t, err := time.ParseInLocation(formMoment, text, v.zone)
	if err != nil {
		return moment, core.Invalid(name, "Type a day and a time, such as 2026-11-25T09:30.")
	}
	return sdk.TimeOf(t), nil
}

// days returns the stretch of time between the days that the fields from and to of the address name, both of them included. An empty one is
// nil.
func (v *visit) days() (from, until *sdk.Time, err error) {
	for name, into := range map[string]**sdk.Time{"from": &from, "to": &until} {
		text := strings.TrimSpace(v.QueryParam(name))
		if text == "" {
			continue
		}
		t, err := time.ParseInLocation(time.DateOnly, text, v.zone)
		if err != nil {
			return nil, nil, core.Invalid(name, "Type a day, such as 2026-11-25: this is "+text+".")
		}
		if name == "to" {
			t = t.AddDate(0, 0, 1)
		}
		*into = new(sdk.TimeOf(t))
	}
	return from, until, nil
}

// optionText returns the text of a value among pairs of values and texts, the value itself if it has none.
func optionText(value string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == value {
			return pairs[i+1]
		}
	}
	return value
}
