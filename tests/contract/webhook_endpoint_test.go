package contract

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// endpoint registers the receiver for events, all of them when none are named.
func endpoint(t *testing.T, c *sdk.Client, url string, events ...string) *sdk.WebhookEndpoint {
	t.Helper()
	return ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: url, EnabledEvents: events}))
}

func TestCreateWebhookEndpoint_ShowsItsSecretOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		made := endpoint(t, c, s.Hooks.URL)
		encoded, found := strings.CutPrefix(*made.Secret, "whsec_")
		if key, err := base64.StdEncoding.DecodeString(encoded); !found || err != nil || len(key) != 32 {
			t.Errorf("the secret is %q", *made.Secret)
		}
		if made.Object != "webhook_endpoint" || made.APIVersion != "v1" || made.Status != "active" || made.URL != s.Hooks.URL {
			t.Errorf("the endpoint is %+v", made)
		}
		got := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Get(background, made.ID))
		changed := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Update(background, made.ID, &sdk.WebhookEndpointUpdate{Description: sdk.Set("for the shop")}))
		list := ok[*sdk.WebhookEndpointList](t)(c.WebhookEndpoints.List(background, nil))
		for _, e := range []*sdk.WebhookEndpoint{got, changed, &list.Data[0]} {
			if e.ID != made.ID || e.Secret != nil {
				t.Errorf("%s is shown with secret %v", e.ID, e.Secret)
			}
		}
		if other := endpoint(t, c, s.Hooks.URL); *other.Secret == *made.Secret {
			t.Error("two endpoints have one secret")
		}
	})
}

func TestWebhookEndpointBodies_MayBeWrapped(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		c := s.Account(t)
		fields := map[string]any{"url": s.Hooks.URL, "enabled_events": []string{"order.paid"}}
		plain := c.Must(t, http.MethodPost, "/v1/webhook_endpoints", fields)
		wrapped := c.Must(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"webhook_endpoint": fields})
		if fmt.Sprint(plain["enabled_events"]) != fmt.Sprint(wrapped["enabled_events"]) || plain["url"] != wrapped["url"] {
			t.Errorf("wrapped, the endpoint is %v, otherwise %v", wrapped, plain)
		}
		changed := c.Must(t, http.MethodPatch, "/v1/webhook_endpoints/"+plain["id"].(string), map[string]any{"webhook_endpoint": map[string]any{"status": "inactive"}})
		if changed["status"] != "inactive" {
			t.Errorf("a wrapped change made it %v", changed["status"])
		}
		for _, body := range []map[string]any{{}, {"webhook_endpoint": map[string]any{}}} {
			fault := c.Do(t, http.MethodPost, "/v1/webhook_endpoints", body).Fault(t, http.StatusBadRequest, "parameter_missing")
			if fault.Param != "url" {
				t.Errorf("without a url, param is %q", fault.Param)
			}
		}
	})
}

func TestEnabledEvents_AreTypesOfTheCatalogue(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		if e := endpoint(t, c, s.Hooks.URL); !slices.Equal(e.EnabledEvents, []string{"*"}) {
			t.Errorf("absent, enabled_events is %v", e.EnabledEvents)
		}
		e := endpoint(t, c, s.Hooks.URL, sdk.EventOrderPaid, sdk.EventInvoicePastDue)
		if !slices.Equal(e.EnabledEvents, []string{sdk.EventOrderPaid, sdk.EventInvoicePastDue}) {
			t.Errorf("enabled_events is %v", e.EnabledEvents)
		}
		_, err := c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: s.Hooks.URL, EnabledEvents: []string{"order.paid", "order.eaten"}})
		refusal := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "enabled_events")
		if !strings.Contains(refusal.Message, "order.eaten") {
			t.Errorf("the message does not name the unknown type: %s", refusal.Message)
		}
		_, err = c.WebhookEndpoints.Update(background, e.ID, &sdk.WebhookEndpointUpdate{EnabledEvents: []string{}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "enabled_events")
		empty := s.Account(t).Do(t, http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": s.Hooks.URL, "enabled_events": []string{}})
		empty.Fault(t, http.StatusUnprocessableEntity, "validation_failed")
	})
}

func TestWebhookEndpointURL_MustBePublicOrLoopbackInDevelopment(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		e := endpoint(t, c, s.Hooks.URL)
		for _, url := range []string{
			"example.com/hook", "ftp://example.com/", "https://user:pass@example.com/", "https://example.com/#part", "https:///hook",
			`https://example.com\@evil.example/`, "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data", "http://[fd00:ec2::254]/",
			"http://2130706433/", "http://0x7f000001/", "http://metadata.google.internal/", "https://[64:ff9b::7f00:1]/",
		} {
			_, err := c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: url})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "url")
			_, err = c.WebhookEndpoints.Update(background, e.ID, &sdk.WebhookEndpointUpdate{URL: &url})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "url")
		}
		stored := endpoint(t, c, "https://Bücher.example/hook")
		if stored.URL != "https://xn--bcher-kva.example/hook" {
			t.Errorf("the URL is stored as %s", stored.URL)
		}
	})
}

