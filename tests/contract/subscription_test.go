package contract

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// monthly makes an active product with one price for each month and returns that.
func monthly(t *testing.T, c *sdk.Client, amount int64) *sdk.PriceVariant {
	t.Helper()
	return variantOnSale(t, c, sdk.ProductPriceVariant{
		Type: new(sdk.PriceVariantTypeRecurring), Interval: new(sdk.PriceVariantIntervalMonth), IntervalCount: new(int64(1)), Amount: &amount, Currency: new("usd"),
	})
}

func member(t *testing.T, c *sdk.Client) *sdk.Customer {
	t.Helper()
	return ok[*sdk.Customer](t)(c.Customers.Create(background, &sdk.CustomerCreate{Email: unique() + "@example.com"}))
}

func subscription(t *testing.T, c *sdk.Client, v *sdk.PriceVariant) *sdk.Subscription {
	t.Helper()
	return ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{
		Customer: member(t, c).ID, PriceVariant: v.ID, PaymentMethod: new("pm_card_visa"),
	}))
}

func TestCreateSubscription_BillsEveryPeriod(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		v := monthly(t, c, 900)
		sub := subscription(t, c, v)
		assert.Equal(t, sdk.SubscriptionStatusActive, sub.Status)
		assert.EqualValues(t, 900, sub.Amount)
		assert.EqualValues(t, 1, sub.CyclesBilled)
		assert.NotEmpty(t, sub.PaymentMethod.ID)
		assert.Equal(t, v.ID, sub.PriceVariant.ID)
		advance(t, c, 32*24*time.Hour)
		renewed := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("latest_invoice", "customer", "product", "price_variant", "checkout")))
		assert.EqualValues(t, 2, renewed.CyclesBilled, "after a month")
		assert.Equal(t, sub.CurrentPeriodEnd, renewed.CurrentPeriodStart, "after a month")
		assert.Equal(t, sdk.InvoiceStatusPaid, renewed.LatestInvoice.Object.Status, "after a month")
		orders := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &sub.Customer.ID}))
		require.Len(t, orders.Data, 2, "its orders")
		assert.Equal(t, sdk.BillingReasonSubscriptionCycle, orders.Data[0].BillingReason, "its orders")
		assert.Equal(t, sdk.BillingReasonSubscriptionCreate, orders.Data[1].BillingReason, "its orders")
	})
}

func TestCreateSubscription_ChargesWhatTheCustomerHasSaved(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		who, v := member(t, c), monthly(t, c, 900)
		for _, card := range []string{"pm_card_mastercard", "pm_card_visa"} { // the first one is the default
			ok[*sdk.SavedPaymentMethod](t)(c.Customers.CreatePaymentMethod(background, who.ID, &sdk.SavedPaymentMethodCreate{PaymentMethod: sdk.PaymentMethod{Token: card}}))
		}
		sub := ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: who.ID, PriceVariant: v.ID}, sdk.Expand("payment_method")))
		saved := ok[*sdk.Customer](t)(c.Customers.Get(background, who.ID)).DefaultPaymentMethod
		assert.EqualValues(t, 1, sub.CyclesBilled)
		assert.Equal(t, "mastercard", sub.PaymentMethod.Object.Brand)
		assert.Equal(t, saved.ID, sub.PaymentMethod.ID)
	})
}

func TestCreateSubscription_RefusesWhatItCannotBill(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		who, v := member(t, c).ID, monthly(t, c, 900)
		create := func(customer, variant string, method *string) error {
			_, err := c.Subscriptions.Create(background, &sdk.SubscriptionCreate{Customer: customer, PriceVariant: variant, PaymentMethod: method})
			return err
		}
		refused(t, create(randomID("cus"), v.ID, new("pm_card_visa")), http.StatusNotFound, sdk.CodeResourceMissing, "customer")
		refused(t, create(who, randomID("price"), new("pm_card_visa")), http.StatusNotFound, sdk.CodeResourceMissing, "price_variant")
		refused(t, create(who, onSale(t, c, 900).ID, new("pm_card_visa")), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "price_variant")
		refused(t, create(who, v.ID, nil), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		refused(t, create(who, v.ID, new("pm_card_chargeDeclined")), http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "payment_method")
		if list := ok[*sdk.SubscriptionList](t)(c.Subscriptions.List(background, nil)); len(list.Data) != 0 {
			t.Errorf("there are %d subscriptions", len(list.Data))
		}
	})
}

