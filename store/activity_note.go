package store

import (
	"context"

	"github.com/tillwright/tillwright/store/activity"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// note stores a line of what was done to an object that is of a customer: see activity.Store.Note.
func (s *Store) note(ctx context.Context, u *db.Unit, operation, scope, account string, kind core.Kind, id string, customer *string, changes *activity.Changes) error {
	return s.Activity.Note(ctx, u, activity.Activity{
		AccountID: account, Operation: operation, TargetObject: string(kind), TargetID: &id, CustomerID: customer, Scope: scope, Changes: core.JSONOf(changes),
	})
}

// noteSubscription says what became different of a subscription. Operation is what that is called if nobody asked for it.
func (s *Store) noteSubscription(ctx context.Context, u *db.Unit, before, sub *subscription.Subscription, operation string) error {
	return s.note(ctx, u, operation, "subscriptions:read", sub.AccountID, core.KindSubscription, sub.ID, &sub.CustomerID, activity.Became(map[string][2]any{
		"status":               {before.Status, sub.Status},
		"cancel_at_period_end": {before.CancelAtPeriodEnd, sub.CancelAtPeriodEnd},
		"payment_method":       {before.Method.V.Saved(), sub.Method.V.Saved()},
	}))
}

// noteStatus says that a subscription has changed its status because its time had come or nobody paid. That a trial is over, or that what was
// past due is paid, its order says.
func (s *Store) noteStatus(ctx context.Context, u *db.Unit, before, sub *subscription.Subscription) error {
	operation := map[subscription.Status]string{
		subscription.StatusCanceled: "cancelSubscription", subscription.StatusCompleted: "completeSubscription",
		subscription.StatusPaused: "pauseSubscription", subscription.StatusPastDue: "renewSubscription",
	}[sub.Status]
	if before.Status == subscription.StatusPaused && sub.Status == subscription.StatusActive {
		operation = "resumeSubscription"
	}
	if operation == "" || before.Status == sub.Status {
		return nil
	}
	return s.noteSubscription(ctx, u, before, sub, operation)
}

// notePlan says that a customer has asked on a page for another plan of a subscription, or has taken that back.
func (s *Store) notePlan(ctx context.Context, u *db.Unit, sub *subscription.Subscription, before, asked subscription.Plan) error {
	return s.note(ctx, u, "", "subscriptions:read", sub.AccountID, core.KindSubscription, sub.ID, &sub.CustomerID, activity.Became(map[string][2]any{
		"price_variant": {before.PriceVariantID, asked.PriceVariantID}, "quantity": {before.Quantity, asked.Quantity},
	}))
}

// noteCustomer says that a customer has changed themselves on a page.
func (s *Store) noteCustomer(ctx context.Context, u *db.Unit, before, c *customer.Customer) error {
	return s.note(ctx, u, "", "customers:read", c.AccountID, core.KindCustomer, c.ID, &c.ID, activity.Became(map[string][2]any{
		"default_payment_method": {before.DefaultPaymentMethodID, c.DefaultPaymentMethodID},
	}))
}

// noteMethod says that a customer has saved or removed a payment method on a page.
func (s *Store) noteMethod(ctx context.Context, u *db.Unit, m *payment.SavedMethod) error {
	return s.note(ctx, u, "", "customers:read", m.AccountID, core.KindPaymentMethod, m.ID, &m.CustomerID, nil)
}

// notePurchase says that a checkout was completed on a page, or that the server found out that it was paid.
func (s *Store) notePurchase(ctx context.Context, u *db.Unit, c *checkout.Checkout, before checkout.Status) error {
	return s.note(ctx, u, "confirmCheckout", "checkouts:read", c.AccountID, core.KindCheckout, c.ID, c.CustomerID, activity.Became(map[string][2]any{
		"status": {before, c.Status}, "order": {nil, c.OrderID},
	}))
}

// noteRefund says what became of a refund.
func (s *Store) noteRefund(ctx context.Context, u *db.Unit, r *Refund, before RefundStatus) error {
	return s.note(ctx, u, "settleRefund", "refunds:read", r.AccountID, core.KindRefund, r.ID, &r.CustomerID, activity.Became(map[string][2]any{
		"status": {before, r.Status}, "failure_reason": {nil, r.FailureReason},
	}))
}
