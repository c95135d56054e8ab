package invoice

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
)

// MarkPastDue stores when a locked invoice is charged again, nil for never by itself. An open one becomes past due, and
// invoice.past_due follows.
func (s *Store) MarkPastDue(ctx context.Context, u *db.Unit, b *Bill, next *core.Time, now core.Time) error {
	inv, o := b.Invoice, b.Order
	inv.NextAttemptAt, o.NextAttemptAt = next, next
	inv.UpdatedAt, o.UpdatedAt = now, now
	if inv.Status == StatusOpen {
		inv.Status, inv.PastDueAt = StatusPastDue, &now
		if err := s.EmitInvoice(ctx, u, outbox.EventInvoicePastDue, b); err != nil {
			return err
		}
	}
	return s.UpdateBill(ctx, u, b)
}

// VoidBill makes a locked invoice and its order void, and gives back the credit that the customer paid with. invoice.voided
// follows. The caller has to know that no payment of it is under way.
func (s *Store) VoidBill(ctx context.Context, u *db.Unit, b *Bill, reason string, now core.Time) error {
	inv, o := b.Invoice, b.Order
	if err := Lifecycle.Check("invoice", inv.Status, StatusVoid); err != nil {
		return err
	}
	inv.Status, inv.VoidedAt, inv.VoidReason, inv.NextAttemptAt, inv.UpdatedAt = StatusVoid, &now, &reason, nil, now
	o.Status, o.VoidedAt, o.NextAttemptAt, o.UpdatedAt = order.StatusVoid, &now, nil, now
	if err := s.EmitInvoice(ctx, u, outbox.EventInvoiceVoided, b); err != nil {
		return err
	}
	if o.BalanceTaken > 0 {
		if err := s.rooms.Customer.MoveOrderBalance(ctx, u, b.Customer, o.ID, o.Currency, o.BalanceTaken, customer.BalanceReasonReturned, now); err != nil {
			return err
		}
		b.Customer.UpdatedAt = now
		if err := u.Update(ctx, customer.Columns, b.Customer); err != nil {
			return err
		}
	}
	return s.UpdateBill(ctx, u, b)
}

// Uncollected names issued invoices that are to be charged by now, at most limit, for CollectInvoice. Those of a
// subscription are not among them: they are charged when the subscription is due.
func (s *Store) Uncollected(ctx context.Context, account string, limit int) ([]core.Due, error) {
	return s.db.Due(ctx, account, `SELECT account_id, id FROM invoices WHERE subscription_id IS NULL AND next_payment_attempt_at <= ? AND `+db.EnabledAccount,
		`next_payment_attempt_at`, limit)
}

// UncollectedAccounts returns the accounts that have invoices for Uncollected, the longest waiting first. Disabled accounts are left out. The column is
// not grouped by itself, because SQLite would go through the invoices in its order, whether they are due or not.
func (s *Store) UncollectedAccounts(ctx context.Context) ([]string, error) {
	return db.PlanningAnew(ctx, s.db, func(ctx context.Context, r db.Reader) ([]string, error) {
		return db.Select[string](ctx, r, `
			SELECT account_id FROM (
				SELECT account_id || '' AS account_id, MIN(next_payment_attempt_at) AS since FROM invoices
				WHERE subscription_id IS NULL AND next_payment_attempt_at <= ? GROUP BY account_id || ''
			) AS waiting WHERE `+db.EnabledAccount+` ORDER BY since`, s.db.Now())
	})
}

// Due names open invoices that the seller wrote and whose due date has passed, at most limit, for PassDue. One
// that is still to be charged is not among them: it is charged first. Nor are those of subscriptions, which become past due when
// they cannot be collected.
func (s *Store) Due(ctx context.Context, account string, limit int) ([]core.Due, error) {
	return s.db.Due(ctx, account, `
		SELECT account_id, id FROM invoices
		WHERE status = 'open' AND billing_reason = 'manual' AND next_payment_attempt_at IS NULL AND due_at <= ?`, `due_at`, limit)
}

// PassDue makes an open invoice past due if its due date has passed. invoice.past_due follows. It reports false if it did
// nothing: another caller may have been first, or the invoice is to be charged or is being paid.
func (s *Store) PassDue(ctx context.Context, account, id string) (bool, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		b, err := s.LockBill(ctx, u, account, id)
		if err != nil {
			return false, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil || b.Invoice.Status != StatusOpen || b.Invoice.NextAttemptAt != nil || b.Invoice.DueAt == nil || *b.Invoice.DueAt > now {
			return false, err
		}
		busy, err := s.rooms.Payment.IsPaying(ctx, u, b.Invoice.AccountID, b.Invoice.ID)
		if err != nil || busy {
			return false, err
		}
		return true, s.MarkPastDue(ctx, u, b, nil, now)
	})
}
