package billing

import (
	"context"
	"fmt"
	"net/http"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
)

// Expects returns payments.ErrForged if the headers alone say that a provider did not send a notification, and CodeMissing for a provider
// that sends none. It is asked before the body is read.
func (b *Billing) Expects(provider string, header http.Header) error {
	notifier, ok := b.providers.Notifier(provider)
	if !ok {
		return core.Missing("payment provider", "", provider)
	}
	if !notifier.HasSignature(header) {
		return payments.ErrForged
	}
	return nil
}

// Notify takes a notification that a provider sends by itself. Each takes effect once, they may come in any order, and none
// changes an outcome that is stored. It returns payments.ErrForged for what the provider did not sign. For what it did sign and what
// cannot be understood, it returns ErrUnknownStatus or ErrUnusable. It is CodeMissing for a provider that sends no notifications. It is
// CodeInProgress if it is about something that is not stored here yet: the provider sends it again later.
func (b *Billing) Notify(ctx context.Context, provider string, header http.Header, body []byte) error {
	notifier, ok := b.providers.Notifier(provider)
	if !ok {
		return core.Missing("payment provider", "", provider)
	}
	event, err := notifier.ParseWebhook(ctx, header, body)
	if err != nil || event.Kind == "" {
		return err
	}
	if event.Metadata[setupCustomer] != "" {
		return b.applyGiven(ctx, provider, event)
	}
	return b.store.Payment.ApplyProviderEvent(ctx, payment.ProviderEvent{AccountID: event.Account, Provider: provider, ID: event.ID},
		func(ctx context.Context) error {
			if event.Kind == payments.EventRefund {
				return b.applyRefund(ctx, event)
			}
			return b.applyCharge(ctx, provider, event)
		})
}

// applyCharge stores the outcome of a charge with its payment. If no payment has this charge, notYet decides whether the
// notification is ignored or wanted again. One that tells no outcome changes nothing: the reconciler asks until there is one.
func (b *Billing) applyCharge(ctx context.Context, provider string, event payments.Event) error {
	payment, err := b.store.Payment.OfCharge(ctx, event.Account, provider, event.Charge.Ref)
	if err != nil {
		return err
	}
	if payment == nil {
		return b.notYet(ctx, event.Account, event.Metadata["payment"])
	}
	if event.Charge.Status == payments.ChargePrepared || event.Charge.Status == payments.ChargePending {
		return nil // the reconciler asks until there is an outcome
	}
	begun, err := b.store.GetPaymentProgress(ctx, payment.AccountID, payment.ID)
	if err != nil {
		return err
	}
	result, err := resultOf(payment, event.Charge, pageOf(begun))
	if err != nil {
		return fmt.Errorf("%w: %w", payments.ErrUnusable, err)
	}
	_, err = b.settlePayment(ctx, payment, result)
	return err
}

// notYet is for a charge that no payment of ours refers to. If the payment that the notification names is still waiting for its
// charge, it is CodeInProgress, so that the provider sends the notification again. If there is no such payment, or it has
// another charge or an outcome, there is nothing to wait for, and no error.
func (b *Billing) notYet(ctx context.Context, account, payment string) error {
	known, err := b.store.Payment.ByID(ctx, account, []string{payment})
	if err != nil || known[payment] == nil || known[payment].ProviderRef != nil || known[payment].Status.IsFinal() {
		return err
	}
	return tellAgain("payment", payment)
}

// applyRefund stores the outcome of a refund that was asked for here: the provider's refund carries our id. Others are ignored.
// One that is not stored here yet is CodeInProgress.
func (b *Billing) applyRefund(ctx context.Context, event payments.Event) error {
	id := event.Metadata["refund_id"]
	if id == "" {
		return nil
	}
	known, err := b.store.RefundsByID(ctx, event.Account, []string{id})
	if err != nil {
		return err
	}
	if known[id] == nil {
		return tellAgain("refund", id)
	}
	if has := known[id].ProviderRef; has != nil && *has != event.Refund.Ref {
		return nil // another refund of the provider's, which names ours in its metadata
	}
	_, err = b.settleRefund(ctx, known[id], event.Refund)
	return err
}

// tellAgain returns CodeInProgress, upon which a provider sends its notification again.
func tellAgain(object, id string) error {
	return &core.Error{Code: core.CodeInProgress, Message: "The " + object + " " + id + " is being made. Tell it again in a moment."}
}
