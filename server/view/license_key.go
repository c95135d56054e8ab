package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/grant"
)

// LicenseKey renders a licence key. The key itself is there if it was read or made for that.
func LicenseKey(k *grant.LicenseKey) api.LicenseKey {
	return api.LicenseKey{
		ID:               k.ID,
		Object:           "license_key",
		Key:              k.Key,
		DisplayKey:       k.DisplayKey,
		Product:          wire.RefTo(k.ProductID),
		Grant:            k.GrantID,
		Customer:         ref(k.CustomerID),
		Status:           api.LicenseKeyStatus(k.Status),
		ActivationLimit:  k.ActivationLimit,
		ActivationsCount: k.ActivationsCount,
		ExpiresAt:        atOrNull(k.ExpiresAt),
		LastValidatedAt:  atOrNull(k.LastValidatedAt),
		Metadata:         api.Metadata(k.Metadata.Text()),
		CreatedAt:        at(k.CreatedAt),
		UpdatedAt:        at(k.UpdatedAt),
	}
}

// publicLicenseKey renders a licence key without whose it is.
func publicLicenseKey(k *grant.LicenseKey) *api.PublicLicenseKey {
	if k == nil {
		return nil
	}
	return &api.PublicLicenseKey{
		ID: k.ID, Object: "license_key", DisplayKey: k.DisplayKey, Product: k.ProductID, Status: api.LicenseKeyStatus(k.Status),
		ActivationLimit: k.ActivationLimit, ActivationsCount: k.ActivationsCount, ExpiresAt: atOrNull(k.ExpiresAt),
	}
}

// LicenseValidation renders whether a licence key may be used.
func LicenseValidation(v *grant.LicenseValidation) api.LicenseValidation {
	var key *api.LicenseKey
	if v.LicenseKey != nil {
		key = new(LicenseKey(v.LicenseKey))
	}
	activation, token := activationOf(v)
	return api.LicenseValidation{
		Object: "license_validation", Valid: v.Code == grant.LicenseValid, Code: api.LicenseValidationCode(v.Code),
		LicenseKey: key, Activation: activation, Token: token,
	}
}

// PublicLicenseValidation renders the same for a buyer's program.
func PublicLicenseValidation(v *grant.LicenseValidation) api.PublicLicenseValidation {
	full := LicenseValidation(v)
	return api.PublicLicenseValidation{
		Object: full.Object, Valid: full.Valid, Code: full.Code, LicenseKey: publicLicenseKey(v.LicenseKey), Activation: full.Activation, Token: full.Token,
	}
}

// activationOf renders the activation of a validation and its token, nil for none.
func activationOf(v *grant.LicenseValidation) (*api.LicenseActivation, *api.LicenseToken) {
	if v.Activation == nil {
		return nil, nil
	}
	return new(LicenseActivation(v.Activation)), v.Activation.Token
}

// LicenseActivation renders a device on which a licence key is active.
func LicenseActivation(a *grant.LicenseActivation) api.LicenseActivation {
	return api.LicenseActivation{
		ID: a.ID, Object: "license_activation", LicenseKey: a.LicenseKeyID, Fingerprint: a.Fingerprint, Name: a.Name, Token: a.Token,
		Metadata: api.Metadata(a.Metadata.Text()), CreatedAt: at(a.CreatedAt), UpdatedAt: at(a.UpdatedAt),
	}
}

// LicenseSigningKey renders the public half of a signing key.
func LicenseSigningKey(k *grant.LicenseSigningKey) api.LicenseSigningKey {
	return api.LicenseSigningKey{
		ID: k.ID, Object: "license_signing_key", Kid: k.ID,
		Jwk:       api.LicenseJWK{Kty: "OKP", Crv: "Ed25519", X: k.PublicKey, Kid: k.ID, Alg: "EdDSA", Use: "sig"},
		CreatedAt: at(k.CreatedAt), UpdatedAt: at(k.UpdatedAt),
	}
}

