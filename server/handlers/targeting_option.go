package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// SearchAdTargeting implements GET /ads/targeting/search.
func (h *Handlers) SearchAdTargeting(ctx context.Context, r api.SearchAdTargetingRequestObject) (api.SearchAdTargetingResponseObject, error) {
	options, err := h.ads.SearchTargeting(ctx, account(ctx), view.SearchAdTargeting(r.Params))
	if err != nil {
		return nil, err
	}
	return api.SearchAdTargeting200JSONResponse(view.TargetingOptions(options)), nil
}
