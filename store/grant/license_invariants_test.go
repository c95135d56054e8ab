package grant

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/internal/dbtest"
)

// licensor is an account with the room in which its licence keys are.
type licensor struct {
	*Store
	account string
}

func eachLicensor(t *testing.T, test func(t *testing.T, s *licensor)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) { test(t, &licensor{New(d, Limits{}), dbtest.Account(t, d)}) })
}

// broken are the promises about licence keys that are not kept.
func (s *licensor) broken(ctx context.Context) (all []core.Violation, err error) {
	err = s.db.CheckAll(ctx, LicenseInvariants, func(_ string, broken []core.Violation) { all = append(all, broken...) })
	return all, err
}

// sound wants every promise about licence keys kept.
func (s *licensor) sound(t *testing.T) {
	t.Helper()
	broken, err := s.broken(t.Context())
	require.NoError(t, err)
	require.Empty(t, broken)
}

// product stands for a product: this room knows ids alone.
const product = "prod_01k0000000000000000000000a"

// Every promise is broken once, behind the back of the code, and has to be missed.
func TestLicenseInvariants_SeeEveryBrokenPromise(t *testing.T) {
	sabotage := map[string]string{
		"a licence key counts its activations":                    `UPDATE license_keys SET activations_count = 1`,
		"no licence key is active on more devices than it allows": `UPDATE license_keys SET activations_count = 1, activation_limit = 1`,
		"a licence key ends and comes back with its grant":        `UPDATE grants SET status = 'revoked', reason = 'manual', revoked_at = 1`,
		"a licence key is of its grant's product and customer":    `UPDATE license_keys SET customer_id = 'cus_other'`,
		"a grant has one licence key at most that has not ended": `
			INSERT INTO license_keys (account_id, id, product_id, grant_id, customer_id, key_hash, sealed_key, display_key, status, in_stock, activations_count, metadata, created_at, updated_at)
			SELECT account_id, id || 'b', product_id, grant_id, customer_id, key_hash || 'b', sealed_key, display_key, status, in_stock, 0, metadata, created_at, updated_at FROM license_keys`,
		"a licence key that is in stock is nobody's, and can be sold": `UPDATE license_keys SET in_stock = TRUE`,
		"who waits for a licence key has none, and waits while their grant is not revoked": `
			INSERT INTO license_waits (account_id, id, product_id) SELECT account_id, id, product_id FROM grants`,
	}
	eachLicensor(t, func(t *testing.T, s *licensor) {
		given, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) ([]Grant, error) {
			return s.GiveNew(ctx, u, []Giving{{Account: s.account, Customer: "cus_1", Product: product, Source: Source{Type: SourceTypeManual}, Item: product, Quantity: 1}})
		})
		require.NoError(t, err)
		k, err := s.CreateLicenseKey(t.Context(), s.account, LicenseKey{ProductID: product, CustomerID: new("cus_1"), GrantID: &given[0].ID})
		require.NoError(t, err)
		for _, device := range []string{"mac", "windows"} {
			_, err := s.ActivateLicense(t.Context(), s.account, LicenseUse{Key: *k.Key, Product: product, Fingerprint: device})
			require.NoError(t, err)
		}
		s.sound(t)
		for _, i := range LicenseInvariants {
			assert.Contains(t, dbtest.BrokenBy(t, s.db, sabotage[i.Promise], s.broken), i.Promise)
		}
	})
}

func TestLicenseKey_IsSealed(t *testing.T) {
	eachLicensor(t, func(t *testing.T, s *licensor) {
		k, err := s.CreateLicenseKey(t.Context(), s.account, LicenseKey{ProductID: product})
		require.NoError(t, err)
		_, err = s.CreateLicenseSigningKey(t.Context(), s.account)
		require.NoError(t, err)
		stored, err := db.Get[LicenseKey](t.Context(), s.db, licenseKeyColumns.SelectSQL+` WHERE account_id = ?`, s.account)
		require.NoError(t, err)
		assert.NotContains(t, string(stored.SealedKey), normalLicense(*k.Key)[:5])
		assert.NotContains(t, stored.KeyHash, *k.Key)
		other := *stored
		other.ID = core.NewID(core.KindLicenseKey) // what is sealed for one key is of no use in the row of another
		_, err = s.db.Options.Sealer.Open(stored.SealedKey, other.sealContext())
		require.ErrorIs(t, err, core.ErrSealed)
		got, err := s.GetLicenseKey(t.Context(), s.account, k.ID)
		require.NoError(t, err)
		assert.Equal(t, *k.Key, *got.Key)
	})
}

func TestForgetLicenses_RevokesTheCustomersKeysAlone(t *testing.T) {
	eachLicensor(t, func(t *testing.T, s *licensor) {
		var keys []*LicenseKey
		for _, customer := range []string{"cus_1", "cus_2"} {
			k, err := s.CreateLicenseKey(t.Context(), s.account, LicenseKey{ProductID: product, CustomerID: &customer})
			require.NoError(t, err)
			_, err = s.ActivateLicense(t.Context(), s.account, LicenseUse{Key: *k.Key, Product: product, Fingerprint: "mac", Name: new("Ada's laptop")})
			require.NoError(t, err)
			keys = append(keys, k)
		}
		_, err := db.Tx(t.Context(), s.db, func(ctx context.Context, u *db.Unit) (struct{}, error) {
			return struct{}{}, s.ForgetLicenses(ctx, u, s.account, "cus_1")
		})
		require.NoError(t, err)
		for i, want := range []LicenseKeyStatus{LicenseKeyRevoked, LicenseKeyGranted} {
			k, err := s.GetLicenseKey(t.Context(), s.account, keys[i].ID)
			require.NoError(t, err)
			assert.Equal(t, want, k.Status)
			devices, _, err := s.ListLicenseActivations(t.Context(), s.account, k.ID, ListLicenseActivations{Page: core.Page{Limit: 2}})
			require.NoError(t, err)
			require.Len(t, devices, 1)
			assert.Equal(t, want == LicenseKeyRevoked, devices[0].Name == nil)
		}
	})
}
