//go:build !wrong

package testpay

import (
	"context"

	"github.com/tillwright/tillwright/server/payments"
)

// PrepareCharge implements payments.Provider. It stores nothing: the reference contains everything that was asked for.
func (*Provider) PrepareCharge(_ context.Context, in payments.ChargeInput) (string, error) {
	return reference(in), nil
}
