package dashboard

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/person"
)

// invitation shows an invitation to become a member of an account. Nothing is done before its button is pressed.
func (d *Dashboard) invitation(c echo.Context) error {
	link, p, err := d.invited(c)
	if err != nil {
		return d.overInvitation(c, err)
	}
	return d.write(c, http.StatusOK, ui.Frame{}, p(invitationForm(c, link, d.isSignedIn(c))))
}

func (d *Dashboard) isSignedIn(c echo.Context) string {
	v, err := d.enter(c)
	if err != nil {
		return ""
	}
	return v.PersonID
}

func (d *Dashboard) invited(c echo.Context) (*person.Link, func(*ui.Form) ui.Page, error) {
	ctx := c.Request().Context()
	link, err := d.store.Person.GetLink(ctx, person.LinkInvitation, c.Param("token"))
	if err != nil {
		return nil, nil, err
	}
	shop, err := d.store.Tenant.GetAccount(ctx, *link.AccountID)
	if err != nil {
		return nil, nil, err
	}
	name, hint := nameOf(link.Role)
	return link, func(f *ui.Form) ui.Page {
		return ui.Page{Heading: "Join " + shop.Name, Lead: "You are invited as " + link.Email + ". Role: " + name + ", who " + hint + ".", Form: f}
	}, nil
}

func invitationForm(c echo.Context, link *person.Link, signedIn string) *ui.Form {
	f := &ui.Form{Action: "/invitation/" + c.Param("token"), Submit: "Join"}
	if signedIn == "" {
		f.Text = "Choose a password for " + link.Email + ". If you sign in to this server already, sign in first, and open this link again."
		f.Controls = []ui.Control{{Name: "password", Label: "Password", Kind: "password", Hint: "At least 10 characters.", Autocomplete: "new-password", Required: true}}
	}
	return f
}

func (d *Dashboard) overInvitation(c echo.Context, err error) error {
	if !isMissing(err) {
		return err
	}
	return d.tell(c, nil, http.StatusNotFound, "This invitation does not work any more", "It was used or taken back, or its week is over. Ask whoever sent it for another one.")
}

// acceptInvitation makes whoever is signed in a member, or else somebody new.
func (d *Dashboard) acceptInvitation(c echo.Context) error {
	ctx := c.Request().Context()
	link, p, err := d.invited(c)
	if err != nil {
		return d.overInvitation(c, err)
	}
	signedIn, hash := d.isSignedIn(c), ""
	f := invitationForm(c, link, signedIn)
	if signedIn == "" {
		if err = person.CheckPassword(c.FormValue("password"), link.Email); err == nil {
			hash, err = d.hasher.Hash(ctx, c.FormValue("password"))
		}
	}
	var who *person.Person
	if err == nil {
		who, err = d.store.Team.AcceptInvitation(ctx, c.Param("token"), signedIn, hash)
	}
	if wrong, ok := problems(err, f); ok {
		return d.write(c, http.StatusUnprocessableEntity, ui.Frame{Problems: wrong}, p(f))
	}
	if err != nil {
		return d.overInvitation(c, err)
	}
	if signedIn == "" {
		return d.letIn(c, who.ID, "/app", true)
	}
	v, err := d.enter(c)
	if err != nil {
		return err
	}
	if err := d.store.Person.LookAt(ctx, v.Session, *link.AccountID); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/app")
}