func TestCreateWebhookEndpoint_AtMostFiftyAnAccount(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		for range 50 {
			endpoint(t, c, s.Hooks.URL)
		}
		_, err := c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: s.Hooks.URL})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")
		endpoint(t, s.SDK(t), s.Hooks.URL)
	})
}

func TestListWebhookEndpoints_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		shop := endpoint(t, c, s.Hooks.URL+"/shop")
		mail := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{
			URL: s.Hooks.URL + "/mail", Status: new(sdk.WebhookEndpointStatusInactive), Description: new("Newsletter"), Metadata: &sdk.Metadata{"team": "post"},
		}))
		for name, want := range map[string]struct {
			params sdk.ListWebhookEndpointsParams
			ids    []string
		}{
			"all, newest first": {sdk.ListWebhookEndpointsParams{}, []string{mail.ID, shop.ID}},
			"active":            {sdk.ListWebhookEndpointsParams{Status: new(sdk.WebhookEndpointStatusActive)}, []string{shop.ID}},
			"by its URL":        {sdk.ListWebhookEndpointsParams{Q: new("/SHOP")}, []string{shop.ID}},
			"by description":    {sdk.ListWebhookEndpointsParams{Q: new("newsl")}, []string{mail.ID}},
			"by metadata":       {sdk.ListWebhookEndpointsParams{Metadata: sdk.MetadataFilter{"team": "post"}}, []string{mail.ID}},
		} {
			var found []string
			for e, err := range sdk.All(background, c.WebhookEndpoints.List, &want.params) {
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, e.ID)
			}
			if !slices.Equal(found, want.ids) {
				t.Errorf("%s: %v is found, %v is expected", name, found, want.ids)
			}
		}
	})
}

func TestUpdateWebhookEndpoint_WithoutAChangeChangesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		e := endpoint(t, c, s.Hooks.URL, sdk.EventOrderPaid)
		same := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Update(background, e.ID, &sdk.WebhookEndpointUpdate{
			URL: &e.URL, EnabledEvents: e.EnabledEvents, Status: &e.Status, Description: sdk.Null[string](),
		}))
		if same.UpdatedAt != e.UpdatedAt {
			t.Errorf("updated_at went from %s to %s", e.UpdatedAt, same.UpdatedAt)
		}
	})
}

func TestListWebhookEventTypes_IsTheDocumentsTable(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		list := ok[*sdk.EventTypeList](t)(c.WebhookEndpoints.ListEventTypes(background))
		var types []string
		for _, item := range list.Data {
			types = append(types, item.Type)
			var event sdk.Event
			if err := json.Unmarshal(item.Example, &event); err != nil || event.Type != item.Type || len(event.Data) == 0 || item.Description == "" {
				t.Errorf("the entry of %s is %+v: %v", item.Type, item, err)
			}
		}
		slices.Sort(types)
		want := []string{
			"checkout.created", "invoice.created", "invoice.paid", "invoice.past_due", "invoice.voided", "lead.created",
			"order.created", "order.paid", "product.created", "product.updated", "refund.created", "refund.updated",
		}
		if !slices.Equal(types, want) {
			t.Errorf("the catalogue is %v", types)
		}
	})
}

func TestDelivery_TellsASaleInItsOrder(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		variant := onSale(t, c, 1900)
		e := endpoint(t, c, hooks.URL, sdk.EventCheckoutCreated, sdk.EventOrderCreated, sdk.EventOrderPaid)
		order := purchase(t, c, "ada@example.com", variant)
		hooks.Await(t, 1, sdk.EventOrderPaid)
		var types []string
		for _, d := range hooks.Deliveries() {
			event := ok[*sdk.Event](t)(sdk.VerifyWebhook(d.Body, d.Header, *e.Secret, sdk.WithSignatureHeader("X-Service-Hmac-SHA256")))
			if strings.HasPrefix(event.Type, "order.") {
				types = append(types, event.Type)
				then := ok[*sdk.Order](t)(event.Order())
				if then.ID != order.ID || then.Customer.Object.Email != "ada@example.com" || then.LineItems[0].Object.TotalAmount != 1900 {
					t.Errorf("%s shows %+v", event.Type, then)
				}
				if paid := event.Type == sdk.EventOrderPaid; paid != (then.Status == "paid") {
					t.Errorf("%s shows an order that is %s", event.Type, then.Status)
				}
			}
			if !strings.HasPrefix(event.ID, "whev_") || event.APIVersion != "v1" || event.Test {
				t.Errorf("the event is %+v", event)
			}
			if _, err := sdk.VerifyWebhook(append(d.Body, ' '), d.Header, *e.Secret); err == nil {
				t.Error("a changed body is taken for signed")
			}
		}
		if !slices.Equal(types, []string{sdk.EventOrderCreated, sdk.EventOrderPaid}) {
			t.Errorf("the order's events came as %v", types)
		}
	})
}

