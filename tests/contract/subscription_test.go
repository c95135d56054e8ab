package contract

import (
	"net/http"
	"strings"
	"testing"
	"time"

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
		if sub.Status != sdk.SubscriptionStatusActive || sub.Amount != 900 || sub.CyclesBilled != 1 || sub.PaymentMethod.ID == "" || sub.PriceVariant.ID != v.ID {
			t.Errorf("it is %+v", sub)
		}
		advance(t, c, 32*24*time.Hour)
		renewed := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID, sdk.Expand("latest_invoice", "customer", "product", "price_variant", "checkout")))
		if renewed.CyclesBilled != 2 || renewed.CurrentPeriodStart != sub.CurrentPeriodEnd || renewed.LatestInvoice.Object.Status != sdk.InvoiceStatusPaid {
			t.Errorf("after a month it is %+v", renewed)
		}
		orders := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &sub.Customer.ID}))
		if len(orders.Data) != 2 || orders.Data[0].BillingReason != sdk.BillingReasonSubscriptionCycle || orders.Data[1].BillingReason != sdk.BillingReasonSubscriptionCreate {
			t.Errorf("its orders are %+v", orders.Data)
		}
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
		if sub.CyclesBilled != 1 || sub.PaymentMethod.Object.Brand != "mastercard" || sub.PaymentMethod.ID != saved.ID {
			t.Errorf("it is %+v", sub)
		}
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
			if list := ok[*sdk.SubscriptionList](t)(c.Subscriptions.List(background, &params)); len(list.Data) != 1 || list.Data[0].ID != mine.ID {
				t.Errorf("%s: %d are found", name, len(list.Data))
			}
		}
		gone := ok[*sdk.SubscriptionList](t)(c.Subscriptions.List(background, &sdk.ListSubscriptionsParams{CancellationReason: new(sdk.CancellationReasonUnused)}))
		if len(gone.Data) != 1 || gone.Data[0].ID != other.ID || gone.Data[0].Cancellation.By != "merchant" {
			t.Errorf("cancelled as unused are %+v", gone.Data)
		}
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
		if ending.Status != sdk.SubscriptionStatusActive || !ending.CancelAtPeriodEnd || *ending.CancelAt != sub.CurrentPeriodEnd {
			t.Errorf("it is %+v", ending)
		}
		ending = ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{}))
		if why := ending.Cancellation; *why.Reason != sdk.CancellationReasonTooExpensive || *why.Comment != "bye" {
			t.Errorf("cancelled again it forgets why: %+v", why)
		}
		_, err := c.Subscriptions.PreviewRenewal(background, sub.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		_, err = c.Subscriptions.Pause(background, sub.ID, &sdk.SubscriptionPause{})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		if kept := ok[*sdk.Subscription](t)(c.Subscriptions.Uncancel(background, sub.ID)); kept.CancelAtPeriodEnd || kept.Cancellation != nil || kept.CanceledAt != nil {
			t.Errorf("it is %+v", kept)
		}
		_, err = c.Subscriptions.Uncancel(background, sub.ID)
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{}))
		advance(t, c, 32*24*time.Hour)
		ended := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		if ended.Status != sdk.SubscriptionStatusCanceled || *ended.EndedAt != sub.CurrentPeriodEnd || ended.CyclesBilled != 1 {
			t.Errorf("after its period it is %+v", ended)
		}
		_, err = c.Subscriptions.Cancel(background, sub.ID, &sdk.SubscriptionCancel{})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		now := subscription(t, c, v)
		if now = ok[*sdk.Subscription](t)(c.Subscriptions.Cancel(background, now.ID, &sdk.SubscriptionCancel{AtPeriodEnd: new(false)})); now.Status != sdk.SubscriptionStatusCanceled || now.EndedAt == nil {
			t.Errorf("it is %+v", now)
		}
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
		if ended.Status != sdk.SubscriptionStatusCanceled || len(ended.Cancellation.Refunds) != 1 {
			t.Fatalf("it is %+v", ended)
		}
		refund := ok[*sdk.Refund](t)(c.Refunds.Get(background, ended.Cancellation.Refunds[0], sdk.Expand("order")))
		if refund.Status != sdk.RefundStatusSucceeded || refund.Amount != 600 || refund.Subscription.ID != sub.ID || refund.Order.Object.Status != sdk.OrderStatusPartiallyRefunded {
			t.Errorf("two thirds are given back by %+v", refund)
		}
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
		if paused.Status != sdk.SubscriptionStatusPaused || paused.PausedAt == nil {
			t.Errorf("it is %+v", paused)
		}
		_, err := c.Subscriptions.Pause(background, sub.ID, &sdk.SubscriptionPause{})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "status")
		advance(t, c, 50*24*time.Hour)
		if still := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)); still.Status != sdk.SubscriptionStatusPaused || still.CyclesBilled != 1 {
			t.Errorf("after 50 days it is %+v", still)
		}
		ok[*sdk.Subscription](t)(c.Subscriptions.Resume(background, sub.ID))
		clock := advance(t, c, 0)
		resumed := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		if resumed.Status != sdk.SubscriptionStatusActive || resumed.CyclesBilled != 2 || clock.Now.Time().Sub(resumed.CurrentPeriodStart.Time()) > time.Minute {
			t.Errorf("resumed it is %+v", resumed)
		}
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
		if got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)); got.Status != sdk.SubscriptionStatusActive || got.CyclesBilled != 3 {
			t.Errorf("after resumes_at it is %+v", got)
		}
	})
}

