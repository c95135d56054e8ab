package contract

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// reduced opens a checkout with a code.
func reduced(t *testing.T, c *sdk.Client, email, code string, variants ...*sdk.PriceVariant) *sdk.Checkout {
	t.Helper()
	return ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{CustomerEmail: &email, CustomerEmailVerified: new(true), DiscountCode: &code, LineItems: lines(variants...)}))
}

// redemptions are those of a discount, which counts as many.
func redemptions(t *testing.T, c *sdk.Client, discount string) []sdk.DiscountRedemption {
	t.Helper()
	list := ok[*sdk.DiscountRedemptionList](t)(c.Discounts.ListRedemptions(background, discount, nil))
	if d := ok[*sdk.Discount](t)(c.Discounts.Get(background, discount)); d.RedemptionsCount != int64(len(list.Data)) {
		t.Errorf("redemptions_count is %d, there are %d", d.RedemptionsCount, len(list.Data))
	}
	return list.Data
}

func TestCheckoutDiscount_IsSharedByItsLinesToTheLastUnit(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide, atlas := onSale(t, c, 1001), onSale(t, c, 1001)
		off(t, c, "Third", 3333)
		made := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{
			CustomerEmail: new("ada@example.com"), CustomerEmailVerified: new(true), DiscountCode: new("THIRD"), LineItems: lines(guide, atlas),
		}, sdk.Expand("line_items")))
		first, second := made.LineItems[0].Object, made.LineItems[1].Object
		assert.EqualValues(t, 2002, made.SubtotalAmount, "the checkout")
		assert.EqualValues(t, 667, made.DiscountAmount, "the checkout")
		assert.EqualValues(t, 1335, made.TotalAmount, "the checkout")
		assert.Equal(t, "Third", *made.DiscountCode, "the checkout")
		assert.EqualValues(t, 334, first.DiscountAmount)
		assert.EqualValues(t, 333, second.DiscountAmount)
		assert.EqualValues(t, 667, first.TotalAmount)
		order := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("pm_card_visa"), sdk.Expand("order"))).Order.Object
		assert.EqualValues(t, 667, order.DiscountAmount, "the order")
		assert.EqualValues(t, 1335, order.TotalAmount, "the order")
		assert.EqualValues(t, 1335, order.PaidAmount, "the order")
	})
}

func TestCheckoutDiscount_CanBeTakenOff(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		byCode := off(t, c, "HALF", 5000)
		five := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Name: new("Five"), Type: "fixed", Amount: new(int64(500)), Currency: new("usd")}))
		made := reduced(t, c, "ada@example.com", "half", guide)
		assert.EqualValues(t, 950, made.TotalAmount, "the checkout")
		assert.Equal(t, byCode.ID, made.Discount.ID, "the checkout")
		given := ok[*sdk.Checkout](t)(c.Checkouts.Update(background, made.ID, &sdk.CheckoutUpdate{Discount: sdk.Set(five.ID)}))
		assert.EqualValues(t, 1400, given.TotalAmount, "with the seller's own")
		assert.Equal(t, five.ID, given.Discount.ID, "with the seller's own")
		assert.Nil(t, given.DiscountCode, "with the seller's own")
		full := ok[*sdk.Checkout](t)(c.Checkouts.Update(background, made.ID, &sdk.CheckoutUpdate{Discount: sdk.Null[string]()}))
		assert.EqualValues(t, 1900, full.TotalAmount, "without")
		assert.Zero(t, full.DiscountAmount, "without")
		assert.Empty(t, full.Discount.ID, "without")
	})
}

func TestCheckoutDiscount_RefusesWhatCannotBeUsed(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide, other := onSale(t, c, 1900), onSale(t, c, 1900)
		for code, body := range map[string]sdk.DiscountCreate{
			"EXPIRED":   {EndsAt: new(sdk.Time("2020-01-02T03:04:05.000Z"))},
			"SCHEDULED": {StartsAt: new(sdk.Time("2199-01-02T03:04:05.000Z"))},
			"MINIMUM":   {MinSubtotalAmount: new(int64(1901))},
			"ELSEWHERE": {MinSubtotalAmount: new(int64(1)), Currency: new("eur")},
			"OTHER":     {AppliesTo: &sdk.DiscountAppliesToCreate{PriceVariants: []string{other.ID}}},
			"REST":      {PercentBps: new(int64(9900))}, // 19 cents cannot be charged
		} {
			if body.Code, body.Type = &code, "percent"; body.PercentBps == nil {
				body.PercentBps = new(int64(1000))
			}
			d := ok[*sdk.Discount](t)(c.Discounts.Create(background, &body))
			_, err := c.Checkouts.Create(background, &sdk.CheckoutCreate{DiscountCode: &code, LineItems: lines(guide)})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
			_, err = c.Checkouts.Create(background, &sdk.CheckoutCreate{Discount: &d.ID, LineItems: lines(guide)})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount")
		}
		_, err := c.Checkouts.Create(background, &sdk.CheckoutCreate{DiscountCode: new("UNKNOWN"), LineItems: lines(guide)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
		_, err = c.Checkouts.Create(background, &sdk.CheckoutCreate{Discount: new(randomID("disc")), LineItems: lines(guide)})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "discount")
	})
}

