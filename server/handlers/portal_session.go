package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// CreatePortalSession implements POST /customers/{id}/portal_sessions.
func (h *Handlers) CreatePortalSession(ctx context.Context, r api.CreatePortalSessionRequestObject) (api.CreatePortalSessionResponseObject, error) {
	p, err := h.store.CreatePortalSession(ctx, account(ctx), r.ID, r.Body.ReturnURL)
	if err != nil {
		return nil, err
	}
	return api.CreatePortalSession201JSONResponse(view.PortalSession(p)), nil
}
