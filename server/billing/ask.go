//go:build !wrongcharge

package billing

import (
	"context"

	"github.com/tillwright/tillwright/server/payments"
)

// ask has the provider make a charge, whose token is the payment's id. Its reference is stored before money moves: whoever goes
// on after a crash asks what became of it.
func (b *Billing) ask(ctx context.Context, provider payments.Provider, in payments.ChargeInput, back string) (payments.Charge, error) {
	ref, err := provider.PrepareCharge(ctx, in)
	if err != nil {
		return declined(err)
	}
	if err := b.store.SetPaymentRef(ctx, in.Account, in.Token, ref); err != nil {
		return payments.Charge{}, err
	}
	return provider.ConfirmCharge(ctx, in.Account, ref, back)
}
