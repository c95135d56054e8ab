package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListAdActions implements GET /ads/actions.
func (h *Handlers) ListAdActions(ctx context.Context, r api.ListAdActionsRequestObject) (api.ListAdActionsResponseObject, error) {
	actions, more, err := h.store.ListAdActions(ctx, account(ctx), view.ListAdActions(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListAdActions200JSONResponse(view.List("/v1/ads/actions", actions, more, view.AdAction)), nil
}
