package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		assert.Equal(t, "webhook_event", event.Object)
		assert.Equal(t, sent.ID, event.ID)
		assert.Equal(t, sent.Type, event.Type)
		assert.Equal(t, sent.APIVersion, event.APIVersion)
		assert.Equal(t, sent.CreatedAt, event.CreatedAt)
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
		assert.Equal(t, sdk.EventProductCreated, seen.Type)
		assert.Nil(t, seen.Status)
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
		n := len(first.Data)
		assert.GreaterOrEqual(t, n, 2)
		assert.LessOrEqual(t, n, 5)
		assert.True(t, first.HasMore)
		assert.Equal(t, ids[0], first.Data[0].ID)
		back := ok[*sdk.WebhookEventList](t)(c.WebhookEvents.List(background, &sdk.ListWebhookEventsParams{EndingBefore: &ids[7]}))
		n = len(back.Data)
		assert.GreaterOrEqual(t, n, 2)
		assert.LessOrEqual(t, n, 5)
		assert.True(t, back.HasMore)
		assert.Equal(t, ids[6], back.Data[n-1].ID)
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
		require.NotNil(t, failed.Status)
		assert.Equal(t, sdk.WebhookEventStatusFailed, *failed.Status)
		require.NotNil(t, failed.ExpiresAt)
		assert.True(t, failed.ExpiresAt.Time().Equal(delivery.FinishedAt.Time().Add(7*24*time.Hour)))
		works.Store(true)
		ok[*sdk.WebhookDelivery](t)(c.WebhookEvents.Redeliver(background, failed.ID, &sdk.WebhookEventRedelivery{WebhookEndpoint: e.ID}))
		settled(t, c, e.ID, 2)
		told := ok[*sdk.WebhookEvent](t)(c.WebhookEvents.Get(background, failed.ID))
		require.NotNil(t, told.Status)
		assert.Equal(t, sdk.WebhookEventStatusSucceeded, *told.Status)
		assert.Nil(t, told.ExpiresAt)
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
		assert.Equal(t, sdk.WebhookDeliveryStatusPending, made.Status, "the new delivery")
		assert.Equal(t, later.ID, made.WebhookEndpoint, "the new delivery")
		assert.Equal(t, id, made.Event.ID, "the new delivery")
		assert.Zero(t, made.Attempts, "the new delivery")
		assert.Nil(t, made.FinishedAt, "the new delivery")
		again := inbox.Await(t, 1, sdk.EventProductCreated)[0]
		if string(again.Body) != string(sent.Body) {
			t.Errorf("sent again, the body is %s, at first %s", again.Body, sent.Body)
		}
		if _, err := sdk.VerifyWebhook(again.Body, again.Header, *later.Secret); err != nil {
			t.Error(err)
		}
		d := settled(t, c, later.ID, 1)[0]
		assert.Equal(t, made.ID, d.ID, "the delivery")
		assert.Equal(t, sdk.WebhookDeliveryStatusSucceeded, d.Status, "the delivery")
		ok[*sdk.WebhookDelivery](t)(c.WebhookEvents.Redeliver(background, id, &sdk.WebhookEventRedelivery{WebhookEndpoint: first.ID}))
		settled(t, c, first.ID, 2)

		_, err := c.WebhookEvents.Redeliver(background, id, &sdk.WebhookEventRedelivery{WebhookEndpoint: randomID("we")})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "webhook_endpoint")
		ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Update(background, later.ID, &sdk.WebhookEndpointUpdate{Status: new(sdk.WebhookEndpointStatusInactive)}))
		_, err = c.WebhookEvents.Redeliver(background, id, &sdk.WebhookEventRedelivery{WebhookEndpoint: later.ID})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "webhook_endpoint")
	})
}
