package dashboard

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

// tokens lists the API tokens of the account.
func (d *Dashboard) tokens(v *visit) error {
	after, before := v.position()
	keys, err := d.api.APIKeys.List(v.ctx(), &sdk.ListAPIKeysParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before})
	if err != nil {
		return err
	}
	members, err := d.store.Person.ListMembers(v.ctx(), v.AccountID)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "API tokens", Columns: []string{"Name", "Token", "May", "Expires", "Last used", "Made by", ""}, Empty: &ui.Empty{
		Text: "A program that acts for this account shows a token with each request. There is none yet.", Curl: `curl ` + d.publicURL + `/v1/products -H "Authorization: Bearer sk_..."`,
	}}
	if v.may("keys:write") {
		t.Empty.Action = &ui.Link{Text: "New token", Address: "/app/developers/tokens/new"}
	}
	for i := range keys.Data {
		k := &keys.Data[i]
		may := "Everything"
		if n := len(k.Scopes); n > 0 {
			may = strings.Join(textsOf(k.Scopes[:min(n, 3)]), ", ")
			if n > 3 {
				may += ", …"
			}
		}
		row := []ui.Cell{{Text: k.Name}, {Text: "…" + k.TokenLast4, Code: true}, {Text: may}, d.expiry(v, k), v.when(k.LastUsedAt), maker(k.CreatedBy, members), {}}
		if v.may("keys:write") {
			row[6] = ui.Cell{Text: "Revoke " + k.Name, Address: "/app/developers/tokens/" + k.ID + "/revoke"}
		}
		t.Rows = append(t.Rows, row)
	}
	if n := len(keys.Data); n > 0 {
		v.turn(t, keys.Data[0].ID, keys.Data[n-1].ID, keys.HasMore)
	}
	p := ui.Page{Heading: "API tokens", Up: &ui.Link{Text: "Developers", Address: "/app/developers"}, Table: t}
	if v.may("keys:write") {
		p.Actions = []ui.Link{{Text: "New token", Address: "/app/developers/tokens/new", Primary: true}}
	}
	return v.show(http.StatusOK, p)
}

func textsOf(scopes []sdk.APIKeyScope) []string {
	var texts []string
	for _, scope := range scopes {
		texts = append(texts, string(scope))
	}
	return texts
}

func (d *Dashboard) expiry(v *visit, k *sdk.APIKey) ui.Cell {
	switch {
	case k.ExpiresAt == nil:
		return ui.Cell{Text: "Never"}
	case k.ExpiresAt.Time().Before(d.store.Now().Time()):
		return ui.Cell{Badge: &ui.Badge{Text: "Expired", Tone: "bad", Icon: "alert"}}
	}
	return v.when(k.ExpiresAt)
}

// maker returns who made a key. A person who is no member any more is marked: their key still works.
func maker(id *string, members []person.Member) ui.Cell {
	switch {
	case id == nil:
		return ui.Cell{Text: "The command line"}
	case !strings.HasPrefix(*id, core.KindPerson.Prefix()):
		return ui.Cell{Text: "Another token"}
	}
	if at := slices.IndexFunc(members, func(m person.Member) bool { return m.PersonID == *id }); at >= 0 {
		return ui.Cell{Text: members[at].Email}
	}
	return ui.Cell{Badge: &ui.Badge{Text: "Somebody who left", Tone: "warn", Icon: "alert"}}
}

// scopeGroups are the resources whose scopes the form offers, by what people look for.
var scopeGroups = []struct {
	name      string
	resources []string
}{
	{"What you sell", []string{"products", "discounts", "files", "licenses"}},
	{"Sales", []string{"checkouts", "orders", "refunds", "invoices", "subscriptions", "customers", "leads"}},
	{"Content", []string{"content", "sites"}},
	{"Ads", []string{"ads"}},
	{"The account", []string{"account", "keys", "webhooks", "metrics"}},
}

