package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/grant"
)

// ListLicenseKeys implements GET /license_keys.
func (h *Handlers) ListLicenseKeys(ctx context.Context, r api.ListLicenseKeysRequestObject) (api.ListLicenseKeysResponseObject, error) {
	keys, more, err := h.store.ListLicenseKeys(ctx, account(ctx), view.ListLicenseKeys(r.Params))
	if err != nil {
		return nil, err
	}
	list, err := showList(ctx, h, "/v1/license_keys", keys, more, view.LicenseKey, r.Params.Expand)
	if err != nil {
		return nil, err
	}
	return api.ListLicenseKeys200JSONResponse(list), nil
}

// CreateLicenseKey implements POST /license_keys.
func (h *Handlers) CreateLicenseKey(ctx context.Context, r api.CreateLicenseKeyRequestObject) (api.CreateLicenseKeyResponseObject, error) {
	k, err := h.store.CreateLicenseKey(ctx, account(ctx), view.NewLicenseKey(r.Body))
	out, err := h.licenseKey(ctx, k, err, r.Params.Expand)
	return api.CreateLicenseKey201JSONResponse(out), err
}

// ExportLicenseKeys implements GET /license_keys/export.
func (h *Handlers) ExportLicenseKeys(ctx context.Context, r api.ExportLicenseKeysRequestObject) (api.ExportLicenseKeysResponseObject, error) {
	u, err := h.export(ctx, "license_keys", r.Params)
	return api.ExportLicenseKeys200JSONResponse(u), err
}

// ImportLicenseKeys implements POST /license_keys/import.
func (h *Handlers) ImportLicenseKeys(ctx context.Context, r api.ImportLicenseKeysRequestObject) (api.ImportLicenseKeysResponseObject, error) {
	results, err := h.store.ImportLicenseKeys(ctx, account(ctx), r.Body.Product, view.ImportedLicenses(r.Body.Keys))
	if err != nil {
		return nil, err
	}
	return api.ImportLicenseKeys200JSONResponse(view.LicenseKeyImport(results)), nil
}

// GetLicenseKey implements GET /license_keys/{id}.
func (h *Handlers) GetLicenseKey(ctx context.Context, r api.GetLicenseKeyRequestObject) (api.GetLicenseKeyResponseObject, error) {
	k, err := h.store.Grant.GetLicenseKey(ctx, account(ctx), r.ID)
	out, err := h.licenseKey(ctx, k, err, r.Params.Expand)
	return api.GetLicenseKey200JSONResponse(out), err
}

// UpdateLicenseKey implements PATCH /license_keys/{id}.
func (h *Handlers) UpdateLicenseKey(ctx context.Context, r api.UpdateLicenseKeyRequestObject) (api.UpdateLicenseKeyResponseObject, error) {
	k, err := h.store.Grant.UpdateLicenseKey(ctx, account(ctx), r.ID, view.LicenseKeyChange(r.Body))
	out, err := h.licenseKey(ctx, k, err, r.Params.Expand)
	return api.UpdateLicenseKey200JSONResponse(out), err
}

// DisableLicenseKey implements POST /license_keys/{id}/disable.
func (h *Handlers) DisableLicenseKey(ctx context.Context, r api.DisableLicenseKeyRequestObject) (api.DisableLicenseKeyResponseObject, error) {
	k, err := h.store.Grant.DisableLicenseKey(ctx, account(ctx), r.ID)
	out, err := h.licenseKey(ctx, k, err, r.Params.Expand)
	return api.DisableLicenseKey200JSONResponse(out), err
}

// EnableLicenseKey implements POST /license_keys/{id}/enable.
func (h *Handlers) EnableLicenseKey(ctx context.Context, r api.EnableLicenseKeyRequestObject) (api.EnableLicenseKeyResponseObject, error) {
	k, err := h.store.Grant.EnableLicenseKey(ctx, account(ctx), r.ID)
	out, err := h.licenseKey(ctx, k, err, r.Params.Expand)
	return api.EnableLicenseKey200JSONResponse(out), err
}

// RevokeLicenseKey implements POST /license_keys/{id}/revoke.
func (h *Handlers) RevokeLicenseKey(ctx context.Context, r api.RevokeLicenseKeyRequestObject) (api.RevokeLicenseKeyResponseObject, error) {
	k, err := h.store.Grant.RevokeLicenseKey(ctx, account(ctx), r.ID)
	out, err := h.licenseKey(ctx, k, err, r.Params.Expand)
	return api.RevokeLicenseKey200JSONResponse(out), err
}

// RotateLicenseKey implements POST /license_keys/{id}/rotate.
func (h *Handlers) RotateLicenseKey(ctx context.Context, r api.RotateLicenseKeyRequestObject) (api.RotateLicenseKeyResponseObject, error) {
	keep := r.Body != nil && r.Body.KeepActivations != nil && *r.Body.KeepActivations
	k, err := h.store.Grant.RotateLicenseKey(ctx, account(ctx), r.ID, keep)
	out, err := h.licenseKey(ctx, k, err, r.Params.Expand)
	return api.RotateLicenseKey200JSONResponse(out), err
}

// licenseKey renders what a use case returned, with what is to be expanded.
func (h *Handlers) licenseKey(ctx context.Context, k *grant.LicenseKey, err error, expand []string) (api.LicenseKey, error) {
	if err != nil {
		return api.LicenseKey{}, err
	}
	return show(ctx, h, k, view.LicenseKey, expand)
}
