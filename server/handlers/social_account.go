package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListSocialAccounts implements GET /socials.
func (h *Handlers) ListSocialAccounts(ctx context.Context, r api.ListSocialAccountsRequestObject) (api.ListSocialAccountsResponseObject, error) {
	channels, more, err := h.store.Advert.ListSocialAccounts(ctx, account(ctx), view.ListSocialAccounts(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListSocialAccounts200JSONResponse(view.List("/v1/socials", channels, more, view.SocialAccount)), nil
}

// ExportSocialAccounts implements GET /socials/export.
func (h *Handlers) ExportSocialAccounts(ctx context.Context, r api.ExportSocialAccountsRequestObject) (api.ExportSocialAccountsResponseObject, error) {
	u, err := h.export(ctx, "socials", r.Params)
	return api.ExportSocialAccounts200JSONResponse(u), err
}

// ConnectSocialAccount implements POST /socials.
func (h *Handlers) ConnectSocialAccount(ctx context.Context, r api.ConnectSocialAccountRequestObject) (api.ConnectSocialAccountResponseObject, error) {
	a, err := h.ads.ConnectSocialAccount(ctx, account(ctx), view.ConnectSocialAccount(r.Body))
	if err != nil {
		return nil, err
	}
	return api.ConnectSocialAccount201JSONResponse(view.SocialAccount(a)), nil
}

// GetSocialAccount implements GET /socials/{id}.
func (h *Handlers) GetSocialAccount(ctx context.Context, r api.GetSocialAccountRequestObject) (api.GetSocialAccountResponseObject, error) {
	a, err := h.store.Advert.GetSocialAccount(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetSocialAccount200JSONResponse(view.SocialAccount(a)), nil
}

// UpdateSocialAccount implements PATCH /socials/{id}.
func (h *Handlers) UpdateSocialAccount(ctx context.Context, r api.UpdateSocialAccountRequestObject) (api.UpdateSocialAccountResponseObject, error) {
	a, err := h.ads.RenewSocialAccount(ctx, account(ctx), r.ID, r.Body.Token)
	if err != nil {
		return nil, err
	}
	return api.UpdateSocialAccount200JSONResponse(view.SocialAccount(a)), nil
}

// DeleteSocialAccount implements DELETE /socials/{id}.
func (h *Handlers) DeleteSocialAccount(ctx context.Context, r api.DeleteSocialAccountRequestObject) (api.DeleteSocialAccountResponseObject, error) {
	deleted, err := h.ads.DeleteSocialAccount(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeleteSocialAccount200JSONResponse(view.DeletedSocialAccount(deleted)), nil
}

// ActivateSocialAccount implements POST /socials/activate.
func (h *Handlers) ActivateSocialAccount(ctx context.Context, r api.ActivateSocialAccountRequestObject) (api.ActivateSocialAccountResponseObject, error) {
	a, err := h.ads.ActivateSocialAccount(ctx, account(ctx), r.Body.AccountID)
	if err != nil {
		return nil, err
	}
	return api.ActivateSocialAccount200JSONResponse(view.SocialAccount(a)), nil
}

// DeactivateSocialAccount implements POST /socials/{id}/deactivate.
func (h *Handlers) DeactivateSocialAccount(ctx context.Context, r api.DeactivateSocialAccountRequestObject) (api.DeactivateSocialAccountResponseObject, error) {
	a, err := h.ads.DeactivateSocialAccount(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.DeactivateSocialAccount200JSONResponse(view.SocialAccount(a)), nil
}

// SyncSocialAccount implements POST /socials/{id}/sync.
func (h *Handlers) SyncSocialAccount(ctx context.Context, r api.SyncSocialAccountRequestObject) (api.SyncSocialAccountResponseObject, error) {
	a, err := h.ads.SyncSocialAccount(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.SyncSocialAccount200JSONResponse(view.SocialAccount(a)), nil
}

// ListSocialPosts implements GET /socials/{id}/posts.
func (h *Handlers) ListSocialPosts(ctx context.Context, r api.ListSocialPostsRequestObject) (api.ListSocialPostsResponseObject, error) {
	posts, more, err := h.ads.ListSocialPosts(ctx, account(ctx), r.ID, view.Page(r.Params.Limit, r.Params.StartingAfter, r.Params.EndingBefore))
	if err != nil {
		return nil, err
	}
	return api.ListSocialPosts200JSONResponse(view.List("/v1/socials/"+r.ID+"/posts", posts, more, view.SocialPost)), nil
}
