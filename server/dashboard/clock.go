package dashboard

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const clockPage = "/app/developers/clock"

const secondsInDay = 24 * 60 * 60

// clockForms returns the ways to move the clock: by some days, and to a moment.
func (d *Dashboard) clockForms(v *visit) ([]ui.Form, *ui.Form) {
	var by []ui.Form
	for _, step := range []struct {
		text string
		days int
	}{{"A day", 1}, {"A week", 7}, {"A month (30 days)", 30}} {
		by = append(by, ui.Form{Submit: step.text, Inline: true, Once: newOnce(), Controls: []ui.Control{{Kind: "hidden", Name: "advance_seconds", Value: strconv.Itoa(step.days * secondsInDay)}}})
	}
	to := v.QueryParam("now")
	if v.Request().Method == http.MethodPost {
		to = v.field("now")
	}
	return by, &ui.Form{Submit: "Move the clock", Once: newOnce(), Controls: []ui.Control{
		{Kind: "datetime-local", Name: "now", Label: "To", Hint: "In the shop's time, " + v.zone.String() + ". Never back.", Value: to, Required: true},
	}}
}

func (d *Dashboard) showClock(v *visit, status int, to *ui.Form, by []ui.Form, problems ...ui.Problem) error {
	now, err := d.store.ClockOf(v.ctx(), v.AccountID)
	if err != nil {
		return err
	}
	p := ui.Page{
		Heading: "Test clock", Up: &ui.Link{Text: "Developers", Address: "/app/developers"},
		Lead:     "Only a development server has it. Moved forward, it does on its way what falls due: renewals, retries, ends of trials, expiries.",
		Sections: []ui.Section{{Terms: []ui.Term{{Name: "The clock shows", Value: v.moment(now)}}}},
	}
	if v.may("account:write") {
		p.Sections = append(p.Sections, ui.Section{Title: "Move it by", Forms: by}, ui.Section{Title: "Or to a moment", Form: to})
	}
	return v.show(status, p, problems...)
}

// clock shows the clock by which the account does business.
func (d *Dashboard) clock(v *visit) error {
	by, to := d.clockForms(v)
	return d.showClock(v, http.StatusOK, to, by)
}

// moveClock moves the clock, and says what fell due.
func (d *Dashboard) moveClock(v *visit) error {
	by, to := d.clockForms(v)
	in := &sdk.TestClockCreate{}
	var err error
	if text := v.field("advance_seconds"); text != "" {
		var seconds int64
		if seconds, err = strconv.ParseInt(text, 10, 64); err != nil {
			err = core.Invalid("advance_seconds", "Choose one of these.")
		}
		in.AdvanceSeconds = &seconds
	} else {
		var moment sdk.Time
		moment, err = v.typedMoment("now")
		in.Now = &moment
	}
	var c *sdk.TestClock
	if err == nil {
		c, err = d.api.TestHelpers.AdvanceClock(v.ctx(), in, v.once())
	}
	if wrong, ok := problems(err, to); ok {
		return d.showClock(v, http.StatusUnprocessableEntity, to, by, wrong...)
	}
	if err != nil {
		return err
	}
	said := "The clock was moved. "
	switch c.Processed {
	case 0:
		said += "Nothing fell due."
	case 1:
		said += "One thing fell due, and was done."
	default:
		said += strconv.FormatInt(c.Processed, 10) + " things fell due, and were done."
	}
	if c.Done {
		return v.done(clockPage, person.Notice{Text: said})
	}
	// It stops after a while, so that nobody waits for minutes: the form has what is left.
	target := c.Target.Time().In(v.zone).Format(formMoment)
	return v.done(clockPage+"?now="+url.QueryEscape(target), person.Notice{Text: said + " It has not come to its end yet: move it to there again.", Bad: true})
}
