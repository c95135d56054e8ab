package handlers

import (
	"cmp"
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/outbox"
)

// ListWebhookEvents implements GET /webhook_events.
func (h *Handlers) ListWebhookEvents(ctx context.Context, r api.ListWebhookEventsRequestObject) (api.ListWebhookEventsResponseObject, error) {
	in := view.ListWebhookEvents(r.Params)
	if err := mayRead(ctx, []string{cmp.Or(in.Type, outbox.EventAll)}); err != nil {
		return nil, err
	}
	events, more, err := h.store.Outbox.ListEvents(ctx, account(ctx), in)
	if err != nil {
		return nil, err
	}
	return api.ListWebhookEvents200JSONResponse(view.List("/v1/webhook_events", events, more, view.WebhookEvent)), nil
}

// GetWebhookEvent implements GET /webhook_events/{id}.
func (h *Handlers) GetWebhookEvent(ctx context.Context, r api.GetWebhookEventRequestObject) (api.GetWebhookEventResponseObject, error) {
	e, err := h.store.Outbox.GetEvent(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	if err := mayRead(ctx, []string{e.Type}); err != nil {
		return nil, err
	}
	return api.GetWebhookEvent200JSONResponse(view.WebhookEvent(e)), nil
}

// RedeliverWebhookEvent implements POST /webhook_events/{id}/redeliver.
func (h *Handlers) RedeliverWebhookEvent(ctx context.Context, r api.RedeliverWebhookEventRequestObject) (api.RedeliverWebhookEventResponseObject, error) {
	e, err := h.store.Outbox.GetEvent(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	if err := mayRead(ctx, []string{e.Type}); err != nil {
		return nil, err
	}
	d, err := h.store.Outbox.RedeliverEvent(ctx, account(ctx), r.ID, r.Body.WebhookEndpoint)
	if err != nil {
		return nil, err
	}
	return api.RedeliverWebhookEvent200JSONResponse(view.WebhookDelivery(d)), nil
}