func TestChangeSubscription_BillsTheDifference(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		cheap, dear := monthly(t, c, 1000), monthly(t, c, 3000)
		sub := subscription(t, c, cheap)
		upgrade := &sdk.SubscriptionChangeCreate{PriceVariant: &dear.ID}
		preview := ok[*sdk.SubscriptionChangePreview](t)(c.Subscriptions.PreviewChange(background, sub.ID, upgrade))
		if preview.UnusedAmount != 1000 || preview.RemainingAmount != 3000 || preview.AmountDue != 2000 || preview.CreditAmount != 0 {
			t.Errorf("at once it is going to cost %+v", preview)
		}
		changed := ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, upgrade, sdk.Expand("latest_invoice")))
		if changed.Amount != 3000 || changed.PriceVariant.ID != dear.ID || changed.LatestInvoice.Object.TotalAmount != 2000 || changed.CurrentPeriodEnd != sub.CurrentPeriodEnd {
			t.Errorf("it is %+v", changed)
		}
		down := &sdk.SubscriptionChangeCreate{PriceVariant: &cheap.ID}
		if preview = ok[*sdk.SubscriptionChangePreview](t)(c.Subscriptions.PreviewChange(background, sub.ID, down)); preview.CreditAmount != 2000 || preview.AmountDue != 0 {
			t.Errorf("back it is going to be %+v", preview)
		}
		ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, sub.ID, down))
		renewal := ok[*sdk.SubscriptionRenewalPreview](t)(c.Subscriptions.PreviewRenewal(background, sub.ID))
		if renewal.TotalAmount != 1000 || renewal.BalanceApplied != 1000 || renewal.AmountDue != 0 {
			t.Errorf("the credit pays %+v", renewal)
		}
		advance(t, c, 32*24*time.Hour)
		orders := ok[*sdk.OrderList](t)(c.Orders.List(background, &sdk.ListOrdersParams{Customer: &sub.Customer.ID}))
		if len(orders.Data) != 3 || orders.Data[0].PaidAmount != 0 || orders.Data[0].Status != sdk.OrderStatusPaid || orders.Data[1].BillingReason != sdk.BillingReasonSubscriptionUpdate {
			t.Errorf("its orders are %+v", orders.Data)
		}
	})
}

