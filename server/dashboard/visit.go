package dashboard

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/oapi-codegen/nullable"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

// visit is a request of somebody who is signed in.
type visit struct {
	echo.Context
	*person.Session
	dashboard *Dashboard
	shop      *sdk.Account   // that they look at, nil if they are a member of none
	zone      *time.Location // the shop's
}

func (v *visit) ctx() context.Context { return v.Request().Context() }

// may reports whether the person's role has a scope.
func (v *visit) may(scope string) bool { return caller.Of(v.ctx()).May(scope) }

// open serves a page for which nobody has to be signed in.
func (d *Dashboard) open(serve func(echo.Context) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := d.forms.Check(c.Request()); err != nil {
			return d.tell(c, nil, http.StatusForbidden, "Not allowed", "This form was sent from another site. Nothing was done.")
		}
		return d.explain(c, nil, serve(c))
	}
}

// readable refuses a form that cannot be read, or with text in it that no database takes, before any of it is looked at.
func (d *Dashboard) readable(serve echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		form, err := c.FormParams()
		var tooLarge *http.MaxBytesError
		var refused *core.Error
		var crowded *core.CrowdedError
		switch {
		case errors.As(err, &refused), errors.As(err, &crowded): // it did not come whole
			return err
		case errors.As(err, &tooLarge):
			return d.tell(c, nil, http.StatusRequestEntityTooLarge, "Too much at once", "The form is larger than what is taken here. Nothing was done. Go back, and send less.")
		}
		for _, values := range form {
			if strings.Contains(strings.ToValidUTF8(strings.Join(values, ""), "\x00"), "\x00") {
				err = errors.New("no text")
			}
		}
		if err != nil {
			return d.tell(c, nil, http.StatusUnprocessableEntity, "This does not work", "The form has signs in it that are no text. Nothing was done. Go back, and type them anew.")
		}
		return serve(c)
	}
}

// signedIn serves a page to somebody who is signed in and may see it. Whoever is not is sent to sign in, and back.
func (d *Dashboard) signedIn(p page) echo.HandlerFunc {
	return d.open(func(c echo.Context) error {
		v, err := d.enter(c)
		if isUnknown(err) {
			return c.Redirect(http.StatusSeeOther, "/sign-in"+back(c))
		}
		if err != nil {
			return err
		}
		switch {
		case v.shop == nil && !p.alone:
			return c.Redirect(http.StatusSeeOther, "/app/you")
		case p.scope != "" && !v.may(p.scope):
			name, _ := nameOf(v.Role)
			return d.tell(c, v, http.StatusForbidden, "Not allowed", "Your role, "+name+", does not include this. Ask an owner of "+v.shop.Name+" for another one.")
		case p.fresh && !v.IsFresh(d.store.Now()):
			return c.Redirect(http.StatusSeeOther, "/app/confirm-identity"+back(c))
		}
		return d.explain(c, v, p.serve(v))
	})
}

// isUnknown reports whether err says that nobody is signed in.
func isUnknown(err error) bool {
	var e *core.Error
	return errors.As(err, &e) && e.Code == core.CodeUnauthenticated
}

// back returns the query by which a page finds the way back to the one that was asked for.
func back(c echo.Context) string {
	if c.Request().Method != http.MethodGet || c.Request().URL.Path == "/app" {
		return ""
	}
	return "?to=" + url.QueryEscape(c.Request().URL.RequestURI())
}

// wayBack returns where somebody wanted to go before they were asked who they are: a page of the dashboard, never another site.
func wayBack(c echo.Context) string {
	to, err := url.Parse(c.QueryParam("to"))
	if err != nil || to.IsAbs() || to.Host != "" || !strings.HasPrefix(to.Path, "/app/") || strings.ContainsAny(to.Path, "\\\r\n") {
		return "/app"
	}
	return (&url.URL{Path: to.Path, RawQuery: to.RawQuery}).String()
}

