package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// CreateRefund gives back money of an order, at most once however often it is called. A refund that the provider refuses has
// the status failed, and is no error. An error that is not a *core.Error leaves the outcome unknown and the refund pending: the
// same request sent again, or the reconciler, finds out.
func (b *Billing) CreateRefund(ctx context.Context, account string, in store.NewRefund) (*store.Refund, error) {
	begun, err := b.store.BeginRefund(ctx, account, in)
	if err != nil {
		return nil, err
	}
	return b.resumeRefund(ctx, begun)
}

// ResumeRefund goes on with a refund from wherever it stands. One that has an outcome is returned as it is.
func (b *Billing) ResumeRefund(ctx context.Context, account, id string) (*store.Refund, error) {
	begun, err := b.store.GetRefunding(ctx, account, id)
	if err != nil {
		return nil, err
	}
	return b.resumeRefund(ctx, begun)
}

// CancelRefund cancels a pending refund, if its provider still can. If the provider says that it has another outcome, that is
// stored, and the error is CodeInvalid on status, with the outcome Recorded. A canceled refund is returned as it is.
func (b *Billing) CancelRefund(ctx context.Context, account, ref string) (*store.Refund, error) {
	begun, err := b.store.BeginCancelRefund(ctx, account, ref)
	if err != nil || begun.Status == store.RefundStatusCanceled {
		return begun, err
	}
	provider, err := b.named(begun.Provider)
	if err != nil {
		return nil, err
	}
	answer, err := provider.CancelRefund(ctx, account, *begun.ProviderRef)
	if err != nil {
		return nil, core.NewUnknownError("cancel refund "+begun.ID, err)
	}
	refund, err := b.settleRefund(ctx, begun, answer)
	if err != nil || refund.Status == store.RefundStatusCanceled {
		return refund, err
	}
	refused := core.Invalid("status", fmt.Sprintf("The provider did not cancel the refund: it is %s.", refund.Status))
	refused.Outcome = core.Recorded
	return refund, refused
}

// resumeRefund asks the provider for a refund that is pending, and stores what it says. If the provider cannot tell, the error
// leaves the outcome unknown, and the reconciler asks again after unknownPause.
func (b *Billing) resumeRefund(ctx context.Context, begun *store.Refunding) (*store.Refund, error) {
	refund := begun.Refund
	if refund.Status != store.RefundStatusPending {
		return refund, nil
	}
	answer, err := b.askForRefund(ctx, begun)
	if err != nil {
		return nil, b.unknownRefund(ctx, refund, err)
	}
	return b.settleRefund(ctx, refund, answer)
}

// askForRefund has the provider make a refund. If it may have been asked before, it is first asked whether it knows the refund.
// Providers forget tokens after a while, and one that has would give the money back twice.
func (b *Billing) askForRefund(ctx context.Context, begun *store.Refunding) (payments.Refund, error) {
	refund, payment := begun.Refund, begun.Payment
	provider, err := b.named(refund.Provider)
	if err != nil {
		return payments.Refund{}, err
	}
	if begun.Resumed {
		answer, found, err := provider.GetRefund(ctx, refund.AccountID, *payment.ProviderRef, refund.ID)
		if err != nil || found {
			return answer, err
		}
	}
	return provider.Refund(ctx, payments.RefundInput{
		Token: refund.ID, Account: refund.AccountID, ChargeRef: *payment.ProviderRef, Amount: refund.ChargedAmount(), Currency: refund.Currency,
		Reason: string(refund.Reason), Metadata: map[string]string{"account": refund.AccountID, "order": refund.OrderID, "refund_id": refund.ID},
	})
}

// refundPause is how long a provider is left alone before it is asked again about a refund that it says is pending.
const refundPause = 10 * time.Minute

// settleRefund stores what the provider says of a refund. A status that we do not know is an error, and changes nothing.
func (b *Billing) settleRefund(ctx context.Context, refund *store.Refund, answer payments.Refund) (*store.Refund, error) {
	result := store.RefundResult{Ref: answer.Ref, Status: store.RefundStatus(answer.Status), FailureReason: answer.FailureReason}
	switch result.Status {
	case store.RefundStatusPending, store.RefundStatusSucceeded, store.RefundStatusFailed, store.RefundStatusCanceled:
	default:
		return nil, fmt.Errorf("refund %s is %q, which is no status", answer.Ref, answer.Status)
	}
	return b.store.SettleRefund(ctx, refund, result, refundPause)
}

// unknownRefund does for a refund what unknown does for a payment: the reconciler asks again after unknownPause. The error that
// is returned has the outcome Unknown, so that it frees no Idempotency-Key.
func (b *Billing) unknownRefund(ctx context.Context, refund *store.Refund, err error) error {
	if yield := b.store.YieldRefund(context.WithoutCancel(ctx), refund.AccountID, refund.ID, unknownPause); yield != nil {
		err = errors.Join(err, yield)
	}
	return core.NewUnknownError("refund "+refund.ID+" has no known outcome yet", err)
}

// reconcileRefunds goes on with the refunds of a provider that have no outcome yet.
func (b *Billing) reconcileRefunds(ctx context.Context, provider string) error {
	due, err := b.store.DueRefunds(ctx, provider, reconcileBatch)
	return errors.Join(err, b.inTime(due, func(r core.Due) error { return b.reconcileRefund(ctx, r) }))
}

// reconcileRefund goes on with one refund, unless another replica does.
func (b *Billing) reconcileRefund(ctx context.Context, due core.Due) error {
	mine, err := b.store.LeaseRefund(ctx, due.AccountID, due.ID)
	if err != nil || !mine {
		return err
	}
	_, err = b.ResumeRefund(ctx, due.AccountID, due.ID)
	return err
}
