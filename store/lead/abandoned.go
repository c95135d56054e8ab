package lead

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// AbandonedCheckout is a checkout that has just expired, and at which somebody left an address.
type AbandonedCheckout struct {
	AccountID  string
	ID         string
	Email      string
	Name       *string
	ProductID  *string            // of its first line
	Buyer      *customer.Customer // locked; nil if nobody is known yet
	ExternalID *string            // of a new customer
	IsTyped    bool               // the address of a new customer was only typed, so that they do not own it
}

// CaptureAbandoned makes a lead of an abandoned checkout. They agreed to nothing. There is none if the address has a lead for that product.
func (s *Store) CaptureAbandoned(ctx context.Context, u *db.Unit, in AbandonedCheckout) error {
	now, err := db.BusinessNow(ctx, u, in.AccountID)
	if err != nil {
		return err
	}
	l := &Lead{
		AccountID: in.AccountID, ID: core.NewID(core.KindLead), Email: in.Email, EmailKey: core.EmailKey(in.Email), Name: in.Name, Source: SourceCheckoutAbandoned,
		CheckoutID: &in.ID, ProductID: in.ProductID, Status: StatusNew, CreatedAt: now, UpdatedAt: now,
	}
	batch := &leadBatch{Unit: u, s: s, account: in.AccountID, now: now}
	if err := batch.read(ctx, []Saved{{Lead: l}}); err != nil || batch.leads[l.key()] != nil {
		return err
	}
	if in.Buyer == nil {
		in.Buyer = batch.customer(in.Email)
		if in.Buyer.ExternalID = in.ExternalID; in.IsTyped {
			in.Buyer.EmailKey = nil
		}
	}
	batch.add(l, in.Buyer)
	return batch.store(ctx)
}
