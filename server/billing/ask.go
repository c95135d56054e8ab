package billing

import (
	"context"

	"github.com/tillwright/tillwright/server/payments"
)

// ask charges through the provider in two steps: it prepares the charge, which moves no money, then it confirms it. The
// payment's id is the token, so that asking twice makes one charge. The provider's reference is stored in between, before money
// moves: whoever goes on after a crash looks that charge up instead of making another. A refusal for good comes back as a
// declined charge; an error means that the outcome is unknown. Back is where the buyer returns to from their bank.
func (b *Billing) ask(ctx context.Context, provider payments.Provider, in payments.ChargeInput, back string) (payments.Charge, error) {
	ref, err := provider.PrepareCharge(ctx, in)
	if err != nil {
		return declined(err)
	}
	if err := b.store.Payment.SetRef(ctx, in.Account, in.Token, ref); err != nil {
		return payments.Charge{}, err
	}
	return provider.ConfirmCharge(ctx, in.Account, ref, back)
}
