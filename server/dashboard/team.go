package dashboard

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/team"
)

const teamPage = "/app/team"

// manager returns who changes the team.
func (v *visit) manager() team.Manager {
	return team.Manager{AccountID: v.AccountID, PersonID: v.PersonID}
}

// manages reports whether the person may change a member of a role, or make one.
func (v *visit) manages(role person.Role) bool {
	return v.Role == person.RoleOwner || v.Role == person.RoleAdmin && role != person.RoleOwner
}

// team lists who may act for the account, and who is invited.
func (d *Dashboard) team(v *visit) error {
	members, err := d.store.Person.ListMembers(v.ctx(), v.AccountID)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Members", Columns: []string{"E-mail address", "Role", "Last seen", "Member since"}}
	for _, m := range members {
		name, _ := nameOf(m.Role)
		row := []ui.Cell{{Text: m.Email}, {Text: name}, {Text: "Not yet"}, v.moment(m.CreatedAt)}
		if m.SeenAt != nil {
			row[2] = v.moment(*m.SeenAt)
		}
		if v.manages(m.Role) {
			row[0].Address = teamPage + "/" + m.PersonID
		}
		t.Rows = append(t.Rows, row)
	}
	p := ui.Page{Heading: "Team", Up: &ui.Link{Text: "Settings", Address: settingsPage}, Table: t, Actions: []ui.Link{{Text: "Leave this account", Address: teamPage + "/leave"}}}
	if !v.manages("") {
		return v.show(http.StatusOK, p)
	}
	if d.signUp != SignUpClosed {
		p.Actions = append([]ui.Link{{Text: "Invite", Address: teamPage + "/invite", Primary: true}}, p.Actions...)
	}
	waiting, err := d.store.Person.ListInvitations(v.ctx(), v.AccountID)
	if err != nil {
		return err
	}
	invited := ui.Section{Title: "Invitations", Table: &ui.Table{Label: "Invitations", Columns: []string{"E-mail address", "Role", "Good until", ""}, Empty: &ui.Empty{Text: "No invitation waits."}}}
	for _, link := range waiting {
		name, _ := nameOf(link.Role)
		row := []ui.Cell{{Text: link.Email}, {Text: name}, v.moment(link.ExpiresAt), {}}
		if v.manages(link.Role) {
			row[3] = ui.Cell{Text: "Take back", Address: teamPage + "/invitations/" + link.ID}
		}
		invited.Table.Rows = append(invited.Table.Rows, row)
	}
	p.Sections = []ui.Section{invited}
	return v.show(http.StatusOK, p)
}

// roleControl returns the choice of a role: what the person may give.
func (v *visit) roleControl(role person.Role) ui.Control {
	c := ui.Control{Kind: "select", Name: "role", Label: "Role"}
	for _, r := range slices.Backward(person.Roles()) {
		if v.manages(r) {
			name, hint := nameOf(r)
			c.Options = append(c.Options, ui.Option{Value: string(r), Text: name + ": " + hint, Chosen: r == role})
		}
	}
	return c
}

func invitePage(v *visit) ui.Page {
	return ui.Page{Heading: "Invite", Up: &ui.Link{Text: "Team", Address: teamPage}, Form: &ui.Form{
		Text:   "You get a link, which you send to them yourself: no letter is sent. It is good for a week, and once.",
		Submit: "Create invitation", Cancel: teamPage, Controls: []ui.Control{
			{Name: "email", Label: "E-mail address", Kind: "email", Value: v.field("email"), Longest: 254, Required: true},
			v.roleControl(person.Role(v.field("role"))),
		},
	}}
}

// inviteForm shows the form for an invitation.
func (d *Dashboard) inviteForm(v *visit) error {
	if d.signUp == SignUpClosed {
		return d.tell(v, v, http.StatusForbidden, "Not allowed", "This server takes nobody new. Whoever runs it can change that.")
	}
	return v.show(http.StatusOK, invitePage(v))
}

// invite makes an invitation, and shows its link once.
func (d *Dashboard) invite(v *visit) error {
	if d.signUp == SignUpClosed {
		return d.inviteForm(v)
	}
	p := invitePage(v)
	token, err := d.store.Team.InviteMember(v.ctx(), v.manager(), v.field("email"), person.Role(v.field("role")))
	if wrong, ok := problems(err, p.Form); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(teamPage, person.Notice{
		Text: "Send this link to " + v.field("email") + ". No letter was sent.", Page: teamPage, Secret: map[string]string{"Invitation link": d.publicURL + "/invitation/" + token},
	})
}

