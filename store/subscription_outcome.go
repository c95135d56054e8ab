package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// afterInvoicePayment records on a subscription what became of a payment of one of its invoices, and stores the subscription.
//
// If the invoice was for a change of plan, a success makes the change take place. A failure drops it, voids the invoice, and has the
// change wait again whose place it took.
// If it was the latest invoice, a success makes a subscription that is past due active again. A failure schedules the next attempt or, after the last
// one, ends the subscription. A failure of the last invoice of one that has ended makes that past due: it is paid by hand. What a complete one gave
// may be suspended until then. Other invoices change nothing.
//
// The subscription and the bill are locked. After a success the caller has made the bill paid already.
func (s *Store) afterInvoicePayment(ctx context.Context, u *db.Unit, sub *subscription.Subscription, b *invoice.Bill, status payment.Status, now core.Time) error {
	change := sub.PendingChange.V
	isChange := change != nil && core.Deref(change.InvoiceID) == b.Invoice.ID
	isLatest := core.Deref(sub.LatestInvoiceID) == b.Invoice.ID
	before := *sub
	var err error
	switch {
	case status == payment.StatusSucceeded && isChange:
		sub.LatestInvoiceID = &b.Invoice.ID
		err = s.applyPaid(ctx, u, sub, change, b.Order)
	case status == payment.StatusSucceeded && isLatest:
		err = sub.EndPastDue(now)
		sub.IsPaid = true
	case status == payment.StatusSucceeded && sub.Status == subscription.StatusCompleted:
		sub.IsSettled, err = s.isSettledBy(ctx, u, sub, b.Invoice)
	case status == payment.StatusRequiresAction || status == payment.StatusSucceeded:
		return nil
	case isChange:
		sub.PendingChange = core.JSONOf(change.Replaces)
		err = s.Invoice.VoidBill(ctx, u, b, "payment_failed", now)
	case isLatest && !sub.HasEnded():
		err = s.notCollected(ctx, u, sub, b, now)
	case sub.HasEnded() && b.Invoice.Status == invoice.StatusOpen: // the last one: see billLast
		err = s.lastNotCollected(ctx, u, sub, b, now)
	}
	if err != nil {
		return err
	}
	if err := s.noteStatus(ctx, u, &before, sub); err != nil {
		return err
	}
	return s.saveSubscription(ctx, u, sub, now)
}
