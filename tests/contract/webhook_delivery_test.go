package contract

import (
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// broken is a receiver that answers 500 until it is repaired.
type broken struct {
	*harness.Receiver
	repaired atomic.Bool
}

func newBroken(t *testing.T) *broken {
	t.Helper()
	b := &broken{}
	b.Receiver = harness.NewReceiverThat(t, func(w http.ResponseWriter, _ *http.Request) {
		if b.repaired.Load() {
			_, _ = io.WriteString(w, "thank you")
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, "out of order")
	})
	return b
}

// settled waits until the endpoint has n deliveries, all of them with a result, and returns them, newest first.
func settled(t *testing.T, c *sdk.Client, endpoint string, n int) []sdk.WebhookDelivery {
	t.Helper()
	unfinished := func(d sdk.WebhookDelivery) bool { return d.FinishedAt == nil }
	var all []sdk.WebhookDelivery
	isSettled := comes(func() bool {
		all = ok[*sdk.WebhookDeliveryList](t)(c.WebhookEndpoints.ListDeliveries(background, endpoint, nil)).Data
		return len(all) >= n && !slices.ContainsFunc(all, unfinished)
	})
	require.True(t, isSettled)
	require.Len(t, all, n)
	return all
}

func TestListWebhookDeliveries_SaysWhatBecameOfEach(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		inbox := newBroken(t)
		e := endpoint(t, c, inbox.URL, sdk.EventProductCreated, sdk.EventProductUpdated)
		p := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		failed := settled(t, c, e.ID, 1)[0]
		assert.Equal(t, "webhook_delivery", failed.Object, "the failed delivery")
		assert.Equal(t, e.ID, failed.WebhookEndpoint, "the failed delivery")
		assert.Equal(t, sdk.EventProductCreated, failed.Type, "the failed delivery")
		assert.Equal(t, sdk.WebhookDeliveryStatusFailed, failed.Status, "the failed delivery")
		assert.Equal(t, sdk.WebhookDeliveryReasonHTTPStatus, *failed.Reason, "the failed delivery")
		assert.EqualValues(t, 500, *failed.StatusCode, "the failed delivery")
		assert.Equal(t, "out of order", *failed.Response, "the failed delivery")
		assert.EqualValues(t, 1, failed.Attempts, "the failed delivery")
		assert.GreaterOrEqual(t, *failed.DurationMS, int64(0), "the failed delivery")
		assert.LessOrEqual(t, *failed.DurationMS, int64(5000), "the failed delivery")
		assert.False(t, failed.FinishedAt.Time().Before(failed.CreatedAt.Time()), "the failed delivery")
		inbox.repaired.Store(true)
		ok[*sdk.Product](t)(c.Products.Update(background, p.ID, &sdk.ProductUpdate{Name: new("Field Guide")}))
		all := settled(t, c, e.ID, 2)
		succeeded := all[0]
		assert.Equal(t, failed.ID, all[1].ID, "the deliveries")
		assert.Equal(t, sdk.EventProductUpdated, succeeded.Type, "the deliveries")
		assert.Equal(t, sdk.WebhookDeliveryStatusSucceeded, succeeded.Status, "the deliveries")
		require.Nil(t, succeeded.Reason, "the deliveries")
		assert.EqualValues(t, 200, *succeeded.StatusCode, "the deliveries")
		assert.Equal(t, "thank you", *succeeded.Response, "the deliveries")

		moment := time.Now().Add(time.Hour)
		for name, want := range map[string]struct {
			params sdk.ListWebhookDeliveriesParams
			ids    []string
		}{
			"failed":          {sdk.ListWebhookDeliveriesParams{Status: new(sdk.WebhookDeliveryStatusFailed)}, []string{failed.ID}},
			"succeeded":       {sdk.ListWebhookDeliveriesParams{Status: new(sdk.WebhookDeliveryStatusSucceeded)}, []string{succeeded.ID}},
			"pending":         {sdk.ListWebhookDeliveriesParams{Status: new(sdk.WebhookDeliveryStatusPending)}, nil},
			"of a type":       {sdk.ListWebhookDeliveriesParams{Type: new(sdk.EventProductUpdated)}, []string{succeeded.ID}},
			"of an event":     {sdk.ListWebhookDeliveriesParams{Event: new(failed.Event.ID)}, []string{failed.ID}},
			"of both":         {sdk.ListWebhookDeliveriesParams{Event: new(failed.Event.ID), Status: new(sdk.WebhookDeliveryStatusSucceeded)}, nil},
			"since then":      {sdk.ListWebhookDeliveriesParams{CreatedAfter: new(succeeded.CreatedAt)}, []string{succeeded.ID}},
			"until then":      {sdk.ListWebhookDeliveriesParams{CreatedBefore: new(succeeded.CreatedAt)}, []string{failed.ID}},
			"in the future":   {sdk.ListWebhookDeliveriesParams{CreatedAfter: new(sdk.TimeOf(moment))}, nil},
			"the first":       {sdk.ListWebhookDeliveriesParams{Limit: new(int64(1))}, []string{succeeded.ID}},
			"after the first": {sdk.ListWebhookDeliveriesParams{StartingAfter: &succeeded.ID}, []string{failed.ID}},
			"before the last": {sdk.ListWebhookDeliveriesParams{EndingBefore: &failed.ID}, []string{succeeded.ID}},
		} {
			list := ok[*sdk.WebhookDeliveryList](t)(c.WebhookEndpoints.ListDeliveries(background, e.ID, &want.params))
			var ids []string
			for _, d := range list.Data {
				ids = append(ids, d.ID)
			}
			assert.True(t, slices.Equal(ids, want.ids))
			assert.Equal(t, name == "the first", list.HasMore)
		}
		_, err := c.WebhookEndpoints.ListDeliveries(background, e.ID, &sdk.ListWebhookDeliveriesParams{Event: new(randomID("whev"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "event")
	})
}

func TestListWebhookDeliveries_ShowsTheEventOnDemand(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		e := endpoint(t, c, s.Hooks.URL, sdk.EventProductCreated)
		p := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		settled(t, c, e.ID, 1)
		list := ok[*sdk.WebhookDeliveryList](t)(c.WebhookEndpoints.ListDeliveries(background, e.ID, nil, sdk.Expand("event")))
		event := list.Data[0].Event.Object
		require.NotNil(t, event, "the event")
		assert.Equal(t, list.Data[0].Event.ID, event.ID, "the event")
		assert.Equal(t, sdk.EventProductCreated, event.Type, "the event")
		assert.Contains(t, string(event.Data), p.ID, "the event")
	})
}

