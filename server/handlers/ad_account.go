package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListAdAccounts implements GET /ads/ad-accounts.
func (h *Handlers) ListAdAccounts(ctx context.Context, r api.ListAdAccountsRequestObject) (api.ListAdAccountsResponseObject, error) {
	page, err := h.ads.ListAdAccounts(ctx, account(ctx), view.ListAdAccounts(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListAdAccounts200JSONResponse(view.CursorList("/v1/ads/ad-accounts", page, view.AdAccount)), nil
}

// UpdateAdAccount implements PATCH /ads/ad-accounts/{id}.
func (h *Handlers) UpdateAdAccount(ctx context.Context, r api.UpdateAdAccountRequestObject) (api.UpdateAdAccountResponseObject, error) {
	a, err := h.ads.UpdateAdAccount(ctx, account(ctx), r.ID, view.AdAccountChange(r.Body))
	if err != nil {
		return nil, err
	}
	return api.UpdateAdAccount200JSONResponse(view.AdAccount(a)), nil
}
