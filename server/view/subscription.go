package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/offer"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// Subscription renders a subscription.
func Subscription(s *subscription.Subscription) api.Subscription {
	return api.Subscription{
		ID:                   s.ID,
		Object:               "subscription",
		Status:               api.SubscriptionStatus(s.Status),
		Customer:             wire.RefTo(s.CustomerID),
		Product:              wire.RefTo(s.ProductID),
		PriceVariant:         wire.RefTo(s.PriceVariantID),
		Quantity:             s.Quantity,
		UnitAmount:           s.UnitAmount,
		Amount:               s.Amount(),
		Currency:             s.Currency,
		Interval:             api.PriceVariantInterval(s.Interval),
		IntervalCount:        s.IntervalCount,
		AnchorDay:            s.AnchorDay,
		CurrentPeriodStart:   at(s.CurrentPeriodStart),
		CurrentPeriodEnd:     at(s.CurrentPeriodEnd),
		TrialStart:           atOrNull(s.TrialStart),
		TrialEnd:             atOrNull(s.TrialEnd),
		StartedAt:            at(s.StartedAt),
		CancelAtPeriodEnd:    s.CancelAtPeriodEnd,
		CancelAt:             atOrNull(s.CancelAt()),
		CanceledAt:           atOrNull(s.CanceledAt),
		EndedAt:              atOrNull(s.EndedAt),
		Cancellation:         cancellation(s.Cancellation.V),
		PauseAtPeriodEnd:     s.PauseAtPeriodEnd,
		PausedAt:             atOrNull(s.PausedAt),
		ResumesAt:            atOrNull(s.ResumesAt),
		PastDueAt:            atOrNull(s.PastDueAt),
		NextPaymentAttemptAt: atOrNull(s.NextAttemptAt),
		CyclesBilled:         s.CyclesBilled,
		BillingCycles:        s.BillingCycles,
		Discount:             ref(s.DiscountID),
		DiscountEndsAt:       atOrNull(s.DiscountEnd()),
		CustomerVerified:     s.CustomerVerified,
		PaymentMethod:        billingMethod(s.Method.V),
		LatestInvoice:        ref(s.LatestInvoiceID),
		PendingChange:        pendingChange(s.PendingChange.V),
		CustomFieldData:      object(s.CustomFieldData.V),
		Checkout:             ref(s.CheckoutID),
		Metadata:             api.Metadata(s.Metadata.Text()),
		CreatedAt:            at(s.CreatedAt),
		UpdatedAt:            at(s.UpdatedAt),
	}
}

func cancellation(c *subscription.Cancellation) *api.SubscriptionCancellation {
	if c == nil {
		return nil
	}
	return &api.SubscriptionCancellation{
		Reason: enum[api.CancellationReason](c.Reason), Comment: c.Comment, By: api.SubscriptionCancellationBy(c.By), Refunds: list(c.RefundIDs),
		UnrefundedAmount: c.Unrefunded,
	}
}

// billingMethod returns a reference to the saved method that a subscription is charged to. It is null if there is none, or if
// the method is not among the saved ones.
func billingMethod(m *payment.BillingMethod) wire.Reference {
	if m == nil {
		return nil
	}
	return ref(m.ID)
}

func pendingChange(c *subscription.PendingChange) *api.SubscriptionPendingChange {
	if c == nil {
		return nil
	}
	return &api.SubscriptionPendingChange{PriceVariant: c.Plan.PriceVariantID, Quantity: c.Plan.Quantity, EffectiveAt: at(c.EffectiveAt), Invoice: c.InvoiceID}
}

// ListSubscriptions reads the query of a list.
func ListSubscriptions(q api.ListSubscriptionsParams) subscription.List {
	return subscription.List{
		Page:                   SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter:             Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Status:                 subscription.Status(value(q.Status)),
		Customer:               value(q.Customer),
		Product:                value(q.Product),
		PriceVariant:           value(q.PriceVariant),
		Discount:               value(q.Discount),
		CancelAtPeriodEnd:      q.CancelAtPeriodEnd,
		CurrentPeriodEndBefore: stored(q.CurrentPeriodEndBefore),
		CurrentPeriodEndAfter:  stored(q.CurrentPeriodEndAfter),
		CancellationReason:     subscription.CancellationReason(value(q.CancellationReason)),
	}
}