// LicenseKeyImport renders what became of imported keys.
func LicenseKeyImport(results []grant.LicenseImport) api.LicenseKeyImport {
	out := api.LicenseKeyImport{Object: "license_key_import", Created: 0, Failed: 0, Results: make([]api.LicenseKeyImportResult, len(results))}
	for i, r := range results {
		if len(r.Problems) > 0 {
			out.Failed++
			out.Results[i] = api.LicenseKeyImportResult{Index: int64(i), Status: "failed", ID: nil, Errors: r.Problems}
		} else {
			out.Created++
			out.Results[i] = api.LicenseKeyImportResult{Index: int64(i), Status: "created", ID: &results[i].ID, Errors: nil}
		}
	}
	return out
}

// ListLicenseKeys reads the query of a list.
func ListLicenseKeys(q api.ListLicenseKeysParams) grant.ListLicenseKeys {
	return grant.ListLicenseKeys{
		Page:       Page(q.Limit, q.StartingAfter, q.EndingBefore),
		ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, nil, q.Metadata),
		Product:    value(q.Product),
		Customer:   value(q.Customer),
		Grant:      value(q.Grant),
		Status:     grant.LicenseKeyStatus(value(q.Status)),
	}
}

// ListLicenseActivations reads the query of a list of activations.
func ListLicenseActivations(q api.ListLicenseActivationsParams) grant.ListLicenseActivations {
	return grant.ListLicenseActivations{Page: Page(q.Limit, q.StartingAfter, q.EndingBefore), ListFilter: Filter(q.CreatedAfter, q.CreatedBefore, nil, nil)}
}

// NewLicenseKey reads the body of a create.
func NewLicenseKey(b *api.LicenseKeyCreate) grant.LicenseKey {
	return grant.LicenseKey{
		ProductID: b.Product, CustomerID: b.Customer, Key: b.Key, ActivationLimit: b.ActivationLimit, ExpiresAt: stored(b.ExpiresAt), Metadata: metadata(b.Metadata),
	}
}

// LicenseKeyChange reads the body of a PATCH.
func LicenseKeyChange(b *api.LicenseKeyUpdate) func(*grant.LicenseKey) {
	return func(k *grant.LicenseKey) {
		setOrClear(&k.ActivationLimit, b.ActivationLimit)
		setMoment(&k.ExpiresAt, b.ExpiresAt)
		setMetadata(&k.Metadata, b.Metadata)
	}
}

// ImportedLicenses reads the rows of an import.
func ImportedLicenses(rows []api.LicenseKeyImportRow) []grant.ImportedLicense {
	return mapped(rows, func(r api.LicenseKeyImportRow) grant.ImportedLicense {
		return grant.ImportedLicense{Key: r.Key, CustomerEmail: r.CustomerEmail, ActivationLimit: r.ActivationLimit, ExpiresAt: stored(r.ExpiresAt)}
	})
}

// LicenseActivate reads what a program shows to become active.
func LicenseActivate(b *api.LicenseKeyActivate) grant.LicenseUse {
	use := grant.LicenseUse{Key: b.Key, Product: b.Product, Fingerprint: b.Fingerprint, Name: b.Name}
	if b.Metadata != nil {
		use.Metadata = new(metadata(b.Metadata))
	}
	return use
}

// LicenseValidate reads what a program shows to be validated.
func LicenseValidate(b *api.LicenseKeyValidate) grant.LicenseUse {
	return grant.LicenseUse{Key: b.Key, Product: b.Product, Fingerprint: value(b.Fingerprint)}
}

// LicenseDeactivate reads what a program shows to be active no longer.
func LicenseDeactivate(b *api.LicenseKeyDeactivate) grant.LicenseUse {
	return grant.LicenseUse{Key: b.Key, Product: b.Product, Fingerprint: value(b.Fingerprint), Activation: value(b.Activation)}
}
