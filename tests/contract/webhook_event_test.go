package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestGetWebhookEvent_IsWhatWasSent(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		endpoint(t, c, hooks.URL, sdk.EventProductCreated)
		ok[*sdk.Product](t)(c.Products.Create(background, sellable(`Über <b>&"bread"</b>`+"\u2028")))
		var sent sdk.Event
		if err := json.Unmarshal(hooks.Await(t, 1, sdk.EventProductCreated)[0].Body, &sent); err != nil {
			t.Fatal(err)
		}
		event := ok[*sdk.WebhookEvent](t)(c.WebhookEvents.Get(background, sent.ID))
		if event.Object != "webhook_event" || event.ID != sent.ID || event.Type != sent.Type || event.APIVersion != sent.APIVersion || event.CreatedAt != sent.CreatedAt {
			t.Errorf("the event is %+v, sent was %+v", event, sent)
		}
		if string(event.Data) != string(sent.Data) {
			t.Errorf("the data is %s\nsent was %s", event.Data, sent.Data)
		}
	})
}

// A receiver that was away reads what it missed, without an endpoint too.
func TestListWebhookEvents_LetsAReceiverCatchUp(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := ok[*sdk.Product](t)(c.Products.Create(background, sellable("First")))
		seen := ok[*sdk.WebhookEventList](t)(c.WebhookEvents.List(background, nil)).Data[0]
		if seen.Type != sdk.EventProductCreated || seen.Status != nil {
			t.Errorf("the newest event is %s, %v", seen.Type, seen.Status)
		}
		for _, name := range []string{"Second", "Third"} {
			ok[*sdk.Product](t)(c.Products.Update(background, product.ID, &sdk.ProductUpdate{Name: &name}))
			ok[*sdk.Product](t)(c.Products.Create(background, sellable(name)))
		}
		var missed []string
		for event, err := range sdk.All(background, c.WebhookEvents.List, &sdk.ListWebhookEventsParams{CreatedAfter: &seen.CreatedAt, Limit: new(int64(2))}) {
			if err != nil {
				t.Fatal(err)
			}
			if event.ID != seen.ID {
				missed = append(missed, event.Type)
			}
		}
		slices.Sort(missed)
		created, updated := sdk.EventProductCreated, sdk.EventProductUpdated
		if want := []string{created, created, updated, updated}; !slices.Equal(missed, want) {
			t.Errorf("missed were %v", missed)
		}
		for name, params := range map[string]*sdk.ListWebhookEventsParams{
			"a type":         {Type: &updated},
			"before":         {CreatedBefore: new(seen.CreatedAt), Type: &updated},
			"another type":   {Type: new(sdk.EventOrderPaid)},
			"an unknown one": {Type: new("product.eaten")},
		} {
			want := 0
			if name == "a type" {
				want = 2
			}
			if found := ok[*sdk.WebhookEventList](t)(c.WebhookEvents.List(background, params)).Data; len(found) != want {
				t.Errorf("%s: %d events", name, len(found))
			}
		}
	})
}

// Events are as large as what they show. A page ends before it is too large, on the side that is further from its position.
func TestListWebhookEvents_EndsALargePage(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		var ids []string
		for range 7 {
			description := strings.Repeat("w", 20_000)
			ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Large", Description: &description}))
		}
		account := ok[*sdk.Account](t)(c.Account.Get(background)).ID
		s.Must(t, `UPDATE events SET body = REPLACE(body, 'wwwwwwwwww', '`+strings.Repeat("large", 100)+`') WHERE account_id = '`+account+`'`)
		for event, err := range sdk.All(background, c.WebhookEvents.List, nil) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, event.ID)
		}
		if len(ids) != 8 {
			t.Fatalf("%d events", len(ids))
		}
		first := ok[*sdk.WebhookEventList](t)(c.WebhookEvents.List(background, nil))
		if n := len(first.Data); n < 2 || n > 5 || !first.HasMore || first.Data[0].ID != ids[0] {
			t.Errorf("the first page has %d events, more: %t", n, first.HasMore)
		}
		back := ok[*sdk.WebhookEventList](t)(c.WebhookEvents.List(background, &sdk.ListWebhookEventsParams{EndingBefore: &ids[7]}))
		if n := len(back.Data); n < 2 || n > 5 || !back.HasMore || back.Data[n-1].ID != ids[6] {
			t.Errorf("the page before the oldest has %d events, more: %t", n, back.HasMore)
		}
	})
}

