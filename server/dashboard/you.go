package dashboard

import (
	"net/http"

	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

// you shows who is signed in: the accounts that they may look at, where else they are signed in, and their password.
func (d *Dashboard) you(v *visit) error { return d.showYou(v, http.StatusOK, changeForm()) }

func changeForm() *ui.Form {
	return &ui.Form{Action: "/app/you/password", Submit: "Change password", Controls: []ui.Control{
		{Name: "old", Label: "Current password", Kind: "password", Autocomplete: "current-password", Required: true},
		{Name: "password", Label: "New password", Kind: "password", Hint: "At least 10 characters. It signs you out everywhere else.", Autocomplete: "new-password", Required: true},
	}}
}

func (d *Dashboard) showYou(v *visit, status int, change *ui.Form, problems ...ui.Problem) error {
	shops, err := d.store.Person.ListMemberships(v.ctx(), v.PersonID)
	if err != nil {
		return err
	}
	sessions, err := d.store.Person.ListSessions(v.ctx(), v.PersonID)
	if err != nil {
		return err
	}
	accounts := ui.Section{Title: "Your accounts", Table: &ui.Table{Label: "Your accounts", Columns: []string{"Account", "Role", "State"}, Empty: &ui.Empty{Text: "You are a member of no account. Ask an owner for an invitation."}}}
	for _, shop := range shops {
		name, _ := nameOf(shop.Role)
		state := ui.Cell{Text: "You can open it"}
		switch {
		case shop.DisabledAt != nil:
			state = ui.Cell{Badge: &ui.Badge{Text: "Disabled", Tone: "bad", Icon: "lock"}}
		case shop.AccountID == v.AccountID:
			state = ui.Cell{Badge: &ui.Badge{Text: "Open", Tone: "good", Icon: "check"}}
		default:
			accounts.Forms = append(accounts.Forms, ui.Form{Action: "/app/you/account", Submit: "Open " + shop.Name, Inline: true, Controls: []ui.Control{{Kind: "hidden", Name: "account", Value: shop.AccountID}}})
		}
		accounts.Table.Rows = append(accounts.Table.Rows, []ui.Cell{{Text: shop.Name}, {Text: name}, state})
	}
	places := ui.Section{Title: "Where you are signed in", Table: &ui.Table{Label: "Where you are signed in", Columns: []string{"Browser", "Address", "Last used", ""}}}
	for i := range sessions {
		s := &sessions[i]
		here := ui.Cell{}
		if s.ID == v.ID {
			here.Badge = &ui.Badge{Text: "This one", Icon: "check", Tone: "good"}
		}
		places.Table.Rows = append(places.Table.Rows, []ui.Cell{{Text: s.Agent}, {Text: s.Address}, v.moment(s.UsedAt), here})
	}
	if len(sessions) > 1 {
		places.Forms = []ui.Form{{Action: "/app/you/sessions", Submit: "Sign out everywhere else", Inline: true}}
	}
	p, err := d.store.Person.GetPerson(v.ctx(), v.PersonID)
	if err != nil {
		return err
	}
	page := ui.Page{Heading: v.Email}
	if d.sends && !p.GetsLetters() {
		page.Lead = "Your e-mail address is not confirmed: you get no letters about new tokens, owners and browsers. Confirm it by a letter, by which you choose another password."
		page.Actions = []ui.Link{{Text: "Confirm address", Address: "/recover"}}
	}
	page.Sections = []ui.Section{accounts, places, {Title: "Password", Form: change}}
	return v.show(status, page, problems...)
}

// lookAt opens another account of the person.
func (d *Dashboard) lookAt(v *visit) error {
	if err := d.store.Person.LookAt(v.ctx(), v.Session, v.field("account")); err != nil {
		return err
	}
	return v.Redirect(http.StatusSeeOther, "/app")
}

// endOthers ends all other sessions of the person.
func (d *Dashboard) endOthers(v *visit) error {
	if err := d.store.Person.EndOtherSessions(v.ctx(), v.Session); err != nil {
		return err
	}
	return v.done("/app/you", person.Notice{Text: "You are signed in here alone."})
}

// changePassword takes the current password and a new one.
func (d *Dashboard) changePassword(v *visit) error {
	f := changeForm()
	if err := d.store.Person.TryPassword(v.ctx(), d.attempt(v, v.Email)); err != nil {
		return err
	}
	p, err := d.store.Person.GetPerson(v.ctx(), v.PersonID)
	if err != nil {
		return err
	}
	isTheirs, err := d.hasher.Matches(v.ctx(), v.FormValue("old"), p.Password)
	if err == nil && !isTheirs {
		err = core.Invalid("old", "This is not your password.")
	}
	if err == nil {
		err = person.CheckPassword(v.FormValue("password"), v.Email)
	}
	if wrong, ok := problems(err, f); ok {
		return d.showYou(v, http.StatusUnprocessableEntity, f, wrong...)
	}
	if err != nil {
		return err
	}
	hash, err := d.hasher.Hash(v.ctx(), v.FormValue("password"))
	if err != nil {
		return err
	}
	if err := d.store.Person.SetPassword(v.ctx(), v.PersonID, hash, v.ID); err != nil {
		return err
	}
	if err := d.store.Person.ForgetFailures(v.ctx(), d.attempt(v, v.Email)); err != nil {
		return err
	}
	return v.done("/app/you", person.Notice{Text: "Your password was changed. You are signed out everywhere else."})
}