func TestListSubscriptions_Filters(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		mine, other := subscription(t, c, monthly(t, c, 900)), subscription(t, c, monthly(t, c, 1900))
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, other.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false), Reason: new(sdk.CancellationFeedbackUnused)}))
		in := func(by time.Duration) *sdk.Time { return new(sdk.TimeOf(time.Now().Add(by))) }
		for name, params := range map[string]sdk.ListSubscriptionsParams{
			"status": {Status: new(sdk.SubscriptionStatusActive)}, "customer": {Customer: &mine.Customer.ID}, "product": {Product: &mine.Product.ID},
			"price_variant": {PriceVariant: &mine.PriceVariant.ID}, "q": {Q: &mine.ID},
			"period": {CurrentPeriodEndAfter: in(time.Hour), CurrentPeriodEndBefore: in(40 * 24 * time.Hour), Status: new(sdk.SubscriptionStatusActive)},
		} {
			list := ok[*sdk.SubscriptionList](t)(c.Subscriptions.List(background, &params))
			require.Len(t, list.Data, 1, name)
			assert.Equal(t, mine.ID, list.Data[0].ID, name)
		}
		gone := ok[*sdk.SubscriptionList](t)(c.Subscriptions.List(background, &sdk.ListSubscriptionsParams{CancellationReason: new(sdk.CancellationReasonUnused)}))
		require.Len(t, gone.Data, 1, "cancelled as unused")
		assert.Equal(t, other.ID, gone.Data[0].ID, "cancelled as unused")
		assert.EqualValues(t, "merchant", gone.Data[0].Cancellation.By, "cancelled as unused")
		if list := ok[*sdk.SubscriptionList](t)(c.Subscriptions.List(background, &sdk.ListSubscriptionsParams{CancelAtPeriodEnd: new(true)})); len(list.Data) != 0 {
			t.Errorf("%d end with their period", len(list.Data))
		}
		_, err := c.Subscriptions.List(background, &sdk.ListSubscriptionsParams{Discount: new(randomID("disc"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "discount")
	})
}

func TestCancelSubscription_EndsItWithItsPeriodOrNow(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		v := monthly(t, c, 900)
		sub := subscription(t, c, v)
		ending := ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{Reason: new(sdk.CancellationFeedbackTooExpensive), Comment: new("bye")}))
		assert.Equal(t, sdk.SubscriptionStatusActive, ending.Status)
		assert.True(t, ending.CancelAtPeriodEnd)
		assert.Equal(t, sub.CurrentPeriodEnd, *ending.CancelAt)
		ending = ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{}))
		why := ending.Cancellation
		assert.Equal(t, sdk.CancellationReasonTooExpensive, *why.Reason, "cancelled again it forgets why")
		assert.Equal(t, "bye", *why.Comment, "cancelled again it forgets why")
		_, err := c.Subscriptions.PreviewRenewal(background, sub.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		_, err = c.Subscriptions.Pause(background, sub.ID, &sdk.SubscriptionPause{})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		kept := ok[*sdk.Subscription](t)(c.Subscriptions.Uncancel(background, sub.ID))
		assert.False(t, kept.CancelAtPeriodEnd)
		require.Nil(t, kept.Cancellation)
		assert.Nil(t, kept.CanceledAt)
		_, err = c.Subscriptions.Uncancel(background, sub.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{}))
		advance(t, c, 32*24*time.Hour)
		ended := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		assert.Equal(t, sdk.SubscriptionStatusCanceled, ended.Status, "after its period")
		assert.Equal(t, sub.CurrentPeriodEnd, *ended.EndedAt, "after its period")
		assert.EqualValues(t, 1, ended.CyclesBilled, "after its period")
		_, err = c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		now := subscription(t, c, v)
		now = ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, now.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false)}))
		assert.Equal(t, sdk.SubscriptionStatusCanceled, now.Status)
		assert.NotNil(t, now.EndedAt)
	})
}

