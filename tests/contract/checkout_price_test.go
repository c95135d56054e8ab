package contract

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// taxed makes the account tax what goes to Germany.
func taxed(t *testing.T, c *sdk.Client, behavior sdk.TaxBehavior) {
	t.Helper()
	ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Tax: &sdk.TaxSettings{
		Mode: sdk.TaxModeFlatTable, Behavior: behavior, Rates: []sdk.TaxRate{{Country: new("DE"), RateBps: 1900, Name: "MwSt."}},
	}}))
}

func TestCheckout_ShowsItsTax(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		taxed(t, c, sdk.TaxBehaviorExclusive)
		price := onSale(t, c, 1900).ID
		open := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			LineItems: []sdk.CheckoutLine{{PriceVariant: price}}, CustomerEmail: new("ada@example.com"),
		}))
		require.Nil(t, open.TaxAmount, "before its buyer's country is known the checkout")
		require.Empty(t, open.TaxBreakdown, "before its buyer's country is known the checkout")
		assert.EqualValues(t, 1900, open.TotalAmount, "before its buyer's country is known the checkout")
		_, err := c.Checkouts.Confirm(background, open.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "billing_address")
		open = ok[*sdk.Checkout](t)(c.Checkouts.Update(background, open.ID, &sdk.CheckoutUpdate{BillingAddress: sdk.Set(sdk.Address{Country: new("DE")})}, sdk.Expand("line_items")))
		want := sdk.TaxBreakdown{Name: "MwSt.", RateBps: 1900, TaxableAmount: 1900, TaxAmount: 361}
		assert.EqualValues(t, 361, *open.TaxAmount, "in Germany the checkout")
		assert.EqualValues(t, 2261, open.TotalAmount, "in Germany the checkout")
		assert.EqualValues(t, 2261, open.AmountDueNow, "in Germany the checkout")
		require.Len(t, open.TaxBreakdown, 1, "in Germany the checkout")
		assert.False(t, open.TaxBreakdown[0] != want, "in Germany the checkout")
		line := open.LineItems[0].Object
		assert.EqualValues(t, 361, line.TaxAmount, "in Germany its line")
		assert.EqualValues(t, 1900, line.TaxRateBps, "in Germany its line")
		assert.Equal(t, "MwSt.", *line.TaxName, "in Germany its line")
		assert.False(t, line.TaxInclusive, "in Germany its line")
		done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, open.ID, by("pm_card_visa"), sdk.Expand("order", "invoice")))
		o := done.Order.Object
		assert.EqualValues(t, 361, o.TaxAmount, "its order")
		assert.EqualValues(t, 2261, o.PaidAmount, "its order")
		require.Len(t, o.TaxBreakdown, 1, "its order")
		assert.False(t, o.TaxBreakdown[0] != want, "its order")
		i := done.Invoice.Object
		assert.EqualValues(t, 361, i.TaxAmount, "its invoice")
		require.Len(t, i.TaxBreakdown, 1, "its invoice")
		assert.False(t, i.TaxBreakdown[0] != want, "its invoice")
	})
}

func TestCheckout_DoesNotTakeABuyerWhoSaysNothingForOneFromElsewhere(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Tax: &sdk.TaxSettings{
			Mode: sdk.TaxModeFlatTable, Behavior: sdk.TaxBehaviorExclusive,
			Rates: []sdk.TaxRate{{Country: new("DE"), RateBps: 1900, Name: "MwSt."}, {RateBps: 100, Name: "Elsewhere"}},
		}}))
		open := checkout(t, c, "ada@example.com", onSale(t, c, 1900))
		require.Nil(t, open.TaxAmount, "before its buyer's country is known the checkout")
		assert.EqualValues(t, 1900, open.TotalAmount, "before its buyer's country is known the checkout")
		_, err := c.Checkouts.Confirm(background, open.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "billing_address")
		open = ok[*sdk.Checkout](t)(c.Checkouts.Update(background, open.ID, &sdk.CheckoutUpdate{BillingAddress: sdk.Set(sdk.Address{Country: new("FR")})}))
		assert.EqualValues(t, 19, *open.TaxAmount, "in France the checkout")
		assert.EqualValues(t, 1919, open.TotalAmount, "in France the checkout")
	})
}