// enter returns the visit of the session that the request's cookie names, or CodeUnauthenticated.
func (d *Dashboard) enter(c echo.Context) (*visit, error) {
	var token string
	if cookie, err := c.Cookie(d.cookie); err == nil {
		token = cookie.Value
	}
	session, err := d.store.Person.OpenSession(c.Request().Context(), token)
	if err != nil {
		return nil, err
	}
	who := caller.Of(c.Request().Context())
	who.PersonID, who.Email, who.Account, who.Scopes = session.PersonID, session.Email, session.AccountID, scopesOf(session.Role)
	c.SetRequest(c.Request().WithContext(activity.As(c.Request().Context(), activity.Actor{
		Type: activity.ActorPerson, ID: session.PersonID, Name: session.Email, IP: who.Address, RequestID: who.RequestID,
	})))
	v := &visit{Context: c, Session: session, dashboard: d, zone: time.UTC}
	if session.AccountID == "" {
		return v, nil
	}
	if v.shop, err = d.api.Account.Get(v.ctx()); err != nil {
		return nil, err
	}
	if zone, err := core.LoadZone(v.shop.Timezone); err == nil {
		v.zone = zone
	}
	return v, nil
}

// explain answers an error that a person can do something about with a page. The server answers all others.
func (d *Dashboard) explain(c echo.Context, v *visit, err error) error {
	var refused *sdk.Error
	var known *core.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Status < http.StatusInternalServerError:
		known = &core.Error{Code: core.Code(refused.Code), Message: refused.Message, After: refused.RetryAfter}
	case refused != nil && refused.Status == http.StatusServiceUnavailable:
		return &core.UnavailableError{Cause: err, Unclear: c.Request().Method == http.MethodPost}
	case !errors.As(err, &known):
		return err
	}
	switch known.Code {
	case core.CodeMissing, core.CodeGone:
		return d.tell(c, v, http.StatusNotFound, "Page not found", "There is nothing here. It may have been deleted, or belong to another account.")
	case core.CodeForbidden, core.CodePlan:
		return d.tell(c, v, http.StatusForbidden, "Not allowed", known.Message)
	case core.CodeInProgress:
		return d.tell(c, v, http.StatusConflict, "It is being done", "This form was sent twice, and is obeyed once. Go back in a moment to see what came of it.")
	case core.CodeRateLimit:
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(int(known.After.Seconds())+1))
		return d.tell(c, v, http.StatusTooManyRequests, "Too many attempts", known.Message)
	}
	return d.tell(c, v, http.StatusUnprocessableEntity, "This does not work", known.Message)
}

// tell answers with a page that only says something.
func (d *Dashboard) tell(c echo.Context, v *visit, status int, title, text string) error {
	p := ui.Page{Heading: title, Lead: text}
	if v == nil {
		return d.write(c, status, ui.Frame{}, p)
	}
	return v.show(status, p)
}

// show answers with a page beside the menu. What was left for it to say is said.
func (v *visit) show(status int, p ui.Page, problems ...ui.Problem) error {
	if len(problems) == 0 && status == http.StatusOK {
		n, err := v.dashboard.store.Person.Take(v.ctx(), v.Session, v.Request().URL.Path)
		if err != nil {
			return err
		}
		p.Notice, p.NoticeBad = n.Text, n.Bad
		for _, name := range slices.Sorted(maps.Keys(n.Secret)) {
			p.Secrets = append(p.Secrets, ui.Control{Kind: "secret", Name: "secret-" + strings.ReplaceAll(strings.ToLower(name), " ", "-"), Label: name, Value: n.Secret[name]})
		}
	}
	return v.dashboard.write(v, status, ui.Frame{Menu: v.menu(), Problems: problems}, p)
}

// menu returns what stands beside the page: what the person's role lets them see.
func (v *visit) menu() *ui.Menu {
	m := &ui.Menu{Person: v.Email, Account: "Tillwright"}
	if v.shop == nil {
		return m
	}
	m.Account = v.shop.Name
	for _, item := range parts {
		current := v.Request().URL.Path == item.Address || strings.HasPrefix(v.Request().URL.Path, item.Address+"/") && item.Address != "/app"
		m.Items = append(m.Items, ui.MenuItem{Text: item.Text, Address: item.Address, Current: current})
	}
	return m
}

