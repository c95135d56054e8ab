package billing

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

const (
	reconcileInterval = 5 * time.Second
	reconcileBatch    = 100

	// reconcileAtOnce is how many things of a kind a provider is asked about at the same time. If it does not answer, only so
	// many wait for it.
	reconcileAtOnce = 8
)

// Run reconciles, and does what is due, every few seconds until the context ends. Any number of replicas may run it: each
// payment is leased by one of them, and each thing that is due is claimed by one.
func (b *Billing) Run(ctx context.Context) {
	ticker := time.NewTicker(reconcileInterval)
	defer ticker.Stop()
	for {
		if err := b.Reconcile(ctx); err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "reconcile payments", "error", err)
		}
		if err := b.Work(ctx); err != nil && ctx.Err() == nil {
			slog.ErrorContext(ctx, "do what is due", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Reconcile goes on with every payment and refund that was left without an outcome. The reason may be a crash, a provider that
// did not answer or takes its time, or a buyer who did not come back. It also tells providers which payment methods were
// removed. It returns all that went wrong; what fails does not keep the rest from being done. What does not begin within the turn
// of its kind is left for the next time.
func (b *Billing) Reconcile(ctx context.Context) error {
	var errs []error
	for _, provider := range b.providers.Names() {
		due, err := b.store.Payment.Due(ctx, provider, reconcileBatch)
		errs = append(errs, err, b.inTime(due, func(p core.Due) error { return b.reconcile(ctx, p) }),
			b.reconcileRefunds(ctx, provider), b.detachMethods(ctx, provider))
	}
	return errors.Join(errs...)
}

// inTime asks a provider about what is due of a kind, several at the same time, and begins none once its turn is over. A provider that does not answer
// would else keep the other kinds waiting, and renewals.
func (b *Billing) inTime(due []core.Due, ask func(core.Due) error) error {
	until := time.Now().Add(b.turnTime)
	return atOnce(due, reconcileAtOnce, func(one core.Due) error {
		if time.Now().After(until) {
			return nil
		}
		return ask(one)
	})
}

// reconcile goes on with one payment, unless another replica does. If the buyer's time to approve it is over, it is given up. A
// decline is no error.
func (b *Billing) reconcile(ctx context.Context, due core.Due) error {
	mine, err := b.store.Payment.Lease(ctx, due.AccountID, due.ID)
	if err != nil || !mine {
		return err
	}
	begun, err := b.store.GetPaymentProgress(ctx, due.AccountID, due.ID)
	if err != nil {
		return err
	}
	over, err := b.store.HoldIsOver(ctx, begun)
	if err != nil {
		return err
	}
	if over {
		err = b.abandon(ctx, begun)
	} else {
		_, err = b.resume(ctx, begun)
	}
	if core.OutcomeOf(err) == core.Recorded {
		return nil // it was declined or given up, and that is stored
	}
	return err
}

// abandon is giveUpCharge for whoever needs to know only what came of it.
func (b *Billing) abandon(ctx context.Context, begun *store.PaymentProgress) error {
	_, err := b.giveUpCharge(ctx, begun)
	return err
}

// giveUpCharge gives up a charge that its buyer has not approved: it cancels it at the provider, and stores what came of it. The
// error then says that the payment was not authenticated in time, or what begun says, and its outcome is Recorded. If the buyer
// approved at the last moment, what their bank decided is stored instead.
func (b *Billing) giveUpCharge(ctx context.Context, begun *store.PaymentProgress) (*store.PaymentProgress, error) {
	payment := begun.Payment
	provider, err := b.providerOf(payment)
	if err != nil {
		return nil, err
	}
	if err := b.store.Leave(ctx); err != nil {
		return nil, err // ends the transaction of a request that has just stored that the buyer has to act
	}
	charge, err := provider.CancelCharge(ctx, payment.AccountID, *payment.ProviderRef)
	if err != nil {
		return nil, b.unknown(ctx, payment, err)
	}
	return b.settleCharge(ctx, begun, charge)
}
