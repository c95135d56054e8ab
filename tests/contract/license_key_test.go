package contract

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// program makes a product, and returns its id.
func program(t *testing.T, c *sdk.Client) string {
	t.Helper()
	return ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Program " + unique()})).ID
}

// license makes a key of a product with a limit of activations.
func license(t *testing.T, c *sdk.Client, product string, limit int64) *sdk.LicenseKey {
	t.Helper()
	return ok[*sdk.LicenseKey](t)(c.LicenseKeys.Create(background, &sdk.LicenseKeyCreate{Product: product, ActivationLimit: &limit}))
}

func TestCreateLicenseKey_KeepsWhatIsSent(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := program(t, c)
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		made := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Create(background, &sdk.LicenseKeyCreate{
			Product: product, Customer: &ada.ID, Key: new("acme 2048-OIL"), ActivationLimit: new(int64(3)), ExpiresAt: new(sdk.Time("2199-01-02T03:04:05.000Z")),
			Metadata: &sdk.Metadata{"a": "1"},
		}))
		got := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, made.ID))
		switch {
		case *made.Key != "acme 2048-OIL", *got.Key != *made.Key, got.DisplayKey != "48011", got.Product.ID != product, got.Customer.ID != ada.ID, got.Status != "granted":
			t.Errorf("the key is %+v", got)
		case *got.ActivationLimit != 3, got.ActivationsCount != 0, *got.ExpiresAt != "2199-01-02T03:04:05.000Z", got.LastValidatedAt != nil, got.Metadata["a"] != "1":
			t.Errorf("the key is %+v", got)
		}
		for _, typed := range []string{"ACME2048011", "acme-2048-O-I-L", " acme 2048 o1l"} {
			_, err := c.LicenseKeys.Create(background, &sdk.LicenseKeyCreate{Product: product, Key: &typed})
			refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "key")
		}
		for _, short := range []string{"a-b-c", "----", "ABC\u00e9D"} {
			_, err := c.LicenseKeys.Create(background, &sdk.LicenseKeyCreate{Product: product, Key: &short})
			refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "key")
		}
		generated := license(t, c, product, 1)
		assert.True(t, sdk.IsLicenseKey(*generated.Key), "the generated key")
		assert.Empty(t, generated.Customer.ID, "the generated key")
	})
}

func TestLicenseKey_IsShownToWhoeverAsksForItAlone(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		k := license(t, c, program(t, c), 1)
		for _, listed := range ok[*sdk.LicenseKeyList](t)(c.LicenseKeys.List(background, nil)).Data {
			assert.Nil(t, listed.Key, "a list")
			assert.NotEmpty(t, listed.DisplayKey, "a list")
		}
		for name, change := range map[string]func() (*sdk.LicenseKey, error){
			"a change": func() (*sdk.LicenseKey, error) {
				return c.LicenseKeys.Update(background, k.ID, &sdk.LicenseKeyUpdate{ActivationLimit: sdk.Set(int64(2))})
			},
			"disabling": func() (*sdk.LicenseKey, error) { return c.LicenseKeys.Disable(background, k.ID) },
		} {
			if shown := ok[*sdk.LicenseKey](t)(change()); shown.Key != nil {
				t.Errorf("%s shows %s", name, *shown.Key)
			}
		}
		v := ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, &sdk.LicenseKeyValidate{Key: *k.Key, Product: k.Product.ID}))
		require.Nil(t, v.LicenseKey.Key, "a validation")
		assert.Nil(t, v.Token, "a validation")
	})
}

func TestLicenseKey_GoesThroughItsStates(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := program(t, c)
		k := license(t, c, product, 2)
		code := func() sdk.LicenseValidationCode {
			v := ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, &sdk.LicenseKeyValidate{Key: *k.Key, Product: product}))
			if v.Valid != (v.Code == "valid") {
				t.Errorf("the validation is %+v", v)
			}
			return v.Code
		}
		is := func(want sdk.LicenseValidationCode, status sdk.LicenseKeyStatus) {
			t.Helper()
			got := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, k.ID)).Status
			assert.Equal(t, want, code())
			assert.Equal(t, status, got)
			found := ok[*sdk.LicenseKeyList](t)(c.LicenseKeys.List(background, &sdk.ListLicenseKeysParams{Status: &status, Product: &product})).Data
			require.Len(t, found, 1, "the filter")
			assert.Equal(t, k.ID, found[0].ID, "the filter")
		}
		is("valid", "granted")
		ok[*sdk.LicenseKey](t)(c.LicenseKeys.Disable(background, k.ID))
		is("disabled", "disabled")
		_, err := c.LicenseKeys.Activate(background, &sdk.LicenseKeyActivate{Key: *k.Key, Product: product, Fingerprint: "a"})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "key")
		ok[*sdk.LicenseKey](t)(c.LicenseKeys.Enable(background, k.ID))
		ok[*sdk.LicenseKey](t)(c.LicenseKeys.Update(background, k.ID, &sdk.LicenseKeyUpdate{ExpiresAt: sdk.Set(sdk.Time("2020-01-01T00:00:00Z"))}))
		is("expired", "expired")
		ok[*sdk.LicenseKey](t)(c.LicenseKeys.Update(background, k.ID, &sdk.LicenseKeyUpdate{ExpiresAt: sdk.Null[sdk.Time]()}))
		is("valid", "granted")
		ok[*sdk.LicenseKey](t)(c.LicenseKeys.Revoke(background, k.ID))
		is("revoked", "revoked")
		for name, change := range map[string]func() error{
			"enabled":  func() error { _, err := c.LicenseKeys.Enable(background, k.ID); return err },
			"disabled": func() error { _, err := c.LicenseKeys.Disable(background, k.ID); return err },
			"replaced": func() error { _, err := c.LicenseKeys.Rotate(background, k.ID, nil); return err },
		} {
			if err := change(); err == nil {
				t.Errorf("a revoked key was %s", name)
			} else {
				refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "status")
			}
		}
		_, err = c.LicenseKeys.Update(background, k.ID, &sdk.LicenseKeyUpdate{ActivationLimit: sdk.Set(int64(9))})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "activation_limit")
	})
}