func TestChangeSubscription_WaitsAsItIsTold(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		cheap, dear := monthly(t, c, 1000), monthly(t, c, 3000)
		later := subscription(t, c, cheap)
		waiting := ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, later.ID, &sdk.SubscriptionChangeCreate{PriceVariant: &dear.ID, ProrationBehavior: new(sdk.ProrationBehaviorNextPeriod)}))
		if waiting.Amount != 1000 || waiting.PendingChange == nil || waiting.PendingChange.EffectiveAt != later.CurrentPeriodEnd {
			t.Errorf("it is %+v", waiting)
		}
		next := subscription(t, c, cheap)
		changed := ok[*sdk.Subscription](t)(c.Subscriptions.Change(background, next.ID, &sdk.SubscriptionChangeCreate{PriceVariant: &dear.ID, ProrationBehavior: new(sdk.ProrationBehaviorNextInvoice)}))
		if changed.Amount != 3000 || changed.LatestInvoice.ID != next.LatestInvoice.ID {
			t.Errorf("it is %+v", changed)
		}
		if renewal := ok[*sdk.SubscriptionRenewalPreview](t)(c.Subscriptions.PreviewRenewal(background, next.ID)); len(renewal.Lines) != 2 || renewal.AmountDue != 5000 {
			t.Errorf("the next period is going to cost %+v", renewal)
		}
		more := subscription(t, c, cheap)
		if more = ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, more.ID, &sdk.SubscriptionUpdate{Quantity: new(int64(2))})); more.Quantity != 2 || more.Amount != 2000 {
			t.Errorf("it is %+v", more)
		}
		advance(t, c, 32*24*time.Hour)
		for sub, want := range map[string]int64{later.ID: 3000, next.ID: 5000, more.ID: 3000} {
			got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub, sdk.Expand("latest_invoice")))
			if got.LatestInvoice.Object.TotalAmount != want || got.PendingChange != nil {
				t.Errorf("its next period costs %d, want %d: %+v", got.LatestInvoice.Object.TotalAmount, want, got)
			}
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
		if got.Quantity != 2 || got.PendingChange == nil || got.PendingChange.Quantity != 2 || got.PendingChange.EffectiveAt != waits.PendingChange.EffectiveAt {
			t.Errorf("it is %+v", got)
		}
		advance(t, c, 32*24*time.Hour)
		if got = ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)); got.PriceVariant.ID != few.ID || got.Quantity != 2 {
			t.Errorf("it is %+v", got)
		}
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
		if got.Discount.Object == nil || got.Discount.Object.ID != off.ID {
			t.Errorf("it is %+v", got)
		}
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
		advance(t, c, 32*24*time.Hour)
		failed := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID))
		if failed.Status != sdk.SubscriptionStatusPastDue || failed.NextPaymentAttemptAt == nil {
			t.Fatalf("its card fails, and it is %+v", failed)
		}
		paid := ok[*sdk.Checkout](t)(c.Checkouts.Create(background, &sdk.CheckoutCreate{Customer: &who.ID, LineItems: lines(onSale(t, c, 500))}))
		how := by("pm_card_visa")
		how.SavePaymentMethod = new(true)
		ok[*sdk.Checkout](t)(c.Checkouts.Confirm(background, paid.ID, how))
		methods := ok[*sdk.SavedPaymentMethodList](t)(c.Customers.ListPaymentMethods(background, who.ID, nil))
		_, err := c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{PaymentMethod: new(randomID("pm"))})
		refused(t, err, http.StatusNotFound, sdk.CodeResourceMissing, "payment_method")
		ok[*sdk.Subscription](t)(c.Subscriptions.Update(background, sub.ID, &sdk.SubscriptionUpdate{PaymentMethod: &methods.Data[0].ID}))
		advance(t, c, 0)
		if got := ok[*sdk.Subscription](t)(c.Subscriptions.Get(background, sub.ID)); got.Status != sdk.SubscriptionStatusActive || got.PaymentMethod.ID != methods.Data[0].ID {
			t.Errorf("with another card it is %+v", got)
		}
	})
}
