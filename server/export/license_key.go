package export

import (
	"strconv"

	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// licenseKeys are the licence keys, but not the keys themselves.
func licenseKeys(s *store.Store) *List {
	return list(s.ListLicenseKeys, view.ListLicenseKeys, licenseKeyHead, each(licenseKeyRow))
}

var licenseKeyHead = []string{
	"id", "display_key", "product", "customer", "status", "activation_limit", "activations_count", "expires_at", "last_validated_at", "created_at",
}

// licenseKeyRow returns a licence key as a row of the file, in the order of licenseKeyHead.
func licenseKeyRow(k *grant.LicenseKey) []string {
	limit := ""
	if k.ActivationLimit != nil {
		limit = strconv.FormatInt(*k.ActivationLimit, 10)
	}
	return []string{
		k.ID, Harmless(k.DisplayKey), k.ProductID, core.Deref(k.CustomerID), string(k.Status), limit, strconv.FormatInt(k.ActivationsCount, 10),
		moment(k.ExpiresAt), moment(k.LastValidatedAt), k.CreatedAt.String(),
	}
}
