package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// GetAdGroup implements GET /ads/ad-groups/{id}.
func (h *Handlers) GetAdGroup(ctx context.Context, r api.GetAdGroupRequestObject) (api.GetAdGroupResponseObject, error) {
	g, err := h.ads.GetAdGroup(ctx, account(ctx), r.ID, view.AdObject(r.Params.Platform, r.Params.From, r.Params.To))
	if err != nil {
		return nil, err
	}
	return api.GetAdGroup200JSONResponse(view.AdGroup(g)), nil
}

// UpdateAdGroup implements PATCH /ads/ad-groups/{id}.
func (h *Handlers) UpdateAdGroup(ctx context.Context, r api.UpdateAdGroupRequestObject) (api.UpdateAdGroupResponseObject, error) {
	out, err := h.ads.UpdateAdGroup(ctx, actor(ctx), r.ID, view.AdGroupChange(r.Body, r.Params.DryRun))
	switch {
	case err != nil:
		return nil, err
	case out.Plan != nil:
		return api.UpdateAdGroupPlanJSONResponse(view.AdPlan(out.Plan)), nil
	}
	return api.UpdateAdGroup200JSONResponse(view.AdGroup(out.Group)), nil
}

// PauseAdGroup implements POST /ads/ad-groups/{id}/pause.
func (h *Handlers) PauseAdGroup(ctx context.Context, r api.PauseAdGroupRequestObject) (api.PauseAdGroupResponseObject, error) {
	result, err := h.ads.PauseAdGroup(ctx, actor(ctx), r.ID, platform(r.Body.Platform))
	if err != nil {
		return nil, err
	}
	return api.PauseAdGroup200JSONResponse(view.AdStatusResult(result)), nil
}

// ResumeAdGroup implements POST /ads/ad-groups/{id}/resume.
func (h *Handlers) ResumeAdGroup(ctx context.Context, r api.ResumeAdGroupRequestObject) (api.ResumeAdGroupResponseObject, error) {
	result, err := h.ads.ResumeAdGroup(ctx, actor(ctx), r.ID, platform(r.Body.Platform))
	if err != nil {
		return nil, err
	}
	return api.ResumeAdGroup200JSONResponse(view.AdStatusResult(result)), nil
}