// parts are the parts of the dashboard, in the order of the menu.
var parts = []ui.MenuItem{
	{Text: "Home", Address: "/app"},
	{Text: "Orders", Address: ordersPage},
	{Text: "Products", Address: productsPage},
	{Text: "Links", Address: linksPage},
	{Text: "Customers", Address: customersPage},
	{Text: "Subscriptions", Address: subscriptionsPage},
	{Text: "Invoices", Address: invoicesPage},
	{Text: "Discounts", Address: discountsPage},
	{Text: "Analytics", Address: analyticsPage},
	{Text: "E-mails", Address: emailsPage},
	{Text: "Content", Address: contentPage},
	{Text: "Sites", Address: sitesPage},
	{Text: "Ads", Address: adsPage},
	{Text: "Developers", Address: "/app/developers"},
	{Text: "Settings", Address: settingsPage},
}

// done leads on to a page, which says what was just done.
func (v *visit) done(to string, n person.Notice) error {
	if err := v.dashboard.store.Person.Leave(v.ctx(), v.Session, n); err != nil {
		return err
	}
	return v.Redirect(http.StatusSeeOther, to)
}

// field returns what was typed into a field, without white space around it.
func (v *visit) field(name string) string { return strings.TrimSpace(v.FormValue(name)) }

// sent is field that returns what is stored if the form has no such field.
func (v *visit) sent(name, stored string) string {
	if typed := v.field(name); typed != "" || v.Request().PostForm.Has(name) {
		return typed
	}
	return stored
}

// change is field as a change of what is stored: null for an empty one, and nothing if the form has no such field.
func (v *visit) change(name string) nullable.Nullable[string] {
	if typed := v.field(name); typed != "" || v.Request().PostForm.Has(name) {
		return cleared(typed)
	}
	return nil
}

// optional is field that returns nil for an empty one.
func (v *visit) optional(name string) *string {
	if text := v.field(name); text != "" {
		return &text
	}
	return nil
}

// newOnce returns what makes a form that is sent twice be obeyed once.
func newOnce() string { return rand.Text() }

// once returns the option by which a write that came twice, as by a double click, is done once: what the form has for that.
func (v *visit) once() sdk.Option { return v.onceFor("") }

// onceFor is once for one of several writes that a form comes to.
func (v *visit) onceFor(step string) sdk.Option {
	token := v.FormValue("once")
	if len(token) < 20 || len(token) > 100 || strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r > '~' }) {
		token = newOnce()
	}
	return sdk.WithIdempotencyKey("page:" + token + step)
}

// problems returns what is wrong with a form by its fields, and marks the form's controls with it. It returns false if err is about something else.
func problems(err error, f *ui.Form) ([]ui.Problem, bool) {
	var fields map[string][]string
	var refused *sdk.Error
	var known *core.Error
	switch {
	case errors.As(err, &refused) && (refused.Status == http.StatusUnprocessableEntity || refused.Status == http.StatusBadRequest || refused.Status == http.StatusForbidden && refused.Param != ""):
		fields = maps.Clone(refused.Errors)
		if len(fields) == 0 {
			fields = map[string][]string{refused.Param: {refused.Message}}
		}
	case errors.As(err, &known) && known.Code == core.CodeInvalid:
		fields = maps.Clone(known.Fields)
	default:
		return nil, false
	}
	var all []ui.Problem
	for _, control := range f.All() {
		for field, messages := range fields {
			if control.Kind != "hidden" && field == control.Name || strings.HasPrefix(field, control.Name+".") {
				control.Problem = strings.Join(messages, " ")
				all = append(all, ui.Problem{Field: cmp.Or(control.ID, control.Name), Label: control.Label, Text: control.Problem})
				delete(fields, field)
			}
		}
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		all = append(all, ui.Problem{Text: strings.Join(fields[field], " ")})
	}
	return all, true
}