func TestCancelSubscription_RefundsTheRestOfThePeriod(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		prorated := new(sdk.SubscriptionCancelRefundProrated)
		for _, later := range []*bool{nil, new(true)} {
			_, err := c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: later, Refund: prorated})
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "refund")
		}
		length := sub.CurrentPeriodEnd.Time().Sub(sub.CurrentPeriodStart.Time())
		advance(t, c, length/3)
		ended := ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false), Refund: prorated}))
		require.Equal(t, sdk.SubscriptionStatusCanceled, ended.Status)
		require.Len(t, ended.Cancellation.Refunds, 1)
		refund := ok[*sdk.Refund](t)(c.Refunds.Get(background, ended.Cancellation.Refunds[0], sdk.Expand("order")))
		assert.Equal(t, sdk.RefundStatusSucceeded, refund.Status, "two thirds are given back")
		assert.EqualValues(t, 600, refund.Amount, "two thirds are given back")
		assert.Equal(t, sub.ID, refund.Subscription.ID, "two thirds are given back")
		assert.Equal(t, sdk.OrderStatusPartiallyRefunded, refund.Order.Object.Status, "two thirds are given back")
		kept := ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, subscription(t, c, monthly(t, c, 900)).ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false)}))
		if len(kept.Cancellation.Refunds) != 0 {
			t.Errorf("without being asked it gives back %+v", kept.Cancellation)
		}
	})
}

func TestPauseSubscription_StopsTheBilling(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 900))
		paused := ok[*sdk.Subscription](t)(c.Subscriptions.Pause(background, sub.ID, &sdk.SubscriptionPause{AtPeriodEnd: new(false)}))
		assert.Equal(t, sdk.SubscriptionStatusPaused, paused.Status)
		assert.NotNil(t, paused.PausedAt)
		_, err := c.Subscriptions.Pause(background, sub.ID, &sdk.SubscriptionPause{})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		advance(t, c, 50*24*time.Hour)
		still := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		assert.Equal(t, sdk.SubscriptionStatusPaused, still.Status, "after 50 days")
		assert.EqualValues(t, 1, still.CyclesBilled, "after 50 days")
		ok[*sdk.Subscription](t)(c.Subscriptions.Resume(background, sub.ID))
		clock := advance(t, c, 0)
		resumed := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		assert.Equal(t, sdk.SubscriptionStatusActive, resumed.Status, "resumed")
		assert.EqualValues(t, 2, resumed.CyclesBilled, "resumed")
		assert.LessOrEqual(t, clock.Now.Time().Sub(resumed.CurrentPeriodStart.Time()), time.Minute, "resumed")
		_, err = c.Subscriptions.Resume(background, sub.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")

		until := sdk.TimeOf(clock.Now.Time().Add(90 * 24 * time.Hour))
		_, err = c.Subscriptions.Pause(background, sub.ID, &sdk.SubscriptionPause{ResumesAt: &clock.Now})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "resumes_at")
		ok[*sdk.Subscription](t)(c.Subscriptions.Pause(background, sub.ID, &sdk.SubscriptionPause{ResumesAt: &until}))
		advance(t, c, 40*24*time.Hour)
		if got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)); got.Status != sdk.SubscriptionStatusPaused {
			t.Errorf("after its period it is %s", got.Status)
		}
		advance(t, c, 60*24*time.Hour)
		got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		assert.Equal(t, sdk.SubscriptionStatusActive, got.Status, "after resumes_at")
		assert.EqualValues(t, 3, got.CyclesBilled, "after resumes_at")
	})
}

