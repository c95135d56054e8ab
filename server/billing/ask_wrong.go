//go:build wrongcharge

package billing

import (
	"context"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
)

// ask is wrong on purpose. Every time it takes a new token, and it stores the reference after the charge, so that whoever goes
// on after a crash in between charges once more. tests/fault must see that; no release is built with this tag.
func (b *Billing) ask(ctx context.Context, provider payments.Provider, in payments.ChargeInput, back string) (payments.Charge, error) {
	payment := in.Token
	in.Token = core.NewID(core.KindPayment)
	ref, err := provider.PrepareCharge(ctx, in)
	if err != nil {
		return declined(err)
	}
	charge, err := provider.ConfirmCharge(ctx, in.Account, ref, back)
	if err != nil {
		return payments.Charge{}, err
	}
	return charge, b.store.SetPaymentRef(ctx, in.Account, payment, ref)
}
