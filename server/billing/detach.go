package billing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
)

const (
	// detachPause is the longest wait before a provider that did not answer is told again. After detachLife it is not told any
	// more.
	detachPause = 6 * time.Hour
	detachLife  = 30 * 24 * time.Hour
)

// detachMethods tells a provider which payment methods were removed here, so that it forgets them too.
func (b *Billing) detachMethods(ctx context.Context, provider string) error {
	due, err := b.store.Payment.DueDetachments(ctx, provider, reconcileBatch)
	return errors.Join(err, b.inTime(due, func(d core.Due) error { return b.detachMethod(ctx, d) }))
}

// detachMethod tells the provider of one removed method. If another replica is doing that already, it does nothing. After an
// error the provider is told again later.
func (b *Billing) detachMethod(ctx context.Context, due core.Due) error {
	d, err := b.store.Payment.LeaseDetachment(ctx, due.AccountID, due.ID)
	if err != nil || d == nil {
		return err
	}
	provider, err := b.named(d.Provider)
	if err != nil {
		return err
	}
	if err := provider.DetachMethod(ctx, d.AccountID, d.ProviderRef); err != nil {
		return errors.Join(fmt.Errorf("detach payment method %s of account %s: %w", d.ID, d.AccountID, err), b.detachLater(context.WithoutCancel(ctx), d))
	}
	return b.store.Payment.EndDetachment(ctx, d)
}

// detachLater puts off telling a provider that failed, for as long again as it has been tried. So the waits double, up to
// detachPause: the account may have no key for the provider any more. After detachLife it gives up, with a warning in the
// log.
func (b *Billing) detachLater(ctx context.Context, d *payment.Detachment) error {
	age := time.Duration(d.Age) * time.Microsecond
	if age > detachLife {
		slog.WarnContext(ctx, "a removed payment method was never detached", "account", d.AccountID, "payment_method", d.ID, "provider", d.Provider)
		return b.store.Payment.EndDetachment(ctx, d)
	}
	return b.store.Payment.YieldDetachment(ctx, d.AccountID, d.ID, min(max(age, unknownPause), detachPause))
}
