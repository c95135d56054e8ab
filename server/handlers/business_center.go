package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListBusinessCenters implements GET /ads/business-centers.
func (h *Handlers) ListBusinessCenters(ctx context.Context, r api.ListBusinessCentersRequestObject) (api.ListBusinessCentersResponseObject, error) {
	page, err := h.ads.ListBusinessCenters(ctx, account(ctx), view.ListBusinessCenters(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListBusinessCenters200JSONResponse(view.CursorList("/v1/ads/business-centers", page, view.BusinessCenter)), nil
}
