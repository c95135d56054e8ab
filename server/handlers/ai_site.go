package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListAISites implements GET /ai_sites.
func (h *Handlers) ListAISites(ctx context.Context, r api.ListAISitesRequestObject) (api.ListAISitesResponseObject, error) {
	sites, more, err := h.store.Content.ListAISites(ctx, account(ctx), view.ListAISites(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListAISites200JSONResponse(view.List("/v1/ai_sites", sites, more, view.AISite)), nil
}

// CreateAISite implements POST /ai_sites.
func (h *Handlers) CreateAISite(ctx context.Context, r api.CreateAISiteRequestObject) (api.CreateAISiteResponseObject, error) {
	a, err := h.store.Content.CreateAISite(ctx, account(ctx), view.NewAISite(r.Body))
	if err != nil {
		return nil, err
	}
	return api.CreateAISite201JSONResponse(view.AISite(a)), nil
}

// GetAISite implements GET /ai_sites/{id}.
func (h *Handlers) GetAISite(ctx context.Context, r api.GetAISiteRequestObject) (api.GetAISiteResponseObject, error) {
	a, err := h.store.Content.GetAISite(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetAISite200JSONResponse(view.AISite(a)), nil
}

// UpdateAISite implements PATCH /ai_sites/{id}.
func (h *Handlers) UpdateAISite(ctx context.Context, r api.UpdateAISiteRequestObject) (api.UpdateAISiteResponseObject, error) {
	a, err := h.store.Content.UpdateAISite(ctx, account(ctx), r.ID, view.AISiteChange(r.Body))
	if err != nil {
		return nil, err
	}
	return api.UpdateAISite200JSONResponse(view.AISite(a)), nil
}

// DeleteAISite implements DELETE /ai_sites/{id}.
func (h *Handlers) DeleteAISite(ctx context.Context, r api.DeleteAISiteRequestObject) (api.DeleteAISiteResponseObject, error) {
	a, err := h.store.Content.DeleteAISite(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteAISite200JSONResponse(view.Deleted("ai_site", a.ID)), nil
}
