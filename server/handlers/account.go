package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// GetAccount implements GET /account.
func (h *Handlers) GetAccount(ctx context.Context, _ api.GetAccountRequestObject) (api.GetAccountResponseObject, error) {
	a, err := h.store.Tenant.GetAccount(ctx, account(ctx))
	if err != nil {
		return nil, err
	}
	return api.GetAccount200JSONResponse(view.Account(a)), nil
}

// UpdateAccount implements PATCH /account.
func (h *Handlers) UpdateAccount(ctx context.Context, r api.UpdateAccountRequestObject) (api.UpdateAccountResponseObject, error) {
	a, err := h.store.Tenant.UpdateAccount(ctx, account(ctx), view.AccountChange(r.Body))
	if err != nil {
		return nil, err
	}
	return api.UpdateAccount200JSONResponse(view.Account(a)), nil
}
