package dashboard

import (
	"net/http"
	"strconv"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/server/ui"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/person"
)

// webhook shows an endpoint with what was sent to it.
func (d *Dashboard) webhook(v *visit) error {
	w, err := d.api.WebhookEndpoints.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	types, err := d.api.WebhookEndpoints.ListEventTypes(v.ctx())
	if err != nil {
		return err
	}
	deliveries, err := d.webhookDeliveries(v, w, types.Data)
	if err != nil {
		return err
	}
	at := webhooksPage + "/" + w.ID
	p := ui.Page{Heading: w.URL, Badge: webhookBadge(w), Lead: core.Deref(w.Description), Up: &ui.Link{Text: "Webhooks", Address: webhooksPage}}
	facts := ui.Section{Terms: []ui.Term{
		{Name: "Events", Value: ui.Cell{Text: eventsOf(w, len(w.EnabledEvents))}},
		{Name: "Format", Value: ui.Cell{Text: optionText(string(w.Format), webhookFormats...)}},
		{Name: "Id", Value: ui.Cell{Text: w.ID, Code: true}},
	}}
	if w.FailingSince != nil {
		facts.Terms = append(facts.Terms, ui.Term{Name: "Failing since", Value: v.when(w.FailingSince)}, ui.Term{Name: "Failures", Value: ui.Cell{Text: strconv.FormatInt(w.ConsecutiveFailures, 10)}})
	}
	if w.PreviousSecretExpiresAt != nil {
		facts.Terms = append(facts.Terms, ui.Term{Name: "The old secret signs until", Value: v.when(w.PreviousSecretExpiresAt)})
	}
	p.Sections = []ui.Section{facts}
	if v.may("webhooks:write") {
		p.Actions = []ui.Link{{Text: "Edit", Address: at + "/edit"}, {Text: "Rotate secret", Address: at + "/rotate"}, {Text: "Delete", Address: at + "/delete", Danger: true}}
		state, submit := "inactive", "Disable"
		if w.Status == sdk.WebhookEndpointStatusInactive {
			state, submit = "active", "Enable"
		}
		p.Sections[0].Forms = []ui.Form{{Action: at + "/status", Submit: submit, Inline: true, Once: newOnce(), Controls: []ui.Control{{Kind: "hidden", Name: "status", Value: state}}}}
		if w.Status == sdk.WebhookEndpointStatusActive {
			p.Sections = append(p.Sections, testSection(at, types.Data))
		}
	}
	p.Sections = append(p.Sections, deliveries)
	return v.show(http.StatusOK, p)
}

func testSection(at string, types []sdk.EventType) ui.Section {
	c := ui.Control{Kind: "select", Name: "type", ID: "test-type", Label: "Test event"}
	for _, e := range types {
		c.Options = append(c.Options, ui.Option{Value: e.Type, Text: e.Type, Chosen: e.Type == sdk.EventOrderPaid})
	}
	return ui.Section{Title: "Try it", Text: "An example is sent at once, and its answer shown. It is marked as a test, and stands in no list.", Form: &ui.Form{
		Action: at + "/test", Submit: "Send test event", Inline: true, Once: newOnce(), Controls: []ui.Control{c},
	}}
}

// testWebhook sends an example, and says what was answered.
func (d *Dashboard) testWebhook(v *visit) error {
	result, err := d.api.WebhookEndpoints.Test(v.ctx(), v.Param("id"), &sdk.WebhookTestRequest{Type: v.optional("type")}, v.once())
	if err != nil {
		return err
	}
	n := person.Notice{Text: result.Type + " was not delivered: ", Bad: !result.Delivered}
	if result.Delivered {
		n.Text = result.Type + " was delivered: "
	}
	n.Text += outcome(result.StatusCode, result.Reason, &result.DurationMS)
	if answer := core.Deref(result.Response); answer != "" {
		n.Text += " The answer:\n" + answer
	}
	return v.done(webhooksPage+"/"+v.Param("id"), n)
}

// outcome says in a sentence what an endpoint answered, or why it did not.
func outcome(status *int64, reason *sdk.WebhookDeliveryReason, took *int64) string {
	said := "no answer"
	if status != nil {
		said = "status " + strconv.FormatInt(*status, 10)
	}
	if reason != nil && (status == nil || *reason != sdk.WebhookDeliveryReasonHTTPStatus) {
		said += ", " + optionText(string(*reason), deliveryReasons...)
	}
	if took != nil {
		said += ", after " + strconv.FormatInt(*took, 10) + " ms"
	}
	return said + "."
}

