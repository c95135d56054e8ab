package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// EstimateAdReach implements POST /ads/targeting/reach.
func (h *Handlers) EstimateAdReach(ctx context.Context, r api.EstimateAdReachRequestObject) (api.EstimateAdReachResponseObject, error) {
	reach, err := h.ads.EstimateReach(ctx, account(ctx), view.EstimateAdReach(r.Body))
	if err != nil {
		return nil, err
	}
	return api.EstimateAdReach200JSONResponse(view.ReachEstimate(reach)), nil
}
