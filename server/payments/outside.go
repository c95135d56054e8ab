package payments

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store"
)

// callTimeout bounds one call. The three calls of a payment together stay below the minute for which it is leased.
const callTimeout = 15 * time.Second

// Outside guards a provider's calls: each has a deadline, and one that is made inside a database transaction
// panics, because such a call would hold locks for as long as a stranger takes to answer, and could not be undone
// with the transaction.
func Outside(p Provider) Provider { return outside{p} }

type outside struct{ Provider }

func (o outside) PrepareCharge(ctx context.Context, in ChargeInput) (string, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Provider.PrepareCharge(ctx, in)
}

func (o outside) ConfirmCharge(ctx context.Context, account, ref string) (Charge, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Provider.ConfirmCharge(ctx, account, ref)
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

// OutsideAuthenticator guards an Authenticator as Outside does a Provider.
func OutsideAuthenticator(a Authenticator) Authenticator { return outsideAuthenticator{a} }

type outsideAuthenticator struct{ Authenticator }

func (o outsideAuthenticator) Authenticate(ctx context.Context, account, ref string) (Charge, error) {
	ctx, cancel := leave(ctx)
	defer cancel()
	return o.Authenticator.Authenticate(ctx, account, ref)
}

func leave(ctx context.Context) (context.Context, context.CancelFunc) {
	if store.InTx(ctx) {
		panic("payments: provider called inside a transaction")
	}
	return context.WithTimeout(ctx, callTimeout)
}
