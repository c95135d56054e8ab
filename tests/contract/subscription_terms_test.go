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

// in is the moment after so many days.
func in(days int) sdk.Time { return sdk.TimeOf(time.Now().AddDate(0, 0, days).Truncate(time.Second)) }

func TestCreateSubscription_TriesUntilItIsTold(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		who, v, until := member(t, c).ID, monthly(t, c, 900), in(10)
		create := func(end sdk.Time) (*sdk.Subscription, error) {
			return c.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: who, PriceVariant: v.ID, PaymentMethod: new("pm_card_visa"), TrialEnd: &end}, sdk.Expand("latest_invoice"))
		}
		for _, end := range []sdk.Time{in(-1), in(731)} {
			_, err := create(end)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "trial_end")
		}
		sub := ok[*sdk.Subscription](t)(create(until))
		assert.Equal(t, sdk.SubscriptionStatusTrialing, sub.Status)
		assert.Equal(t, until, *sub.TrialEnd)
		assert.Equal(t, until, sub.CurrentPeriodEnd)
		assert.Zero(t, sub.LatestInvoice.Object.TotalAmount)
		advance(t, c, 11*24*time.Hour)
		begun := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("latest_invoice")))
		assert.Equal(t, sdk.SubscriptionStatusActive, begun.Status, "after its trial")
		assert.Equal(t, until, begun.CurrentPeriodStart, "after its trial")
		assert.EqualValues(t, 900, begun.LatestInvoice.Object.AmountPaid, "after its trial")
		assert.EqualValues(t, 1, begun.CyclesBilled, "after its trial")
	})
}

func TestCreateSubscription_TakesTheAmountThatTheCustomerChose(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		who := member(t, c).ID
		open := variantOnSale(t, c, sdk.ProductPriceVariant{
			Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), IntervalCount: new(int64(1)),
			AmountType: new(sdk.PriceVariantAmountTypeCustom), Currency: new("usd"), MinAmount: new(int64(500)), MaxAmount: new(int64(5000)),
		})
		create := func(variant string, amount *int64) (*sdk.Subscription, error) {
			return c.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: who, PriceVariant: variant, PaymentMethod: new("pm_card_visa"), CustomAmount: amount})
		}
		for _, amount := range []*int64{nil, new(int64(499)), new(int64(5001))} {
			_, err := create(open.ID, amount)
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "custom_amount")
		}
		_, err := create(monthly(t, c, 900).ID, new(int64(500)))
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "custom_amount")
		sub := ok[*sdk.Subscription](t)(create(open.ID, new(int64(1200))))
		advance(t, c, 32*24*time.Hour)
		got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("latest_invoice")))
		assert.EqualValues(t, 1200, got.UnitAmount)
		assert.EqualValues(t, 1200, got.LatestInvoice.Object.AmountPaid)
	})
}

func TestCreateSubscription_IsDiscountedLikeACheckout(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		who, v := member(t, c).ID, monthly(t, c, 1000)
		once := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Name: new("One"), Type: "percent", PercentBps: new(int64(2500)), Duration: new(sdk.DiscountDurationRepeating), DurationInMonths: new(int64(1)), MaxRedemptions: new(int64(1))}))
		create := func(discount string) (*sdk.Subscription, error) {
			return c.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: who, PriceVariant: v.ID, PaymentMethod: new("pm_card_visa"), Discount: &discount}, sdk.Expand("latest_invoice"))
		}
		_, err := create(randomID("disc"))
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "discount")
		sub := ok[*sdk.Subscription](t)(create(once.ID))
		assert.EqualValues(t, 750, sub.LatestInvoice.Object.AmountPaid)
		assert.Equal(t, once.ID, sub.Discount.ID)
		used := redemptions(t, c, once.ID)
		require.Len(t, used, 1, "its redemptions")
		assert.Equal(t, sub.Checkout.ID, used[0].Checkout.ID, "its redemptions")
		assert.EqualValues(t, 250, used[0].DiscountAmount, "its redemptions")
		_, err = create(once.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount")
		advance(t, c, 32*24*time.Hour)
		if got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("latest_invoice"))); got.LatestInvoice.Object.AmountPaid != 1000 {
			t.Errorf("the second month costs %d", got.LatestInvoice.Object.AmountPaid)
		}
	})
}

