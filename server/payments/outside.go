package payments

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store"
)

// callTimeout is how long one call of a provider may take. A payment needs at most four calls, with those that save its method.
// Together they stay below the minute for which a payment is leased, and below the deadline of its request.
const callTimeout = 12 * time.Second

// Outside guards the calls of a provider. Each has a deadline. One that is made inside a database transaction panics. It would
// hold locks for as long as a stranger takes to answer, and could not be undone with the transaction.
func Outside(p Provider) Provider { return outside{p} }

type outside struct{ Provider }

func (o outside) CreateCustomer(ctx context.Context, in CustomerInput) (string, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Provider.CreateCustomer(ctx, in)
}

func (o outside) AttachMethod(ctx context.Context, in AttachInput) (Method, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Provider.AttachMethod(ctx, in)
}

func (o outside) DetachMethod(ctx context.Context, account, ref string) error {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Provider.DetachMethod(ctx, account, ref)
}

func (o outside) PrepareCharge(ctx context.Context, in ChargeInput) (string, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Provider.PrepareCharge(ctx, in)
}

func (o outside) ConfirmCharge(ctx context.Context, account, ref, back string) (Charge, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Provider.ConfirmCharge(ctx, account, ref, back)
}

func (o outside) GetCharge(ctx context.Context, account, ref string) (Charge, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Provider.GetCharge(ctx, account, ref)
}

func (o outside) CancelCharge(ctx context.Context, account, ref string) (Charge, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Provider.CancelCharge(ctx, account, ref)
}

func (o outside) Refund(ctx context.Context, in RefundInput) (Refund, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Provider.Refund(ctx, in)
}

func (o outside) GetRefund(ctx context.Context, account, chargeRef, token string) (Refund, bool, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Provider.GetRefund(ctx, account, chargeRef, token)
}

func (o outside) CancelRefund(ctx context.Context, account, ref string) (Refund, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Provider.CancelRefund(ctx, account, ref)
}

// OutsideAuthenticator guards an Authenticator as Outside does a Provider.
func OutsideAuthenticator(a Authenticator) Authenticator { return outsideAuthenticator{a} }

type outsideAuthenticator struct{ Authenticator }

func (o outsideAuthenticator) Authenticate(ctx context.Context, account, ref string) (Charge, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Authenticator.Authenticate(ctx, account, ref)
}

type outsideTester struct{ Tester }

func (o outsideTester) Authenticate(ctx context.Context, account, ref string) (Charge, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Tester.Authenticate(ctx, account, ref)
}

func (o outsideTester) SettleRefund(ctx context.Context, account, ref string, to RefundStatus) (Refund, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Tester.SettleRefund(ctx, account, ref, to)
}

// leave returns the context for one call, which ends after callTimeout. It panics inside a database transaction.
func leave(ctx context.Context) (context.Context, context.CancelFunc) {
	if store.InTx(ctx) {
		panic("payments: provider called inside a transaction")
	}
	return context.WithTimeout(ctx, callTimeout)
}
