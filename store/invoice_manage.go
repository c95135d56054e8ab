package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/subscription"
)

// UpdateInvoice locks an invoice, applies change and stores it. Everything about a draft can be changed. Of an issued invoice
// only metadata and memo can, and until it is paid DueAt: anything else is CodeInvalid on status.
func (s *Store) UpdateInvoice(ctx context.Context, account, ref string, change func(*invoice.Draft)) (*invoice.Invoice, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*invoice.Invoice, error) {
		held, err := s.Invoice.LockBill(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		i, before := held.Invoice, *held.Invoice
		draft := invoice.Draft{Invoice: i}
		change(&draft)
		if i.Status != invoice.StatusDraft {
			if err := draft.CheckIssued(&before, now); err != nil || core.SameJSON(before, *i) {
				return i, err
			}
			if i.SubscriptionID == nil && !core.SameJSON(before.DueAt, i.DueAt) {
				if err := s.writeReminders(ctx, u, i, now); err != nil {
					return nil, err
				}
			}
			i.UpdatedAt = now
			return i, u.Update(ctx, invoice.Columns, i)
		}
		b, err := s.Invoice.Prepare(ctx, u, draft, &before, now)
		if err != nil || core.SameJSON(before, *i) {
			return i, err
		}
		return i, s.Invoice.StoreDraft(ctx, u, b, now)
	})
}

// FinalizeInvoice issues a draft. It gets its number and its order, and if it is charged automatically that is due at once. The event order.created
// follows, and if there is nothing to pay order.paid and invoice.paid too. An invoice that was issued before is returned as it is.
func (s *Store) FinalizeInvoice(ctx context.Context, account, ref string) (*invoice.Invoice, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*invoice.Invoice, error) {
		draft, err := s.Invoice.LockBill(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if draft.Order != nil {
			return draft.Invoice, nil
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		if err := draft.CheckFinalize(now); err != nil {
			return nil, err
		}
		order := draft.Invoice.Order()
		if draft.Invoice.CollectionMethod == invoice.CollectionMethodChargeAutomatically {
			order.NextAttemptAt = &now
		}
		b, err := s.Invoice.PlaceOrder(ctx, u, invoice.Placement{Order: order, Items: draft.Items, Customer: draft.Customer, Invoice: draft.Invoice})
		if err != nil {
			return nil, err
		}
		if b.Invoice.AmountDue() == 0 {
			return b.Invoice, s.payOrder(ctx, u, b, nil)
		}
		return b.Invoice, s.writeReminders(ctx, u, b.Invoice, now)
	})
}

// VoidInvoice makes an unpaid invoice and its order void. invoice.voided follows. A draft, and an invoice that is paid or being
// paid, is CodeInvalid on status; one that is void already is returned as it is.
func (s *Store) VoidInvoice(ctx context.Context, account, ref string) (*invoice.Invoice, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*invoice.Invoice, error) {
		sub, err := s.lockBilled(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		b, err := s.Invoice.LockBill(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if b.Invoice.Status == invoice.StatusVoid {
			return b.Invoice, nil
		}
		return b.Invoice, s.callOff(ctx, u, sub, b)
	})
}

// MarkInvoiceUncollectible records that the seller has given up an unpaid invoice. A draft, and an invoice that is void, paid or being paid, is
// CodeInvalid on status. One that is uncollectible already is returned as it is.
func (s *Store) MarkInvoiceUncollectible(ctx context.Context, account, ref string) (*invoice.Invoice, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*invoice.Invoice, error) {
		sub, err := s.lockBilled(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		i, err := s.Invoice.Lock(ctx, u, account, ref)
		if err != nil || i.Status == invoice.StatusUncollectible {
			return i, err
		}
		if err := s.checkUnpaid(ctx, u, &invoice.Bill{Invoice: i}, invoice.StatusUncollectible); err != nil {
			return nil, err
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		i.Status, i.UncollectibleAt, i.NextAttemptAt, i.UpdatedAt = invoice.StatusUncollectible, &now, nil, now
		if err := u.Update(ctx, invoice.Columns, i); err != nil {
			return nil, err
		}
		return i, s.forgive(ctx, u, sub, i, now)
	})
}

// callOff makes a locked invoice that nobody is paying void, and its order too. Sub is the locked subscription that the invoice
// bills, which goes on without it; nil if there is none.
func (s *Store) callOff(ctx context.Context, u *db.Unit, sub *subscription.Subscription, b *invoice.Bill) error {
	if err := s.checkUnpaid(ctx, u, b, invoice.StatusVoid); err != nil {
		return err
	}
	now, err := db.BusinessNow(ctx, u, b.Invoice.AccountID)
	if err != nil {
		return err
	}
	if err := s.Invoice.VoidBill(ctx, u, b, invoice.VoidReasonRequested, now); err != nil {
		return err
	}
	return s.forgive(ctx, u, sub, b.Invoice, now)
}

// checkUnpaid returns CodeInvalid on status if a locked invoice cannot change to this status, or a payment of it is under way.
func (s *Store) checkUnpaid(ctx context.Context, r db.Reader, b *invoice.Bill, to invoice.Status) error {
	if err := invoice.Lifecycle.Check("invoice", b.Invoice.Status, to); err != nil {
		return err
	}
	return s.checkNotPaying(ctx, r, b)
}
