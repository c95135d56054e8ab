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

// licensed is a product on sale that delivers licence keys: generated ones without a ref.
func licensed(t *testing.T, c *sdk.Client, ref *string, license *sdk.PriceVariantLicense) *sdk.Product {
	t.Helper()
	in := sellable("Program")
	in.Status = new(sdk.ProductStatus("active"))
	in.Deliverables = []sdk.Deliverable{{Type: "license_key", Ref: ref, Name: new("Your key")}}
	in.PriceVariants[0].License = license
	return ok[*sdk.Product](t)(c.Products.Create(background, in))
}

// given gives a customer a product by hand.
func given(t *testing.T, c *sdk.Client, customer, product string) *sdk.Grant {
	t.Helper()
	return ok[*sdk.Grant](t)(c.Grants.Create(background, &sdk.GrantCreate{Customer: customer, Product: product}))
}

func TestGrant_HasALicenceKeyThatLivesWithIt(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := licensed(t, c, nil, nil)
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		g := given(t, c, ada.ID, product.ID)
		require.Len(t, g.Deliverables, 1, "the grant")
		require.NotNil(t, g.Deliverables[0].LicenseKey, "the grant")
		k := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, *g.Deliverables[0].LicenseKey))
		assert.Equal(t, g.ID, *k.Grant, "the key")
		assert.Equal(t, ada.ID, k.Customer.ID, "the key")
		assert.Equal(t, product.ID, k.Product.ID, "the key")
		assert.True(t, sdk.IsLicenseKey(*k.Key), "the key")
		code := func() sdk.LicenseValidationCode {
			return ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, &sdk.LicenseKeyValidate{Key: *k.Key, Product: product.ID})).Code
		}
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, g.ID))
		if code() != "revoked" {
			t.Errorf("with a revoked grant the key is %s", code())
		}
		ok[*sdk.Grant](t)(c.Grants.Reinstate(background, g.ID))
		if code() != "valid" {
			t.Errorf("with a reinstated grant the key is %s", code())
		}
		// What was disabled before is disabled afterwards, and a key that was revoked by hand does not come back.
		ok[*sdk.LicenseKey](t)(c.LicenseKeys.Disable(background, k.ID))
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, g.ID))
		ok[*sdk.Grant](t)(c.Grants.Reinstate(background, g.ID))
		if code() != "disabled" {
			t.Errorf("a disabled key came back as %s", code())
		}
		ends := sdk.Time(time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		ok[*sdk.Grant](t)(c.Grants.Update(background, g.ID, &sdk.GrantUpdate{ExpiresAt: sdk.Set(ends)}))
		if got := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, k.ID)); got.ExpiresAt == nil {
			t.Error("the key does not end with its grant")
		}
		found := ok[*sdk.LicenseKeyList](t)(c.LicenseKeys.List(background, &sdk.ListLicenseKeysParams{Grant: &g.ID})).Data
		require.Len(t, found, 1, "the filter")
		assert.Equal(t, k.ID, found[0].ID, "the filter")
		ok[*sdk.LicenseKey](t)(c.LicenseKeys.Revoke(background, k.ID))
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, g.ID))
		ok[*sdk.Grant](t)(c.Grants.Reinstate(background, g.ID))
		if code() != "revoked" {
			t.Errorf("a key that was revoked by hand is %s", code())
		}
	})
}