func TestGetWebhookEvent_HasFailedUntilItIsSentAgain(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		var works atomic.Bool
		inbox := harness.NewReceiverThat(t, func(w http.ResponseWriter, _ *http.Request) {
			if !works.Load() {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		e := endpoint(t, c, inbox.URL, sdk.EventProductCreated)
		ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		delivery := settled(t, c, e.ID, 1)[0]
		failed := ok[*sdk.WebhookEvent](t)(c.WebhookEvents.Get(background, delivery.Event.ID))
		if failed.Status == nil || *failed.Status != sdk.WebhookEventStatusFailed || failed.ExpiresAt == nil || !failed.ExpiresAt.Time().Equal(delivery.FinishedAt.Time().Add(7*24*time.Hour)) {
			t.Errorf("the event is %v, and deleted at %v; its delivery failed at %v", failed.Status, failed.ExpiresAt, delivery.FinishedAt)
		}
		works.Store(true)
		ok[*sdk.WebhookDelivery](t)(c.WebhookEvents.Redeliver(background, failed.ID, &sdk.WebhookEventRedelivery{WebhookEndpoint: e.ID}))
		settled(t, c, e.ID, 2)
		told := ok[*sdk.WebhookEvent](t)(c.WebhookEvents.Get(background, failed.ID))
		if told.Status == nil || *told.Status != sdk.WebhookEventStatusSucceeded || told.ExpiresAt != nil {
			t.Errorf("sent again, the event is %v, and deleted at %v", told.Status, told.ExpiresAt)
		}
	})
}

func TestRedeliverWebhookEvent_SendsTheSameBytes(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		hooks := harness.NewReceiver(t)
		first := endpoint(t, c, hooks.URL, sdk.EventProductCreated)
		ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		sent := hooks.Await(t, 1, sdk.EventProductCreated)[0]
		id := settled(t, c, first.ID, 1)[0].Event.ID
		inbox := harness.NewReceiver(t)
		later := endpoint(t, c, inbox.URL, sdk.EventOrderPaid) // it did not ask for the type, but is asked to be told
		made := ok[*sdk.WebhookDelivery](t)(c.WebhookEvents.Redeliver(background, id, &sdk.WebhookEventRedelivery{WebhookEndpoint: later.ID}))
		if made.Status != sdk.WebhookDeliveryStatusPending || made.WebhookEndpoint != later.ID || made.Event.ID != id || made.Attempts != 0 || made.FinishedAt != nil {
			t.Errorf("the new delivery is %+v", made)
		}
		again := inbox.Await(t, 1, sdk.EventProductCreated)[0]
		if string(again.Body) != string(sent.Body) {
			t.Errorf("sent again, the body is %s, at first %s", again.Body, sent.Body)
		}
		if _, err := sdk.VerifyWebhook(again.Body, again.Header, *later.Secret); err != nil {
			t.Error(err)
		}
		if d := settled(t, c, later.ID, 1)[0]; d.ID != made.ID || d.Status != sdk.WebhookDeliveryStatusSucceeded {
			t.Errorf("the delivery ends as %+v", d)
		}
		ok[*sdk.WebhookDelivery](t)(c.WebhookEvents.Redeliver(background, id, &sdk.WebhookEventRedelivery{WebhookEndpoint: first.ID}))
		settled(t, c, first.ID, 2)

		_, err := c.WebhookEvents.Redeliver(background, id, &sdk.WebhookEventRedelivery{WebhookEndpoint: randomID("we")})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "webhook_endpoint")
		ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Update(background, later.ID, &sdk.WebhookEndpointUpdate{Status: new(sdk.WebhookEndpointStatusInactive)}))
		_, err = c.WebhookEvents.Redeliver(background, id, &sdk.WebhookEventRedelivery{WebhookEndpoint: later.ID})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "webhook_endpoint")
	})
}
