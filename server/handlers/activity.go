package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/view"
)

// ListActivity implements GET /activity.
func (h *Handlers) ListActivity(ctx context.Context, r api.ListActivityRequestObject) (api.ListActivityResponseObject, error) {
	lines, more, err := h.store.Activity.ListActivities(ctx, account(ctx), view.ListActivity(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListActivity200JSONResponse(view.List("/v1/activity", lines, more, view.Activity(caller.Of(ctx).May))), nil
}

// ExportActivity implements GET /activity/export.
func (h *Handlers) ExportActivity(ctx context.Context, r api.ExportActivityRequestObject) (api.ExportActivityResponseObject, error) {
	u, err := h.export(ctx, "activity", r.Params)
	return api.ExportActivity200JSONResponse(u), err
}
