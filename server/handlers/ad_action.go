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

// ExportAdActions implements GET /ads/actions/export.
func (h *Handlers) ExportAdActions(ctx context.Context, r api.ExportAdActionsRequestObject) (api.ExportAdActionsResponseObject, error) {
	u, err := h.export(ctx, "actions", r.Params)
	return api.ExportAdActions200JSONResponse(u), err
}
