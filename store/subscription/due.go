package subscription

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Due returns at most limit subscriptions that have something to do by now. They are of one account by its own clock, or with an empty account of
// all. Disabled accounts are left out.
func (s *Store) Due(ctx context.Context, account string, limit int) ([]core.Due, error) {
	return s.db.Due(ctx, account, `SELECT account_id, id FROM subscriptions WHERE due_at <= ? AND `+db.EnabledAccount, `due_at`, limit)
}

// DueAccounts returns the accounts that have subscriptions with something to do by now, the longest waiting first.
// Disabled accounts are left out. The accounts are not grouped by the column itself, because SQLite would go through all subscriptions in its order,
// whether they are due or not.
func (s *Store) DueAccounts(ctx context.Context) ([]string, error) {
	return db.PlanningAnew(ctx, s.db, func(ctx context.Context, r db.Reader) ([]string, error) {
		return db.Select[string](ctx, r, `
			SELECT account_id FROM (
				SELECT account_id || '' AS account_id, MIN(due_at) AS since FROM subscriptions WHERE due_at <= ? GROUP BY account_id || ''
			) AS waiting WHERE `+db.EnabledAccount+` ORDER BY since`, s.db.Now())
	})
}

// IsBeingCharged reports whether the outcome of the latest invoice's payment is still to come. It says false for a subscription that is past due
// and waits for an attempt of the schedule, because collect looks for itself. One that is to be tried at once with a new payment method waits
// until the payment under way has its outcome.
func (s *Store) IsBeingCharged(ctx context.Context, r db.Reader, sub *Subscription) (bool, error) {
	if sub.LatestInvoiceID == nil || sub.Status == StatusPastDue && !sub.ExtraAttempt {
		return false, nil
	}
	return s.rooms.Payment.IsPaying(ctx, r, sub.AccountID, *sub.LatestInvoiceID)
}

var errChangeIsBeingPaid = core.Invalid("status", "A change of plan is being paid. Ask again in a moment.").Because("changing")

// ChangeIsBeingPaid reports whether a change of plan waits for the payment of its invoice.
func (s *Subscription) ChangeIsBeingPaid() bool {
	return s.PendingChange.V != nil && s.PendingChange.V.InvoiceID != nil
}

// CheckFree returns CodeInvalid on status while a payment of the locked subscription is under way. That is for a change of plan, or for what it
// last billed. The outcome decides what becomes of the subscription, so nothing else may change it meanwhile.
func (s *Store) CheckFree(ctx context.Context, r db.Reader, sub *Subscription) error {
	if sub.ChangeIsBeingPaid() {
		return errChangeIsBeingPaid
	}
	waits, err := s.IsBeingCharged(ctx, r, sub)
	if err == nil && waits {
		err = core.Invalid("status", "The subscription is being charged. Ask again in a moment.").Because("charging")
	}
	return err
}
