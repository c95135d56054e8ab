package store

import (
	"context"

	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/core"
)

// note stores a line of what was done to an object that is of a customer: see activity.Store.Note.
func (u *unit) note(ctx context.Context, operation, scope, account string, kind core.Kind, id string, customer *string, changes *activity.Changes) error {
	return u.store.Activity.Note(ctx, u.Unit, activity.Activity{
		AccountID: account, Operation: operation, TargetObject: string(kind), TargetID: &id, CustomerID: customer, Scope: scope, Changes: core.JSONOf(changes),
	})
}

// noteSubscription says what became different of a subscription. Operation is what that is called if nobody asked for it.
func (u *unit) noteSubscription(ctx context.Context, before, sub *Subscription, operation string) error {
	return u.note(ctx, operation, "subscriptions:read", sub.AccountID, core.KindSubscription, sub.ID, &sub.CustomerID, activity.Became(map[string][2]any{
		"status":               {before.Status, sub.Status},
		"cancel_at_period_end": {before.CancelAtPeriodEnd, sub.CancelAtPeriodEnd},
		"payment_method":       {before.Method.V.saved(), sub.Method.V.saved()},
	}))
}

// noteStatus says that a subscription has changed its status because its time had come or nobody paid. That a trial is over, or that what was
// past due is paid, its order says.
func (u *unit) noteStatus(ctx context.Context, before, sub *Subscription) error {
	operation := map[SubscriptionStatus]string{
		SubscriptionStatusCanceled: "cancelSubscription", SubscriptionStatusCompleted: "completeSubscription",
		SubscriptionStatusPaused: "pauseSubscription", SubscriptionStatusPastDue: "renewSubscription",
	}[sub.Status]
	if before.Status == SubscriptionStatusPaused && sub.Status == SubscriptionStatusActive {
		operation = "resumeSubscription"
	}
	if operation == "" || before.Status == sub.Status {
		return nil
	}
	return u.noteSubscription(ctx, before, sub, operation)
}

// notePlan says that a customer has asked on a page for another plan of a subscription.
func (u *unit) notePlan(ctx context.Context, sub *Subscription, before, asked string) error {
	return u.note(ctx, "", "subscriptions:read", sub.AccountID, core.KindSubscription, sub.ID, &sub.CustomerID, activity.Became(map[string][2]any{
		"price_variant": {before, asked},
	}))
}

// noteCustomer says that a customer has changed themselves on a page.
func (u *unit) noteCustomer(ctx context.Context, before, c *Customer) error {
	return u.note(ctx, "", "customers:read", c.AccountID, core.KindCustomer, c.ID, &c.ID, activity.Became(map[string][2]any{
		"default_payment_method": {before.DefaultPaymentMethodID, c.DefaultPaymentMethodID},
	}))
}

// noteMethod says that a customer has saved or removed a payment method on a page.
func (u *unit) noteMethod(ctx context.Context, m *SavedMethod) error {
	return u.note(ctx, "", "customers:read", m.AccountID, core.KindPaymentMethod, m.ID, &m.CustomerID, nil)
}

// notePurchase says that a checkout was completed on a page, or that the server found out that it was paid.
func (u *unit) notePurchase(ctx context.Context, c *Checkout, before CheckoutStatus) error {
	return u.note(ctx, "confirmCheckout", "checkouts:read", c.AccountID, core.KindCheckout, c.ID, c.CustomerID, activity.Became(map[string][2]any{
		"status": {before, c.Status}, "order": {nil, c.OrderID},
	}))
}

// noteRefund says what became of a refund.
func (u *unit) noteRefund(ctx context.Context, r *Refund, before RefundStatus) error {
	return u.note(ctx, "settleRefund", "refunds:read", r.AccountID, core.KindRefund, r.ID, &r.CustomerID, activity.Became(map[string][2]any{
		"status": {before, r.Status}, "failure_reason": {nil, r.FailureReason},
	}))
}
