package dashboard

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/person"
)

func deliveryBadge(s sdk.WebhookDeliveryStatus) *ui.Badge {
	switch s {
	case sdk.WebhookDeliveryStatusSucceeded:
		return &ui.Badge{Text: "Succeeded", Tone: "good", Icon: "check"}
	case sdk.WebhookDeliveryStatusFailed:
		return &ui.Badge{Text: "Failed", Tone: "bad", Icon: "alert"}
	case sdk.WebhookDeliveryStatusSending:
		return &ui.Badge{Text: "Sending", Tone: "warn", Icon: "clock"}
	case sdk.WebhookDeliveryStatusPending:
	}
	return &ui.Badge{Text: "Waiting", Tone: "warn", Icon: "clock"}
}

// webhookDeliveries returns the part of an endpoint's page that lists what was sent to it.
func (d *Dashboard) webhookDeliveries(v *visit, w *sdk.WebhookEndpoint, types []sdk.EventType) (ui.Section, error) {
	after, before := v.position()
	in := &sdk.ListWebhookDeliveriesParams{Limit: new(onPage), StartingAfter: after, EndingBefore: before, Type: query(v, "type")}
	status := v.QueryParam("status")
	if status != "" {
		in.Status = new(sdk.WebhookDeliveryStatus(status))
	}
	list, err := d.api.WebhookEndpoints.ListDeliveries(v.ctx(), w.ID, in)
	if err != nil {
		return ui.Section{}, err
	}
	t := deliveryTable(v, w.ID, list.Data)
	if n := len(list.Data); n > 0 {
		v.turn(t, list.Data[0].ID, list.Data[n-1].ID, list.HasMore)
	}
	t.Empty = v.nothing(&ui.Empty{Text: "Nothing was sent yet. A delivery that succeeded is kept for a day unless this server keeps it longer, one that failed for a week."})
	kinds := []string{"", "All"}
	for _, e := range types {
		kinds = append(kinds, e.Type, e.Type)
	}
	s := ui.Section{Title: "Deliveries", Table: t, Filter: &ui.Form{Get: true, Inline: true, Submit: "Show", Controls: []ui.Control{
		{Kind: "select", Name: "status", Label: "Status", Options: chosen(status, "", "All", "succeeded", "Succeeded", "failed", "Failed", "pending", "Waiting", "sending", "Sending")},
		{Kind: "select", Name: "type", Label: "Event type", Options: chosen(v.QueryParam("type"), kinds...)},
	}}}
	if v.may("webhooks:write") && w.Status == sdk.WebhookEndpointStatusActive {
		s.Links = []ui.Link{{Text: "Send again what failed", Address: webhooksPage + "/" + w.ID + "/redeliver"}}
	}
	return s, nil
}

func deliveryTable(v *visit, endpoint string, deliveries []sdk.WebhookDelivery) *ui.Table {
	t := &ui.Table{Label: "Deliveries", Columns: []string{"Event", "Status", "Answer", "When"}}
	for i := range deliveries {
		e := &deliveries[i]
		answer := ui.Cell{}
		if e.FinishedAt != nil {
			answer.Text = outcome(e.StatusCode, e.Reason, e.DurationMS)
		}
		t.Rows = append(t.Rows, []ui.Cell{
			{Text: e.Type, Address: deliveryPage(endpoint, e.Event.ID) + "?delivery=" + url.QueryEscape(e.ID)}, {Badge: deliveryBadge(e.Status)}, answer, v.at(e.CreatedAt.Time()),
		})
	}
	return t
}

// deliveryPage returns the address of an event on its way to an endpoint.
func deliveryPage(endpoint, event string) string {
	return webhooksPage + "/" + endpoint + "/events/" + event
}

// delivery shows an event, and what the endpoint answered: to the delivery that the address names, or else the last.
func (d *Dashboard) delivery(v *visit) error {
	w, err := d.api.WebhookEndpoints.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	all, err := d.api.WebhookEndpoints.ListDeliveries(v.ctx(), w.ID, &sdk.ListWebhookDeliveriesParams{Event: new(v.Param("event")), Limit: new(onPage)})
	if err != nil {
		return err
	}
	if len(all.Data) == 0 {
		return core.Missing("delivery", "", v.Param("event"))
	}
	e, err := d.api.WebhookEvents.Get(v.ctx(), v.Param("event"))
	if err != nil {
		return err
	}
	at := max(0, slices.IndexFunc(all.Data, func(one sdk.WebhookDelivery) bool { return one.ID == v.QueryParam("delivery") }))
	shown := &all.Data[at]
	request, err := d.requestSection(w, e)
	if err != nil {
		return err
	}
	p := ui.Page{Heading: e.Type, Badge: deliveryBadge(shown.Status), Up: &ui.Link{Text: w.URL, Address: webhooksPage + "/" + w.ID}}
	p.Sections = []ui.Section{
		{Terms: []ui.Term{{Name: "Happened", Value: v.at(e.CreatedAt.Time())}, {Name: "Event", Value: ui.Cell{Text: e.ID, Code: true}}, {Name: "Delivery", Value: ui.Cell{Text: shown.ID, Code: true}}}},
		request, responseSection(v, shown),
	}
	if v.may("webhooks:write") && w.Status == sdk.WebhookEndpointStatusActive {
		p.Sections[0].Forms = []ui.Form{{Action: deliveryPage(w.ID, e.ID) + "/redeliver", Submit: "Redeliver", Inline: true, Once: newOnce()}}
	}
	if len(all.Data) > 1 {
		t := deliveryTable(v, w.ID, all.Data)
		p.Sections = append(p.Sections, ui.Section{Title: "All deliveries of this event", Table: t})
	}
	return v.show(http.StatusOK, p)
}

