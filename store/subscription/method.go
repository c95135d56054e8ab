package subscription

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/payment"
)

// maxTriesADay is how often an invoice may be tried within a day with new methods. After that a new one waits for the schedule:
// whoever has many cards shall not find out here which of them are good.
const maxTriesADay = 5

// ChargeWith makes a method the one that a locked subscription is charged with. If the subscription is past due, its latest invoice
// is tried with the method at once, beside the schedule. It is not if it was tried with it before, or too often within the last
// day. The caller stores the subscription.
func (s *Store) ChargeWith(ctx context.Context, u *db.Unit, sub *Subscription, m *payment.SavedMethod, now core.Time) error {
	sub.Method, sub.ExtraAttempt, sub.GotCard = core.JSONOf(m.Billing()), false, true
	if sub.Status != StatusPastDue {
		return nil
	}
	tried, err := db.Get[struct {
		With   int `db:"tried_with"`
		Lately int `db:"lately"`
	}](ctx, u, `
		SELECT COUNT(CASE WHEN provider = ? AND method_ref = ? THEN 1 END) AS tried_with, COUNT(CASE WHEN created_at > ? THEN 1 END) AS lately
		FROM payments WHERE account_id = ? AND invoice_id = ?`, m.Provider, m.ProviderRef, now.Add(-core.Day), sub.AccountID, *sub.LatestInvoiceID)
	if err != nil {
		return fmt.Errorf("count attempts: %w", err)
	}
	sub.ExtraAttempt = tried.With == 0 && tried.Lately < maxTriesADay
	return nil
}

// RunningPast returns subscriptions of a customer, at most limit and the newest first, whose periods go on after a moment. Those of which only a typed
// address says that they are the customer's are left out.
func (s *Store) RunningPast(ctx context.Context, r db.Reader, c *customer.Customer, at core.Time, limit int) ([]Subscription, error) {
	subs, err := db.Select[Subscription](ctx, r, Columns.SelectSQL+`
		WHERE account_id = ? AND customer_id = ? AND `+customer.ActiveSubscription+` AND current_period_end > ? AND customer_verified ORDER BY id DESC LIMIT ?`,
		c.AccountID, c.ID, at, limit)
	if err != nil {
		return nil, fmt.Errorf("read subscriptions that go on: %w", err)
	}
	return subs, nil
}

// LockPastDue locks and returns the subscriptions of a customer that are past due. It must come before the customer is locked.
// Those of which only a typed address says that they are the customer's are left out: they have methods of their own.
func (s *Store) LockPastDue(ctx context.Context, u *db.Unit, account, customerID string) ([]Subscription, error) {
	subs, err := db.Select[Subscription](ctx, u.Locked(), Columns.SelectSQL+`
		WHERE account_id = ? AND customer_id = ? AND `+customer.ActiveSubscription+` AND status = 'past_due' AND customer_verified ORDER BY id`, account, customerID)
	if err != nil {
		return nil, fmt.Errorf("read subscriptions past due: %w", err)
	}
	return subs, nil
}

// Method returns what a subscription is charged with, whether by a renewal, a retry or somebody's request. It is its own method as long as the
// customer has it, or else the customer's default, or nil if there is neither. If only a typed address says that the subscription is the
// customer's, it has its own method or none. What the customer has saved is not touched.
func (s *Store) Method(ctx context.Context, sub *Subscription) (*payment.BillingMethod, error) {
	return s.MethodIn(ctx, s.db, sub)
}

// MethodIn does what Method does, where r says.
func (s *Store) MethodIn(ctx context.Context, r db.Reader, sub *Subscription) (*payment.BillingMethod, error) {
	var own *string
	if m := sub.Method.V; m != nil {
		if m.ID == nil {
			return m, nil
		}
		own = m.ID
	}
	if !sub.CustomerVerified {
		return nil, nil
	}
	saved, err := s.rooms.Payment.MethodToChargeIn(ctx, r, sub.AccountID, sub.CustomerID, own)
	if err != nil || saved == nil {
		return nil, err
	}
	return saved.Billing(), nil
}

// ErrUnverified refuses to charge a customer's saved methods for a subscription that somebody bought who only typed their
// address.
var ErrUnverified = core.Invalid("payment_method", "Only a typed e-mail address says that this is the customer's subscription: it is not charged to what they have saved. If you know that they bought it, send the subscription customer_verified true.")