func TestDelivery_GoesOnlyToActiveEndpointsThatAskedForIt(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		witness, other, idle, gone := harness.NewReceiver(t), harness.NewReceiver(t), harness.NewReceiver(t), harness.NewReceiver(t)
		endpoint(t, c, witness.URL, "*")
		endpoint(t, c, other.URL, sdk.EventOrderPaid)
		paused := endpoint(t, c, idle.URL)
		set := func(status sdk.WebhookEndpointStatus) {
			ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Update(background, paused.ID, &sdk.WebhookEndpointUpdate{Status: &status}))
		}
		set(sdk.WebhookEndpointStatusInactive)
		deleted := endpoint(t, c, gone.URL)
		confirmation := ok[*sdk.Deleted](t)(c.WebhookEndpoints.Delete(background, deleted.ID))
		if confirmation.ID != deleted.ID || confirmation.Object != "webhook_endpoint" || !confirmation.Deleted {
			t.Errorf("the confirmation is %+v", confirmation)
		}
		_, err := c.WebhookEndpoints.Get(background, deleted.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")

		ok[*sdk.Product](t)(c.Products.Create(background, sellable("while it is inactive")))
		set(sdk.WebhookEndpointStatusActive)
		later := ok[*sdk.Product](t)(c.Products.Create(background, sellable("when it is active again")))
		ok[*sdk.Product](t)(s.SDK(t).Products.Create(background, sellable("of another account")))
		witness.Await(t, 2, sdk.EventProductCreated)
		received := idle.Await(t, 1, sdk.EventProductCreated)
		if event := ok[*sdk.Event](t)(sdk.VerifyWebhook(received[0].Body, received[0].Header, *paused.Secret)); !strings.Contains(string(event.Data), later.ID) {
			t.Errorf("the reactivated endpoint was told about %s", event.Data)
		}
		if n := len(idle.Deliveries()); n != 1 {
			t.Errorf("the reactivated endpoint was told %d things", n)
		}
		if n := len(other.Deliveries()) + len(gone.Deliveries()); n != 0 {
			t.Errorf("%d events went where nobody asked for them", n)
		}
		if n := len(witness.Deliveries()); n != 2 {
			t.Errorf("the account's other endpoint was told %d things", n)
		}
	})
}

func TestRotateWebhookSecret_SignsWithTheNewOne(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		e := endpoint(t, c, hooks.URL, sdk.EventProductCreated)
		began := time.Now()
		rotated := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.RotateSecret(background, e.ID, nil))
		if rotated.Secret == nil || *rotated.Secret == *e.Secret || !strings.HasPrefix(*rotated.Secret, "whsec_") {
			t.Errorf("the new secret is %v", rotated.Secret)
		}
		if until := rotated.PreviousSecretExpiresAt.Time(); until.Before(began.Add(24*time.Hour-time.Second)) || until.After(time.Now().Add(24*time.Hour)) {
			t.Errorf("the overlap ends at %s", until)
		}
		ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		d := hooks.Await(t, 1, sdk.EventProductCreated)[0]
		if _, err := sdk.VerifyWebhook(d.Body, d.Header, *rotated.Secret); err != nil {
			t.Errorf("the new secret does not verify: %v", err)
		}
		at := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.RotateSecret(background, e.ID, &sdk.WebhookSecretRotation{OverlapHours: new(int64(0))}))
		if at.PreviousSecretExpiresAt != nil {
			t.Errorf("without an overlap, the secret before is good until %s", *at.PreviousSecretExpiresAt)
		}
		got := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Get(background, e.ID))
		if got.Secret != nil || got.UpdatedAt != at.UpdatedAt {
			t.Errorf("later, the endpoint is %+v", got)
		}
		for _, hours := range []int64{-1, 169} {
			_, err := c.WebhookEndpoints.RotateSecret(background, e.ID, &sdk.WebhookSecretRotation{OverlapHours: &hours})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "overlap_hours")
		}
	})
}

func TestWebhookFormat_IsChosenAtCreateAndUpdate(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		raw := endpoint(t, c, s.Hooks.URL)
		slack := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Create(background, &sdk.WebhookEndpointCreate{URL: s.Hooks.URL, Format: new(sdk.WebhookFormatSlack)}))
		discord := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Update(background, slack.ID, &sdk.WebhookEndpointUpdate{Format: new(sdk.WebhookFormatDiscord)}))
		if raw.Format != sdk.WebhookFormatRaw || slack.Format != sdk.WebhookFormatSlack || discord.Format != sdk.WebhookFormatDiscord {
			t.Errorf("the formats are %s, %s and %s", raw.Format, slack.Format, discord.Format)
		}
		_, err := c.WebhookEndpoints.Update(background, raw.ID, &sdk.WebhookEndpointUpdate{Format: new(sdk.WebhookFormat("telegram"))})
		refusal := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "format")
		if !strings.Contains(refusal.Message, "discord") {
			t.Errorf("the message does not name what is allowed: %s", refusal.Message)
		}
	})
}
