package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
)

// ListWebhookEndpoints implements GET /webhook_endpoints.
func (h *Handlers) ListWebhookEndpoints(ctx context.Context, r api.ListWebhookEndpointsRequestObject) (api.ListWebhookEndpointsResponseObject, error) {
	endpoints, more, err := h.store.ListWebhookEndpoints(ctx, account(ctx), view.ListWebhookEndpoints(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListWebhookEndpoints200JSONResponse(view.List("/v1/webhook_endpoints", endpoints, more, view.WebhookEndpoint)), nil
}

// CreateWebhookEndpoint implements POST /webhook_endpoints. This is the one answer that holds the secret.
func (h *Handlers) CreateWebhookEndpoint(ctx context.Context, r api.CreateWebhookEndpointRequestObject) (api.CreateWebhookEndpointResponseObject, error) {
	if err := h.checkURL(&r.Body.URL); err != nil {
		return nil, err
	}
	e, err := h.store.CreateWebhookEndpoint(ctx, account(ctx), view.NewWebhookEndpoint(r.Body))
	if err != nil {
		return nil, err
	}
	return api.CreateWebhookEndpoint201JSONResponse(view.WebhookEndpoint(e)), nil
}

// GetWebhookEndpoint implements GET /webhook_endpoints/{id}.
func (h *Handlers) GetWebhookEndpoint(ctx context.Context, r api.GetWebhookEndpointRequestObject) (api.GetWebhookEndpointResponseObject, error) {
	e, err := h.store.GetWebhookEndpoint(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetWebhookEndpoint200JSONResponse(view.WebhookEndpoint(e)), nil
}

// UpdateWebhookEndpoint implements PATCH /webhook_endpoints/{id}.
func (h *Handlers) UpdateWebhookEndpoint(ctx context.Context, r api.UpdateWebhookEndpointRequestObject) (api.UpdateWebhookEndpointResponseObject, error) {
	if _, err := h.store.GetWebhookEndpoint(ctx, account(ctx), r.ID); err != nil {
		return nil, err // before anything is said about the URL
	}
	if err := h.checkURL(r.Body.URL); err != nil {
		return nil, err
	}
	e, err := h.store.UpdateWebhookEndpoint(ctx, account(ctx), r.ID, view.WebhookEndpointChange(r.Body))
	if err != nil {
		return nil, err
	}
	return api.UpdateWebhookEndpoint200JSONResponse(view.WebhookEndpoint(e)), nil
}

// DeleteWebhookEndpoint implements DELETE /webhook_endpoints/{id}.
func (h *Handlers) DeleteWebhookEndpoint(ctx context.Context, r api.DeleteWebhookEndpointRequestObject) (api.DeleteWebhookEndpointResponseObject, error) {
	e, err := h.store.DeleteWebhookEndpoint(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteWebhookEndpoint200JSONResponse(view.Deleted("webhook_endpoint", e.ID)), nil
}

// ListWebhookEventTypes implements GET /webhook_endpoints/events.
func (h *Handlers) ListWebhookEventTypes(context.Context, api.ListWebhookEventTypesRequestObject) (api.ListWebhookEventTypesResponseObject, error) {
	return api.ListWebhookEventTypes200JSONResponse(h.eventTypes), nil
}

// checkURL puts a URL into the form that is stored, or refuses one that must not be called.
func (h *Handlers) checkURL(url *string) error {
	if url == nil {
		return nil
	}
	checked, err := h.guard.CheckURL(*url)
	if err != nil {
		return store.Invalid("url", "url "+err.Error()+".")
	}
	*url = checked
	return nil
}
