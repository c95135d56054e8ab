package contract

import (
	"net/http"
	"slices"
	"testing"

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
		if open.TaxAmount != nil || len(open.TaxBreakdown) != 0 || open.TotalAmount != 1900 {
			t.Errorf("before its buyer's country is known the checkout is %+v", open)
		}
		_, err := c.Checkouts.Confirm(background, open.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "billing_address")
		open = ok[*sdk.Checkout](t)(c.Checkouts.Update(background, open.ID, &sdk.CheckoutUpdate{BillingAddress: sdk.Set(sdk.Address{Country: new("DE")})}, sdk.Expand("line_items")))
		want := sdk.TaxBreakdown{Name: "MwSt.", RateBps: 1900, TaxableAmount: 1900, TaxAmount: 361}
		if *open.TaxAmount != 361 || open.TotalAmount != 2261 || open.AmountDueNow != 2261 || len(open.TaxBreakdown) != 1 || open.TaxBreakdown[0] != want {
			t.Errorf("in Germany the checkout is %+v", open)
		}
		if line := open.LineItems[0].Object; line.TaxAmount != 361 || line.TaxRateBps != 1900 || *line.TaxName != "MwSt." || line.TaxInclusive {
			t.Errorf("in Germany its line is %+v", line)
		}
		done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, open.ID, by("pm_card_visa"), sdk.Expand("order", "invoice")))
		if o := done.Order.Object; o.TaxAmount != 361 || o.PaidAmount != 2261 || len(o.TaxBreakdown) != 1 || o.TaxBreakdown[0] != want {
			t.Errorf("its order is %+v", o)
		}
		if i := done.Invoice.Object; i.TaxAmount != 361 || len(i.TaxBreakdown) != 1 || i.TaxBreakdown[0] != want {
			t.Errorf("its invoice is %+v", i)
		}
	})
}

func TestCheckout_DoesNotTakeABuyerWhoSaysNothingForOneFromElsewhere(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ok[*sdk.Account](t)(c.Account.Update(background, &sdk.AccountUpdate{Tax: &sdk.TaxSettings{
			Mode: sdk.TaxModeFlatTable, Behavior: sdk.TaxBehaviorExclusive,
			Rates: []sdk.TaxRate{{Country: new("DE"), RateBps: 1900, Name: "MwSt."}, {RateBps: 100, Name: "Elsewhere"}},
		}}))
		open := checkout(t, c, "ada@example.com", onSale(t, c, 1900))
		if open.TaxAmount != nil || open.TotalAmount != 1900 {
			t.Errorf("before its buyer's country is known the checkout is %+v", open)
		}
		_, err := c.Checkouts.Confirm(background, open.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "billing_address")
		open = ok[*sdk.Checkout](t)(c.Checkouts.Update(background, open.ID, &sdk.CheckoutUpdate{BillingAddress: sdk.Set(sdk.Address{Country: new("FR")})}))
		if *open.TaxAmount != 19 || open.TotalAmount != 1919 {
			t.Errorf("in France the checkout is %+v", open)
		}
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
		if shown := ok[*sdk.Checkout](t)(c.Checkouts.Get(background, open.ID)); shown.TotalAmount != 2261 || shown.Status != sdk.CheckoutStatusOpen {
			t.Errorf("the buyer is shown %+v", shown)
		}
		pay.WithdrawalWaived = new(true)
		done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, open.ID, pay, sdk.Expand("order")))
		if done.Status != sdk.CheckoutStatusCompleted || done.WithdrawalWaivedAt == nil || done.Order.Object.WithdrawalWaivedAt == nil {
			t.Errorf("the checkout is %+v", done)
		}
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
		if open.Discount.Object.ID != coded.ID || *open.DiscountCode != "SPRING" || open.DiscountAmount != 190 || open.TotalAmount != 1710 || !open.AllowDiscountCodes {
			t.Errorf("with a code the checkout is %+v", open)
		}
		open = ok[*sdk.Checkout](t)(c.Checkouts.Update(background, open.ID, &sdk.CheckoutUpdate{Discount: sdk.Set(given.ID)}))
		if open.Discount.ID != given.ID || open.DiscountCode != nil || open.TotalAmount != 1000 {
			t.Errorf("with a discount by its id the checkout is %+v", open)
		}
		list := ok[*sdk.CheckoutList](t)(c.Checkouts.List(background, &sdk.ListCheckoutsParams{Discount: &given.ID}))
		if len(list.Data) != 1 || list.Data[0].ID != open.ID {
			t.Errorf("the discount's checkouts are %+v", list.Data)
		}
		open = ok[*sdk.Checkout](t)(c.Checkouts.Update(background, open.ID, &sdk.CheckoutUpdate{Discount: sdk.Null[string]()}))
		if open.Discount.ID != "" || open.TotalAmount != 1900 {
			t.Errorf("without a discount the checkout is %+v", open)
		}
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
		if *free.DiscountCode != "ALL" || free.TotalAmount != 0 || free.PaymentMethodRequired {
			t.Errorf("with all taken off the checkout is %+v", free)
		}
		back := ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Update(background, o.ClientSecret, &sdk.PublicCheckoutUpdate{DiscountCode: sdk.Null[string]()}))
		if back.DiscountCode != nil || back.TotalAmount != 1900 {
			t.Errorf("without its code the checkout is %+v", back)
		}
		ok[*sdk.PublicCheckout](t)(enter(o, "ALL"))
		done := ok[*sdk.PublicCheckout](t)(c.PublicCheckouts.Confirm(background, o.ClientSecret, &sdk.CheckoutConfirm{}))
		if done.Status != sdk.CheckoutStatusCompleted || done.PaymentStatus != sdk.CheckoutPaymentStatusNoPaymentRequired {
			t.Errorf("the checkout is %+v", done)
		}
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
		if open.SubtotalAmount != 4400 || *open.TaxAmount != 836 || open.TotalAmount != 5236 || open.AmountDueNow != 2856 {
			t.Errorf("the checkout comes to %+v", open)
		}
		done := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, open.ID, by("pm_card_visa"), sdk.Expand("subscription")))
		if o := ok[*sdk.Order](t)(c.Orders.Get(background, done.Order.ID, sdk.Expand("line_items"))); o.PaidAmount != 2856 || o.TotalAmount != 2856 || o.LineItems[0].Object.TotalAmount != 0 || o.BillingReason != sdk.BillingReasonSubscriptionCreate {
			t.Errorf("the order is %+v", o)
		}
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
