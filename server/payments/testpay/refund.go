package testpay

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/testbank"
)

// refundTime is how long refunds stay pending, with test cards whose refunds do.
const refundTime = 10 * time.Second

// refundFailure is why refunds fail, with test cards whose refunds do.
const refundFailure = "expired_or_canceled_card"

// Refund implements payments.Provider. A refund of more than is left of the charge fails.
func (p *Provider) Refund(ctx context.Context, in payments.RefundInput) (payments.Refund, error) {
	status := payments.RefundSucceeded
	if fate(in.ChargeRef) != "" {
		status = payments.RefundPending
	}
	made, err := p.store.PutRefund(ctx, testbank.Refund{
		AccountID: in.Account, ID: "tre_" + in.Token, Token: in.Token, ChargeID: in.ChargeRef, Amount: in.Amount,
		Status: string(status),
	})
	if err != nil {
		return payments.Refund{}, err
	}
	if made.ChargeID != in.ChargeRef || made.Amount != in.Amount {
		return payments.Refund{}, fmt.Errorf("testpay: token %s was used for another refund", in.Token)
	}
	return refundView(made), nil
}

// GetRefund implements payments.Provider. A pending refund gets its outcome here, when it is looked up after refundTime.
func (p *Provider) GetRefund(ctx context.Context, account, chargeRef, token string) (payments.Refund, bool, error) {
	made, err := p.store.RefundOf(ctx, account, token)
	if err != nil || made == nil || made.ChargeID != chargeRef {
		return payments.Refund{}, false, err
	}
	if made.Status == string(payments.RefundPending) && made.CreatedAt.Add(refundTime) <= p.store.Now() {
		refund, err := p.SettleRefund(ctx, account, made.ID, cmp.Or(fate(chargeRef), payments.RefundSucceeded))
		return refund, true, err
	}
	return refundView(made), true, nil
}

// CancelRefund implements payments.Provider.
func (p *Provider) CancelRefund(ctx context.Context, account, ref string) (payments.Refund, error) {
	return p.SettleRefund(ctx, account, ref, payments.RefundCanceled)
}

// SettleRefund implements payments.Tester.
func (p *Provider) SettleRefund(ctx context.Context, account, ref string, to payments.RefundStatus) (payments.Refund, error) {
	reason := ""
	if to == payments.RefundFailed {
		reason = refundFailure
	}
	if err := p.store.MoveRefund(ctx, account, ref, string(to), reason); err != nil {
		return payments.Refund{}, err
	}
	made, err := p.store.GetRefund(ctx, account, ref)
	if err != nil {
		return payments.Refund{}, err
	}
	if made == nil {
		return payments.Refund{}, fmt.Errorf("testpay: there is no refund %q", ref)
	}
	return refundView(made), nil
}

// fate returns what the pending refunds of a charge become, empty if its refunds are not pending but succeed at once.
func fate(chargeRef string) payments.RefundStatus {
	charge, err := prepared("", chargeRef)
	if err != nil {
		return ""
	}
	card, _ := cardOf(charge.MethodRef)
	return card.refund
}

func refundView(r *testbank.Refund) payments.Refund {
	return payments.Refund{Ref: r.ID, Status: payments.RefundStatus(r.Status), FailureReason: r.FailureReason}
}
