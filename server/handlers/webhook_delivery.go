package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
)

// ListWebhookDeliveries implements GET /webhook_endpoints/{id}/deliveries.
func (h *Handlers) ListWebhookDeliveries(ctx context.Context, r api.ListWebhookDeliveriesRequestObject) (api.ListWebhookDeliveriesResponseObject, error) {
	deliveries, more, err := h.store.Outbox.ListDeliveries(ctx, account(ctx), r.ID, view.ListWebhookDeliveries(r.Params))
	if err != nil {
		return nil, err
	}
	url := "/v1/webhook_endpoints/" + r.ID + "/deliveries"
	out, err := showList(ctx, h, url, deliveries, more, view.WebhookDelivery, r.Params.Expand)
	return api.ListWebhookDeliveries200JSONResponse(out), err
}

// RedeliverWebhookEndpoint implements POST /webhook_endpoints/{id}/redeliver.
func (h *Handlers) RedeliverWebhookEndpoint(ctx context.Context, r api.RedeliverWebhookEndpointRequestObject) (api.RedeliverWebhookEndpointResponseObject, error) {
	if err := mayRead(ctx, []string{outbox.EventAll}); err != nil { // the deliveries that failed may be of any type
		return nil, err
	}
	after, before := core.TimeOf(r.Body.CreatedAfter.Time()), core.TimeOf(r.Body.CreatedBefore.Time())
	count, err := h.store.Outbox.RedeliverFailed(ctx, account(ctx), r.ID, after, before)
	if err != nil {
		return nil, err
	}
	return api.RedeliverWebhookEndpoint200JSONResponse{Object: "webhook_redelivery", Count: int64(count)}, nil
}
