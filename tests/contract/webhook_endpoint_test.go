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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		key, err := base64.StdEncoding.DecodeString(encoded)
		require.True(t, found, "the secret")
		require.NoError(t, err, "the secret")
		assert.Len(t, key, 32, "the secret")
		assert.Equal(t, "webhook_endpoint", made.Object, "the endpoint")
		assert.Equal(t, "v1", made.APIVersion, "the endpoint")
		assert.EqualValues(t, "active", made.Status, "the endpoint")
		assert.Equal(t, s.Hooks.URL, made.URL, "the endpoint")
		got := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Get(background, made.ID))
		changed := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Update(background, made.ID, &sdk.WebhookEndpointUpdate{Description: sdk.Set("for the shop")}))
		list := ok[*sdk.WebhookEndpointList](t)(c.WebhookEndpoints.List(background, nil))
		for _, e := range []*sdk.WebhookEndpoint{got, changed, &list.Data[0]} {
			assert.Equal(t, made.ID, e.ID)
			assert.Nil(t, e.Secret)
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
		assert.Equal(t, fmt.Sprint(wrapped["enabled_events"]), fmt.Sprint(plain["enabled_events"]))
		assert.False(t, plain["url"] != wrapped["url"])
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
			err := json.Unmarshal(item.Example, &event)
			require.NoError(t, err)
			assert.Equal(t, item.Type, event.Type)
			assert.NotEmpty(t, event.Data)
			assert.NotEmpty(t, item.Description)
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
				assert.Equal(t, order.ID, then.ID, event.Type)
				assert.Equal(t, "ada@example.com", then.Customer.Object.Email, event.Type)
				assert.EqualValues(t, 1900, then.LineItems[0].Object.TotalAmount, event.Type)
				if paid := event.Type == sdk.EventOrderPaid; paid != (then.Status == "paid") {
					t.Errorf("%s shows an order that is %s", event.Type, then.Status)
				}
			}
			assert.True(t, strings.HasPrefix(event.ID, "whev_"), "the event")
			assert.Equal(t, "v1", event.APIVersion, "the event")
			assert.False(t, event.Test, "the event")
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
		assert.Equal(t, deleted.ID, confirmation.ID, "the confirmation")
		assert.Equal(t, "webhook_endpoint", confirmation.Object, "the confirmation")
		assert.True(t, confirmation.Deleted, "the confirmation")
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
		require.NotNil(t, rotated.Secret, "the new secret")
		assert.NotEqual(t, *e.Secret, *rotated.Secret, "the new secret")
		assert.True(t, strings.HasPrefix(*rotated.Secret, "whsec_"), "the new secret")
		until := rotated.PreviousSecretExpiresAt.Time()
		assert.False(t, until.Before(began.Add(24*time.Hour-time.Second)), "the overlap")
		assert.False(t, until.After(time.Now().Add(24*time.Hour)), "the overlap")
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
		require.Nil(t, got.Secret, "later, the endpoint")
		assert.Equal(t, at.UpdatedAt, got.UpdatedAt, "later, the endpoint")
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
		assert.Equal(t, sdk.WebhookFormatRaw, raw.Format)
		assert.Equal(t, sdk.WebhookFormatSlack, slack.Format)
		assert.Equal(t, sdk.WebhookFormatDiscord, discord.Format)
		_, err := c.WebhookEndpoints.Update(background, raw.ID, &sdk.WebhookEndpointUpdate{Format: new(sdk.WebhookFormat("telegram"))})
		refusal := refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "format")
		if !strings.Contains(refusal.Message, "discord") {
			t.Errorf("the message does not name what is allowed: %s", refusal.Message)
		}
	})
}
