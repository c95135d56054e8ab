package order

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/signed"
)

// These types have addresses, which are filled in whenever they are read.
var (
	_ db.Linked = (*Order)(nil)
	_ db.Linked = (*Detail)(nil)
)

// Link fills in the address of the order's receipt, whenever an order is read: see db.Linked.
func (o *Order) Link(d *db.DB) {
	o.ReceiptURL = signed.PageURL(d, "receipt", o.AccountID, o.ID, o.LinkVersion)
}

// Link fills in the address of the order in an event.
func (o *Detail) Link(d *db.DB) { o.Order.Link(d) }

// OpenReceipt returns the order whose receipt a token opens, or CodeMissing if the token was not made here. If ended, the address opens the
// receipt no more. The order is then returned only so that a new address can be written to its buyer, and must not be shown.
func (s *Store) OpenReceipt(ctx context.Context, token string) (o *Order, ended bool, err error) {
	link, err := s.rooms.Signed.ReadPage(core.KindOrder, token)
	if err != nil {
		return nil, false, err
	}
	if o, err = s.Get(ctx, link.Account, link.ID); err != nil {
		return nil, false, err
	}
	return o, !link.Opens(o.LinkVersion, o.settledAt(), s.db.Now()), nil
}

// settledAt returns since when nothing is left to be paid of the order, nil if something is.
func (o *Order) settledAt() *core.Time {
	if o.Status == StatusPending {
		return nil
	}
	return core.Latest(&o.CreatedAt, o.PaidAt, o.VoidedAt)
}

// RevokeLinks makes every address of the order's receipt, as page and as file, open nothing any more. It returns the order
// with a new address. No event follows.
func (s *Store) RevokeLinks(ctx context.Context, account, ref string) (*Order, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Order, error) {
		o, err := s.Lock(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if o.UpdatedAt, err = db.BusinessNow(ctx, u, account); err != nil {
			return nil, err
		}
		o.LinkVersion++
		o.Link(s.db)
		return o, u.Update(ctx, Columns, o)
	})
}
