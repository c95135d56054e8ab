package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/signed"
)

// These types have addresses, which are filled in whenever they are read.
var (
	_ db.Linked = (*Order)(nil)
	_ db.Linked = (*Invoice)(nil)
	_ db.Linked = (*OrderDetail)(nil)
	_ db.Linked = (*InvoiceDetail)(nil)
)

// Link fills in the address of the order's receipt, whenever an order is read: see db.Linked.
func (o *Order) Link(d *db.DB) {
	o.ReceiptURL = signed.PageURL(d, "receipt", o.AccountID, o.ID, o.LinkVersion)
}

// Link fills in the address of the invoice's page, whenever an invoice is read: see db.Linked.
func (i *Invoice) Link(d *db.DB) {
	i.HostedURL = signed.PageURL(d, "invoice", i.AccountID, i.ID, i.LinkVersion)
}

// Link fills in the address of the order in an event.
func (o *OrderDetail) Link(d *db.DB) { o.Order.Link(d) }

// Link fills in the address of the invoice in an event.
func (i *InvoiceDetail) Link(d *db.DB) { i.Invoice.Link(d) }

// OpenReceipt returns the order whose receipt a token opens, or CodeMissing if the token was not made here. If ended, the
// address opens the receipt no more: the order is returned only so that a new address can be written to its buyer, and must not
// be shown.
func (s *Store) OpenReceipt(ctx context.Context, token string) (o *Order, ended bool, err error) {
	link, err := s.Signed.ReadPage(core.KindOrder, token)
	if err != nil {
		return nil, false, err
	}
	if o, err = s.GetOrder(ctx, link.Account, link.ID); err != nil {
		return nil, false, err
	}
	return o, !link.Opens(o.LinkVersion, o.settledAt(), s.Now()), nil
}

// OpenHostedInvoice returns the invoice whose page a token opens, as OpenReceipt does for an order. A draft has no page:
// CodeMissing.
func (s *Store) OpenHostedInvoice(ctx context.Context, token string) (i *Invoice, ended bool, err error) {
	link, err := s.Signed.ReadPage(core.KindInvoice, token)
	if err != nil {
		return nil, false, err
	}
	if i, err = s.GetInvoice(ctx, link.Account, link.ID); err != nil {
		return nil, false, err
	}
	if i.Status == InvoiceStatusDraft {
		return nil, false, core.Missing("page", "", "")
	}
	return i, !link.Opens(i.LinkVersion, i.settledAt(), s.Now()), nil
}

// settledAt returns since when nothing is left to be paid of the order, nil if something is.
func (o *Order) settledAt() *core.Time {
	if o.Status == OrderStatusPending {
		return nil
	}
	return lastOf(&o.CreatedAt, o.PaidAt, o.VoidedAt)
}

// settledAt returns since when nobody can pay the invoice any more, nil if it can be paid.
func (i *Invoice) settledAt() *core.Time {
	if i.Status == InvoiceStatusOpen || i.Status == InvoiceStatusPastDue {
		return nil
	}
	return lastOf(&i.CreatedAt, i.PaidAt, i.VoidedAt, i.UncollectibleAt)
}

// lastOf returns the latest of the moments that are not nil, nil if there is none.
func lastOf(times ...*core.Time) *core.Time {
	var last *core.Time
	for _, t := range times {
		if t != nil && (last == nil || *t > *last) {
			last = t
		}
	}
	return last
}

// RevokeOrderLinks makes every address of the order's receipt, as page and as file, open nothing any more. It returns the order
// with a new address. No event follows.
func (s *Store) RevokeOrderLinks(ctx context.Context, account, ref string) (*Order, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Order, error) {
		o, err := s.lockOrder(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if o.UpdatedAt, err = s.db.BusinessNow(ctx, account); err != nil {
			return nil, err
		}
		o.LinkVersion++
		o.Link(s.db)
		return o, u.Update(ctx, orderColumns, o)
	})
}

// RevokeInvoiceLinks does the same as RevokeOrderLinks for the page and the file of an invoice.
func (s *Store) RevokeInvoiceLinks(ctx context.Context, account, ref string) (*Invoice, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Invoice, error) {
		i, err := s.lockInvoice(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if i.UpdatedAt, err = s.db.BusinessNow(ctx, account); err != nil {
			return nil, err
		}
		i.LinkVersion++
		i.Link(s.db)
		return i, u.Update(ctx, invoiceColumns, i)
	})
}
