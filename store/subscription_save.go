package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/subscription"
)

// saveSubscription stores a locked subscription. Before that it sets when something is to be done next, counts what has changed, and has its customer
// have what follows from its state. It takes what the subscription needs by now from stocks: if there is not enough for who asks, that is CodeInvalid
// on quantity.
func (s *Store) saveSubscription(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) error {
	isPaid := sub.IsPaid // delivering uses it up
	if err := s.Subscription.Deliver(ctx, u, sub); err != nil {
		return err
	}
	if sub.Ends {
		if _, err := s.Discount.ReleaseUnused(ctx, u, sub.Discounted()); err != nil {
			return err
		}
		if err := s.writeEnded(ctx, u, sub); err != nil {
			return err
		}
	}
	if err := s.Subscription.TakeUnits(ctx, u, sub, isPaid); err != nil {
		return err
	}
	if err := s.writeNews(ctx, u, sub, now); err != nil {
		return err
	}
	sub.UpdatedAt = now
	sub.Schedule()
	s.Subscription.Count(u, sub, now)
	return u.Update(ctx, subscription.Columns, sub)
}

// writeNews has the customer of a subscription that goes on told what became of it in this transaction.
func (s *Store) writeNews(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) error {
	begins, isKept, isOverruled, gotCard := sub.Begins, sub.IsKept, sub.IsOverruled, sub.GotCard
	sub.Begins, sub.IsKept, sub.IsOverruled, sub.GotCard = false, false, false, false
	if sub.HasEnded() {
		return nil
	}
	if isKept {
		if err := s.writeKept(ctx, u, sub, isOverruled); err != nil {
			return err
		}
	}
	if begins {
		return s.writePeriod(ctx, u, sub, now)
	}
	if gotCard {
		return s.writeCard(ctx, u, sub, now)
	}
	return nil
}