func TestConfirmCheckout_RedeemsItsDiscountOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		one := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Code: new("ONE"), Type: "percent", PercentBps: new(int64(1000)), MaxRedemptions: new(int64(1))}))
		first, second := reduced(t, c, "ada@example.com", "ONE", guide), reduced(t, c, "grace@example.com", "ONE", guide)
		if list := redemptions(t, c, one.ID); len(list) != 0 {
			t.Errorf("open checkouts have redeemed it: %+v", list)
		}
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, first.ID, by("pm_card_visa")))
		ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, first.ID, by("pm_card_visa"))) // the same order
		list := redemptions(t, c, one.ID)
		require.Len(t, list, 1, "the redemptions")
		assert.Equal(t, paid.Order.ID, list[0].Order.ID, "the redemptions")
		assert.Equal(t, first.ID, list[0].Checkout.ID, "the redemptions")
		assert.Equal(t, paid.Customer.ID, list[0].Customer.ID, "the redemptions")
		assert.EqualValues(t, 190, list[0].DiscountAmount, "the redemptions")
		assert.Equal(t, "usd", list[0].Currency, "the redemptions")
		assert.Equal(t, one.ID, list[0].Discount.ID, "the redemptions")
		_, err := c.Checkouts.Confirm(background, second.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
		if got := ok[*sdk.Discount](t)(c.Discounts.Get(background, one.ID)); got.Status != "exhausted" {
			t.Errorf("the discount is %s", got.Status)
		}
		_, err = c.Checkouts.Create(background, &sdk.CheckoutCreate{DiscountCode: new("ONE"), LineItems: lines(guide)})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
	})
}

func TestUpdateDiscount_OfOneThatIsRedeemed(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		d := off(t, c, "HALF", 5000)
		ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, reduced(t, c, "ada@example.com", "HALF", guide).ID, by("pm_card_visa")))
		for field, body := range map[string]*sdk.DiscountUpdate{ // the first of those that are refused
			"percent_bps": {PercentBps: sdk.Set(int64(4000))},
			"amount":      {Type: new(sdk.DiscountType("fixed")), PercentBps: sdk.Null[int64](), Amount: sdk.Set(int64(100))},
			"rules":       {Rules: []sdk.DiscountRuleCreate{{PriceVariant: guide.ID, PercentBps: new(int64(1))}}},
			"currency":    {Currency: sdk.Set("usd")},
			"amounts":     {Amounts: &sdk.DiscountAmounts{"usd": 1}},
			"duration":    {Duration: new(sdk.DiscountDuration("repeating")), DurationInMonths: sdk.Set(int64(2))},
		} {
			_, err := c.Discounts.Update(background, d.ID, body)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, field)
		}
		_, err := c.Discounts.Update(background, d.ID, &sdk.DiscountUpdate{MaxRedemptions: sdk.Set(int64(0))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "max_redemptions")
		got := ok[*sdk.Discount](t)(c.Discounts.Update(background, d.ID, &sdk.DiscountUpdate{
			Name: new("Half"), MaxRedemptions: sdk.Set(int64(1)), AppliesTo: &sdk.DiscountAppliesToCreate{PriceVariants: []string{guide.ID}}, PercentBps: sdk.Set(int64(5000)),
		}))
		assert.Equal(t, "Half", got.Name, "the discount")
		assert.EqualValues(t, "exhausted", got.Status, "the discount")
		assert.Len(t, got.AppliesTo.PriceVariants, 1, "the discount")
	})
}

func TestConfirmCheckout_GivesTheRedemptionBackWithADecline(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		d := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Code: new("ONE"), Type: "percent", PercentBps: new(int64(1000)), MaxRedemptions: new(int64(1))}))
		made := reduced(t, c, "ada@example.com", "ONE", guide)
		_, err := c.Checkouts.Confirm(background, made.ID, by("4000000000000002"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		if list := redemptions(t, c, d.ID); len(list) != 0 {
			t.Errorf("a declined purchase has redeemed it: %+v", list)
		}
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("pm_card_visa")))
		list := redemptions(t, c, d.ID)
		assert.Len(t, list, 1)
		assert.EqualValues(t, 1710, paid.TotalAmount)
	})
}

