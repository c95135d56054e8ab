package pages_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestLicenseKeysFile_HasARowForEveryKeyAndNoKey(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newShopOn(t, url)
		product, err := w.Catalog.CreateProduct(t.Context(), w.account, catalog.NewProduct{Product: catalog.Product{Name: "Program"}})
		require.NoError(t, err)
		var keys []*grant.LicenseKey
		for range 2 {
			k, err := w.CreateLicenseKey(t.Context(), w.account, grant.LicenseKey{ProductID: product.ID, ActivationLimit: new(int64(3))})
			require.NoError(t, err)
			keys = append(keys, k)
		}
		_, err = w.Grant.DisableLicenseKey(t.Context(), w.account, keys[0].ID)
		require.NoError(t, err)

		for status, want := range map[grant.LicenseKeyStatus]*grant.LicenseKey{"disabled": keys[0], "granted": keys[1]} {
			lines := w.exported("license_keys", api.ExportLicenseKeysParams{Product: &product.Slug, Status: new(api.LicenseKeyStatus(status))})
			assert.NotContains(t, fmt.Sprint(lines), *want.Key)
			assert.Equal(t, [][]string{
				{"id", "display_key", "product", "customer", "status", "activation_limit", "activations_count", "expires_at", "last_validated_at", "created_at"},
				{want.ID, want.DisplayKey, product.ID, "", string(status), "3", "0", "", "", want.CreatedAt.String()},
			}, lines)
		}
	})
}
