package handlers

import (
	"context"
	"net/url"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListAdCampaigns implements GET /ads/campaigns.
func (h *Handlers) ListAdCampaigns(ctx context.Context, r api.ListAdCampaignsRequestObject) (api.ListAdCampaignsResponseObject, error) {
	page, err := h.ads.ListCampaigns(ctx, account(ctx), view.ListAdCampaigns(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListAdCampaigns200JSONResponse(view.CursorList("/v1/ads/campaigns", page, view.AdCampaign)), nil
}

// GetAdCampaign implements GET /ads/campaigns/{id}.
func (h *Handlers) GetAdCampaign(ctx context.Context, r api.GetAdCampaignRequestObject) (api.GetAdCampaignResponseObject, error) {
	c, err := h.ads.GetCampaign(ctx, account(ctx), r.ID, view.AdObject(r.Params.Platform, r.Params.From, r.Params.To))
	if err != nil {
		return nil, err
	}
	return api.GetAdCampaign200JSONResponse(view.AdCampaign(c)), nil
}

// UpdateAdCampaign implements PATCH /ads/campaigns/{id}.
func (h *Handlers) UpdateAdCampaign(ctx context.Context, r api.UpdateAdCampaignRequestObject) (api.UpdateAdCampaignResponseObject, error) {
	out, err := h.ads.UpdateCampaign(ctx, actor(ctx), r.ID, view.AdBudgetChange(r.Body, r.Params.DryRun))
	switch {
	case err != nil:
		return nil, err
	case out.Plan != nil:
		return api.UpdateAdCampaignPlanJSONResponse(view.AdPlan(out.Plan)), nil
	}
	return api.UpdateAdCampaign200JSONResponse(view.AdCampaign(out.Campaign)), nil
}

// DeleteAdCampaign implements DELETE /ads/campaigns/{id}.
func (h *Handlers) DeleteAdCampaign(ctx context.Context, r api.DeleteAdCampaignRequestObject) (api.DeleteAdCampaignResponseObject, error) {
	deleted, err := h.ads.DeleteCampaign(ctx, actor(ctx), r.ID, platform(r.Body.Platform))
	if err != nil {
		return nil, err
	}
	return api.DeleteAdCampaign200JSONResponse(view.DeletedAdCampaign(deleted)), nil
}

// ListAdCampaignAdGroups implements GET /ads/campaigns/{id}/ad-groups.
func (h *Handlers) ListAdCampaignAdGroups(ctx context.Context, r api.ListAdCampaignAdGroupsRequestObject) (api.ListAdCampaignAdGroupsResponseObject, error) {
	page, err := h.ads.ListCampaignAdGroups(ctx, account(ctx), r.ID, view.ListAdGroups(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListAdCampaignAdGroups200JSONResponse(view.CursorList("/v1/ads/campaigns/"+url.PathEscape(r.ID)+"/ad-groups", page, view.AdGroup)), nil
}

// PauseAdCampaigns implements POST /ads/campaigns/bulk-pause.
func (h *Handlers) PauseAdCampaigns(ctx context.Context, r api.PauseAdCampaignsRequestObject) (api.PauseAdCampaignsResponseObject, error) {
	result, err := h.ads.BulkPauseCampaigns(ctx, actor(ctx), view.AdBulk(r.Body, r.Params.DryRun))
	switch {
	case err != nil:
		return nil, err
	case result.Plan != nil:
		return api.PauseAdCampaignsPlanJSONResponse(view.AdPlan(result.Plan)), nil
	}
	return api.PauseAdCampaigns200JSONResponse(view.AdBulkResult(result)), nil
}

// ResumeAdCampaigns implements POST /ads/campaigns/bulk-resume.
func (h *Handlers) ResumeAdCampaigns(ctx context.Context, r api.ResumeAdCampaignsRequestObject) (api.ResumeAdCampaignsResponseObject, error) {
	result, err := h.ads.BulkResumeCampaigns(ctx, actor(ctx), view.AdBulk(r.Body, r.Params.DryRun))
	switch {
	case err != nil:
		return nil, err
	case result.Plan != nil:
		return api.ResumeAdCampaignsPlanJSONResponse(view.AdPlan(result.Plan)), nil
	}
	return api.ResumeAdCampaigns200JSONResponse(view.AdBulkResult(result)), nil
}

// platform returns the network that a body names, empty if it names none.
func platform(p *api.AdPlatform) string {
	if p == nil {
		return ""
	}
	return string(*p)
}
