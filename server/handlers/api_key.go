package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/tenant"
)

// granted names the calling key, or the person on the dashboard, who cannot give a key more than they have themselves.
func granted(ctx context.Context) tenant.Granted {
	who := caller.Of(ctx)
	if who.PersonID != "" {
		return tenant.Granted{PersonID: &who.PersonID, Scopes: who.Scopes}
	}
	return tenant.Granted{KeyID: &who.KeyID}
}

// ListAPIKeys implements GET /auth/keys.
func (h *Handlers) ListAPIKeys(ctx context.Context, r api.ListAPIKeysRequestObject) (api.ListAPIKeysResponseObject, error) {
	q := r.Params
	keys, more, err := h.store.Tenant.ListAPIKeys(ctx, account(ctx), tenant.ListAPIKeys{
		Page:       view.Page(q.Limit, q.StartingAfter, q.EndingBefore),
		ListFilter: view.Filter(q.CreatedAfter, q.CreatedBefore, q.Q, nil),
	})
	if err != nil {
		return nil, err
	}
	return api.ListAPIKeys200JSONResponse(view.List("/v1/auth/keys", keys, more, view.APIKey)), nil
}

// CreateAPIKey implements POST /auth/keys. This is the one answer that holds the token.
func (h *Handlers) CreateAPIKey(ctx context.Context, r api.CreateAPIKeyRequestObject) (api.CreateAPIKeyResponseObject, error) {
	k, token, err := h.store.Tenant.CreateAPIKey(ctx, account(ctx), granted(ctx), view.NewAPIKey(r.Body))
	if err != nil {
		return nil, err
	}
	out := view.APIKey(k)
	out.Token = &token
	return api.CreateAPIKey201JSONResponse(out), nil
}

// GetAPIKey implements GET /auth/keys/{id}.
func (h *Handlers) GetAPIKey(ctx context.Context, r api.GetAPIKeyRequestObject) (api.GetAPIKeyResponseObject, error) {
	k, err := h.store.Tenant.GetAPIKey(ctx, account(ctx), r.ID)
	if err != nil {
		return nil, err
	}
	return api.GetAPIKey200JSONResponse(view.APIKey(k)), nil
}

// UpdateAPIKey implements PATCH /auth/keys/{id}.
func (h *Handlers) UpdateAPIKey(ctx context.Context, r api.UpdateAPIKeyRequestObject) (api.UpdateAPIKeyResponseObject, error) {
	k, err := h.store.Tenant.UpdateAPIKey(ctx, account(ctx), granted(ctx), r.ID, view.APIKeyChange(r.Body))
	if err != nil {
		return nil, err
	}
	return api.UpdateAPIKey200JSONResponse(view.APIKey(k)), nil
}

// DeleteAPIKey implements DELETE /auth/keys/{id}.
func (h *Handlers) DeleteAPIKey(ctx context.Context, r api.DeleteAPIKeyRequestObject) (api.DeleteAPIKeyResponseObject, error) {
	adopt := r.Params.Descendants != nil && *r.Params.Descendants == api.APIKeyDescendantsAdopt
	k, err := h.store.Tenant.DeleteAPIKey(ctx, account(ctx), granted(ctx), r.ID, adopt)
	if err != nil {
		return nil, err
	}
	return api.DeleteAPIKey200JSONResponse(view.Deleted("api_key", k.ID)), nil
}