func TestRedeliverWebhookEndpoint_SendsWhatFailedOnceMore(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		inbox := newBroken(t)
		began := time.Now().Add(-time.Minute)
		hour := func() *sdk.WebhookEndpointRedelivery {
			return &sdk.WebhookEndpointRedelivery{CreatedAfter: sdk.TimeOf(began), CreatedBefore: sdk.TimeOf(began.Add(time.Hour))}
		}
		e := endpoint(t, c, inbox.URL, sdk.EventProductCreated, sdk.EventProductUpdated)
		p := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		for _, name := range []string{"Second Guide", "Third Guide"} {
			ok[*sdk.Product](t)(c.Products.Update(background, p.ID, &sdk.ProductUpdate{Name: &name}))
		}
		settled(t, c, e.ID, 3)
		failing := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Get(background, e.ID))
		assert.EqualValues(t, 3, failing.ConsecutiveFailures)
		assert.NotNil(t, failing.FailingSince)
		inbox.repaired.Store(true)
		got := ok[*sdk.WebhookRedelivery](t)(c.WebhookEndpoints.Redeliver(background, e.ID, hour()))
		assert.EqualValues(t, 3, got.Count, "the redelivery")
		assert.Equal(t, "webhook_redelivery", got.Object, "the redelivery")
		settled(t, c, e.ID, 6)
		all := inbox.Deliveries()
		for i, d := range all[3:] {
			if string(d.Body) != string(all[i].Body) {
				t.Errorf("the redelivery %d has the body %s, at first it was %s", i, d.Body, all[i].Body)
			}
			if _, err := sdk.VerifyWebhook(d.Body, d.Header, *e.Secret); err != nil {
				t.Errorf("the redelivery is not signed: %v", err)
			}
		}
		working := ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Get(background, e.ID))
		assert.Zero(t, working.ConsecutiveFailures, "after a success")
		assert.Nil(t, working.FailingSince, "after a success")
		if got := ok[*sdk.WebhookRedelivery](t)(c.WebhookEndpoints.Redeliver(background, e.ID, hour())); got.Count != 0 {
			t.Errorf("%d events that have succeeded are sent again", got.Count)
		}
	})
}

func TestRedeliverWebhookEndpoint_Refuses(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		now := time.Now()
		e := endpoint(t, c, s.Hooks.URL)
		_, err := c.WebhookEndpoints.Redeliver(background, e.ID, &sdk.WebhookEndpointRedelivery{CreatedAfter: sdk.TimeOf(now), CreatedBefore: sdk.TimeOf(now)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "created_before")
		ok[*sdk.WebhookEndpoint](t)(c.WebhookEndpoints.Update(background, e.ID, &sdk.WebhookEndpointUpdate{Status: new(sdk.WebhookEndpointStatusInactive)}))
		_, err = c.WebhookEndpoints.Redeliver(background, e.ID, &sdk.WebhookEndpointRedelivery{CreatedAfter: sdk.TimeOf(now), CreatedBefore: sdk.TimeOf(now.Add(1))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
	})
}