func TestRotateLicenseKey_RevokesTheOldOne(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := program(t, c)
		for _, keep := range []bool{true, false} {
			old := license(t, c, product, 2)
			ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, &sdk.LicenseKeyActivate{Key: *old.Key, Product: product, Fingerprint: "mac"}))
			made := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Rotate(background, old.ID, &sdk.LicenseKeyRotate{KeepActivations: &keep}))
			assert.NotEqual(t, old.ID, made.ID, "the new key")
			assert.NotEqual(t, *old.Key, *made.Key, "the new key")
			assert.EqualValues(t, 2, *made.ActivationLimit, "the new key")
			assert.Equal(t, keep, made.ActivationsCount == 1, "the new key")
			asked := ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, &sdk.LicenseKeyValidate{Key: *old.Key, Product: product, Fingerprint: new("mac")}))
			assert.EqualValues(t, "revoked", asked.Code, "the old key")
			assert.Nil(t, asked.Token, "the old key")
			want := sdk.LicenseValidationCode("not_activated")
			if keep {
				want = "valid"
			}
			asked = ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, &sdk.LicenseKeyValidate{Key: *made.Key, Product: product, Fingerprint: new("mac")}))
			if asked.Code != want {
				t.Errorf("with keep_activations %t the new key is %s", keep, asked.Code)
			}
		}
	})
}

func TestImportLicenseKeys_StoresWhatItCan(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := program(t, c)
		known := license(t, c, product, 1)
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		done := ok[*sdk.LicenseKeyImport](t)(c.LicenseKeys.Import(background, &sdk.LicenseKeyImportCreate{Product: product, Keys: []sdk.LicenseKeyImportRow{
			{Key: "STOCK-1", ActivationLimit: new(int64(4))},
			{Key: *known.Key},
			{Key: "stock 1"},
			{Key: "ADA-1", CustomerEmail: new("Ada@Example.com")},
			{Key: "EVE-1", CustomerEmail: new("eve@example.com")},
			{Key: "BAD-1", CustomerEmail: new("nobody")},
			{Key: "x"},
		}}))
		require.EqualValues(t, 3, done.Created, "the import")
		require.EqualValues(t, 4, done.Failed, "the import")
		require.Len(t, done.Results, 7, "the import")
		for i, want := range []struct{ status, field string }{{"created", ""}, {"failed", "key"}, {"failed", "key"}, {"created", ""}, {"created", ""}, {"failed", "customer_email"}, {"failed", "key"}} {
			r := done.Results[i]
			assert.Equal(t, int64(i), r.Index)
			assert.Equal(t, want.status, string(r.Status))
			assert.Equal(t, want.field == "", r.ID != nil)
			assert.False(t, len(r.Errors[want.field]) == 0 && want.field != "")
		}
		owned := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, *done.Results[3].ID))
		assert.Equal(t, ada.ID, owned.Customer.ID, "the key")
		assert.Equal(t, "ADA-1", *owned.Key, "the key")
		stock := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, *done.Results[0].ID))
		assert.Empty(t, stock.Customer.ID, "the stock")
		assert.EqualValues(t, 4, *stock.ActivationLimit, "the stock")
		if all := ok[*sdk.CustomerList](t)(c.Customers.List(background, nil)).Data; len(all) != 2 {
			t.Errorf("there are %d customers, not ada and eve", len(all))
		}
	})
}

func TestExportLicenseKeys_IsAURLThatExpires(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		k := license(t, c, program(t, c), 3)
		isSigned(t, ok[*sdk.SignedURL](t)(c.LicenseKeys.Export(background, &sdk.ExportLicenseKeysParams{Product: &k.Product.ID})))
		_, err := c.LicenseKeys.Export(background, &sdk.ExportLicenseKeysParams{Customer: new(randomID("cus"))})
		refused(t, err, http.StatusNotFound, "resource_missing", "customer")
	})
}

func TestLicenseKey_ExpiresByTheBusinessClock(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := program(t, c)
		ends := sdk.Time(time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		k := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Create(background, &sdk.LicenseKeyCreate{Product: product, ExpiresAt: &ends}))
		advance(t, c, 2*time.Hour)
		if v := ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, &sdk.LicenseKeyValidate{Key: *k.Key, Product: product})); v.Code != "expired" {
			t.Errorf("two hours later the key is %s", v.Code)
		}
	})
}