func TestConfirmCheckout_HoldsTheRedemptionWhileTheBuyerActs(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		d := off(t, c, "HALF", 5000)
		made := reduced(t, c, "ada@example.com", "HALF", onSale(t, c, 1900))
		waiting := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, by("4000002500003155")))
		list := redemptions(t, c, d.ID)
		require.Len(t, list, 1)
		assert.Empty(t, list[0].Order.ID)
		assert.EqualValues(t, "processing", waiting.Status)
	})
}

func TestConfirmCheckout_AHundredPercentIsAnOrdinaryPurchase(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		gift := off(t, c, "GIFT", 10000)
		free := variantOnSale(t, c, sdk.ProductPriceVariant{AmountType: new(sdk.PriceVariantAmountType("free")), Currency: new("usd")})
		for _, variant := range []*sdk.PriceVariant{onSale(t, c, 1900), free} {
			made := reduced(t, c, "ada@example.com", "GIFT", variant)
			assert.Zero(t, made.TotalAmount, "the checkout")
			assert.False(t, made.PaymentMethodRequired, "the checkout")
			got := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, made.ID, &sdk.CheckoutConfirm{}, sdk.Expand("order")))
			assert.EqualValues(t, "completed", got.Status, "the checkout")
			assert.EqualValues(t, "no_payment_required", got.PaymentStatus, "the checkout")
			assert.EqualValues(t, "paid", got.Order.Object.Status, "the checkout")
			assert.Zero(t, got.Order.Object.PaidAmount, "the checkout")
		}
		list := redemptions(t, c, gift.ID)
		require.Len(t, list, 2, "the redemptions")
		assert.NotEmpty(t, list[0].Order.ID, "the redemptions")
	})
}

func TestConfirmCheckout_KeepsTheCapsOfACustomer(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		for code, change := range map[string]func(*sdk.DiscountCreate){
			"TWICE": func(d *sdk.DiscountCreate) { d.MaxRedemptionsPerCustomer = new(int64(2)) },
			"FIRST": func(d *sdk.DiscountCreate) { d.FirstPurchaseOnly = new(true) },
		} {
			body := &sdk.DiscountCreate{Code: &code, Type: "percent", PercentBps: new(int64(1000))}
			change(body)
			ok[*sdk.Discount](t)(c.Discounts.Create(background, body))
			times := map[string]int{"TWICE": 2, "FIRST": 1}[code]
			late := reduced(t, c, "ada@"+code+".example", code, guide)
			for range times {
				ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, reduced(t, c, "Ada@"+code+".example", code, guide).ID, by("pm_card_visa")))
			}
			_, err := c.Checkouts.Confirm(background, late.ID, by("pm_card_visa"))
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
			_, err = c.Checkouts.Create(background, &sdk.CheckoutCreate{CustomerEmail: new("ADA@" + code + ".example"), CustomerEmailVerified: new(true), DiscountCode: &code, LineItems: lines(guide)})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
			reduced(t, c, "grace@"+code+".example", code, guide)
		}
	})
}

func TestConfirmCheckout_SixteenBuyersOfFourRedemptions(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		for code, bps := range map[string]int64{"SOME": 1000, "GIFT": 10000} {
			d := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Code: &code, Type: "percent", PercentBps: &bps, MaxRedemptions: new(int64(4))}))
			made := make([]*sdk.Checkout, 16)
			for i := range made {
				made[i] = reduced(t, c, fmt.Sprintf("buyer%d@example.com", i), code, guide)
			}
			sold := confirmAtOnce(t, c, made, "discount_code")
			list := redemptions(t, c, d.ID)
			assert.Equal(t, 4, sold, code)
			assert.Len(t, list, 4, code)
		}
	})
}

func TestDeleteDiscount_LeavesItsOrdersAlone(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		guide := onSale(t, c, 1900)
		d := off(t, c, "HALF", 5000)
		bought := ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, reduced(t, c, "ada@example.com", "HALF", guide).ID, by("pm_card_visa")))
		open := reduced(t, c, "grace@example.com", "HALF", guide)
		ok[*sdk.Deleted](t)(c.Discounts.Delete(background, d.ID))
		got := ok[*sdk.Checkout](t)(c.Checkouts.Get(background, bought.ID, sdk.Expand("discount", "order")))
		assert.Equal(t, d.ID, got.Discount.ID, "the checkout")
		require.NotNil(t, got.Discount.Deleted, "the checkout")
		assert.EqualValues(t, 950, got.Order.Object.DiscountAmount, "the checkout")
		_, err := c.Checkouts.Confirm(background, open.ID, by("pm_card_visa"))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount_code")
		off(t, c, "HALF", 5000) // the code is free
	})
}
