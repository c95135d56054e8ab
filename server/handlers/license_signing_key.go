package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListLicenseSigningKeys implements GET /license_keys/signing_keys.
func (h *Handlers) ListLicenseSigningKeys(ctx context.Context, r api.ListLicenseSigningKeysRequestObject) (api.ListLicenseSigningKeysResponseObject, error) {
	keys, more, err := h.store.Grant.ListLicenseSigningKeys(ctx, account(ctx), view.Page(r.Params.Limit, r.Params.StartingAfter, r.Params.EndingBefore))
	if err != nil {
		return nil, err
	}
	return api.ListLicenseSigningKeys200JSONResponse(view.List("/v1/license_keys/signing_keys", keys, more, view.LicenseSigningKey)), nil
}

// CreateLicenseSigningKey implements POST /license_keys/signing_keys.
func (h *Handlers) CreateLicenseSigningKey(ctx context.Context, _ api.CreateLicenseSigningKeyRequestObject) (api.CreateLicenseSigningKeyResponseObject, error) {
	k, err := h.store.Grant.CreateLicenseSigningKey(ctx, account(ctx))
	if err != nil {
		return nil, err
	}
	return api.CreateLicenseSigningKey201JSONResponse(view.LicenseSigningKey(k)), nil
}