// TestUpdateGrant_LeavesItsKeyTheEndItWasSoldWith says that a key for a year stays one, whatever else is changed of its grant, and ends
// with that if it ends before.
func TestUpdateGrant_LeavesItsKeyTheEndItWasSoldWith(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := licensed(t, c, nil, &sdk.PriceVariantLicense{ExpiresInDays: new(int64(365))})
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			CustomerEmail: new("ada@example.com"), LineItems: []sdk.CheckoutLine{{PriceVariant: product.PriceVariants[0].ID}},
		}))
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("pm_card_visa")))
		g := ok[*sdk.Order](t)(c.Orders.Get(background, paid.Order.ID)).Grants[0].ID
		end := func() sdk.Time {
			t.Helper()
			k := keyOf(t, c, g)
			if k.ExpiresAt == nil {
				t.Fatal("the key never ends")
			}
			return *k.ExpiresAt
		}
		sold := end()
		in := func(d time.Duration) sdk.Time { return sdk.TimeOf(time.Now().Add(d).UTC().Truncate(time.Second)) }
		for what, change := range map[string]*sdk.GrantUpdate{
			"its downloads": {DownloadLimit: sdk.Set(int64(5))}, "a later end": {ExpiresAt: sdk.Set(in(1000 * 24 * time.Hour))}, "no end": {ExpiresAt: sdk.Null[sdk.Time]()},
		} {
			ok[*sdk.Grant](t)(c.Grants.Update(background, g, change))
			if got := end(); got != sold {
				t.Errorf("with %s the key ends at %s, it was sold until %s", what, got, sold)
			}
		}
		soon, later := in(time.Hour), in(2*time.Hour)
		for _, moment := range []sdk.Time{soon, later} { // what ends with its grant follows it, also while that is revoked
			ok[*sdk.Grant](t)(c.Grants.Update(background, g, &sdk.GrantUpdate{ExpiresAt: sdk.Set(moment)}))
			if got := end(); !got.Time().Equal(moment.Time()) {
				t.Errorf("with a grant until %s the key ends at %s", moment, got)
			}
			ok[*sdk.Grant](t)(c.Grants.Revoke(background, g))
		}
	})
}

func TestGrant_TakesImportedKeysOldestFirst(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := licensed(t, c, new("imported"), nil)
		stock := func(keys ...string) {
			rows := make([]sdk.LicenseKeyImportRow, len(keys))
			for i, key := range keys {
				rows[i].Key = key
			}
			if done := ok[*sdk.LicenseKeyImport](t)(c.LicenseKeys.Import(background, &sdk.LicenseKeyImportCreate{Product: product.ID, Keys: rows})); int(done.Created) != len(keys) {
				t.Fatalf("the import is %+v", done)
			}
		}
		stock("STOCK-1", "STOCK-2")
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"})).ID
		var grants []string
		for range 4 {
			grants = append(grants, given(t, c, ada, product.ID).ID)
		}
		key := func(grant string) string {
			g := ok[*sdk.Grant](t)(c.Grants.Get(background, grant))
			if g.Deliverables[0].LicenseKey == nil {
				return ""
			}
			return *ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, *g.Deliverables[0].LicenseKey)).Key
		}
		for i, want := range []string{"STOCK-1", "STOCK-2", "", ""} {
			if got := key(grants[i]); got != want {
				t.Errorf("grant %d has the key %q, not %q", i, got, want)
			}
		}
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, grants[2]))
		stock("STOCK-3")
		got, waits := key(grants[3]), key(grants[2])
		assert.Equal(t, "STOCK-3", got)
		assert.Empty(t, waits)
		ok[*sdk.Grant](t)(c.Grants.Reinstate(background, grants[2]))
		stock("STOCK-4", "STOCK-5")
		if got := key(grants[2]); got != "STOCK-4" {
			t.Errorf("the grant that waits again has %q", got)
		}
	})
}

func TestDeleteCustomer_EndsTheirLicenceKeys(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := licensed(t, c, nil, nil)
		ada := ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: "ada@example.com"}))
		g := given(t, c, ada.ID, product.ID)
		k := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, *g.Deliverables[0].LicenseKey))
		shown := on(k, "mac")
		shown.Name = new("Ada's laptop")
		ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, shown))
		ok[*sdk.Deleted](t)(c.Customers.Delete(background, ada.ID, nil))
		if got := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, k.ID)); got.Status != "revoked" {
			t.Errorf("the key is %s", got.Status)
		}
		devices := ok[*sdk.LicenseActivationList](t)(c.LicenseKeys.ListActivations(background, k.ID, nil)).Data
		require.Len(t, devices, 1, "the devices")
		assert.Nil(t, devices[0].Name, "the devices")
		_, err := c.LicenseKeys.List(background, &sdk.ListLicenseKeysParams{Grant: new(randomID("grant"))})
		refused(t, err, http.StatusNotFound, "resource_missing", "grant")
	})
}
