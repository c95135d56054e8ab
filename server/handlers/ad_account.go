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