// A discount that the seller gives counts one use, which comes back if it is taken away unused.
func TestUpdateSubscription_RedeemsItsDiscount(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		first, second := subscription(t, c, monthly(t, c, 1000)), subscription(t, c, monthly(t, c, 1000))
		off := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Name: new("Loyal"), Type: "percent", PercentBps: new(int64(2500)), Duration: new(sdk.DiscountDurationForever), MaxRedemptions: new(int64(1))}))
		give := func(sub *sdk.Subscription) error {
			_, err := c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{Discount: sdk.Set(off.ID)})
			return err
		}
		take := func(sub *sdk.Subscription) {
			ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{Discount: sdk.Null[string]()}))
		}
		if err := give(first); err != nil {
			t.Fatal(err)
		}
		used := redemptions(t, c, off.ID)
		require.Len(t, used, 1, "its redemptions")
		assert.Equal(t, first.ID, used[0].Subscription.ID, "its redemptions")
		assert.Empty(t, used[0].Checkout.ID, "its redemptions")
		assert.Empty(t, used[0].Order.ID, "its redemptions")
		refused(t, give(second), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount")
		if err := give(first); err != nil {
			t.Errorf("what it has already: %v", err)
		}
		take(first)
		if used := redemptions(t, c, off.ID); len(used) != 0 {
			t.Errorf("it was not used, and %+v are left", used)
		}
		if err := give(second); err != nil {
			t.Fatal(err)
		}
		advance(t, c, 70*24*time.Hour)
		take(second)
		list := ok[*sdk.DiscountRedemptionList](t)(c.Discounts.ListRedemptions(background, off.ID, nil, sdk.Expand("order", "subscription")))
		require.Len(t, list.Data, 1, "it was used, and its redemptions")
		assert.EqualValues(t, 250, list.Data[0].DiscountAmount, "it was used, and its redemptions")
		assert.EqualValues(t, 750, list.Data[0].Order.Object.TotalAmount, "it was used, and its redemptions")
		assert.Equal(t, second.ID, list.Data[0].Subscription.Object.ID, "it was used, and its redemptions")
		refused(t, give(first), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount")
	})
}

// A discount for one period is used up by the one that a change of plan begins, though that costs nothing with it.
func TestChangeSubscription_UsesUpADiscountForOnePeriod(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		yearly := variantOnSale(t, c, sdk.ProductPriceVariant{
			Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalYear), IntervalCount: new(int64(1)), Amount: new(int64(12000)), Currency: new("usd"),
		})
		for bps, want := range map[int64]sdk.SubscriptionChangePreview{
			5000:  {UnusedAmount: 1000, RemainingAmount: 6000, AmountDue: 5000},
			10000: {UnusedAmount: 1000, CreditAmount: 1000},
		} {
			sub := subscription(t, c, monthly(t, c, 1000))
			off := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Name: new("Sorry"), Type: "percent", PercentBps: &bps, Duration: new(sdk.DiscountDurationOnce)}))
			ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{Discount: sdk.Set(off.ID)}))
			in := &sdk.SubscriptionChangeCreate{PriceVariant: &yearly.ID}
			preview := ok[*sdk.SubscriptionChangePreview](t)(c.Subscriptions.PreviewChange(background, sub.ID, in))
			assert.Equal(t, want.UnusedAmount, preview.UnusedAmount, "with %d off the change is going", bps)
			assert.Equal(t, want.RemainingAmount, preview.RemainingAmount, "with %d off the change is going", bps)
			assert.Equal(t, want.AmountDue, preview.AmountDue, "with %d off the change is going", bps)
			assert.Equal(t, want.CreditAmount, preview.CreditAmount, "with %d off the change is going", bps)
			changed := ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, in, sdk.Expand("latest_invoice", "customer")))
			billed := changed.LatestInvoice.ID != sub.LatestInvoice.ID
			assert.Equal(t, want.AmountDue > 0, billed, "with %d off it was changed", bps)
			assert.False(t, billed && changed.LatestInvoice.Object.AmountPaid != want.AmountDue, "with %d off it was changed", bps)
			assert.Equal(t, want.CreditAmount, changed.Customer.Object.BalanceAmount["usd"], "with %d off it was changed", bps)
			renewal := ok[*sdk.SubscriptionRenewalPreview](t)(c.Subscriptions.PreviewRenewal(background, sub.ID))
			assert.EqualValues(t, 12000, renewal.TotalAmount, "%d were taken off, and then the second year", bps)
			assert.Zero(t, renewal.DiscountAmount, "%d were taken off, and then the second year", bps)
		}
	})
}