// A refusal that tells of a new total has stored it: the buyer sees it, and may confirm.
func TestConfirmCheckout_TellsOfATotalThatHasChanged(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		price := onSale(t, c, 1900).ID
		open := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			LineItems: []sdk.CheckoutLine{{PriceVariant: price}}, CustomerEmail: new("ada@example.com"),
			BillingAddress: &sdk.Address{Country: new("DE")},
		}))
		taxed(t, c, sdk.TaxBehaviorExclusive)
		pay := by("pm_card_visa")
		_, err := c.Checkouts.Confirm(background, open.ID, pay)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "line_items")
		shown := ok[*sdk.Checkout](t)(c.Checkouts.Get(background, open.ID))
		assert.EqualValues(t, 2261, shown.TotalAmount, "the buyer is shown")
		assert.Equal(t, sdk.CheckoutStatusOpen, shown.Status, "the buyer is shown")
		pay.WithdrawalWaived = new(true)
		done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, open.ID, pay, sdk.Expand("order")))
		assert.Equal(t, sdk.CheckoutStatusCompleted, done.Status, "the checkout")
		require.NotNil(t, done.WithdrawalWaivedAt, "the checkout")
		assert.NotNil(t, done.Order.Object.WithdrawalWaivedAt, "the checkout")
	})
}

func TestCheckout_TakesDiscounts(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		price := onSale(t, c, 1900).ID
		coded := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Code: new("SPRING"), Type: sdk.DiscountTypePercent, PercentBps: new(int64(1000))}))
		given := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Name: new("Friends"), Type: sdk.DiscountTypeFixed, Amount: new(int64(900)), Currency: new("usd")}))
		open := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			LineItems: []sdk.CheckoutLine{{PriceVariant: price}}, CustomerEmail: new("ada@example.com"), DiscountCode: new("spring"),
		}, sdk.Expand("discount")))
		assert.Equal(t, coded.ID, open.Discount.Object.ID, "with a code the checkout")
		assert.Equal(t, "SPRING", *open.DiscountCode, "with a code the checkout")
		assert.EqualValues(t, 190, open.DiscountAmount, "with a code the checkout")
		assert.EqualValues(t, 1710, open.TotalAmount, "with a code the checkout")
		assert.True(t, open.AllowDiscountCodes, "with a code the checkout")
		open = ok[*sdk.Checkout](t)(c.Checkouts.Update(background, open.ID, &sdk.CheckoutUpdate{Discount: sdk.Set(given.ID)}))
		assert.Equal(t, given.ID, open.Discount.ID, "with a discount by its id the checkout")
		require.Nil(t, open.DiscountCode, "with a discount by its id the checkout")
		assert.EqualValues(t, 1000, open.TotalAmount, "with a discount by its id the checkout")
		list := ok[*sdk.CheckoutList](t)(c.Checkouts.List(background, &sdk.ListCheckoutsParams{Discount: &given.ID}))
		require.Len(t, list.Data, 1, "the discount's checkouts")
		assert.Equal(t, open.ID, list.Data[0].ID, "the discount's checkouts")
		open = ok[*sdk.Checkout](t)(c.Checkouts.Update(background, open.ID, &sdk.CheckoutUpdate{Discount: sdk.Null[string]()}))
		assert.Empty(t, open.Discount.ID, "without a discount the checkout")
		assert.EqualValues(t, 1900, open.TotalAmount, "without a discount the checkout")
		lines := []sdk.CheckoutLine{{PriceVariant: price}}
		_, err := c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines, Discount: new(randomID("disc"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "discount")
		_, err = c.Checkouts.List(background, &sdk.ListCheckoutsParams{Discount: new(randomID("disc"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "discount")
		_, err = c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines, DiscountCode: new("NOPE")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
		_, err = c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines, DiscountCode: new("SPRING"), Discount: &given.ID})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
		ok[*sdk.Discount](t)(c.Discounts.Disable(background, coded.ID))
		_, err = c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: lines, DiscountCode: new("SPRING")})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
	})
}

