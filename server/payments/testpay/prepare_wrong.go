//go:build wrong

package testpay

import (
	"context"
	"crypto/rand"
	"os"
	"time"

	"github.com/tillwright/tillwright/server/payments"
)

// PrepareCharge is wrong on purpose if WRONG_ON_PURPOSE is charge, to show that the tests in tests/fault would notice. It takes a new token at every
// call, and moves the money before anybody knows the reference. Whoever goes on after a crash in between charges a second time. It waits in between,
// so that a kill at random meets that. No release is built with this tag.
func (p *Provider) PrepareCharge(ctx context.Context, in payments.ChargeInput) (string, error) {
	if os.Getenv("WRONG_ON_PURPOSE") != "charge" {
		return reference(in), nil
	}
	in.Token = rand.Text()
	ref := reference(in)
	if _, err := p.ConfirmCharge(ctx, in.Account, ref, ""); err != nil {
		return "", err
	}
	time.Sleep(100 * time.Millisecond)
	return ref, nil
}
