package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestCheckoutLink_IsKeptAsItWasSent(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		d := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Code: new("SPRING"), Type: sdk.DiscountTypePercent, PercentBps: new(int64(1000))}))
		price := p.PriceVariants[0].ID
		made := ok[*sdk.CheckoutLink](t)(c.CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{
			PriceVariants: []string{price, price}, Name: new("Newsletter"), Discount: &d.ID, AllowDiscountCodes: new(false), AllowQuantityChange: new(true),
			SuccessURL: new("https://shop.example/thanks"), MaxUses: new(int64(3)), Metadata: &sdk.Metadata{"list": "42"},
		}))
		assert.True(t, strings.HasSuffix(made.URL, "/buy/"+made.ID), "the link")
		assert.True(t, made.Active, "the link")
		assert.Zero(t, made.Uses, "the link")
		assert.False(t, made.AllowDiscountCodes, "the link")
		assert.True(t, made.AllowQuantityChange, "the link")
		assert.EqualValues(t, 3, *made.MaxUses, "the link")
		read := ok[*sdk.CheckoutLink](t)(c.CheckoutLinks.Get(background, made.ID, sdk.Expand("price_variants", "discount")))
		require.Len(t, read.PriceVariants, 2, "the link")
		assert.Equal(t, price, read.PriceVariants[1].Object.ID, "the link")
		assert.Equal(t, d.ID, read.Discount.Object.ID, "the link")
		assert.Equal(t, "Newsletter", *read.Name, "the link")
		off := ok[*sdk.CheckoutLink](t)(c.CheckoutLinks.Update(background, made.ID, &sdk.CheckoutLinkUpdate{
			Active: new(false), AllowQuantityChange: new(false), Discount: sdk.Null[string](), MaxUses: sdk.Null[int64](), PriceVariants: []string{price},
		}))
		assert.False(t, off.Active, "the link")
		assert.False(t, off.AllowQuantityChange, "the link")
		assert.Empty(t, off.Discount.ID, "the link")
		require.Nil(t, off.MaxUses, "the link")
		require.Len(t, off.PriceVariants, 1, "the link")
		assert.Equal(t, "42", off.Metadata["list"], "the link")
		on := ok[*sdk.CheckoutLink](t)(c.CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{PriceVariants: []string{price}}))
		list := ok[*sdk.CheckoutLinkList](t)(c.CheckoutLinks.List(background, &sdk.ListCheckoutLinksParams{Active: new(true)}))
		require.Len(t, list.Data, 1, "the links at work")
		assert.Equal(t, on.ID, list.Data[0].ID, "the links at work")
		ok[*sdk.Deleted](t)(c.CheckoutLinks.Delete(background, on.ID))
		_, err := c.CheckoutLinks.Get(background, on.ID)
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "")
	})
}

func TestCheckoutLink_RefusesWhatCanNeverBeBoughtTogether(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, &sdk.ProductCreate{Name: "Guide", PriceVariants: []sdk.ProductPriceVariant{
			{Amount: new(int64(1000)), Currency: new("usd"), CurrencyAmounts: &sdk.CurrencyAmounts{"eur": 900}},
			{Amount: new(int64(900)), Currency: new("eur")},
			{Amount: new(int64(1000)), Currency: new("usd"), QuantityMin: new(int64(2))},
			{AmountType: new(sdk.PriceVariantAmountTypeCustom), Currency: new("usd")},
			{Amount: new(int64(1000)), Currency: new("usd"), Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth)},
			{Amount: new(int64(9000)), Currency: new("usd"), Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalYear)},
		}}))
		price := func(n int) string { return p.PriceVariants[n].ID }
		for param, variants := range map[string][]string{
			"price_variants.1": {price(0), price(1)}, "price_variants.0": {price(2)}, "price_variants.2": {price(0), price(0), price(3)},
			"price_variants": {price(4), price(5)},
		} {
			_, err := c.CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{PriceVariants: variants})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, param)
		}
		link := ok[*sdk.CheckoutLink](t)(c.CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{PriceVariants: []string{price(1), price(0)}})) // of a draft
		for _, variants := range [][]string{{price(2), price(2)}, {price(4), price(0)}} {
			ok[*sdk.CheckoutLink](t)(c.CheckoutLinks.Update(background, link.ID, &sdk.CheckoutLinkUpdate{PriceVariants: variants}))
		}
		_, err := c.CheckoutLinks.Update(background, link.ID, &sdk.CheckoutLinkUpdate{PriceVariants: []string{price(2)}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "price_variants.0")

		// Where buyers choose how many they want, two of it are what they begin with.
		from := func(subtotal int64) *string {
			return &ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{
				Name: new("Two"), Type: sdk.DiscountTypePercent, PercentBps: new(int64(1000)), Currency: new("usd"), MinSubtotalAmount: &subtotal,
			})).ID
		}
		chosen := &sdk.CheckoutLinkCreate{PriceVariants: []string{price(2)}, AllowQuantityChange: new(true), Discount: from(2001)}
		_, err = c.CheckoutLinks.Create(background, chosen)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount")
		chosen.Discount = from(2000)
		link = ok[*sdk.CheckoutLink](t)(c.CheckoutLinks.Create(background, chosen))
		_, err = c.CheckoutLinks.Update(background, link.ID, &sdk.CheckoutLinkUpdate{AllowQuantityChange: new(false)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "price_variants.0")
	})
}

func TestCheckoutLink_PointsAtWhatIsThere(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		p := ok[*sdk.Product](t)(c.Products.Create(background, sellable("Guide")))
		_, err := c.CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{PriceVariants: []string{p.PriceVariants[0].ID, randomID("price")}})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "price_variants.1")
		_, err = c.CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{PriceVariants: []string{p.PriceVariants[0].ID}, Discount: new(randomID("disc"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "discount")
		_, err = c.CheckoutLinks.List(background, &sdk.ListCheckoutLinksParams{Discount: new(randomID("disc"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "discount")
		_, err = c.CheckoutLinks.Create(background, &sdk.CheckoutLinkCreate{PriceVariants: []string{}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "price_variants")
	})
}
