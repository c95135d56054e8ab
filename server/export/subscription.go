package export

import (
	"context"
	"strconv"

	"github.com/tillwright/tillwright/server/view"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/subscription"
)

// subscriptions are the subscriptions with their customers' addresses, with amounts as decimals.
func subscriptions(s *store.Store) *List {
	return list(s.Subscription.List, view.ListSubscriptions, subscriptionHead, func(ctx context.Context, account string, subs []subscription.Subscription) ([][]string, error) {
		ids := make([]string, len(subs))
		for i := range subs {
			ids[i] = subs[i].CustomerID
		}
		customers, err := s.Customer.ByID(ctx, account, ids)
		if err != nil {
			return nil, err
		}
		return each(func(sub *subscription.Subscription) []string { return subscriptionRow(sub, customers[sub.CustomerID]) })(ctx, account, subs)
	})
}

var subscriptionHead = []string{
	"id", "status", "created_at", "started_at", "customer", "customer_email", "product", "product_name", "price_variant", "price_variant_name",
	"quantity", "currency", "unit_amount", "amount", "interval", "interval_count", "trial_end", "current_period_start", "current_period_end",
	"cancel_at_period_end", "canceled_at", "ended_at", "cancellation_reason", "paused_at", "past_due_at", "cycles_billed", "billing_cycles", "discount",
	"latest_invoice", "checkout",
}

// subscriptionRow returns a subscription as a row of the file, in the order of subscriptionHead. The customer is nil if they
// were deleted.
func subscriptionRow(s *subscription.Subscription, customer *customer.Customer) []string {
	email, reason, cycles := "", "", ""
	if customer != nil {
		email = core.Deref(customer.Email)
	}
	if s.CancellationReason != nil {
		reason = string(*s.CancellationReason)
	}
	if s.BillingCycles != nil {
		cycles = strconv.FormatInt(*s.BillingCycles, 10)
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []string{
		s.ID, string(s.Status), s.CreatedAt.String(), s.StartedAt.String(), s.CustomerID, Harmless(email),
		s.ProductID, Harmless(s.ProductName), s.PriceVariantID, Harmless(core.Deref(s.PriceVariantName)),
		number(s.Quantity), s.Currency, core.DecimalAmount(s.UnitAmount, s.Currency), core.DecimalAmount(s.Amount(), s.Currency),
		s.Interval, number(s.IntervalCount), moment(s.TrialEnd), s.CurrentPeriodStart.String(), s.CurrentPeriodEnd.String(),
		strconv.FormatBool(s.CancelAtPeriodEnd), moment(s.CanceledAt), moment(s.EndedAt), reason, moment(s.PausedAt), moment(s.PastDueAt),
		number(s.CyclesBilled), cycles, core.Deref(s.DiscountID), core.Deref(s.LatestInvoiceID), core.Deref(s.CheckoutID),
	}
}
