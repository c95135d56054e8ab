package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListAdActions implements GET /ads/actions.
func (h *Handlers) ListAdActions(ctx context.Context, r api.ListAdActionsRequestObject) (api.ListAdActionsResponseObject, error) {
	query := view.ListAdActions(r.Params)
	actions, more, err := h.store.Advert.ListActions(ctx, account(ctx), query)
	if err != nil {
		return nil, view.AdActionsRefusal(err, r.Params)
	}
	return api.ListAdActions200JSONResponse(view.AdActions(actions, more, query.Page)), nil
}