func (d *Dashboard) tokenForm(v *visit) *ui.Form {
	f := &ui.Form{Submit: "Create token", Cancel: "/app/developers/tokens", Once: newOnce(), Controls: []ui.Control{
		{Name: "name", Label: "Name", Hint: "What uses it, such as the name of a program.", Value: v.field("name"), Longest: 255, Required: true},
		{Kind: "select", Name: "expires_at", Label: "Expires", Options: chosen(v.field("expires_at"), "90", "In 90 days", "30", "In 30 days", "7", "In 7 days", "365", "In a year", "", "Never")},
	}}
	form, _ := v.FormParams()
	for i, group := range scopeGroups {
		c := ui.Control{Kind: "checkboxes", Name: "scopes", ID: "scopes-" + strconv.Itoa(i), Label: group.name}
		if i == 0 {
			c.Group, c.Hint = "What it may do", "Choose as little as it needs. Without a choice it may do everything that you may."
		}
		for _, resource := range group.resources {
			for _, verb := range []string{":read", ":write"} {
				if scope := resource + verb; v.may(scope) {
					c.Options = append(c.Options, ui.Option{Value: scope, Text: scope, Chosen: slices.Contains(form["scopes"], scope)})
				}
			}
		}
		f.Controls = append(f.Controls, c)
	}
	return f
}

func tokenPage(f *ui.Form) ui.Page {
	return ui.Page{Heading: "New token", Up: &ui.Link{Text: "API tokens", Address: "/app/developers/tokens"}, Form: f}
}

// newToken shows the form for a token.
func (d *Dashboard) newToken(v *visit) error { return v.show(http.StatusOK, tokenPage(d.tokenForm(v))) }

// createToken makes a token, and shows it once.
func (d *Dashboard) createToken(v *visit) error {
	f := d.tokenForm(v)
	in := &sdk.APIKeyCreate{Name: new(v.field("name")), ExpiresAt: sdk.Null[sdk.Time]()}
	form, err := v.FormParams()
	if err != nil {
		return err
	}
	for _, scope := range form["scopes"] {
		in.Scopes = append(in.Scopes, sdk.APIKeyScope(scope))
	}
	if len(in.Scopes) == 0 {
		for _, scope := range scopesOf(v.Role) { // none for who may do everything
			in.Scopes = append(in.Scopes, sdk.APIKeyScope(scope))
		}
	}
	switch days := v.field("expires_at"); days {
	case "7", "30", "90", "365":
		life, err := time.ParseDuration(days + "h")
		if err != nil {
			return err
		}
		// By the hour, so that a form that came twice is the same request.
		in.ExpiresAt = sdk.Set(sdk.TimeOf(d.store.Now().Time().Truncate(time.Hour).Add(life * 24)))
	case "":
	default:
		err = core.Invalid("expires_at", "Choose one of these.")
	}
	var k *sdk.APIKey
	if err == nil && v.field("name") == "" {
		err = core.Invalid("name", "Say what uses the token.")
	}
	if err == nil {
		k, err = d.api.APIKeys.Create(v.ctx(), in, v.once())
	}
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, tokenPage(f), wrong...)
	}
	if err != nil {
		return err
	}
	return v.done("/app/developers/tokens", person.Notice{Text: "The token " + k.Name + " was made.", Page: "/app/developers/tokens", Secret: map[string]string{"Token": core.Deref(k.Token)}})
}

// revokeForm says what happens when a token is revoked.
func (d *Dashboard) revokeForm(v *visit) error {
	k, err := d.api.APIKeys.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, ui.Page{Heading: "Revoke " + k.Name, Up: &ui.Link{Text: "API tokens", Address: "/app/developers/tokens"}, Form: &ui.Form{
		Text:   "The token …" + k.TokenLast4 + " and all tokens that were made with it stop working at once, and for good.",
		Submit: "Revoke token", Danger: true, Cancel: "/app/developers/tokens", Once: newOnce(),
	}})
}

// revoke revokes a token.
func (d *Dashboard) revoke(v *visit) error {
	if _, err := d.api.APIKeys.Delete(v.ctx(), v.Param("id"), nil, v.once()); err != nil {
		return err
	}
	return v.done("/app/developers/tokens", person.Notice{Text: "The token was revoked."})
}
