package handlers

import (
	"context"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/view"
)

// ListLicenseActivations implements GET /license_keys/{id}/activations.
func (h *Handlers) ListLicenseActivations(ctx context.Context, r api.ListLicenseActivationsRequestObject) (api.ListLicenseActivationsResponseObject, error) {
	activations, more, err := h.store.Grant.ListLicenseActivations(ctx, account(ctx), r.ID, view.ListLicenseActivations(r.Params))
	if err != nil {
		return nil, err
	}
	return api.ListLicenseActivations200JSONResponse(view.List("/v1/license_keys/"+r.ID+"/activations", activations, more, view.LicenseActivation)), nil
}

// DeleteLicenseActivation implements DELETE /license_keys/{id}/activations/{activation}.
func (h *Handlers) DeleteLicenseActivation(ctx context.Context, r api.DeleteLicenseActivationRequestObject) (api.DeleteLicenseActivationResponseObject, error) {
	a, err := h.store.Grant.DeleteLicenseActivation(ctx, account(ctx), r.ID, r.Activation)
	if err != nil {
		return nil, err
	}
	return api.DeleteLicenseActivation200JSONResponse(view.Deleted("license_activation", a.ID)), nil
}

// ValidateLicenseKey implements POST /license_keys/validate.
func (h *Handlers) ValidateLicenseKey(ctx context.Context, r api.ValidateLicenseKeyRequestObject) (api.ValidateLicenseKeyResponseObject, error) {
	v, err := h.store.ValidateLicense(ctx, account(ctx), view.LicenseValidate(r.Body))
	if err != nil {
		return nil, err
	}
	return api.ValidateLicenseKey200JSONResponse(view.LicenseValidation(v)), nil
}

// ActivateLicenseKey implements POST /license_keys/activate.
func (h *Handlers) ActivateLicenseKey(ctx context.Context, r api.ActivateLicenseKeyRequestObject) (api.ActivateLicenseKeyResponseObject, error) {
	a, err := h.store.ActivateLicense(ctx, account(ctx), view.LicenseActivate(r.Body))
	if err != nil {
		return nil, err
	}
	return api.ActivateLicenseKey200JSONResponse(view.LicenseActivation(a)), nil
}

// DeactivateLicenseKey implements POST /license_keys/deactivate.
func (h *Handlers) DeactivateLicenseKey(ctx context.Context, r api.DeactivateLicenseKeyRequestObject) (api.DeactivateLicenseKeyResponseObject, error) {
	a, err := h.store.DeactivateLicense(ctx, account(ctx), view.LicenseDeactivate(r.Body))
	if err != nil {
		return nil, err
	}
	return api.DeactivateLicenseKey200JSONResponse(view.Deleted("license_activation", a.ID)), nil
}
