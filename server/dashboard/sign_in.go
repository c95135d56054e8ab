package dashboard

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

// sessionLife is how long browsers keep the cookie. The session itself may be over before.
const sessionLife = 90 * 24 * time.Hour

func asError(err error, into **core.Error) bool { return errors.As(err, into) }

// isMissing reports whether err is CodeMissing.
func isMissing(err error) bool {
	var e *core.Error
	return errors.As(err, &e) && e.Code == core.CodeMissing
}

// addressOf returns the network address from which a request came.
func addressOf(c echo.Context) string { return caller.Address(c.Request().Context()) }

// letIn starts a session, sets its cookie, and leads on. Somebody new is told nothing of their browser, which is the first.
func (d *Dashboard) letIn(c echo.Context, personID, to string, isNew bool) error {
	p, err := d.store.Person.GetPerson(c.Request().Context(), personID)
	if err != nil {
		return err
	}
	isKnown := isNew || d.store.Person.KnowsBrowser(d.attempt(c, p.Email))
	token, err := d.store.Person.StartSession(c.Request().Context(), personID, c.Request().UserAgent(), addressOf(c), isKnown)
	if err != nil {
		return err
	}
	d.setCookie(c, token, int(sessionLife.Seconds()))
	c.SetCookie(&http.Cookie{Name: d.cookie + knownCookie, Value: d.store.Person.KnownBrowser(p.Email), Path: "/", MaxAge: int(knownLife.Seconds()), Secure: d.isSecure, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	return c.Redirect(http.StatusSeeOther, to)
}

// knownCookie ends the name of the cookie by which a browser is known in which somebody has signed in. It outlasts their session.
const knownCookie = "-known"

const knownLife = 365 * 24 * time.Hour

// attempt returns who tries to sign in.
func (d *Dashboard) attempt(c echo.Context, email string) person.Attempt {
	a := person.Attempt{Email: email, Address: addressOf(c)}
	if cookie, err := c.Cookie(d.cookie + knownCookie); err == nil {
		a.Browser = cookie.Value
	}
	return a
}

// setCookie sets the cookie of a session for so many seconds; -1 takes it away.
func (d *Dashboard) setCookie(c echo.Context, token string, age int) {
	c.SetCookie(&http.Cookie{Name: d.cookie, Value: token, Path: "/", MaxAge: age, Secure: d.isSecure, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func credentials(c echo.Context) *ui.Form {
	return &ui.Form{Submit: "Sign in", Controls: []ui.Control{
		{Name: "email", Label: "E-mail address", Kind: "email", Value: strings.TrimSpace(c.FormValue("email")), Autocomplete: "username", Longest: 254, Required: true},
		{Name: "password", Label: "Password", Kind: "password", Autocomplete: "current-password", Required: true},
	}}
}

func (d *Dashboard) signInPage(f *ui.Form) ui.Page {
	p := ui.Page{Heading: "Sign in", Form: f, Actions: []ui.Link{{Text: "Forgot your password?", Address: "/recover"}}}
	if d.signUp == SignUpOpen {
		p.Actions = append(p.Actions, ui.Link{Text: "Create an account", Address: "/sign-up"})
	}
	p.Actions = append(p.Actions, ui.Link{Text: "API reference", Address: "/docs"})
	return p
}

// signInForm shows the form for signing in. Whoever is signed in is led on.
func (d *Dashboard) signInForm(c echo.Context) error {
	if _, err := d.enter(c); err == nil {
		return c.Redirect(http.StatusSeeOther, wayBack(c))
	}
	return d.write(c, http.StatusOK, ui.Frame{}, d.signInPage(credentials(c)))
}

// signIn lets in whoever knows a password. It says the same, as late, for one that is wrong and for somebody who does not exist.
func (d *Dashboard) signIn(c echo.Context) error {
	p, err := d.prove(c, c.FormValue("email"))
	if err != nil {
		return err
	}
	if p == nil {
		wrong := []ui.Problem{{Field: "password", Text: "This e-mail address and password do not belong together."}}
		return d.write(c, http.StatusUnprocessableEntity, ui.Frame{Problems: wrong}, d.signInPage(credentials(c)))
	}
	return d.letIn(c, p.ID, wayBack(c), false)
}

// prove returns the person whose password was typed, nil if it is not theirs. Attempts are counted.
func (d *Dashboard) prove(c echo.Context, email string) (*person.Person, error) {
	ctx := c.Request().Context()
	if err := d.store.Person.TryPassword(ctx, d.attempt(c, email)); err != nil {
		return nil, err
	}
	p, err := d.store.Person.PersonOfEmail(ctx, email)
	if isMissing(err) {
		p, err = &person.Person{}, nil
	}
	if err != nil {
		return nil, err
	}
	password := c.FormValue("password")
	if len(password) > 1000 {
		password = ""
	}
	matches, err := d.hasher.Matches(ctx, password, p.Password)
	if err != nil || !matches {
		return nil, err
	}
	return p, d.store.Person.ForgetFailures(ctx, d.attempt(c, email))
}

// signOut ends the session.
func (d *Dashboard) signOut(v *visit) error {
	if err := d.store.Person.EndSession(v.ctx(), v.Session); err != nil {
		return err
	}
	d.setCookie(v, "", -1)
	return v.Redirect(http.StatusSeeOther, "/sign-in")
}

func confirmPage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "Is it you?", Lead: "What you are about to do can do harm in the wrong hands. Type your password again.", Form: f}
}

func passwordForm() *ui.Form {
	return &ui.Form{Submit: "Go on", Cancel: "/app", Controls: []ui.Control{{Name: "password", Label: "Password", Kind: "password", Autocomplete: "current-password", Required: true}}}
}

// confirmForm asks for the password again.
func (d *Dashboard) confirmForm(v *visit) error {
	return v.show(http.StatusOK, confirmPage(passwordForm()))
}

// confirm takes it, and leads back to what was asked for.
func (d *Dashboard) confirm(v *visit) error {
	p, err := d.prove(v, v.Email)
	if err != nil {
		return err
	}
	if p == nil {
		f := passwordForm()
		f.Controls[0].Problem = "This is not your password."
		return v.show(http.StatusUnprocessableEntity, confirmPage(f), ui.Problem{Field: "password", Label: "Password", Text: f.Controls[0].Problem})
	}
	if err := d.store.Person.Prove(v.ctx(), v.Session); err != nil {
		return err
	}
	return v.Redirect(http.StatusSeeOther, wayBack(v))
}
