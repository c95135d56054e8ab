package billing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

const (
	// detachPause is how long a provider that does not listen is left alone at most, and detachLife how long it is told.
	detachPause = 6 * time.Hour
	detachLife  = 30 * 24 * time.Hour
)

// detachMethods tells a provider of the methods that were removed here.
func (b *Billing) detachMethods(ctx context.Context, provider string) error {
	due, err := b.store.DueDetachments(ctx, provider, reconcileBatch)
	return errors.Join(err, atOnce(due, reconcileAtOnce, func(d core.Due) error { return b.detachMethod(ctx, d) }))
}

func (b *Billing) detachMethod(ctx context.Context, due core.Due) error {
	d, err := b.store.LeaseDetachment(ctx, due.AccountID, due.ID)
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
	return b.store.EndDetachment(ctx, d)
}

// detachLater leaves a provider alone for as long again as it has not listened: an account may have no key any more.
func (b *Billing) detachLater(ctx context.Context, d *store.Detachment) error {
	age := time.Duration(d.Age) * time.Microsecond
	if age > detachLife {
		slog.WarnContext(ctx, "a removed payment method was never detached", "account", d.AccountID, "payment_method", d.ID, "provider", d.Provider)
		return b.store.EndDetachment(ctx, d)
	}
	return b.store.YieldDetachment(ctx, d.AccountID, d.ID, min(max(age, unknownPause), detachPause))
}
