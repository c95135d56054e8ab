package contract

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestCreatePriceVariant_NeedsItsProduct(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		_, err := c.PriceVariants.Create(background, &sdk.PriceVariantCreate{Product: randomID("prod"), Amount: new(int64(1900)), Currency: new("usd")})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "product")
	})
}

func TestCreatePriceVariant_RefusesPricesThatCannotBe(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Guide"}))
		for param, v := range map[string]sdk.PriceVariantCreate{
			"amount":            {Amount: new(int64(49)), Currency: new("usd")},
			"currency":          {Amount: new(int64(1900)), Currency: new("xyz")},
			"interval":          {Amount: new(int64(1900)), Currency: new("usd"), Type: new(sdk.PriceVariantTypeRecurring)},
			"trial_days":        {Amount: new(int64(1900)), Currency: new("usd"), TrialDays: new(int64(7))},
			"interval_count":    {Amount: new(int64(1900)), Currency: new("usd"), Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalYear), IntervalCount: new(int64(11))},
			"compare_at_amount": {Amount: new(int64(1900)), Currency: new("usd"), CompareAtAmount: new(int64(1900))},
			"suggested_amount":  {Currency: new("usd"), AmountType: new(sdk.PriceVariantAmountTypeCustom), MinAmount: new(int64(500)), SuggestedAmount: new(int64(400))},
			"max_amount":        {Currency: new("usd"), AmountType: new(sdk.PriceVariantAmountTypeCustom), SuggestedAmount: new(int64(400)), MaxAmount: new(int64(300))},
			"quantity_max":      {Amount: new(int64(1900)), Currency: new("usd"), QuantityMin: new(int64(3)), QuantityMax: new(int64(2))},
		} {
			v.Product = p.ID
			_, err := c.PriceVariants.Create(background, &v)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
	})
}

func TestCreatePriceVariant_StoresEveryKind(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Guide"}))
		for _, v := range []sdk.PriceVariantCreate{
			{Amount: new(int64(1900)), Currency: new("usd"), CurrencyAmounts: &sdk.CurrencyAmounts{"eur": 1700, "jpy": 2800}, Stock: new(int64(5))},
			{Currency: new("usd"), AmountType: new(sdk.PriceVariantAmountTypeFree)},
			{Currency: new("usd"), AmountType: new(sdk.PriceVariantAmountTypeCustom), MinAmount: new(int64(0)), SuggestedAmount: new(int64(500)), MaxAmount: new(int64(5000))},
			{Amount: new(int64(900)), Currency: new("eur"), Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), TrialDays: new(int64(14)), BillingCycles: new(int64(12))},
		} {
			v.Product = p.ID
			made := ok[*sdk.PriceVariant](t)(c.PriceVariants.Create(background, &v))
			read := ok[*sdk.PriceVariant](t)(c.PriceVariants.Get(background, made.ID, sdk.Expand("product")))
			require.NotNil(t, read.Product.Object, "the price variant")
			assert.Equal(t, p.ID, read.Product.Object.ID, "the price variant")
			assert.Equal(t, sdk.PriceVariantStatusActive, read.Status, "the price variant")
		}
		list := ok[*sdk.PriceVariantList](t)(c.PriceVariants.List(background, &sdk.ListPriceVariantsParams{Product: &p.Slug, Type: new(sdk.PriceVariantTypeRecurring)}))
		require.Len(t, list.Data, 1, "the recurring ones")
		assert.Equal(t, sdk.PriceVariantIntervalMonth, *list.Data[0].Interval, "the recurring ones")
		assert.EqualValues(t, 1, *list.Data[0].IntervalCount, "the recurring ones")
	})
}

func TestUpdatePriceVariant_KeepsThePriceOfWhatWasSold(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		id := p.PriceVariants[0].ID
		v := ok[*sdk.PriceVariant](t)(c.PriceVariants.Update(background, id, &sdk.PriceVariantUpdate{Amount: new(int64(2100))}))
		if v.Amount != 2100 {
			t.Errorf("the amount is %d", v.Amount)
		}
		sold := buy(t, c, "Sold").PriceVariants[0].ID
		_, err := c.PriceVariants.Update(background, sold, &sdk.PriceVariantUpdate{Amount: new(int64(2100))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "amount")
		ok[*sdk.PriceVariant](t)(c.PriceVariants.Update(background, sold, &sdk.PriceVariantUpdate{Name: sdk.Set("Standard")}))
		_, err = c.PriceVariants.Delete(background, sold)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "base")
		_, err = c.PriceVariants.Update(background, sold, &sdk.PriceVariantUpdate{Status: new(sdk.PriceVariantStatusArchived)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
	})
}
