package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListAdAudiences implements GET /ads/audiences.
func (h *Handlers) ListAdAudiences(ctx context.Context, r api.ListAdAudiencesRequestObject) (api.ListAdAudiencesResponseObject, error) {
	page, err := h.ads.ListAudiences(ctx, account(ctx), view.ListAdAudiences(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListAdAudiences200JSONResponse(view.CursorList("/v1/ads/audiences", page, view.AdAudience)), nil
}

// CreateAdAudience implements POST /ads/audiences.
func (h *Handlers) CreateAdAudience(ctx context.Context, r api.CreateAdAudienceRequestObject) (api.CreateAdAudienceResponseObject, error) {
	a, err := h.ads.CreateAudience(ctx, actor(ctx), view.NewAdAudience(r.Body))
	if err != nil {
		return nil, err
	}
	return api.CreateAdAudience201JSONResponse(view.AdAudience(a)), nil
}

// GetAdAudience implements GET /ads/audiences/{id}.
func (h *Handlers) GetAdAudience(ctx context.Context, r api.GetAdAudienceRequestObject) (api.GetAdAudienceResponseObject, error) {
	a, err := h.ads.GetAudience(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetAdAudience200JSONResponse(view.AdAudience(a)), nil
}

// DeleteAdAudience implements DELETE /ads/audiences/{id}.
func (h *Handlers) DeleteAdAudience(ctx context.Context, r api.DeleteAdAudienceRequestObject) (api.DeleteAdAudienceResponseObject, error) {
	a, err := h.ads.DeleteAudience(ctx, actor(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteAdAudience200JSONResponse(view.Deleted("audience", a.ID)), nil
}

// UploadAdAudienceUsers implements POST /ads/audiences/{id}/users.
func (h *Handlers) UploadAdAudienceUsers(ctx context.Context, r api.UploadAdAudienceUsersRequestObject) (api.UploadAdAudienceUsersResponseObject, error) {
	users, other := view.AdUsers(r.Body)
	result, err := h.ads.UploadAudienceUsers(ctx, actor(ctx), r.ID, users)
	if err != nil {
		return nil, err
	}
	return api.UploadAdAudienceUsers200JSONResponse(view.AdAudienceUpload(result, other)), nil
}

// RemoveAdAudienceUsers implements DELETE /ads/audiences/{id}/users.
func (h *Handlers) RemoveAdAudienceUsers(ctx context.Context, r api.RemoveAdAudienceUsersRequestObject) (api.RemoveAdAudienceUsersResponseObject, error) {
	users, other := view.AdUsers(r.Body)
	result, err := h.ads.RemoveAudienceUsers(ctx, actor(ctx), r.ID, users)
	if err != nil {
		return nil, err
	}
	return api.RemoveAdAudienceUsers200JSONResponse(view.AdAudienceRemoval(result, other)), nil
}
