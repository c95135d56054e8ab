package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// DriftAds implements POST /test_helpers/ads/drift.
func (h *Handlers) DriftAds(ctx context.Context, r api.DriftAdsRequestObject) (api.DriftAdsResponseObject, error) {
	campaign, err := h.ads.DriftAds(ctx, account(ctx), view.DriftAds(r.Body))
	if err != nil {
		return nil, err
	}
	return api.DriftAds200JSONResponse(view.AdDrift(campaign, r.Body.Kind)), nil
}
