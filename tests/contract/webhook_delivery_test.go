package contract

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

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
	if !isSettled || len(all) != n {
		t.Fatalf("the endpoint has %d deliveries, %d are expected", len(all), n)
	}
	return all
}

func TestListWebhookDeliveries_SaysWhatBecameOfEach(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		inbox := newBroken(t)
		e := endpoint(t, c, inbox.URL, sdk.EventProductCreated, sdk.EventProductUpdated)
		p := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		failed := settled(t, c, e.ID, 1)[0]
		if failed.Object != "webhook_delivery" || failed.WebhookEndpoint != e.ID || failed.Type != sdk.EventProductCreated || failed.Status != sdk.WebhookDeliveryStatusFailed ||
			*failed.Reason != sdk.WebhookDeliveryReasonHTTPStatus || *failed.StatusCode != 500 || *failed.Response != "out of order" ||
			failed.Attempts != 1 || *failed.DurationMS < 0 || *failed.DurationMS > 5000 || failed.FinishedAt.Time().Before(failed.CreatedAt.Time()) {
			t.Errorf("the failed delivery is %+v", failed)
		}
		inbox.repaired.Store(true)
		ok[*sdk.Product](t)(c.Products.Update(background, p.ID, &sdk.ProductUpdate{Name: new("Field Guide")}))
		all := settled(t, c, e.ID, 2)
		succeeded := all[0]
		if all[1].ID != failed.ID || succeeded.Type != sdk.EventProductUpdated || succeeded.Status != sdk.WebhookDeliveryStatusSucceeded ||
			succeeded.Reason != nil || *succeeded.StatusCode != 200 || *succeeded.Response != "thank you" {
			t.Errorf("the deliveries are %+v", all)
		}

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
			if !slices.Equal(ids, want.ids) || list.HasMore != (name == "the first") {
				t.Errorf("%s: %v are listed, more %t; %v are expected", name, ids, list.HasMore, want.ids)
			}
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
		if event == nil || event.ID != list.Data[0].Event.ID || event.Type != sdk.EventProductCreated || !strings.Contains(string(event.Data), p.ID) {
			t.Errorf("the event is %+v", event)
		}
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
		if got := ok[*sdk.WebhookRedelivery](t)(c.WebhookEndpoints.Redeliver(background, e.ID, hour())); got.Count != 3 || got.Object != "webhook_redelivery" {
			t.Errorf("the redelivery is %+v", got)
		}
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
