package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// CreateSocialConnection implements POST /socials/connect.
func (h *Handlers) CreateSocialConnection(ctx context.Context, r api.CreateSocialConnectionRequestObject) (api.CreateSocialConnectionResponseObject, error) {
	c, err := h.ads.CreateSocialConnection(ctx, account(ctx), view.CreateSocialConnection(r.Body))
	if err != nil {
		return nil, err
	}
	return api.CreateSocialConnection201JSONResponse(view.BegunConnection(c, h.store.Now())), nil
}

// GetSocialConnection implements GET /socials/connections/{id}.
func (h *Handlers) GetSocialConnection(ctx context.Context, r api.GetSocialConnectionRequestObject) (api.GetSocialConnectionResponseObject, error) {
	c, err := h.ads.GetSocialConnection(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetSocialConnection200JSONResponse(view.SocialConnection(c, h.store.Now())), nil
}

// SelectSocialProfile implements POST /socials/connections/{id}/select.
func (h *Handlers) SelectSocialProfile(ctx context.Context, r api.SelectSocialProfileRequestObject) (api.SelectSocialProfileResponseObject, error) {
	c, err := h.ads.SelectSocialProfile(ctx, account(ctx), r.ID, r.Body.PlatformAccountID)
	if err != nil {
		return nil, err
	}
	return api.SelectSocialProfile200JSONResponse(view.SocialConnection(c, h.store.Now())), nil
}
