package billing

import (
	"context"
	"errors"
	"log/slog"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// CreateSubscription is a subscription that the seller begins for a customer. Method is nil when none was sent: then the
// customer's default one is charged.
type CreateSubscription struct {
	Draft  checkout.Draft
	Method *payments.MethodInput
}

// CreateSubscription buys the draft, which is of one recurring price variant, for its customer, as a checkout that is confirmed
// at once. A declined charge is a CodeInvalid on payment_method whose outcome is Recorded, and there is no subscription then. A
// charge that the customer would have to approve counts as declined, because they are not there.
func (b *Billing) CreateSubscription(ctx context.Context, account string, in CreateSubscription) (*subscription.Subscription, error) {
	c, err := b.store.BeginSubscription(ctx, account, in.Draft)
	if err != nil {
		return nil, err
	}
	if in.Method == nil && c.AmountDueNow > 0 && c.Status == checkout.StatusOpen { // else it was sent before, or is free
		if in.Method, err = b.defaultOf(ctx, account, *c.CustomerID); err != nil {
			return nil, err
		}
	}
	confirmed, err := b.confirm(ctx, account, c.ID, CheckoutConfirm{Method: in.Method, TermsAccepted: true, From: payment.Buyer{OnBehalf: true}})
	if err == nil && confirmed.Payment != nil {
		err = b.giveUp(ctx, confirmed)
	}
	if err != nil {
		return nil, err
	}
	return b.store.Subscription.OfCheckout(ctx, account, c.ID)
}

// defaultOf returns the customer's default payment method, or CodeInvalid on payment_method if there is none.
func (b *Billing) defaultOf(ctx context.Context, account, customer string) (*payments.MethodInput, error) {
	m, err := b.store.Payment.MethodToCharge(ctx, account, customer, nil)
	if err == nil && m == nil {
		err = core.Invalid("payment_method", "The customer has no default payment method. Send a payment method.")
	}
	if err != nil {
		return nil, err
	}
	return &payments.MethodInput{Ref: m.ID}, nil
}

var errPending = errors.New("its bank takes its time")

// giveUp ends a charge that its buyer would have to approve, because they are not there. If the bank has not decided yet, the
// outcome is Unknown, and the same request sent again finds out. A payment that has an outcome stays as it is.
func (b *Billing) giveUp(ctx context.Context, confirmed *store.PaymentProgress) error {
	switch p := confirmed.Payment; p.Status {
	case payment.StatusRequiresAction:
		if err := b.store.Leave(ctx); err != nil {
			return err
		}
		return b.abandon(ctx, confirmed)
	case payment.StatusPending:
		return core.NewUnknownError("payment "+p.ID, errPending) // the same request sent again finds out
	case payment.StatusSucceeded, payment.StatusFailed, payment.StatusCanceled:
	}
	return nil
}

// ChangeSubscription changes the plan of a subscription, and charges what the change costs. A declined charge is a CodeInvalid
// on payment_method whose outcome is Recorded, and the subscription keeps its old plan.
func (b *Billing) ChangeSubscription(ctx context.Context, account, ref string, in store.ChangeSubscription) (*subscription.Subscription, error) {
	change, err := b.store.ChangeSubscription(ctx, account, ref, in)
	if err != nil {
		return nil, err
	}
	if change.Payment == nil {
		return change.Subscription, nil
	}
	if err := b.chargeInvoice(ctx, change.Payment); err != nil {
		return nil, err
	}
	return b.store.Subscription.Get(ctx, account, ref)
}

// CancelSubscription cancels a subscription. If that is asked for, it also refunds what is left of the period. A refund that
// fails, or whose outcome is not known, is no error. It is logged, the subscription is cancelled, and the reconciler goes on
// with the refund.
func (b *Billing) CancelSubscription(ctx context.Context, account, ref string, in store.CancelSubscription) (*subscription.Subscription, error) {
	sub, err := b.store.CancelSubscription(ctx, account, ref, in)
	if err != nil || sub.Cancellation.V == nil || len(sub.Cancellation.V.RefundIDs) == 0 {
		return sub, err
	}
	for _, id := range sub.Cancellation.V.RefundIDs {
		if err := b.store.Leave(ctx); err != nil { // ends the transaction, also that of the refund before
			return nil, err
		}
		if _, err := b.ResumeRefund(ctx, account, id); err != nil { // the reconciler goes on with it
			slog.WarnContext(ctx, "refund what is left of a subscription", "account", account, "subscription", sub.ID, "refund", id, "error", err)
		}
	}
	return sub, nil
}

// advance does the next due step of a subscription, a renewal for example, and charges what it bills. It reports whether
// anything was done. A decline is no error.
func (b *Billing) advance(ctx context.Context, account, id string) (bool, error) {
	step, err := b.store.AdvanceSubscription(ctx, account, id)
	if err != nil || step.Payment == nil {
		return err == nil && step.Done, err
	}
	err = b.chargeInvoice(ctx, step.Payment)
	if core.OutcomeOf(err) == core.Recorded {
		err = nil // it was declined, and that is stored
	}
	return true, err
}

// chargeInvoice charges a payment of an invoice while its customer is away. If the bank requires something of the customer, the
// charge is given up, and counts as declined.
func (b *Billing) chargeInvoice(ctx context.Context, p *payment.Payment) error {
	settled, err := b.ResumePayment(ctx, p.AccountID, p.ID)
	if err == nil && settled.Payment.Status == payment.StatusRequiresAction {
		err = b.abandon(ctx, settled)
	}
	return err
}
