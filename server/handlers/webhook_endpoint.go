package handlers

import (
	"context"
	"slices"
	"time"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/outbox"
)

// ListWebhookEndpoints implements GET /webhook_endpoints.
func (h *Handlers) ListWebhookEndpoints(ctx context.Context, r api.ListWebhookEndpointsRequestObject) (api.ListWebhookEndpointsResponseObject, error) {
	endpoints, more, err := h.store.Outbox.ListWebhookEndpoints(ctx, account(ctx), view.ListWebhookEndpoints(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListWebhookEndpoints200JSONResponse(view.List("/v1/webhook_endpoints", endpoints, more, h.webhookEndpoint)), nil
}

// ExportWebhookEndpoints implements GET /webhook_endpoints/export.
func (h *Handlers) ExportWebhookEndpoints(ctx context.Context, r api.ExportWebhookEndpointsRequestObject) (api.ExportWebhookEndpointsResponseObject, error) {
	u, err := h.export(ctx, "webhook_endpoints", r.Params)
	return api.ExportWebhookEndpoints200JSONResponse(u), err
}

// CreateWebhookEndpoint implements POST /webhook_endpoints. Its answer holds the secret.
func (h *Handlers) CreateWebhookEndpoint(ctx context.Context, r api.CreateWebhookEndpointRequestObject) (api.CreateWebhookEndpointResponseObject, error) {
	if err := h.checkURL(&r.Body.URL); err != nil {
		return nil, err
	}
	draft := view.NewWebhookEndpoint(r.Body)
	types := draft.EnabledEvents.V
	if types == nil {
		types = []string{outbox.EventAll}
	}
	if err := mayRead(ctx, types); err != nil {
		return nil, err
	}
	e, err := h.store.Outbox.CreateWebhookEndpoint(ctx, account(ctx), draft)
	if err != nil {
		return nil, err
	}
	return api.CreateWebhookEndpoint201JSONResponse(h.webhookEndpoint(e)), nil
}

// GetWebhookEndpoint implements GET /webhook_endpoints/{id}.
func (h *Handlers) GetWebhookEndpoint(ctx context.Context, r api.GetWebhookEndpointRequestObject) (api.GetWebhookEndpointResponseObject, error) {
	e, err := h.store.Outbox.GetWebhookEndpoint(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetWebhookEndpoint200JSONResponse(h.webhookEndpoint(e)), nil
}

// UpdateWebhookEndpoint implements PATCH /webhook_endpoints/{id}.
func (h *Handlers) UpdateWebhookEndpoint(ctx context.Context, r api.UpdateWebhookEndpointRequestObject) (api.UpdateWebhookEndpointResponseObject, error) {
	before, err := h.store.Outbox.GetWebhookEndpoint(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err // that there is no such endpoint is said before anything about the URL
	}
	redirects := r.Body.URL != nil || r.Body.Status != nil || r.Body.Format != nil || r.Body.EnabledEvents != nil
	if redirects {
		if err := mayRead(ctx, slices.Concat(before.EnabledEvents.V, r.Body.EnabledEvents)); err != nil {
			return nil, err
		}
	}
	if err := h.checkURL(r.Body.URL); err != nil {
		return nil, err
	}
	e, err := h.store.Outbox.UpdateWebhookEndpoint(ctx, account(ctx), r.ID, view.WebhookEndpointChange(r.Body))
	if err != nil {
		return nil, err
	}
	if redirects {
		if err := mayRead(ctx, e.EnabledEvents.V); err != nil {
			return nil, err // another request has subscribed it to more since it was read: nothing is changed
		}
	}
	return api.UpdateWebhookEndpoint200JSONResponse(h.webhookEndpoint(e)), nil
}

// DeleteWebhookEndpoint implements DELETE /webhook_endpoints/{id}.
func (h *Handlers) DeleteWebhookEndpoint(ctx context.Context, r api.DeleteWebhookEndpointRequestObject) (api.DeleteWebhookEndpointResponseObject, error) {
	e, err := h.store.Outbox.DeleteWebhookEndpoint(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteWebhookEndpoint200JSONResponse(view.Deleted("webhook_endpoint", e.ID)), nil
}

// RotateWebhookSecret implements POST /webhook_endpoints/{id}/rotate_secret. Its answer holds the new secret.
func (h *Handlers) RotateWebhookSecret(ctx context.Context, r api.RotateWebhookSecretRequestObject) (api.RotateWebhookSecretResponseObject, error) {
	overlap := outbox.DefaultSecretOverlap
	if hours := r.Body.OverlapHours; hours != nil {
		overlap = time.Duration(*hours) * time.Hour
	}
	e, err := h.store.Outbox.RotateWebhookSecret(ctx, account(ctx), r.ID, overlap)
	if err != nil {
		return nil, err
	}
	return api.RotateWebhookSecret200JSONResponse(h.webhookEndpoint(e)), nil
}

// TestWebhookEndpoint implements POST /webhook_endpoints/{id}/test.
func (h *Handlers) TestWebhookEndpoint(ctx context.Context, r api.TestWebhookEndpointRequestObject) (api.TestWebhookEndpointResponseObject, error) {
	kind := outbox.EventOrderPaid
	if r.Body.Type != nil {
		kind = *r.Body.Type
	}
	turn := caller.Of(ctx).Turn
	turn.Wait()
	defer turn.GoOn()
	d, err := h.tester.Test(ctx, account(ctx), r.ID, kind, view.EventExample(kind))
	if err != nil {
		return nil, err
	}
	return api.TestWebhookEndpoint200JSONResponse(view.WebhookTest(d)), nil
}

// ListWebhookEventTypes implements GET /webhook_endpoints/events.
func (h *Handlers) ListWebhookEventTypes(context.Context, api.ListWebhookEventTypesRequestObject) (api.ListWebhookEventTypesResponseObject, error) {
	return api.ListWebhookEventTypes200JSONResponse(h.eventTypes), nil
}

func (h *Handlers) webhookEndpoint(e *outbox.WebhookEndpoint) api.WebhookEndpoint {
	return view.WebhookEndpoint(e, h.store.Now())
}

// checkURL brings a URL into the form that is stored, and refuses one that must not be called.
func (h *Handlers) checkURL(url *string) error {
	if url == nil {
		return nil
	}
	checked, err := h.guard.CheckURL(*url)
	if err != nil {
		return core.Invalid("url", "url "+err.Error()+".")
	}
	*url = checked
	return nil
}