// requestSection shows what an endpoint is sent of an event. The signature is not kept: it is made when it is sent.
func (d *Dashboard) requestSection(w *sdk.WebhookEndpoint, e *sdk.WebhookEvent) (ui.Section, error) {
	sent := outbox.EventBody(&outbox.Event{ID: e.ID, Type: e.Type, CreatedAt: core.TimeOf(e.CreatedAt.Time())}, e.Data)
	var body bytes.Buffer
	if err := json.Indent(&body, []byte(sent), "", "  "); err != nil {
		return ui.Section{}, err
	}
	s := ui.Section{Title: "Request", Code: body.String(), Terms: []ui.Term{
		{Name: "POST", Value: ui.Cell{Text: w.URL, Code: true}},
		{Name: "Content-Type", Value: ui.Cell{Text: "application/json; charset=utf-8", Code: true}},
		{Name: "X-" + d.service + "-Event-Id", Value: ui.Cell{Text: e.ID, Code: true}},
		{Name: "X-" + d.service + "-Hmac-SHA256", Value: ui.Cell{Text: "the signature of the body, which is not kept"}},
	}}
	s.Text = "It is sent without the white space that is shown here."
	if w.Format != sdk.WebhookFormatRaw {
		s.Text = "The endpoint is sent a message for people that is made of this event."
	}
	return s, nil
}

// responseSection shows what came of a delivery.
func responseSection(v *visit, one *sdk.WebhookDelivery) ui.Section {
	s := ui.Section{Title: "Response", Code: core.Deref(one.Response), Terms: []ui.Term{{Name: "Status", Value: ui.Cell{Badge: deliveryBadge(one.Status)}}}}
	if one.FinishedAt != nil {
		s.Terms = append(s.Terms, ui.Term{Name: "Answer", Value: ui.Cell{Text: outcome(one.StatusCode, one.Reason, one.DurationMS)}})
	}
	s.Terms = append(s.Terms, ui.Term{Name: "Attempts", Value: ui.Cell{Text: strconv.FormatInt(one.Attempts, 10)}}, ui.Term{Name: "Finished", Value: v.when(one.FinishedAt)})
	return s
}

// redeliverEvent sends an event to the endpoint again.
func (d *Dashboard) redeliverEvent(v *visit) error {
	if _, err := d.api.WebhookEvents.Redeliver(v.ctx(), v.Param("event"), &sdk.WebhookEventRedelivery{WebhookEndpoint: v.Param("id")}, v.once()); err != nil {
		return err
	}
	return v.done(deliveryPage(v.Param("id"), v.Param("event")), person.Notice{Text: "The event is on its way again. Load the page anew to see what comes of it."})
}

func redeliverPage(v *visit, w *sdk.WebhookEndpoint) ui.Page {
	from, until := v.field("created_after"), v.field("created_before")
	if v.Request().Method == http.MethodGet {
		now := v.dashboard.store.Now().Time().In(v.zone)
		from, until = now.Add(-24*time.Hour).Format(formMoment), now.Add(time.Minute).Format(formMoment)
		if w.FailingSince != nil {
			from = w.FailingSince.Time().In(v.zone).Format(formMoment)
		}
	}
	return ui.Page{Heading: "Send again what failed", Up: &ui.Link{Text: w.URL, Address: webhooksPage + "/" + w.ID}, Form: &ui.Form{
		Text:   "Every event of this time of which a delivery failed is sent again, unless it has succeeded since or is on its way.",
		Submit: "Redeliver", Cancel: webhooksPage + "/" + w.ID, Once: newOnce(), Controls: []ui.Control{
			{Kind: "datetime-local", Name: "created_after", Label: "From", Hint: "In the shop's time, " + v.zone.String() + ".", Value: from, Required: true},
			{Kind: "datetime-local", Name: "created_before", Label: "Until", Value: until, Required: true},
		},
	}}
}

// redeliverForm asks for the time from which to send events again.
func (d *Dashboard) redeliverForm(v *visit) error {
	w, err := d.api.WebhookEndpoints.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, redeliverPage(v, w))
}

// redeliver sends again what failed in a stretch of time.
func (d *Dashboard) redeliver(v *visit) error {
	w, err := d.api.WebhookEndpoints.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	p := redeliverPage(v, w)
	from, err := v.typedMoment("created_after")
	var until sdk.Time
	if err == nil {
		until, err = v.typedMoment("created_before")
	}
	if err == nil && !until.Time().After(from.Time()) {
		err = core.Invalid("created_before", "Type a moment after the one before.")
	}
	var result *sdk.WebhookRedelivery
	if err == nil {
		result, err = d.api.WebhookEndpoints.Redeliver(v.ctx(), w.ID, &sdk.WebhookEndpointRedelivery{CreatedAfter: from, CreatedBefore: until}, v.once())
	}
	if wrong, ok := problems(err, p.Form); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	said := strconv.FormatInt(result.Count, 10) + " events are on their way again."
	switch result.Count {
	case 0:
		said = "Nothing failed in that time, or all of it has succeeded since."
	case 1:
		said = "One event is on its way again."
	}
	return v.done(webhooksPage+"/"+w.ID, person.Notice{Text: said})
}