func TestChangeSubscription_BillsTheDifference(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		cheap, dear := monthly(t, c, 1000), monthly(t, c, 3000)
		sub := subscription(t, c, cheap)
		upgrade := &sdk.SubscriptionChangeCreate{PriceVariant: &dear.ID}
		preview := ok[*sdk.SubscriptionChangePreview](t)(c.Subscriptions.PreviewChange(background, sub.ID, upgrade))
		assert.EqualValues(t, 1000, preview.UnusedAmount, "at once it is going")
		assert.EqualValues(t, 3000, preview.RemainingAmount, "at once it is going")
		assert.EqualValues(t, 2000, preview.AmountDue, "at once it is going")
		assert.Zero(t, preview.CreditAmount, "at once it is going")
		changed := ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, upgrade, sdk.Expand("latest_invoice")))
		assert.EqualValues(t, 3000, changed.Amount)
		assert.Equal(t, dear.ID, changed.PriceVariant.ID)
		assert.EqualValues(t, 2000, changed.LatestInvoice.Object.TotalAmount)
		assert.Equal(t, sub.CurrentPeriodEnd, changed.CurrentPeriodEnd)
		down := &sdk.SubscriptionChangeCreate{PriceVariant: &cheap.ID}
		preview = ok[*sdk.SubscriptionChangePreview](t)(c.Subscriptions.PreviewChange(background, sub.ID, down))
		assert.EqualValues(t, 2000, preview.CreditAmount, "back it is going to be")
		assert.Zero(t, preview.AmountDue, "back it is going to be")
		ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, down))
		renewal := ok[*sdk.SubscriptionRenewalPreview](t)(c.Subscriptions.PreviewRenewal(background, sub.ID))
		assert.EqualValues(t, 1000, renewal.TotalAmount, "the credit pays")
		assert.EqualValues(t, 1000, renewal.BalanceApplied, "the credit pays")
		assert.Zero(t, renewal.AmountDue, "the credit pays")
		advance(t, c, 32*24*time.Hour)
		orders := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &sub.Customer.ID}))
		require.Len(t, orders.Data, 3, "its orders")
		assert.Zero(t, orders.Data[0].PaidAmount, "its orders")
		assert.Equal(t, sdk.OrderStatusPaid, orders.Data[0].Status, "its orders")
		assert.Equal(t, sdk.BillingReasonSubscriptionUpdate, orders.Data[1].BillingReason, "its orders")
	})
}

func TestChangeSubscription_WaitsAsItIsTold(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		cheap, dear := monthly(t, c, 1000), monthly(t, c, 3000)
		later := subscription(t, c, cheap)
		waiting := ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, later.ID, &sdk.SubscriptionChangeCreate{PriceVariant: &dear.ID, ProrationBehavior: new(sdk.ProrationBehaviorNextPeriod)}))
		assert.EqualValues(t, 1000, waiting.Amount)
		require.NotNil(t, waiting.PendingChange)
		assert.Equal(t, later.CurrentPeriodEnd, waiting.PendingChange.EffectiveAt)
		next := subscription(t, c, cheap)
		changed := ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, next.ID, &sdk.SubscriptionChangeCreate{PriceVariant: &dear.ID, ProrationBehavior: new(sdk.ProrationBehaviorNextInvoice)}))
		assert.EqualValues(t, 3000, changed.Amount)
		assert.Equal(t, next.LatestInvoice.ID, changed.LatestInvoice.ID)
		renewal := ok[*sdk.SubscriptionRenewalPreview](t)(c.Subscriptions.PreviewRenewal(background, next.ID))
		require.Len(t, renewal.Lines, 2, "the next period is going")
		assert.EqualValues(t, 5000, renewal.AmountDue, "the next period is going")
		more := subscription(t, c, cheap)
		more = ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, more.ID, &sdk.SubscriptionUpdate{Quantity: new(int64(2))}))
		assert.EqualValues(t, 2, more.Quantity)
		assert.EqualValues(t, 2000, more.Amount)
		advance(t, c, 32*24*time.Hour)
		for sub, want := range map[string]int64{later.ID: 3000, next.ID: 5000, more.ID: 3000} {
			got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub, sdk.Expand("latest_invoice")))
			assert.Equal(t, want, got.LatestInvoice.Object.TotalAmount)
			assert.Nil(t, got.PendingChange)
		}
	})
}

func TestChangeSubscription_RefusesWhatItCannotBill(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 1000))
		change := func(variant string) (error, error) {
			in := &sdk.SubscriptionChangeCreate{PriceVariant: &variant}
			_, changed := c.Subscriptions.Change(background, sub.ID, in)
			_, previewed := c.Subscriptions.PreviewChange(background, sub.ID, in)
			return changed, previewed
		}
		changed, previewed := change(randomID("price"))
		refused(t, changed, http.StatusNotFound, sdk.CodeResourceMissing, "price_variant")
		refused(t, previewed, http.StatusNotFound, sdk.CodeResourceMissing, "price_variant")
		changed, previewed = change(onSale(t, c, 500).ID)
		refused(t, changed, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "price_variant")
		refused(t, previewed, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "price_variant")
		_, err := c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{Discount: sdk.Set(randomID("disc"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "discount")
		_, err = c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{TrialEnd: new(sdk.TimeOf(time.Now().Add(time.Hour)))})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "trial_end")
	})
}

