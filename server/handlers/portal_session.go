package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// CreatePortalSession implements POST /customers/{id}/portal_sessions.
func (h *Handlers) CreatePortalSession(ctx context.Context, r api.CreatePortalSessionRequestObject) (api.CreatePortalSessionResponseObject, error) {
	p, err := h.store.Portal.CreateSession(ctx, account(ctx), r.ID, r.Body.ReturnURL)
	if err != nil {
		return nil, err
	}
	return api.CreatePortalSession201JSONResponse(view.PortalSession(p)), nil
}

// DeletePortalSession implements DELETE /customers/{id}/portal_sessions/{portal_session}.
func (h *Handlers) DeletePortalSession(ctx context.Context, r api.DeletePortalSessionRequestObject) (api.DeletePortalSessionResponseObject, error) {
	p, err := h.store.Portal.DeleteSession(ctx, account(ctx), r.ID, r.PortalSession)
	if err != nil {
		return nil, err
	}
	return api.DeletePortalSession200JSONResponse(view.Deleted("portal_session", p.ID)), nil
}
