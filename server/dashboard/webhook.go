package dashboard

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

const webhooksPage = "/app/developers/webhooks"

// webhookFormats are the formats of deliveries with their words.
var webhookFormats = []string{"raw", "The event itself, for programs", "slack", "A message for people in Slack", "discord", "A message for people in Discord"}

func webhookBadge(w *sdk.WebhookEndpoint) *ui.Badge {
	switch {
	case w.Status == sdk.WebhookEndpointStatusInactive:
		return &ui.Badge{Text: "Disabled", Icon: "cross"}
	case w.FailingSince != nil:
		return &ui.Badge{Text: "Failing", Tone: "bad", Icon: "alert"}
	}
	return &ui.Badge{Text: "Enabled", Tone: "good", Icon: "check"}
}

// eventsOf returns which events an endpoint is told about: all, or the first of them.
func eventsOf(w *sdk.WebhookEndpoint, shown int) string {
	if slices.Contains(w.EnabledEvents, "*") {
		return "All events"
	}
	if n := len(w.EnabledEvents); n > shown {
		return strings.Join(w.EnabledEvents[:shown], ", ") + " and " + strconv.Itoa(n-shown) + " more"
	}
	return strings.Join(w.EnabledEvents, ", ")
}

// webhooks lists the webhook endpoints of the account.
func (d *Dashboard) webhooks(v *visit) error {
	after, before := v.position()
	in := &sdk.ListWebhookEndpointsParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Q: query(v, "q")}
	status := v.QueryParam("status")
	if status != "" {
		in.Status = new(sdk.WebhookEndpointStatus(status))
	}
	list, err := d.api.WebhookEndpoints.List(v.ctx(), in)
	if err != nil {
		return err
	}
	t := &ui.Table{Label: "Webhooks", Columns: []string{"Endpoint URL", "State", "Events", "Failing since"}}
	for i := range list.Data {
		w := &list.Data[i]
		t.Rows = append(t.Rows, []ui.Cell{{Text: w.URL, Address: webhooksPage + "/" + w.ID}, {Badge: webhookBadge(w)}, {Text: eventsOf(w, 3)}, v.when(w.FailingSince)})
	}
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	empty := &ui.Empty{
		Text: "Here a URL of yours is told what happens in the shop, such as that an order was paid. There is none yet.",
		Curl: "curl " + d.publicURL + `/v1/webhook_endpoints -H "Authorization: Bearer sk_..." --json '{"url": "https://example.com/hooks"}'`,
	}
	p := ui.Page{Heading: "Webhooks", Up: &ui.Link{Text: "Developers", Address: "/app/developers"}, Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Name: "q", Label: "Search", Value: v.QueryParam("q"), Longest: 200},
		{Kind: "select", Name: "status", Label: "State", Options: chosen(status, "", "All", "active", "Enabled", "inactive", "Disabled")},
	}}}
	if v.may("webhooks:write") {
		empty.Action = &ui.Link{Text: "New endpoint", Address: webhooksPage + "/new"}
		p.Actions = []ui.Link{{Text: "New endpoint", Address: webhooksPage + "/new", Primary: true}}
	}
	t.Empty = v.nothing(empty)
	return v.show(http.StatusOK, p)
}

// webhookForm returns the form of an endpoint, with what it has, or what was typed.
func (d *Dashboard) webhookForm(v *visit, w *sdk.WebhookEndpoint) (*ui.Form, error) {
	types, err := d.api.WebhookEndpoints.ListEventTypes(v.ctx())
	if err != nil {
		return nil, err
	}
	events := w.EnabledEvents
	if v.Request().Method == http.MethodPost {
		events = chosenEvents(v, w)
	}
	f := &ui.Form{Once: newOnce(), Controls: []ui.Control{
		{Name: "url", Label: "Endpoint URL", Hint: "Where events are posted to, such as https://example.com/hooks.", Value: v.typed("url", w.URL), InputMode: "url", Longest: 2048, Required: true},
		{Name: "description", Label: "Description", Hint: "For yourselves.", Value: v.typed("description", core.Deref(w.Description)), Longest: 255, Optional: true},
		{
			Kind: "select", Name: "format", Label: "Format", Options: chosen(v.typed("format", string(w.Format)), webhookFormats...),
			Hint: "For Slack or Discord, the URL is that of an incoming webhook, which you make there for a channel. It is sent a sentence with a link in place of the event.",
		},
	}}
	at := map[string]int{}
	for i, e := range types.Data {
		resource, _, _ := strings.Cut(e.Type, ".")
		n, ok := at[resource]
		if !ok {
			c := ui.Control{Kind: "checkboxes", Name: "enabled_events", ID: "events-" + strconv.Itoa(i), Label: strings.ToUpper(resource[:1]) + resource[1:] + "s"}
			if len(at) == 0 {
				c.Group, c.Hint = "Which events", "Without a choice it is sent all, those of later versions too."
			}
			n = len(f.Controls)
			at[resource], f.Controls = n, append(f.Controls, c)
		}
		f.Controls[n].Options = append(f.Controls[n].Options, ui.Option{Value: e.Type, Text: e.Type, Hint: e.Description, Chosen: slices.Contains(events, e.Type)})
	}
	return f, nil
}

