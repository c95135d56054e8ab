package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListGrants implements GET /grants.
func (h *Handlers) ListGrants(ctx context.Context, r api.ListGrantsRequestObject) (api.ListGrantsResponseObject, error) {
	grants, more, err := h.store.ListGrants(ctx, account(ctx), view.ListGrants(r.Params))
	if err != nil {
		return nil, err
	}
	out, err := showList(ctx, h, "/v1/grants", grants, more, view.Grant, r.Params.Expand)
	return api.ListGrants200JSONResponse(out), err
}

// ExportGrants implements GET /grants/export.
func (h *Handlers) ExportGrants(ctx context.Context, r api.ExportGrantsRequestObject) (api.ExportGrantsResponseObject, error) {
	u, err := h.export(ctx, "grants", r.Params)
	return api.ExportGrants200JSONResponse(u), err
}

// CreateGrant implements POST /grants.
func (h *Handlers) CreateGrant(ctx context.Context, r api.CreateGrantRequestObject) (api.CreateGrantResponseObject, error) {
	grant, err := h.store.CreateGrant(ctx, account(ctx), view.NewGrant(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, grant, view.Grant, r.Params.Expand)
	return api.CreateGrant201JSONResponse(out), err
}

// GetGrant implements GET /grants/{id}.
func (h *Handlers) GetGrant(ctx context.Context, r api.GetGrantRequestObject) (api.GetGrantResponseObject, error) {
	grant, err := h.store.Grant.GetGrant(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, grant, view.Grant, r.Params.Expand)
	return api.GetGrant200JSONResponse(out), err
}

// UpdateGrant implements PATCH /grants/{id}.
func (h *Handlers) UpdateGrant(ctx context.Context, r api.UpdateGrantRequestObject) (api.UpdateGrantResponseObject, error) {
	grant, err := h.store.Grant.UpdateGrant(ctx, account(ctx), r.ID, view.GrantChange(r.Body))
	if err != nil {
		return nil, err
	}
	out, err := show(ctx, h, grant, view.Grant, r.Params.Expand)
	return api.UpdateGrant200JSONResponse(out), err
}

// RevokeGrant implements POST /grants/{id}/revoke.
func (h *Handlers) RevokeGrant(ctx context.Context, r api.RevokeGrantRequestObject) (api.RevokeGrantResponseObject, error) {
	grant, err := h.store.Grant.RevokeGrant(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.RevokeGrant200JSONResponse(view.Grant(grant)), nil
}

// ReinstateGrant implements POST /grants/{id}/reinstate.
func (h *Handlers) ReinstateGrant(ctx context.Context, r api.ReinstateGrantRequestObject) (api.ReinstateGrantResponseObject, error) {
	grant, err := h.store.Grant.ReinstateGrant(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.ReinstateGrant200JSONResponse(view.Grant(grant)), nil
}

// GetGrantDownload implements GET /grants/{id}/download.
func (h *Handlers) GetGrantDownload(ctx context.Context, r api.GetGrantDownloadRequestObject) (api.GetGrantDownloadResponseObject, error) {
	u, err := h.store.GetGrantDownload(ctx, account(ctx), r.ID, r.Params.File, view.ExpiresIn(r.Params.ExpiresIn))
	if err != nil {
		return nil, err
	}
	return api.GetGrantDownload200JSONResponse(view.SignedURL(u)), nil
}