// deliveryReasons are the reasons of failure with their words.
var deliveryReasons = []string{
	"dns_error", "the host was not found", "blocked_ip", "the host is none that may be called", "connect_refused", "the connection was refused", "connect_reset", "the connection broke off",
	"connect_timeout", "the host could not be reached in time", "tls_error", "its certificate is not good", "timeout", "it took longer than 5 seconds", "redirect", "it leads elsewhere, which is not followed",
	"http_status", "it is none of success", "invalid_response", "it is no HTTP", "endpoint_inactive", "the endpoint was disabled", "aborted", "this server could not send it",
}

// setWebhookStatus enables or disables an endpoint.
func (d *Dashboard) setWebhookStatus(v *visit) error {
	w, err := d.api.WebhookEndpoints.Update(v.ctx(), v.Param("id"), &sdk.WebhookEndpointUpdate{Status: new(sdk.WebhookEndpointStatus(v.field("status")))}, v.once())
	if err != nil {
		return err
	}
	n := person.Notice{Text: "The endpoint is disabled. Nothing is sent to it."}
	if w.Status == sdk.WebhookEndpointStatusActive {
		n.Text = "The endpoint is enabled. It is sent what happens from now on."
	}
	return v.done(webhooksPage+"/"+w.ID, n)
}

// deleteWebhookForm says what happens when an endpoint is deleted.
func (d *Dashboard) deleteWebhookForm(v *visit) error {
	w, err := d.api.WebhookEndpoints.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, ui.Page{Heading: "Delete endpoint", Up: &ui.Link{Text: w.URL, Address: webhooksPage + "/" + w.ID}, Form: &ui.Form{
		Text:   "Nothing more is sent to " + w.URL + ", what waits neither. Its deliveries are not shown any more.",
		Submit: "Delete endpoint", Danger: true, Cancel: webhooksPage + "/" + w.ID, Once: newOnce(),
	}})
}

// deleteWebhook deletes an endpoint.
func (d *Dashboard) deleteWebhook(v *visit) error {
	if _, err := d.api.WebhookEndpoints.Delete(v.ctx(), v.Param("id"), v.once()); err != nil {
		return err
	}
	return v.done(webhooksPage, person.Notice{Text: "The endpoint was deleted."})
}

func rotatePage(v *visit, w *sdk.WebhookEndpoint) ui.Page {
	return ui.Page{Heading: "Rotate secret", Up: &ui.Link{Text: w.URL, Address: webhooksPage + "/" + w.ID}, Form: &ui.Form{
		Text:   "A new signing secret is made, and shown once. For a while deliveries are signed with the old one too, so that you can change your program without losing any.",
		Submit: "Rotate secret", Cancel: webhooksPage + "/" + w.ID, Once: newOnce(), Controls: []ui.Control{{
			Kind: "select", Name: "overlap_hours", Label: "The old secret signs", Options: chosen(v.field("overlap_hours"), "24", "for a day", "1", "for an hour", "72", "for 3 days", "168", "for a week", "0", "no more"),
		}},
	}}
}

// rotateForm says what happens when a secret is rotated.
func (d *Dashboard) rotateForm(v *visit) error {
	w, err := d.api.WebhookEndpoints.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, rotatePage(v, w))
}

// rotate makes a new secret, and shows it once.
func (d *Dashboard) rotate(v *visit) error {
	w, err := d.api.WebhookEndpoints.Get(v.ctx(), v.Param("id"))
	if err != nil {
		return err
	}
	p := rotatePage(v, w)
	hours, err := strconv.ParseInt(v.field("overlap_hours"), 10, 64)
	if err != nil {
		err = core.Invalid("overlap_hours", "Choose one of these.")
	} else {
		w, err = d.api.WebhookEndpoints.RotateSecret(v.ctx(), w.ID, &sdk.WebhookSecretRotation{OverlapHours: &hours}, v.once())
	}
	if wrong, ok := problems(err, p.Form); ok {
		return v.show(http.StatusUnprocessableEntity, p, wrong...)
	}
	if err != nil {
		return err
	}
	at := webhooksPage + "/" + w.ID
	n := person.Notice{Text: "Deliveries are signed with this secret alone.", Page: at, Secret: map[string]string{"Signing secret": core.Deref(w.Secret)}}
	if w.PreviousSecretExpiresAt != nil {
		n.Text = "Deliveries are signed with this secret, and with the old one until " + v.when(w.PreviousSecretExpiresAt).Time.Shown + "."
	}
	return v.done(at, n)
}