// chosenEvents returns the events that were ticked, with those of an endpoint for which the form has no box. Without any tick it is told of all.
func chosenEvents(v *visit, w *sdk.WebhookEndpoint) []string {
	if v.field("enabled_events") == "" {
		return []string{"*"}
	}
	if slices.Contains(w.EnabledEvents, "*") {
		return v.tickedOf("enabled_events", nil)
	}
	return v.tickedOf("enabled_events", w.EnabledEvents)
}

func newWebhookPage(f *ui.Form) ui.Page {
	f.Submit, f.Cancel = "Create endpoint", webhooksPage
	return ui.Page{Heading: "New endpoint", Up: &ui.Link{Text: "Webhooks", Address: webhooksPage}, Form: f}
}

// newWebhook shows the form for an endpoint.
func (d *Dashboard) newWebhook(v *visit) error {
	f, err := d.webhookForm(v, &sdk.WebhookEndpoint{})
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, newWebhookPage(f))
}

// createWebhook makes an endpoint, and shows its secret once.
func (d *Dashboard) createWebhook(v *visit) error {
	f, err := d.webhookForm(v, &sdk.WebhookEndpoint{})
	if err != nil {
		return err
	}
	w, err := d.api.WebhookEndpoints.Create(v.ctx(), &sdk.WebhookEndpointCreate{
		URL: v.field("url"), Description: v.optional("description"), Format: new(sdk.WebhookFormat(v.field("format"))), EnabledEvents: chosenEvents(v, &sdk.WebhookEndpoint{}),
	}, v.once())
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, newWebhookPage(f), wrong...)
	}
	if err != nil {
		return err
	}
	at := webhooksPage + "/" + w.ID
	return v.done(at, person.Notice{Text: "The endpoint was made. Its deliveries are signed with this secret.", Page: at, Secret: map[string]string{"Signing secret": core.Deref(w.Secret)}})
}

func editWebhookPage(w *sdk.WebhookEndpoint, f *ui.Form) ui.Page {
	f.Submit, f.Cancel = "Save", webhooksPage+"/"+w.ID
	return ui.Page{Heading: "Edit endpoint", Up: &ui.Link{Text: w.URL, Address: webhooksPage + "/" + w.ID}, Form: f}
}

// editWebhook shows the form of an endpoint that there is.
func (d *Dashboard) editWebhook(v *visit) error {
	w, err := d.api.WebhookEndpoints.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f, err := d.webhookForm(v, w)
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, editWebhookPage(w, f))
}

// saveWebhook changes an endpoint.
func (d *Dashboard) saveWebhook(v *visit) error {
	w, err := d.api.WebhookEndpoints.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	f, err := d.webhookForm(v, w)
	if err != nil {
		return err
	}
	_, err = d.api.WebhookEndpoints.Update(v.ctx(), w.ID, &sdk.WebhookEndpointUpdate{
		URL: new(v.field("url")), Description: cleared(v.field("description")), Format: new(sdk.WebhookFormat(v.field("format"))), EnabledEvents: chosenEvents(v, w),
	}, v.once())
	if wrong, ok := problems(err, f); ok {
		return v.show(http.StatusUnprocessableEntity, editWebhookPage(w, f), wrong...)
	}
	if err != nil {
		return err
	}
	return v.done(webhooksPage+"/"+w.ID, person.Notice{Text: "The endpoint was changed."})
}
