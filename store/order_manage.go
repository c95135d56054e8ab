package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/order"
)

// OrderPatch says what to change about an order. IsVerified is nil if it stays as it is. Change sets the other fields, and leaves
// amounts and lines alone.
type OrderPatch struct {
	IsVerified *bool
	Change     func(*order.Order)
}

// UpdateOrder applies a patch to an order. With IsVerified it verifies the purchase as Checkout.Verify does, and what is verified stays so: to take
// it back is CodeInvalid on customer_verified. The invoice is issued when the order is made, so what it says about the buyer is a record:
// changing that is CodeInvalid on status. No event follows.
func (s *Store) UpdateOrder(ctx context.Context, account, ref string, in OrderPatch) (*order.Order, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*order.Order, error) {
		if in.IsVerified != nil {
			if err := s.verifyOrder(ctx, u, account, ref, *in.IsVerified); err != nil {
				return nil, err
			}
		}
		o, err := s.Order.Lock(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		before := *o
		in.Change(o)
		var p core.Problems
		o.Metadata.Check(&p)
		isRecord := core.SameJSON(before.BillingName, o.BillingName) && core.SameJSON(before.BillingAddress, o.BillingAddress) && core.SameJSON(before.TaxID, o.TaxID)
		p.Check(isRecord, "status", "The order's invoice is issued: what it says about the buyer cannot be changed any more, only metadata.")
		if err := p.Err(); err != nil || core.SameJSON(before, *o) {
			return o, err
		}
		if o.UpdatedAt, err = db.BusinessNow(ctx, u, account); err != nil {
			return nil, err
		}
		return o, u.Update(ctx, order.Columns, o)
	})
}

// VoidOrder voids an order that is not paid, with its invoice: invoice.voided follows. An order that is paid, or that is being
// paid, is CodeInvalid on status; one that is void is returned as it is.
func (s *Store) VoidOrder(ctx context.Context, account, ref string) (*order.Order, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*order.Order, error) {
		o, err := s.Order.Named(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		sub, err := s.lockBilled(ctx, u, account, *o.InvoiceID)
		if err != nil {
			return nil, err
		}
		b, err := s.Invoice.LockBill(ctx, u, account, *o.InvoiceID)
		if err != nil {
			return nil, err
		}
		if b.Order.Status == order.StatusVoid {
			return b.Order, nil
		}
		if err := order.Lifecycle.Check("order", b.Order.Status, order.StatusVoid); err != nil {
			return nil, err
		}
		return b.Order, s.callOff(ctx, u, sub, b)
	})
}

// verifyOrder verifies the purchase that made an order, or began the subscription that it bills.
func (s *Store) verifyOrder(ctx context.Context, r db.Reader, account, ref string, wanted bool) error {
	o, err := s.Order.Named(ctx, r, account, ref, "")
	if err != nil {
		return err
	}
	checkout := o.CheckoutID
	if checkout == nil && !o.CustomerVerified {
		sub, err := s.Subscription.Named(ctx, r, account, core.Deref(o.SubscriptionID), "")
		if err != nil {
			return err
		}
		checkout = sub.CheckoutID
	}
	return s.Checkout.SetVerified(ctx, account, checkout, o.CustomerVerified, wanted)
}