func TestPublicCheckout_TakesDiscountCodesIfTheSellerLetsIt(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		price := onSale(t, c, 1900).ID
		ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Code: new("ALL"), Type: sdk.DiscountTypePercent, PercentBps: new(int64(10000))}))
		open := func(allow bool) *sdk.Checkout {
			return ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
				LineItems: []sdk.CheckoutLine{{PriceVariant: price}}, CustomerEmail: new("ada@example.com"), AllowDiscountCodes: &allow,
			}))
		}
		enter := func(o *sdk.Checkout, code string) (*sdk.PublicCheckout, error) {
			return c.PublicCheckouts.Update(background, o.ClientSecret, &sdk.PublicCheckoutUpdate{DiscountCode: sdk.Set(code)})
		}
		closed := open(false)
		_, err := enter(closed, "all")
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
		o := open(true)
		_, err = enter(o, "none")
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
		free := ok[*sdk.PublicCheckout](t)(enter(o, "all"))
		assert.Equal(t, "ALL", *free.DiscountCode, "with all taken off the checkout")
		assert.Zero(t, free.TotalAmount, "with all taken off the checkout")
		assert.False(t, free.PaymentMethodRequired, "with all taken off the checkout")
		back := ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Update(background, o.ClientSecret, &sdk.PublicCheckoutUpdate{DiscountCode: sdk.Null[string]()}))
		require.Nil(t, back.DiscountCode, "without its code the checkout")
		assert.EqualValues(t, 1900, back.TotalAmount, "without its code the checkout")
		ok[*sdk.PublicCheckout](t)(enter(o, "ALL"))
		done := ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Confirm(background, o.ClientSecret, &sdk.CheckoutConfirm{}))
		assert.Equal(t, sdk.CheckoutStatusCompleted, done.Status, "the checkout")
		assert.Equal(t, sdk.CheckoutPaymentStatusNoPaymentRequired, done.PaymentStatus, "the checkout")
	})
}

// A trial costs nothing, but a set-up fee is due at once, and what is not recurring too.
func TestCheckout_SellsTrialsAndSetUpFees(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		taxed(t, c, sdk.TaxBehaviorExclusive)
		club := variantOnSale(t, c, sdk.ProductPriceVariant{
			Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), TrialDays: new(int64(14)),
			Amount: new(int64(1000)), SetupFeeAmount: new(int64(500)), Currency: new("usd"),
		}).ID
		guide := onSale(t, c, 1900).ID
		open := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			LineItems: []sdk.CheckoutLine{{PriceVariant: club, Quantity: new(int64(2))}, {PriceVariant: guide}}, CustomerEmail: new("ada@example.com"),
			BillingAddress: &sdk.Address{Country: new("DE")},
		}, sdk.Expand("line_items")))
		var kinds []sdk.LineItemKind
		for _, line := range open.LineItems {
			kinds = append(kinds, line.Object.Kind)
		}
		if !slices.Equal(kinds, []sdk.LineItemKind{sdk.LineItemKindPrice, sdk.LineItemKindSetupFee, sdk.LineItemKindPrice}) {
			t.Errorf("the lines are %v", kinds)
		}
		assert.EqualValues(t, 4400, open.SubtotalAmount, "the checkout")
		assert.EqualValues(t, 836, *open.TaxAmount, "the checkout")
		assert.EqualValues(t, 5236, open.TotalAmount, "the checkout")
		assert.EqualValues(t, 2856, open.AmountDueNow, "the checkout")
		done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, open.ID, by("pm_card_visa"), sdk.Expand("subscription")))
		o := ok[*sdk.Order](t)(c.Orders.Get(background, done.Order.ID, sdk.Expand("line_items")))
		assert.EqualValues(t, 2856, o.PaidAmount, "the order")
		assert.EqualValues(t, 2856, o.TotalAmount, "the order")
		assert.Zero(t, o.LineItems[0].Object.TotalAmount, "the order")
		assert.Equal(t, sdk.BillingReasonSubscriptionCreate, o.BillingReason, "the order")
		if sub := done.Subscription.Object; sub.Status != sdk.SubscriptionStatusTrialing {
			t.Errorf("the subscription is %+v", sub)
		}
	})
}

func TestCheckout_RecurringLinesShareAnInterval(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		every := func(interval sdk.PriceVariantInterval) sdk.CheckoutLine {
			return sdk.CheckoutLine{PriceVariant: variantOnSale(t, c, sdk.ProductPriceVariant{
				Type: new(sdk.PriceVariantTypeRecurring), Interval: &interval, Amount: new(int64(1000)), Currency: new("usd"),
			}).ID}
		}
		month, year := every(sdk.PriceVariantIntervalMonth), every(sdk.PriceVariantIntervalYear)
		_, err := c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{month, year}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "line_items")
		ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{LineItems: []sdk.CheckoutLine{month, every(sdk.PriceVariantIntervalMonth)}}))
	})
}