func TestChangeSubscription_TakesFromTheStock(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		scarce := func(stock int64) *sdk.PriceVariant {
			return variantOnSale(t, c, sdk.ProductPriceVariant{Type: new(sdk.PriceVariantTypeRecurring), Amount: new(int64(3000)), Currency: new("usd"), Interval: new(sdk.PriceVariantIntervalMonth), Stock: &stock})
		}
		none, few, sub := scarce(0), scarce(3), subscription(t, c, monthly(t, c, 1000))
		short := func(err error, left string) {
			t.Helper()
			refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "quantity")
			if !strings.Contains(err.Error(), "units left: "+left+".") {
				t.Errorf("it does not say how many are left: %v", err)
			}
		}
		in := &sdk.SubscriptionChangeCreate{PriceVariant: &none.ID}
		_, err := c.Subscriptions.Change(background, sub.ID, in)
		short(err, "0")
		_, err = c.Subscriptions.PreviewChange(background, sub.ID, in)
		short(err, "0")
		waits := ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, &sdk.SubscriptionChangeCreate{PriceVariant: &few.ID, ProrationBehavior: new(sdk.ProrationBehaviorNextPeriod)}))
		_, err = c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{Quantity: new(int64(4))})
		short(err, "2")
		got := ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{Quantity: new(int64(2))}))
		assert.EqualValues(t, 2, got.Quantity)
		require.NotNil(t, got.PendingChange)
		assert.EqualValues(t, 2, got.PendingChange.Quantity)
		assert.Equal(t, waits.PendingChange.EffectiveAt, got.PendingChange.EffectiveAt)
		advance(t, c, 32*24*time.Hour)
		got = ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		assert.Equal(t, few.ID, got.PriceVariant.ID)
		assert.EqualValues(t, 2, got.Quantity)
		if sold := ok[*sdk.PriceVariant](t)(c.PriceVariants.Get(background, few.ID)); sold.SoldCount != 2 {
			t.Errorf("sold are %d", sold.SoldCount)
		}
	})
}

func TestUpdateSubscription_DiscountsTheNextPeriods(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		sub := subscription(t, c, monthly(t, c, 1000))
		off := ok[*sdk.Discount](t)(c.Discounts.Create(background, &sdk.DiscountCreate{Code: new("OFF-" + unique()), Type: sdk.DiscountTypePercent, PercentBps: new(int64(2500)), Duration: new(sdk.DiscountDurationOnce)}))
		got := ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{Discount: sdk.Set(off.ID)}, sdk.Expand("discount")))
		require.NotNil(t, got.Discount.Object)
		assert.Equal(t, off.ID, got.Discount.Object.ID)
		for _, want := range []int64{750, 1000} {
			advance(t, c, 32*24*time.Hour)
			got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("latest_invoice")))
			if got.LatestInvoice.Object.TotalAmount != want {
				t.Errorf("a period costs %d, want %d", got.LatestInvoice.Object.TotalAmount, want)
			}
		}
	})
}

// TestUpdateSubscription_TriesANewMethodAtOnce gives a subscription whose card fails another one.
func TestUpdateSubscription_TriesANewMethodAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		who := member(t, c)
		sub := ok[*sdk.Subscription](t)(c.Subscriptions.Create(background, &sdk.SubscriptionCreate{
			Customer: who.ID, PriceVariant: monthly(t, c, 900).ID, PaymentMethod: new("tok_fail_on_renewal"),
		}))
		endPeriod(t, c, sub)
		failed := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		require.Equal(t, sdk.SubscriptionStatusPastDue, failed.Status, "its card fails")
		require.NotNil(t, failed.NextPaymentAttemptAt, "its card fails")
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{Customer: &who.ID, LineItems: lines(onSale(t, c, 500))}))
		how := by("pm_card_visa")
		how.SavePaymentMethod = new(true)
		ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, paid.ID, how))
		methods := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, who.ID, nil))
		_, err := c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{PaymentMethod: new(randomID("pm"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "payment_method")
		ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{PaymentMethod: &methods.Data[0].ID}))
		advance(t, c, 0)
		got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		assert.Equal(t, sdk.SubscriptionStatusActive, got.Status, "with another card")
		assert.Equal(t, methods.Data[0].ID, got.PaymentMethod.ID, "with another card")
	})
}