// NewSubscription reads the body of a create.
func NewSubscription(b *api.SubscriptionCreate) checkout.Draft {
	quantity := int64(1)
	set(&quantity, b.Quantity)
	return checkout.Draft{
		Checkout: &checkout.Checkout{
			CustomerID: &b.Customer, Currency: value(b.Currency), DiscountID: b.Discount, CustomFieldData: core.JSONOf(map[string]string(value(b.CustomFieldData))),
			Metadata: metadata(b.Metadata),
		},
		Lines: []offer.NewLine{{PriceVariant: b.PriceVariant, Quantity: quantity, CustomAmount: b.CustomAmount, TrialEnd: stored(b.TrialEnd)}},
	}
}

// SubscriptionPatch reads the body of a PATCH.
func SubscriptionPatch(b *api.SubscriptionUpdate) store.SubscriptionPatch {
	patch := store.SubscriptionPatch{
		Change:            func(s *subscription.Subscription) { setMetadata(&s.Metadata, b.Metadata) },
		CancelAtPeriodEnd: b.CancelAtPeriodEnd, TrialEnd: stored(b.TrialEnd), Quantity: b.Quantity, PaymentMethod: b.PaymentMethod,
		IsVerified: b.CustomerVerified,
	}
	if b.Discount.IsSpecified() {
		patch.Discount = new(value(sent(b.Discount)))
	}
	return patch
}

// SubscriptionChange reads the body of a change of plan.
func SubscriptionChange(b *api.SubscriptionChangeCreate) store.ChangeSubscription {
	return store.ChangeSubscription{PriceVariant: value(b.PriceVariant), Quantity: b.Quantity, Behavior: tenant.ProrationBehavior(value(b.ProrationBehavior))}
}

// CancelSubscription reads how a subscription is cancelled.
func CancelSubscription(b *api.SubscriptionCancel) store.CancelSubscription {
	return store.CancelSubscription{
		Now: b.AtPeriodEnd != nil && !*b.AtPeriodEnd, Reason: enum[subscription.CancellationReason](b.Reason), Comment: b.Comment,
		Refund: store.CancellationRefund(value(b.Refund)),
	}
}

// PauseSubscription reads how a subscription is paused.
func PauseSubscription(b *api.SubscriptionPause) store.PauseSubscription {
	return store.PauseSubscription{Now: b.AtPeriodEnd != nil && !*b.AtPeriodEnd, ResumesAt: stored(b.ResumesAt)}
}

// SubscriptionRenewal renders what the next period costs.
func SubscriptionRenewal(r *subscription.Renewal) api.SubscriptionRenewalPreview {
	s, a := r.Subscription, r.Amounts
	return api.SubscriptionRenewalPreview{
		Object: "subscription_renewal", Subscription: s.ID, PriceVariant: s.PriceVariantID, Quantity: s.Quantity, Currency: s.Currency,
		PeriodStart: at(s.CurrentPeriodStart), PeriodEnd: at(s.CurrentPeriodEnd), Lines: mapped(r.Items, subscriptionLine),
		SubtotalAmount: a.Subtotal, DiscountAmount: a.Discount, NetAmount: a.Net, TaxAmount: a.Tax, TotalAmount: a.Total,
		BalanceApplied: r.Balance, AmountDue: a.Total - r.Balance,
	}
}

// SubscriptionChangePreview renders what a change of plan comes to.
func SubscriptionChangePreview(c *store.SubscriptionChange) api.SubscriptionChangePreview {
	s, a := c.Subscription, c.Amounts
	return api.SubscriptionChangePreview{
		Object: "subscription_change", Subscription: s.ID, PriceVariant: c.Plan.PriceVariantID, Quantity: c.Plan.Quantity, Currency: s.Currency,
		ProrationBehavior: api.ProrationBehavior(c.Behavior), EffectiveAt: at(c.EffectiveAt), PeriodStart: at(c.PeriodStart), PeriodEnd: at(c.PeriodEnd),
		UnusedAmount: c.Unused, RemainingAmount: c.Remaining, CreditAmount: c.Credit, Lines: mapped(c.Items, subscriptionLine),
		SubtotalAmount: a.Subtotal, DiscountAmount: a.Discount, NetAmount: a.Net, TaxAmount: a.Tax, TotalAmount: a.Total,
		BalanceApplied: c.Balance, AmountDue: a.Total - c.Balance,
	}
}

func subscriptionLine(l lineitem.Item) api.SubscriptionLine {
	return api.SubscriptionLine{
		Kind: api.SubscriptionLineKind(l.Kind), Description: l.Describe(), Quantity: l.Quantity, UnitAmount: l.UnitAmount,
		SubtotalAmount: l.SubtotalAmount, DiscountAmount: l.DiscountAmount, NetAmount: l.NetAmount, TaxAmount: l.TaxAmount, TotalAmount: l.TotalAmount,
		PeriodStart: atOrNull(l.PeriodStart), PeriodEnd: atOrNull(l.PeriodEnd),
	}
}
