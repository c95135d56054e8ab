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

// ExportAISites implements GET /ai_sites/export.
func (h *Handlers) ExportAISites(ctx context.Context, r api.ExportAISitesRequestObject) (api.ExportAISitesResponseObject, error) {
	u, err := h.export(ctx, "ai_sites", r.Params)
	return api.ExportAISites200JSONResponse(u), err
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

// PublishAISite implements POST /ai_sites/{id}/publish.
func (h *Handlers) PublishAISite(ctx context.Context, r api.PublishAISiteRequestObject) (api.PublishAISiteResponseObject, error) {
	a, err := h.store.Content.PublishAISite(ctx, account(ctx), r.ID, r.Body.Version)
	if err != nil {
		return nil, err
	}
	return api.PublishAISite200JSONResponse(view.AISite(a)), nil
}

// UnpublishAISite implements POST /ai_sites/{id}/unpublish.
func (h *Handlers) UnpublishAISite(ctx context.Context, r api.UnpublishAISiteRequestObject) (api.UnpublishAISiteResponseObject, error) {
	a, err := h.store.Content.UnpublishAISite(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.UnpublishAISite200JSONResponse(view.AISite(a)), nil
}

// VerifyAISiteDomain implements POST /ai_sites/{id}/verify_domain.
func (h *Handlers) VerifyAISiteDomain(ctx context.Context, r api.VerifyAISiteDomainRequestObject) (api.VerifyAISiteDomainResponseObject, error) {
	a, err := h.domains.Verify(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.VerifyAISiteDomain200JSONResponse(view.AISite(a)), nil
}