// takeBackForm says what happens when an invitation is taken back.
func (d *Dashboard) takeBackForm(v *visit) error {
	waiting, err := d.store.Person.ListInvitations(v.ctx(), v.AccountID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(waiting, func(l person.Link) bool { return l.ID == v.Param("id") })
	if at < 0 {
		return core.Missing("invitation", "", v.Param("id"))
	}
	return v.show(http.StatusOK, ui.Page{Heading: "Take back the invitation", Up: &ui.Link{Text: "Team", Address: teamPage}, Form: &ui.Form{
		Text: "The link that " + waiting[at].Email + " was sent stops working at once.", Submit: "Take back", Danger: true, Cancel: teamPage,
	}})
}

// takeBack ends an invitation.
func (d *Dashboard) takeBack(v *visit) error {
	if err := d.store.Team.TakeBackInvitation(v.ctx(), v.manager(), v.Param("id")); err != nil {
		return err
	}
	return v.done(teamPage, person.Notice{Text: "The invitation was taken back."})
}

// memberOf returns the member whom the address names.
func (d *Dashboard) memberOf(v *visit) (*person.Member, error) {
	members, err := d.store.Person.ListMembers(v.ctx(), v.AccountID)
	if err != nil {
		return nil, err
	}
	for i := range members {
		if members[i].PersonID == v.Param("id") {
			return &members[i], nil
		}
	}
	return nil, core.Missing("member", "", v.Param("id"))
}

func memberPage(v *visit, m *person.Member) ui.Page {
	role := m.Role
	if v.Request().Method == http.MethodPost {
		role = person.Role(v.field("role"))
	}
	return ui.Page{Heading: m.Email, Up: &ui.Link{Text: "Team", Address: teamPage}, Actions: []ui.Link{{Text: "Remove", Address: teamPage + "/" + m.PersonID + "/remove", Danger: true}}, Form: &ui.Form{
		Submit: "Save", Cancel: teamPage, Controls: []ui.Control{v.roleControl(role)},
	}}
}

// member shows a member, whose role can be changed.
func (d *Dashboard) member(v *visit) error {
	m, err := d.memberOf(v)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, memberPage(v, m))
}

// setRole gives a member another role.
func (d *Dashboard) setRole(v *visit) error {
	m, err := d.memberOf(v)
	if err != nil {
		return err
	}
	p := memberPage(v, m)
	err = d.store.Team.SetMemberRole(v.ctx(), v.manager(), m.PersonID, person.Role(v.field("role")))
	if wrong, ok := problems(err, p.Form); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	name, _ := nameOf(person.Role(v.field("role")))
	return v.done(teamPage, person.Notice{Text: "The role of " + m.Email + " is " + name + " now."})
}

// removeForm says what happens when a member is removed.
func (d *Dashboard) removeForm(v *visit) error {
	m, err := d.memberOf(v)
	if err != nil {
		return err
	}
	keys, err := d.keysOf(v, m.PersonID)
	if err != nil {
		return err
	}
	f := &ui.Form{Text: "They see nothing of this account any more, at once, and the invitations that they made end.", Submit: "Remove", Danger: true, Cancel: teamPage}
	if n := len(keys); n > 0 {
		label := "Revoke the " + strconv.Itoa(n) + " API tokens that they made"
		if n == 1 {
			label = "Revoke the API token that they made"
		}
		f.Controls = []ui.Control{{Kind: "checkbox", Name: "revoke", Label: label, Hint: "With all that was made by means of it. Programs that use it stop working. Else they go on, and whoever knows the token does, too.", Checked: true}}
	}
	return v.show(http.StatusOK, ui.Page{Heading: "Remove " + m.Email, Up: &ui.Link{Text: "Team", Address: teamPage}, Form: f})
}

// keysOf returns the ids of the API tokens that somebody made.
func (d *Dashboard) keysOf(v *visit, personID string) ([]string, error) {
	var ids []string
	for k, err := range sdk.All(v.ctx(), d.api.APIKeys.List, &sdk.ListAPIKeysParams{}) {
		if err != nil {
			return nil, err
		}
		if core.Deref(k.CreatedBy) == personID {
			ids = append(ids, k.ID)
		}
	}
	return ids, nil
}

// remove has a member act for the account no more.
func (d *Dashboard) remove(v *visit) error {
	m, err := d.memberOf(v)
	if err != nil {
		return err
	}
	if err := d.store.Team.RemoveMember(v.ctx(), v.manager(), m.PersonID); err != nil {
		return err
	}
	if m.PersonID == v.PersonID {
		return v.done("/app/you", person.Notice{Text: "You have left " + v.shop.Name + "."})
	}
	said := m.Email + " was removed."
	if v.field("revoke") != "" {
		keys, err := d.keysOf(v, m.PersonID)
		if err != nil {
			return err
		}
		for _, id := range keys {
			var refused *sdk.Error
			if _, err := d.api.APIKeys.Delete(v.ctx(), id, nil); err != nil && !(errors.As(err, &refused) && refused.Status == http.StatusNotFound) { // gone with the one that made it
				return err
			}
		}
		said += " Their API tokens were revoked."
	}
	return v.done(teamPage, person.Notice{Text: said})
}

// leaveForm says what happens when somebody leaves the account.
func (d *Dashboard) leaveForm(v *visit) error {
	return v.show(http.StatusOK, ui.Page{Heading: "Leave " + v.shop.Name, Up: &ui.Link{Text: "Team", Address: teamPage}, Form: &ui.Form{
		Text: "You see nothing of this account any more, until somebody invites you again.", Submit: "Leave", Danger: true, Cancel: teamPage,
	}})
}

// leave has the person act for the account no more.
func (d *Dashboard) leave(v *visit) error {
	if err := d.store.Team.RemoveMember(v.ctx(), v.manager(), v.PersonID); err != nil {
		return err
	}
	return v.done("/app/you", person.Notice{Text: "You have left " + v.shop.Name + "."})
}
