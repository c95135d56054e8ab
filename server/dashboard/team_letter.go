package dashboard

import (
	"fmt"
	"net/http"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

const (
	lettersPage = settingsPage + "/letters"

	// teamLettersShown is how many letters the page lists.
	teamLettersShown = 50
)

// teamLetter is a kind of letters to the team of an account.
type teamLetter struct {
	kind        tenant.LetterKind
	label, hint string
	isOn        func(*sdk.LetterSettings) bool
}

// teamLetters are those that can be switched off.
var teamLetters = []teamLetter{
	{tenant.LetterSale, "Each sale", "When an order is paid, a renewal too. After 10 in an hour, one tells of all until the next hour.", func(l *sdk.LetterSettings) bool { return l.Sale }},
	{tenant.LetterSalesDaily, "Sales of a day", "Each morning after a day with sales, in the shop's time zone.", func(l *sdk.LetterSettings) bool { return l.SalesDaily }},
	{tenant.LetterFailedDaily, "Failed payments of a day", "Each morning after a day on which a renewal or an invoice could not be charged and is not paid yet.", func(l *sdk.LetterSettings) bool { return l.PaymentsFailedDaily }},
	{tenant.LetterWeek, "Week in figures", "Each Monday morning, with the week before beside it. There is none if nothing was sold in either.", func(l *sdk.LetterSettings) bool { return l.WeekFigures }},
	{tenant.LetterKeyRefused, "Payment provider refuses the key", "Once a day at most for the same key.", func(l *sdk.LetterSettings) bool { return l.ProviderKeyRefused }},
	{tenant.LetterDomainFailing, "Domain fails", "When the domain of a live site failed two daily checks in a row, or its certificate was refused three times. One letter an hour tells of all.", func(l *sdk.LetterSettings) bool { return l.DomainFailing }},
	{tenant.LetterWebhookFailing, "Webhook endpoint fails", "When it has taken nothing for an hour. Only owners get it.", func(l *sdk.LetterSettings) bool { return l.WebhookFailing }},
}

// letters shows which letters the team gets, and which it got.
func (d *Dashboard) letters(v *visit) error {
	told, err := d.store.Person.ListTeamLetters(v.ctx(), v.shop.ID, teamLettersShown)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Letters to your team", Columns: []string{"Letter", "State", "When"}, Empty: &ui.Empty{Text: "None was written yet."}}
	for i := range told {
		t.Rows = append(t.Rows, []ui.Cell{{Text: nameOfTeamLetter(told[i].Kind)}, {Badge: teamLetterBadge(&told[i])}, v.moment(told[i].CreatedAt)})
	}
	p := settingPage("Letters to your team", nil)
	p.Lead = "Owners and admins get them whose e-mail address is confirmed. Letters about tokens, owners and new browsers cannot be switched off."
	if v.may("account:write") {
		p.Form = v.lettersForm()
	}
	p.Sections = []ui.Section{{Title: "Sent", Text: "Those of the last 90 days, at most 50.", Table: t}}
	return v.show(http.StatusOK, p)
}

func (v *visit) lettersForm() *ui.Form {
	f := &ui.Form{Submit: "Save", Once: newOnce()}
	for _, l := range teamLetters {
		f.Controls = append(f.Controls, ui.Control{Kind: "checkbox", Name: string(l.kind), Label: l.label, Hint: l.hint, Checked: l.isOn(&v.shop.Letters)})
	}
	return f
}

// saveLetters switches letters on and off, of the kinds that the form shows.
func (d *Dashboard) saveLetters(v *visit) error {
	on := map[string]bool{}
	for _, l := range teamLetters {
		if isTicked := v.ticked(string(l.kind)); isTicked != nil {
			on[string(l.kind)] = *isTicked
		}
	}
	if _, err := d.api.Account.Update(v.ctx(), &sdk.AccountUpdate{Letters: on}, v.once()); err != nil {
		return err
	}
	return v.done(lettersPage, person.Notice{Text: "The settings were saved."})
}

func nameOfTeamLetter(kind tenant.LetterKind) string {
	for _, l := range teamLetters {
		if l.kind == kind {
			return l.label
		}
	}
	return string(kind)
}

// teamLetterBadge says how many of those to whom a letter was written got it.
func teamLetterBadge(l *person.TeamLetter) *ui.Badge {
	switch {
	case l.Sent == l.People:
		return &ui.Badge{Text: "Sent", Tone: "good", Icon: "check"}
	case l.Sent+l.Dropped < l.People:
		return &ui.Badge{Text: "Waits", Tone: "warn", Icon: "clock"}
	case l.Sent == 0:
		return &ui.Badge{Text: "Not sent", Icon: "cross"}
	}
	return &ui.Badge{Text: fmt.Sprintf("Sent to %d of %d", l.Sent, l.People), Icon: "check"}
}
