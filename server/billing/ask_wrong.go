//go:build wrongcharge

package billing

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
)

// ask is wrong on purpose, to show that the tests in tests/fault would notice. It takes a new token at every call, and stores
// the provider's reference only after the charge: whoever goes on after a crash in between charges a second time. It waits in
// between, so that a kill at random meets that. No release is built with this tag.
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
	time.Sleep(100 * time.Millisecond)
	return charge, b.store.Payment.SetRef(ctx, in.Account, payment, ref)
}
