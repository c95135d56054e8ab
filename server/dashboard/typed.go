package dashboard

import (
	"slices"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
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

// filled returns CodeInvalid on the first of some fields that was sent empty: such a field can be changed, and not left out.
func (v *visit) filled(names ...string) error {
	for _, name := range names {
		if v.Request().PostForm.Has(name) && v.field(name) == "" {
			return core.Invalid(name, "Type one: it can be changed, and not left out.")
		}
	}
	return nil
}

// shownName ends the name of the field in which a form says which boxes of a name it has. A box that is not ticked is not sent. So a page that was drawn
// by an older version of this server, which lacks some boxes, switches nothing off.
const shownName = ".shown"

// ticked returns whether a box is ticked, nil if the form has no such box.
func (v *visit) ticked(name string) *bool {
	r := v.Request()
	isTicked := r.PostFormValue(name) != ""
	if !isTicked && r.PostFormValue(name+shownName) == "" {
		return nil
	}
	return &isTicked
}

// tickedOf returns which of the boxes of a name are ticked, and what is stored for which the form has no box.
func (v *visit) tickedOf(name string, stored []string) []string {
	_ = v.Request().PostFormValue(name) // reads the form
	form := v.Request().PostForm
	ticked, shown := slices.Clone(form[name]), strings.Fields(strings.Join(form[name+shownName], " "))
	for _, value := range stored {
		if !slices.Contains(ticked, value) && !slices.Contains(shown, value) {
			ticked = append(ticked, value)
		}
	}
	return ticked
}

// slugControl is the field of what stands last in an address. It may stay empty while there is none yet: it is made from another field then.
func (v *visit) slugControl(slug, label, hint, from string) ui.Control {
	c := ui.Control{Name: "slug", Label: label, Hint: hint, Value: v.typed("slug", slug), Longest: 100, Required: slug != ""}
	if slug == "" {
		c.Hint, c.Optional = c.Hint+" Empty: from the "+from+".", true
	}
	return c
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
