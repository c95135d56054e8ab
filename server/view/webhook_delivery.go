package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/outbox"
)

// WebhookDelivery renders a delivery.
func WebhookDelivery(d *outbox.Delivery) api.WebhookDelivery {
	return api.WebhookDelivery{
		ID:              d.ID,
		Object:          "webhook_delivery",
		Event:           wire.RefTo(d.EventID),
		WebhookEndpoint: d.EndpointID,
		Type:            d.Type,
		Status:          api.WebhookDeliveryStatus(d.State),
		Reason:          enum[api.WebhookDeliveryReason](d.Reason),
		Attempts:        int64(d.Attempts),
		StatusCode:      statusCode(d.StatusCode),
		DurationMS:      d.DurationMS,
		Response:        d.Response,
		CreatedAt:       at(d.CreatedAt),
		UpdatedAt:       at(d.UpdatedAt),
		FinishedAt:      atOrNull(d.FinishedAt),
	}
}

// WebhookTest renders the delivery of a test event, which is not stored.
func WebhookTest(d *outbox.Delivery) api.WebhookTest {
	return api.WebhookTest{
		Object:     "webhook_test",
		Event:      d.EventID,
		Type:       d.Type,
		Delivered:  d.State == outbox.DeliverySucceeded,
		Reason:     enum[api.WebhookDeliveryReason](d.Reason),
		StatusCode: statusCode(d.StatusCode),
		DurationMS: value(d.DurationMS),
		Response:   d.Response,
	}
}

// ListWebhookDeliveries reads the query of a list.
func ListWebhookDeliveries(q api.ListWebhookDeliveriesParams) outbox.ListDeliveries {
	return outbox.ListDeliveries{
		Page:          Page(q.Limit, q.StartingAfter, q.EndingBefore),
		CreatedAfter:  stored(q.CreatedAfter),
		CreatedBefore: stored(q.CreatedBefore),
		State:         outbox.DeliveryState(value(q.Status)),
		Type:          value(q.Type),
		Event:         value(q.Event),
	}
}

func statusCode(code *int) *int64 {
	if code == nil {
		return nil
	}
	return new(int64(*code))
}
