package invoice

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/signed"
)

// These types have addresses, which are filled in whenever they are read.
var (
	_ db.Linked = (*Invoice)(nil)
	_ db.Linked = (*Detail)(nil)
)

// Link fills in the address of the invoice's page, whenever an invoice is read: see db.Linked.
func (i *Invoice) Link(d *db.DB) {
	i.HostedURL = signed.PageURL(d, "invoice", i.AccountID, i.ID, i.LinkVersion)
}

// Link fills in the address of the invoice in an event.
func (i *Detail) Link(d *db.DB) { i.Invoice.Link(d) }

// OpenHosted returns the invoice whose page a token opens, as Order.OpenReceipt does for an order. A draft has no page:
// CodeMissing.
func (s *Store) OpenHosted(ctx context.Context, token string) (i *Invoice, ended bool, err error) {
	link, err := s.rooms.Signed.ReadPage(core.KindInvoice, token)
	if err != nil {
		return nil, false, err
	}
	if i, err = s.Get(ctx, link.Account, link.ID); err != nil {
		return nil, false, err
	}
	if i.Status == StatusDraft {
		return nil, false, core.Missing("page", "", "")
	}
	return i, !link.Opens(i.LinkVersion, i.settledAt(), s.db.Now()), nil
}

// settledAt returns since when nobody can pay the invoice any more, nil if it can be paid.
func (i *Invoice) settledAt() *core.Time {
	if i.Status == StatusOpen || i.Status == StatusPastDue {
		return nil
	}
	return core.Latest(&i.CreatedAt, i.PaidAt, i.VoidedAt, i.UncollectibleAt)
}

// RevokeLinks does the same as Order.RevokeLinks for the page and the file of an invoice.
func (s *Store) RevokeLinks(ctx context.Context, account, ref string) (*Invoice, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Invoice, error) {
		i, err := s.Lock(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if i.UpdatedAt, err = db.BusinessNow(ctx, u, account); err != nil {
			return nil, err
		}
		i.LinkVersion++
		i.Link(s.db)
		return i, u.Update(ctx, Columns, i)
	})
}
