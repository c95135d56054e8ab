package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
)

// markPastDue makes a locked invoice past due, once: invoice.past_due follows. Next is when collecting it is tried again, nil
// for never by itself.
func (u *unit) markPastDue(ctx context.Context, b *bill, next *core.Time, now core.Time) error {
	inv, o := b.Invoice, b.Order
	inv.NextAttemptAt, o.NextAttemptAt = next, next
	inv.UpdatedAt, o.UpdatedAt = now, now
	if inv.Status == InvoiceStatusOpen {
		inv.Status, inv.PastDueAt = InvoiceStatusPastDue, &now
		if err := u.emitInvoice(ctx, EventInvoicePastDue, b); err != nil {
			return err
		}
	}
	return u.updateBill(ctx, b)
}

// DueInvoices names open invoices which the seller wrote and whose time to be paid is over, at most limit; one that is to
// be charged is charged first. Those of subscriptions are past due when they cannot be collected.
func (s *Store) DueInvoices(ctx context.Context, account string, limit int) ([]core.Due, error) {
	return s.db.Due(ctx, account, `
		SELECT account_id, id FROM invoices
		WHERE status = 'open' AND billing_reason = 'manual' AND next_payment_attempt_at IS NULL AND due_at <= ?`, `due_at`, limit)
}

// PassInvoiceDue makes an open invoice past due whose time to be paid is over, and reports whether it did: another one
// may have been first, or the invoice is being paid. invoice.past_due follows.
func (s *Store) PassInvoiceDue(ctx context.Context, account, id string) (bool, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (bool, error) {
		b, err := u.lockBill(ctx, account, id)
		if err != nil {
			return false, err
		}
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil || b.Invoice.Status != InvoiceStatusOpen || b.Invoice.NextAttemptAt != nil || b.Invoice.DueAt == nil || *b.Invoice.DueAt > now {
			return false, err
		}
		busy, err := u.isBeingPaid(ctx, b)
		if err != nil || busy {
			return false, err
		}
		return true, u.markPastDue(ctx, b, nil, now)
	})
}

// voidBill makes a locked invoice and its pending order void, and gives the customer their credit back: invoice.voided
// follows. The caller knows that no payment of it is under way.
func (u *unit) voidBill(ctx context.Context, b *bill, reason string, now core.Time) error {
	inv, o := b.Invoice, b.Order
	if err := invoiceLifecycle.Check("invoice", inv.Status, InvoiceStatusVoid); err != nil {
		return err
	}
	inv.Status, inv.VoidedAt, inv.VoidReason, inv.NextAttemptAt, inv.UpdatedAt = InvoiceStatusVoid, &now, &reason, nil, now
	o.Status, o.VoidedAt, o.NextAttemptAt, o.UpdatedAt = OrderStatusVoid, &now, nil, now
	if err := u.emitInvoice(ctx, EventInvoiceVoided, b); err != nil {
		return err
	}
	if o.BalanceApplied > 0 {
		b.Customer.addBalance(o.Currency, o.BalanceApplied)
		b.Customer.UpdatedAt = now
		if err := u.Update(ctx, customerColumns, b.Customer); err != nil {
			return err
		}
	}
	return u.updateBill(ctx, b)
}
