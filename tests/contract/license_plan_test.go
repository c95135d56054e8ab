package contract

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// plans are the monthly price variants of one product with these terms of licences, whose buyers get deliverables beside.
func plans(t *testing.T, c *sdk.Client, deliverables []sdk.Deliverable, terms ...*sdk.PriceVariantLicense) *sdk.Product {
	t.Helper()
	in := sellable("Program")
	in.Status, in.Deliverables, in.PriceVariants = new(sdk.ProductStatus("active")), deliverables, nil
	for i, license := range terms {
		in.PriceVariants = append(in.PriceVariants, sdk.ProductPriceVariant{
			Type: new(sdk.PriceVariantType("recurring")), Interval: new(sdk.PriceVariantInterval("month")), Amount: new(int64(500 * (i + 1))), License: license,
		})
	}
	return ok[*sdk.Product](t)(c.Products.Create(background, in, sdk.Expand("price_variants")))
}

// TestChangeSubscription_GivesTheKeyThatThePlanAsksFor says that whoever goes over to a plan with a licence has one, and whoever leaves it has none.
func TestChangeSubscription_GivesTheKeyThatThePlanAsksFor(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		program := plans(t, c, nil, nil, &sdk.PriceVariantLicense{Enabled: true, ActivationLimit: new(int64(2))})
		small, large := program.PriceVariants[0].Object, program.PriceVariants[1].Object
		sub := subscription(t, c, small)
		own := func() sdk.Grant { return had(t, c, sub.Customer.ID)[0] }
		if g := own(); len(g.Deliverables) != 0 {
			t.Errorf("the plan without a licence gives %+v", g.Deliverables)
		}
		changed(t, c, sub, large)
		k := keyOf(t, c, own().ID)
		code := func() sdk.LicenseValidationCode {
			return ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, &sdk.LicenseKeyValidate{Key: *k.Key, Product: program.ID})).Code
		}
		assert.EqualValues(t, 2, *k.ActivationLimit)
		assert.EqualValues(t, "valid", code())
		changed(t, c, sub, small)
		g := own()
		assert.Empty(t, g.Deliverables)
		assert.EqualValues(t, "revoked", code())
		ok[*sdk.Grant](t)(c.Grants.Revoke(background, own().ID))
		ok[*sdk.Grant](t)(c.Grants.Reinstate(background, own().ID))
		if code() != "revoked" {
			t.Errorf("a reinstated grant of a plan without a licence has a key that is %s", code())
		}
		changed(t, c, sub, large)
		again := keyOf(t, c, own().ID)
		assert.Equal(t, k.ID, again.ID)
		assert.EqualValues(t, "valid", code())
		ok[*sdk.LicenseKey](t)(c.LicenseKeys.Revoke(background, k.ID))
		changed(t, c, sub, small)
		changed(t, c, sub, large)
		again = keyOf(t, c, own().ID)
		assert.Equal(t, k.ID, again.ID)
		assert.EqualValues(t, "revoked", code())
	})
}

func TestChangeSubscription_LeavesAnImportedKeyItsLimit(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		program := plans(t, c, []sdk.Deliverable{{Type: "license_key", Ref: new("imported")}}, nil, nil)
		stock := func(key string) {
			ok[*sdk.LicenseKeyImport](t)(c.LicenseKeys.Import(background, &sdk.LicenseKeyImportCreate{
				Product: program.ID, Keys: []sdk.LicenseKeyImportRow{{Key: key, ActivationLimit: new(int64(3))}},
			}))
		}
		stock("STOCK-1")
		sub := subscription(t, c, program.PriceVariants[0].Object)
		own := func() *sdk.LicenseKey { return keyOf(t, c, had(t, c, sub.Customer.ID)[0].ID) }
		changed(t, c, sub, program.PriceVariants[1].Object)
		k := own()
		require.NotNil(t, k.ActivationLimit, "by another plan the key")
		assert.EqualValues(t, 3, *k.ActivationLimit, "by another plan the key")
	})
}
