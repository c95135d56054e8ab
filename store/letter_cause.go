package store

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/subscription"
	"github.com/tillwright/tillwright/store/tenant"
)

// writeLetter has a letter sent once what this transaction did is committed: at once, or from due on by the account's clock.
func (s *Store) writeLetter(ctx context.Context, u *db.Unit, l Letter) error {
	now, err := db.BusinessNow(ctx, u, l.AccountID)
	if err != nil {
		return err
	}
	l.ID, l.Status, l.CreatedAt, l.UpdatedAt = core.NewID(core.KindLetter), LetterStatusQueued, now, now
	if l.DueAt == nil {
		l.NextAttemptAt = new(s.Now())
	}
	return u.Insert(ctx, letterColumns, &l)
}

// writeReceipt has the receipt of an order that is being paid sent to its buyer. Who was deleted is sent none.
func (s *Store) writeReceipt(ctx context.Context, u *db.Unit, b *invoice.Bill) error {
	if b.Customer.DeletedAt != nil || b.Order.CustomerEmail == nil {
		return nil
	}
	return s.writeLetter(ctx, u, Letter{AccountID: b.Order.AccountID, Kind: tenant.LetterReceipt, CustomerID: b.Order.CustomerID, ObjectID: b.Order.ID})
}

// writePaymentFailed tells the customer of a subscription that is past due of an attempt that failed, and of the next one.
func (s *Store) writePaymentFailed(ctx context.Context, u *db.Unit, sub *subscription.Subscription, i *invoice.Invoice) error {
	return s.writeLetter(ctx, u, Letter{
		AccountID: sub.AccountID, Kind: tenant.LetterPaymentFailed, CustomerID: sub.CustomerID, ObjectID: i.ID, Period: sub.Failure(),
	})
}

// lastBill names the only attempt to collect the last invoice of a subscription that has ended.
const lastBill = "last"

// writeLastFailed tells the customer of a subscription that has ended that its last invoice could not be charged, and is not tried again. Who was
// deleted is told nothing.
func (s *Store) writeLastFailed(ctx context.Context, u *db.Unit, sub *subscription.Subscription, b *invoice.Bill) error {
	if b.Customer.DeletedAt != nil {
		return nil
	}
	return s.writeLetter(ctx, u, Letter{
		AccountID: sub.AccountID, Kind: tenant.LetterPaymentFailed, CustomerID: sub.CustomerID, ObjectID: b.Invoice.ID, Period: lastBill,
	})
}

// writeTrialEnding has the customer of a subscription told before its trial is over. Nobody is told of one that is too short for that.
func (s *Store) writeTrialEnding(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) error {
	due := sub.TrialNoticeAt()
	if sub.Status != subscription.StatusTrialing || due <= now {
		return nil
	}
	return s.writeLetter(ctx, u, Letter{
		AccountID: sub.AccountID, Kind: tenant.LetterTrialEnding, CustomerID: sub.CustomerID, ObjectID: sub.ID, Period: sub.TrialEnd.String(), DueAt: &due,
	})
}

// writeCanceled tells the customer of a subscription until when it goes on. It may be cancelled and kept several times.
func (s *Store) writeCanceled(ctx context.Context, u *db.Unit, sub *subscription.Subscription) error {
	return s.writeLetter(ctx, u, Letter{
		AccountID: sub.AccountID, Kind: tenant.LetterSubscriptionCanceled, CustomerID: sub.CustomerID, ObjectID: sub.ID, Period: core.NewULID(),
	})
}

// planPause is how long the letter about a changed plan waits for another change, which has a letter in its place.
const planPause = 5 * time.Minute

// writePlanChanged tells the customer of a subscription of its plan, or of the one that waits, once planPause is over.
func (s *Store) writePlanChanged(ctx context.Context, u *db.Unit, sub *subscription.Subscription) error {
	now, err := db.BusinessNow(ctx, u, sub.AccountID)
	if err != nil {
		return err
	}
	return s.writeLetter(ctx, u, Letter{
		AccountID: sub.AccountID, Kind: tenant.LetterPlanChanged, CustomerID: sub.CustomerID, ObjectID: sub.ID, Period: core.NewULID(), DueAt: new(now.Add(planPause)),
	})
}

// writeEnded tells the customer of a subscription that it has ended.
func (s *Store) writeEnded(ctx context.Context, u *db.Unit, sub *subscription.Subscription) error {
	return s.writeLetter(ctx, u, Letter{AccountID: sub.AccountID, Kind: tenant.LetterSubscriptionEnded, CustomerID: sub.CustomerID, ObjectID: sub.ID})
}

// writeAccess tells a customer what they were given.
func (s *Store) writeAccess(ctx context.Context, u *db.Unit, g *grant.Grant) error {
	return s.writeLetter(ctx, u, Letter{AccountID: g.AccountID, Kind: tenant.LetterAccessGiven, CustomerID: g.CustomerID, ObjectID: g.ID})
}

// writeKey tells a customer of a licence key that was not there when they were told of its grant. They may lose it, and get it again.
func (s *Store) writeKey(ctx context.Context, u *db.Unit, g *grant.Grant) error {
	return s.writeLetter(ctx, u, Letter{AccountID: g.AccountID, Kind: tenant.LetterAccessGiven, CustomerID: g.CustomerID, ObjectID: g.ID, Period: core.NewULID()})
}

// writeRefund tells a customer of money that was given back. Who was deleted is told nothing.
func (s *Store) writeRefund(ctx context.Context, u *db.Unit, r *Refund, customer *customer.Customer) error {
	if customer.DeletedAt != nil {
		return nil
	}
	return s.writeLetter(ctx, u, Letter{AccountID: r.AccountID, Kind: tenant.LetterRefund, CustomerID: customer.ID, ObjectID: r.ID})
}
