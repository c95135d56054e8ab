package store

import "context"

// markPastDue makes a locked invoice past due, once: invoice.past_due follows. Next is when collecting it is tried again, nil
// for never by itself.
func (u *unit) markPastDue(ctx context.Context, b *bill, next *Time, now Time) error {
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

// voidBill makes a locked invoice and its pending order void, and gives the customer their credit back: invoice.voided
// follows. The caller knows that no payment of it is under way.
func (u *unit) voidBill(ctx context.Context, b *bill, reason string, now Time) error {
	inv, o := b.Invoice, b.Order
	if err := invoiceLifecycle.check("invoice", inv.Status, InvoiceStatusVoid); err != nil {
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
		if err := u.update(ctx, customerColumns, b.Customer); err != nil {
			return err
		}
	}
	return u.updateBill(ctx, b)
}
