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

	// reconcileAtOnce is how many are asked about at the same time: a provider that does not answer holds up few.
	reconcileAtOnce = 8
)

// Run reconciles, and does what is due, until the context ends. Any number of replicas may run it: each payment is leased by one of them,
// and what is due is claimed by one.
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

// Reconcile goes on with every payment and refund that was left without an outcome: by a crash, by a provider that did
// not answer or takes its time, or by a buyer who did not come back. And it tells providers of the methods that were removed.
func (b *Billing) Reconcile(ctx context.Context) error {
	var errs []error
	for _, provider := range b.providers.Names() {
		due, err := b.store.DuePayments(ctx, provider, reconcileBatch)
		errs = append(errs, err, atOnce(due, reconcileAtOnce, func(p core.Due) error { return b.reconcile(ctx, p) }),
			b.reconcileRefunds(ctx, provider), b.detachMethods(ctx, provider))
	}
	return errors.Join(errs...)
}

func (b *Billing) reconcile(ctx context.Context, due core.Due) error {
	mine, err := b.store.LeasePayment(ctx, due.AccountID, due.ID)
	if err != nil || !mine {
		return err
	}
	begun, err := b.store.GetConfirmation(ctx, due.AccountID, due.ID)
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
		return nil // declined: that is an outcome
	}
	return err
}

// abandon gives up a charge for which the buyer did nothing. If they did at the last moment, it is settled as such.
func (b *Billing) abandon(ctx context.Context, begun *store.Confirmation) error {
	payment := begun.Payment
	provider, err := b.providerOf(payment)
	if err != nil {
		return err
	}
	if err := b.store.Leave(ctx); err != nil {
		return err // whoever asked may have stored that the buyer has to act
	}
	charge, err := provider.CancelCharge(ctx, payment.AccountID, *payment.ProviderRef)
	if err != nil {
		return b.unknown(ctx, payment, err)
	}
	_, err = b.settle(ctx, begun, charge)
	return err
}
