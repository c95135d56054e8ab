package handlers

import (
	"context"
	"errors"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// ValidatePublicLicenseKey implements POST /public/license_keys/validate.
func (h *Handlers) ValidatePublicLicenseKey(ctx context.Context, r api.ValidatePublicLicenseKeyRequestObject) (api.ValidatePublicLicenseKeyResponseObject, error) {
	use := grant.LicenseUse{Key: r.Body.Key, Product: r.Body.Product}
	if r.Body.Fingerprint != nil {
		use.Fingerprint = *r.Body.Fingerprint
	}
	v, err := showLicense(ctx, h, r.Body.Account, use, h.store.Grant.ValidateLicense)
	if err != nil {
		return nil, err
	}
	return api.ValidatePublicLicenseKey200JSONResponse(view.PublicLicenseValidation(v)), nil
}

// ActivatePublicLicenseKey implements POST /public/license_keys/activate.
func (h *Handlers) ActivatePublicLicenseKey(ctx context.Context, r api.ActivatePublicLicenseKeyRequestObject) (api.ActivatePublicLicenseKeyResponseObject, error) {
	use := view.LicenseActivate(&api.LicenseKeyActivate{
		Key: r.Body.Key, Product: r.Body.Product, Fingerprint: r.Body.Fingerprint, Name: r.Body.Name, Metadata: r.Body.Metadata,
	})
	a, err := showLicense(ctx, h, r.Body.Account, use, h.store.Grant.ActivateLicense)
	if err != nil {
		return nil, err
	}
	return api.ActivatePublicLicenseKey200JSONResponse(view.LicenseActivation(a)), nil
}

// DeactivatePublicLicenseKey implements POST /public/license_keys/deactivate.
func (h *Handlers) DeactivatePublicLicenseKey(ctx context.Context, r api.DeactivatePublicLicenseKeyRequestObject) (api.DeactivatePublicLicenseKeyResponseObject, error) {
	use := view.LicenseDeactivate(&api.LicenseKeyDeactivate{Key: r.Body.Key, Product: r.Body.Product, Fingerprint: r.Body.Fingerprint, Activation: r.Body.Activation})
	a, err := showLicense(ctx, h, r.Body.Account, use, h.store.Grant.DeactivateLicense)
	if err != nil {
		return nil, err
	}
	return api.DeactivatePublicLicenseKey200JSONResponse(view.Deleted("license_activation", a.ID)), nil
}

// showLicense runs a use case of a buyer's program within its limits: those of the key, and of unknown keys from the program's address.
// Once these are used up nothing is answered to that address, also of keys that exist. Else an answer would say that a guess was right.
func showLicense[T any](ctx context.Context, h *Handlers, account string, use grant.LicenseUse, run func(context.Context, string, grant.LicenseUse) (*T, error)) (*T, error) {
	address := caller.Address(ctx)
	if err := h.store.Tenant.CountLicenseKey(ctx, address, use.Subject(account)); err != nil {
		return nil, err
	}
	found, err := run(ctx, account, use)
	if !isUnknownLicense(found, err) {
		return found, err
	}
	if over := h.store.Tenant.CountUnknownLicense(ctx, address); over != nil {
		return nil, over
	}
	return found, err
}

// isUnknownLicense reports whether a use case says that nobody has a key.
func isUnknownLicense(found any, err error) bool {
	if v, ok := found.(*grant.LicenseValidation); ok && err == nil {
		return v.Code == grant.LicenseNotFound
	}
	var e *core.Error
	return errors.As(err, &e) && e.Code == core.CodeMissing && e.Param == "key"
}
