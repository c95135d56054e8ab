package dashboard

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

func recoverPage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "Forgot your password?", Up: &ui.Link{Text: "Sign in", Address: "/sign-in"}, Lead: "We send you a link by which you choose another one.", Form: f}
}

func recoverForm(c echo.Context) *ui.Form {
	return &ui.Form{Submit: "Send me a link", Controls: []ui.Control{
		{Name: "email", Label: "E-mail address", Kind: "email", Value: strings.TrimSpace(c.FormValue("email")), Autocomplete: "username", Longest: 254, Required: true},
	}}
}

// forgot shows the form of somebody who forgot their password, or that a letter is on its way.
func (d *Dashboard) forgot(c echo.Context) error {
	if !d.sends {
		return d.tell(c, nil, http.StatusOK, "Forgot your password?", "This server sends no letters. Whoever runs it makes a link for you with the command recovery-link.")
	}
	if c.QueryParam("sent") != "" {
		return d.tell(c, nil, http.StatusOK, "Check your e-mail", "If somebody signs in with this address, a link is on its way to it. It works for 30 minutes, and once.")
	}
	return d.write(c, http.StatusOK, ui.Frame{}, recoverPage(recoverForm(c)))
}

// sendRecovery has a link sent, and says the same, as soon, whoever asks: whether somebody has the address is looked up after the answer.
func (d *Dashboard) sendRecovery(c echo.Context) error {
	ctx := c.Request().Context()
	f := recoverForm(c)
	email := f.Controls[0].Value
	if !d.sends {
		return d.forgot(c)
	}
	if problem := core.AskedEmailProblem(email, "Type an e-mail address, such as ada@example.com."); problem != "" {
		wrong, _ := problems(core.Invalid("email", problem), f)
		return d.write(c, http.StatusUnprocessableEntity, ui.Frame{Problems: wrong}, recoverPage(f))
	}
	if err := d.store.Person.TryRecovery(ctx, email, addressOf(c)); err != nil {
		return err
	}
	later := context.WithoutCancel(ctx) // not c: echo uses it for another request after this one
	d.asked.Go(func() {
		if err := d.store.Person.AskRecovery(later, email); err != nil {
			slog.ErrorContext(later, "a letter to choose another password was not asked for", "error", err)
		}
	})
	return c.Redirect(http.StatusSeeOther, "/recover?sent=1")
}

func newPasswordForm() *ui.Form {
	return &ui.Form{Submit: "Set password", Controls: []ui.Control{
		{Name: "password", Label: "New password", Kind: "password", Hint: "At least 10 characters. It signs you out everywhere.", Autocomplete: "new-password", Required: true},
	}}
}

func newPasswordPage(f *ui.Form) ui.Page { return ui.Page{Heading: "Choose another password", Form: f} }

// recovery shows the form for another password to whoever has a link. Looking uses nothing up.
func (d *Dashboard) recovery(c echo.Context) error {
	if _, err := d.store.Person.GetLink(c.Request().Context(), person.LinkRecovery, c.Param("token")); err != nil {
		return d.overRecovery(c, err)
	}
	return d.write(c, http.StatusOK, ui.Frame{}, newPasswordPage(newPasswordForm()))
}

func (d *Dashboard) overRecovery(c echo.Context, err error) error {
	if !isMissing(err) {
		return err
	}
	return d.write(c, http.StatusNotFound, ui.Frame{}, ui.Page{Heading: "This link does not work any more", Lead: "It was used, a newer one was sent, or its half hour is over.",
		Actions: []ui.Link{{Text: "Send me another one", Address: "/recover"}}})
}

// recovered sets another password, ends all sessions, and signs the person in.
func (d *Dashboard) recovered(c echo.Context) error {
	ctx := c.Request().Context()
	if _, err := d.store.Person.GetLink(ctx, person.LinkRecovery, c.Param("token")); err != nil {
		return d.overRecovery(c, err)
	}
	f := newPasswordForm()
	err := person.CheckPassword(c.FormValue("password"), "")
	if wrong, ok := problems(err, f); ok {
		return d.write(c, http.StatusUnprocessableEntity, ui.Frame{Problems: wrong}, newPasswordPage(f))
	}
	hash, err := d.hasher.Hash(ctx, c.FormValue("password"))
	if err != nil {
		return err
	}
	id, err := d.store.Person.Recover(ctx, c.Param("token"), hash)
	if err != nil {
		return d.overRecovery(c, err)
	}
	return d.letIn(c, id, "/app", false)
}
