package dashboard

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/team"
)

// newcomer is the form in which somebody says who they are and what their shop is called.
func newcomer(c echo.Context) *ui.Form {
	typed := func(name string) string { return strings.TrimSpace(c.FormValue(name)) }
	return &ui.Form{Submit: "Create account", Controls: []ui.Control{
		{Name: "name", Label: "Shop name", Value: typed("name"), Autocomplete: "organization", Longest: 255, Required: true},
		{Name: "email", Label: "E-mail address", Kind: "email", Value: typed("email"), Autocomplete: "username", Longest: 254, Required: true},
		{Name: "password", Label: "Password", Kind: "password", Hint: "At least 10 characters. Four words that do not belong together are easy to keep and hard to guess.", Autocomplete: "new-password", Required: true},
	}}
}

// setup shows the form of the first person on this server.
func (d *Dashboard) setup(c echo.Context) error {
	if _, err := d.store.Person.GetLink(c.Request().Context(), person.LinkSetup, c.Param("token")); err != nil {
		return d.overLink(c, err)
	}
	return d.write(c, http.StatusOK, ui.Frame{}, setupPage(newcomer(c)))
}

func setupPage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "Set up Tillwright", Lead: "You are the first on this server, and will be its operator. Your shop can sell in a few minutes.", Form: f}
}

func (d *Dashboard) overLink(c echo.Context, err error) error {
	if !isMissing(err) {
		return err
	}
	return d.tell(c, nil, http.StatusNotFound, "This link does not work any more", "It was used, or its time is over. A server on which nobody can sign in prints a new one when it starts, "+
		"and the command setup-link makes one at any time.")
}

// setUp makes the first person and their shop, and signs them in.
func (d *Dashboard) setUp(c echo.Context) error {
	ctx := c.Request().Context()
	if _, err := d.store.Person.GetLink(ctx, person.LinkSetup, c.Param("token")); err != nil {
		return d.overLink(c, err)
	}
	f := newcomer(c)
	in, err := d.readNewcomer(c)
	var p *person.Person
	if err == nil {
		p, err = d.store.Team.SetUp(ctx, c.Param("token"), *in)
	}
	if wrong, ok := problems(err, f); ok {
		return d.write(c, http.StatusUnprocessableEntity, ui.Frame{Problems: wrong}, setupPage(f))
	}
	if err != nil {
		return d.overLink(c, err)
	}
	return d.letIn(c, p.ID, "/app", true)
}

// readNewcomer reads the form of a newcomer, and hashes their password if all else is right.
func (d *Dashboard) readNewcomer(c echo.Context) (*team.SignUp, error) {
	in := &team.SignUp{Shop: strings.TrimSpace(c.FormValue("name")), Email: strings.TrimSpace(c.FormValue("email")), Currency: currencyOf(c.Request().Header.Get("Accept-Language"))}
	var p core.Problems
	p.Check(in.Shop != "" && len([]rune(in.Shop)) <= 255, "name", "Type the name of your shop, of up to 255 characters.")
	p.CheckEmail("email", in.Email, "Type an e-mail address, such as ada@example.com.")
	if err := person.CheckPassword(c.FormValue("password"), in.Email); err != nil {
		var e *core.Error
		if asError(err, &e) {
			p.Add("password", e.Message)
		}
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	hash, err := d.hasher.Hash(c.Request().Context(), c.FormValue("password"))
	in.Password = hash
	return in, err
}

// currencyOf returns the currency of the region that a browser's languages name first, empty if that says nothing.
func currencyOf(languages string) string {
	for tag := range strings.SplitSeq(languages, ",") {
		tag, _, _ = strings.Cut(strings.TrimSpace(tag), ";")
		_, region, _ := strings.Cut(tag, "-")
		switch strings.ToUpper(region) {
		case "AT", "BE", "CY", "DE", "EE", "ES", "FI", "FR", "GR", "HR", "IE", "IT", "LT", "LU", "LV", "MT", "NL", "PT", "SI", "SK":
			return "eur"
		case "GB":
			return "gbp"
		case "CH", "LI":
			return "chf"
		case "JP":
			return "jpy"
		case "BR":
			return "brl"
		case "CA":
			return "cad"
		case "AU":
			return "aud"
		case "IN":
			return "inr"
		case "US":
			return "usd"
		}
	}
	return ""
}

// signUpForm shows the form by which somebody makes an account of their own.
func (d *Dashboard) signUpForm(c echo.Context) error {
	if d.signUp != SignUpOpen {
		return d.tell(c, nil, http.StatusForbidden, "Sign-up is closed", "Ask whoever runs this server, or an owner of the shop that you work for, for an invitation.")
	}
	return d.write(c, http.StatusOK, ui.Frame{}, signUpPage(newcomer(c)))
}

func signUpPage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "Create an account", Lead: "For a shop of your own.", Form: f, Actions: []ui.Link{{Text: "Sign in instead", Address: "/sign-in"}}}
}

func (d *Dashboard) signedUp(c echo.Context) error {
	ctx := c.Request().Context()
	if d.signUp != SignUpOpen {
		return d.signUpForm(c)
	}
	if err := d.store.Person.TrySignUp(ctx, addressOf(c)); err != nil {
		return err
	}
	f := newcomer(c)
	in, err := d.readNewcomer(c)
	var p *person.Person
	if err == nil {
		p, err = d.store.Team.SignUp(ctx, *in)
	}
	if wrong, ok := problems(err, f); ok {
		return d.write(c, http.StatusUnprocessableEntity, ui.Frame{Problems: wrong}, signUpPage(f))
	}
	if err != nil {
		return err
	}
	return d.letIn(c, p.ID, "/app", true)
}
