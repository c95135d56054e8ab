package contract

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestGetWebhookEvent_IsWhatWasSent(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		endpoint(t, c, s.Hooks.URL, sdk.EventProductCreated)
		ok[*sdk.Product](t)(c.Products.Create(background, sellable(`Über <b>&"bread"</b>`+"\u2028")))
		var sent sdk.Event
		if err := json.Unmarshal(s.Hooks.Await(t, 1, sdk.EventProductCreated)[0].Body, &sent); err != nil {
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
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		first := endpoint(t, c, s.Hooks.URL, sdk.EventProductCreated)
		ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		sent := s.Hooks.Await(t, 1, sdk.EventProductCreated)[0]
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
