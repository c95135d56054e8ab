package billing

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
)

// AuthenticateTestPayment plays the buyer who approves a payment of the test provider, which then goes on. A payment that has
// succeeded is returned as it is; any other that does not wait for its buyer is CodeInvalid on status. One of a real provider
// is CodeInvalid on base.
func (b *Billing) AuthenticateTestPayment(ctx context.Context, account, id string) (*payment.Payment, error) {
	begun, err := b.store.GetPaymentProgress(ctx, account, id)
	if err != nil {
		return nil, err
	}
	p := begun.Payment
	if p.Status == payment.StatusSucceeded {
		return p, nil
	}
	tester, err := b.tester(p.Provider)
	if err != nil {
		return nil, err
	}
	if p.Status != payment.StatusRequiresAction {
		return nil, core.Invalid("status", fmt.Sprintf("The payment is %s: only one that requires_action can be authenticated.", p.Status))
	}
	if err := b.store.Leave(ctx); err != nil {
		return nil, err
	}
	if _, err := tester.Authenticate(ctx, account, *p.ProviderRef); err != nil {
		return nil, err
	}
	if _, err := b.ResumePayment(ctx, account, id); err != nil {
		return nil, err
	}
	if begun, err = b.store.GetPaymentProgress(ctx, account, id); err != nil {
		return nil, err
	}
	return begun.Payment, nil
}

// SettleTestRefund plays the bank that decides about a pending refund of the test provider. A refund that is not pending there
// is CodeInvalid on status, and one of a real provider CodeInvalid on base.
func (b *Billing) SettleTestRefund(ctx context.Context, account, ref string, to payments.RefundStatus) (*store.Refund, error) {
	refund, err := b.store.GetRefund(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	tester, err := b.tester(refund.Provider)
	if err != nil {
		return nil, err
	}
	if refund.Status != store.RefundStatusPending || refund.ProviderRef == nil {
		return nil, core.Invalid("status", fmt.Sprintf("The refund is %s: only one that is pending at the provider can be settled.", refund.Status))
	}
	if err := b.store.Leave(ctx); err != nil {
		return nil, err
	}
	answer, err := tester.SettleRefund(ctx, account, *refund.ProviderRef, to)
	if err != nil {
		return nil, err
	}
	return b.settleRefund(ctx, refund, answer)
}

// tester returns the test provider of a name. A provider that moves real money is CodeInvalid on base.
func (b *Billing) tester(provider string) (payments.Tester, error) {
	if tester, ok := b.providers.Tester(provider); ok {
		return tester, nil
	}
	return nil, core.Invalid("base", "This moved real money through '"+provider+"': only the test provider can be told what happens.")
}
