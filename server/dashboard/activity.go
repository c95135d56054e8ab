package dashboard

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
)

const activityPage = "/app/activity"

// activity lists who changed what.
func (d *Dashboard) activity(v *visit) error {
	after, before := v.position()
	from, until, err := v.days()
	if err != nil {
		return err
	}
	list, err := d.api.Activity.List(v.ctx(), &sdk.ListActivityParams{
		Limit: new(onPage), StartingAfter: after, EndingBefore: before, Actor: query(v, "actor"), Operation: query(v, "operation"), Target: query(v, "target"),
		CreatedAfter: from, CreatedBefore: until,
	})
	if err != nil {
		return err
	}
	customers, err := d.customersIn(v, list.Data)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Activity", Columns: []string{"What", "Who", "To what", "Changes", "When"}, Empty: v.nothing(&ui.Empty{Text: "Who changed what stands here. Nothing was changed yet."})}
	for i := range list.Data {
		a := &list.Data[i]
		t.Rows = append(t.Rows, []ui.Cell{{Text: wordsOf(a.Operation)}, actorCell(a, customers), targetCell(a), {Text: changesText(a.Changes)}, v.at(a.CreatedAt.Time())})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	f, err := d.activityFilter(v)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, ui.Page{Heading: "Activity", Up: &ui.Link{Text: "Settings", Address: settingsPage}, Filter: f, Table: t, Sections: []ui.Section{{
		Title: "As a file", Text: "A program gets all of it as CSV, with the same filters:", Code: "curl " + d.publicURL + `/v1/activity/export -H "Authorization: Bearer sk_..."`,
	}}})
}

// activityFilter returns the filters, with those whom a list can be of by name.
func (d *Dashboard) activityFilter(v *visit) (*ui.Form, error) {
	members, err := d.store.Person.ListMembers(v.ctx(), v.AccountID)
	if err != nil {
		return nil, err
	}
	keys, err := d.api.APIKeys.List(v.ctx(), &sdk.ListAPIKeysParams{Limit: new(int64(100))})
	if err != nil {
		return nil, err
	}
	who := []string{"", "Everybody"}
	for _, m := range members {
		who = append(who, m.PersonID, m.Email)
	}
	for i := range keys.Data {
		who = append(who, keys.Data[i].ID, "Token "+keys.Data[i].Name)
	}
	who = append(who, "customer", "Buyers who are not known", "system", "The server by itself", "cli", "The command line")
	chosenWho := v.QueryParam("actor")
	if optionText(chosenWho, who...) == chosenWho { // one who has left, or a customer
		who = append(who, chosenWho, chosenWho)
	}
	return &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Kind: "select", Name: "actor", Label: "Who", Options: chosen(chosenWho, who...)},
		{Name: "operation", Label: "Operation", Value: v.QueryParam("operation"), Hint: "Such as updateProduct.", Longest: 255},
		{Name: "target", Label: "Object", Value: v.QueryParam("target"), Hint: "By its id.", Longest: 255},
		{Kind: "date", Name: "from", Label: "From", Value: v.QueryParam("from")},
		{Kind: "date", Name: "to", Label: "To", Value: v.QueryParam("to")},
	}}, nil
}

// customersIn returns the customers who did something, by id. Who was deleted is missing.
func (d *Dashboard) customersIn(v *visit, lines []sdk.Activity) (map[string]*customer.Customer, error) {
	var ids []string
	for i := range lines {
		if by := lines[i].Actor; by.Type == sdk.ActivityActorTypeCustomer && by.ID != nil {
			ids = append(ids, *by.ID)
		}
	}
	if len(ids) == 0 || !v.may("customers:read") {
		return nil, nil
	}
	return d.store.Customer.ByID(v.ctx(), v.AccountID, ids)
}

func actorCell(a *sdk.Activity, customers map[string]*customer.Customer) ui.Cell {
	switch a.Actor.Type {
	case sdk.ActivityActorTypeAPIKey:
		return ui.Cell{Text: "Token " + cmp.Or(core.Deref(a.Actor.Name), core.Deref(a.Actor.ID))}
	case sdk.ActivityActorTypePerson:
		return ui.Cell{Text: cmp.Or(core.Deref(a.Actor.Name), core.Deref(a.Actor.ID))}
	case sdk.ActivityActorTypeSystem:
		return ui.Cell{Text: "The server"}
	case sdk.ActivityActorTypeCli:
		return ui.Cell{Text: "The command line"}
	case sdk.ActivityActorTypeCustomer:
	}
	c := customers[core.Deref(a.Actor.ID)]
	if c == nil {
		return ui.Cell{Text: cmp.Or(core.Deref(a.Actor.ID), "A buyer")}
	}
	return ui.Cell{Text: cmp.Or(core.Deref(c.Name), core.Deref(c.Email), c.ID), Address: pageOf("customer", c.ID)}
}

func targetCell(a *sdk.Activity) ui.Cell {
	id := core.Deref(a.Target.ID)
	if id == "" {
		return ui.Cell{Text: strings.ReplaceAll(a.Target.Object, "_", " ")}
	}
	// The end of an id tells objects of one page apart. What has no page leads to all that was done to it.
	return ui.Cell{Text: strings.ReplaceAll(a.Target.Object, "_", " ") + " …" + id[max(0, len(id)-6):], Address: cmp.Or(pageOf(a.Target.Object, id), activityPage+"?target="+url.QueryEscape(id))}
}

// objectPages are the pages of objects by their types: behind each stands the id.
var objectPages = map[string]string{
	"product": productsPage, "order": ordersPage, "checkout_link": linksPage, "customer": customersPage, "subscription": subscriptionsPage, "invoice": invoicesPage,
	"discount": discountsPage, "webhook_endpoint": webhooksPage,
}

// pageOf returns the address of the page of an object, empty if it has none.
func pageOf(object, id string) string {
	if at := objectPages[object]; at != "" {
		return at + "/" + id
	}
	return ""
}

// wordsOf returns what an operation is called in words: Update product for updateProduct.
func wordsOf(operation string) string {
	var b strings.Builder
	previous := ' '
	for i, r := range operation {
		switch {
		case i == 0:
			r = unicode.ToUpper(r)
		case unicode.IsUpper(r) && unicode.IsLower(previous):
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		case unicode.IsUpper(r):
			r = unicode.ToLower(r)
		}
		previous = r
		b.WriteRune(r)
	}
	return b.String()
}

// How much of the changes a row shows: this many fields, and this many characters of a value.
const (
	changesShown = 6
	valueShown   = 60
)

// changesText says a line for each field what it was and what it became.
func changesText(changes map[string]sdk.ActivityChange) string {
	var lines []string
	for _, field := range sortedKeys(changes) {
		if len(lines) == changesShown {
			lines = append(lines, "and "+strconv.Itoa(len(changes)-changesShown)+" more")
			break
		}
		lines = append(lines, strings.ReplaceAll(field, "_", " ")+": "+valueText(changes[field].Before)+" → "+valueText(changes[field].After))
	}
	return strings.Join(lines, "\n")
}

// valueText returns the beginning of a value as people read it.
func valueText(value json.RawMessage) string {
	var s string
	if len(value) == 0 || string(value) == "null" || string(value) == `""` {
		return "nothing"
	}
	if err := json.Unmarshal(value, &s); err != nil {
		s = string(value)
	}
	if runes := []rune(s); len(runes) > valueShown {
		return string(runes[:valueShown]) + "…"
	}
	return s
}
