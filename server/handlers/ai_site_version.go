package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListAISiteVersions implements GET /ai_sites/{id}/versions.
func (h *Handlers) ListAISiteVersions(ctx context.Context, r api.ListAISiteVersionsRequestObject) (api.ListAISiteVersionsResponseObject, error) {
	page := view.Page(r.Params.Limit, r.Params.StartingAfter, r.Params.EndingBefore)
	versions, more, err := h.store.Content.ListAISiteVersions(ctx, account(ctx), r.ID, page)
	if err != nil {
		return nil, err
	}
	return api.ListAISiteVersions200JSONResponse(view.List("/v1/ai_sites/"+r.ID+"/versions", versions, more, view.AISiteVersion)), nil
}

// GetAISiteVersion implements GET /ai_sites/{id}/versions/{version}.
func (h *Handlers) GetAISiteVersion(ctx context.Context, r api.GetAISiteVersionRequestObject) (api.GetAISiteVersionResponseObject, error) {
	v, err := h.store.Content.GetAISiteVersion(ctx, account(ctx), r.ID, r.Version)
	if err != nil {
		return nil, err
	}
	return api.GetAISiteVersion200JSONResponse(view.AISiteVersion(v)), nil
}

// GenerateAISite implements POST /ai_sites/{id}/generate.
func (h *Handlers) GenerateAISite(ctx context.Context, r api.GenerateAISiteRequestObject) (api.GenerateAISiteResponseObject, error) {
	v, err := h.composer.Generate(ctx, account(ctx), r.ID, r.Body.Prompt)
	if err != nil {
		return nil, err
	}
	return api.GenerateAISite201JSONResponse(view.AISiteVersion(v)), nil
}
