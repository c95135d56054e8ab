package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// GetAdLimits implements GET /ads/limits.
func (h *Handlers) GetAdLimits(ctx context.Context, _ api.GetAdLimitsRequestObject) (api.GetAdLimitsResponseObject, error) {
	l, err := h.ads.GetLimits(ctx, account(ctx))
	if err != nil {
		return nil, err
	}
	return api.GetAdLimits200JSONResponse(view.AdLimits(l)), nil
}

// UpdateAdLimits implements PATCH /ads/limits.
func (h *Handlers) UpdateAdLimits(ctx context.Context, r api.UpdateAdLimitsRequestObject) (api.UpdateAdLimitsResponseObject, error) {
	change, err := view.AdLimitsChange(r.Body)
	if err != nil {
		return nil, err
	}
	l, err := h.ads.UpdateLimits(ctx, actor(ctx), change)
	if err != nil {
		return nil, err
	}
	return api.UpdateAdLimits200JSONResponse(view.AdLimits(l)), nil
}