func TestUpdateSubscription_RefusesADiscountAsACheckoutDoes(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub, other := subscription(t, c, monthly(t, c, 1000)), onSale(t, c, 1900)
		for name, body := range map[string]sdk.DiscountCreate{
			"expired":   {EndsAt: new(sdk.Time("2020-01-02T03:04:05.000Z"))},
			"scheduled": {StartsAt: new(sdk.Time("2199-01-02T03:04:05.000Z"))},
			"minimum":   {MinSubtotalAmount: new(int64(1001))},
			"other":     {AppliesTo: &sdk.DiscountAppliesToCreate{PriceVariants: []string{other.ID}}},
			"first":     {FirstPurchaseOnly: new(true)},
			"rest":      {PercentBps: new(int64(9900))}, // 10 cents cannot be charged
		} {
			if body.Name, body.Type = &name, "percent"; body.PercentBps == nil {
				body.PercentBps = new(int64(5000))
			}
			made := ok[*sdk.Discount](t)(c.Discounts.Create(background, &body))
			_, err := c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{Discount: sdk.Set(made.ID)})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "discount")
			if used := redemptions(t, c, made.ID); len(used) != 0 {
				t.Errorf("%s is redeemed by %+v", name, used)
			}
		}
	})
}

func TestExportSubscriptions_ChecksItsFilters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		isSigned(t, ok[*sdk.SignedURL](t)(c.Subscriptions.Export(background, &sdk.ExportSubscriptionsParams{Customer: &sub.Customer.ID, Status: new(sdk.SubscriptionStatusActive)})))
		_, err := c.Subscriptions.Export(background, &sdk.ExportSubscriptionsParams{Customer: new(randomID("cus"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "customer")
	})
}

// Few months are enough for a year: they begin with the period that is billed next, which has the discount for all of its time.
func TestUpdateSubscription_BeginsTheMonthsOfADiscountWithTheNextPeriod(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		v := variantOnSale(t, c, sdk.ProductPriceVariant{
			Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalYear), IntervalCount: new(int64(1)), Amount: new(int64(9000)), Currency: new("usd"),
		})
		sub := subscription(t, c, v)
		off := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{
			Name: new("Months"), Type: "percent", PercentBps: new(int64(2500)), Duration: new(sdk.DiscountDurationRepeating), DurationInMonths: new(int64(3)),
		}))
		ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{Discount: sdk.Set(off.ID)}))
		for _, year := range []struct {
			name string
			paid int64
		}{{"second", 6750}, {"third", 9000}} {
			advance(t, c, 366*24*time.Hour)
			got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("latest_invoice")))
			if got.LatestInvoice.Object.AmountPaid != year.paid {
				t.Errorf("the %s year costs %d", year.name, got.LatestInvoice.Object.AmountPaid)
			}
		}
		if used := redemptions(t, c, off.ID); len(used) != 1 {
			t.Errorf("its redemptions are %+v", used)
		}
	})
}
