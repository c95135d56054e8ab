package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// captureAbandoned makes a lead of a checkout that has just expired, for its first product, if the account wants that and somebody left an
// address there. They agreed to nothing. There is none if the address has a lead for that product, or its customer has bought something.
func (s *Store) captureAbandoned(ctx context.Context, u *db.Unit, account, id string) error {
	c, err := db.Get[Checkout](ctx, u, checkoutColumns.SelectSQL+`
		WHERE account_id = ? AND id = ? AND (SELECT capture_abandoned_checkouts FROM accounts WHERE id = ?)`, account, id, account)
	if err != nil || c == nil {
		return err
	}
	buyer, _, err := s.lockBuyer(ctx, u, c)
	if err != nil || buyer != nil && buyer.Type == customer.TypeCustomer {
		return err
	}
	email := c.CustomerEmail
	if email == nil && buyer != nil {
		email = buyer.Email
	}
	if email == nil {
		return nil
	}
	now, err := s.db.BusinessNow(ctx, account)
	if err != nil {
		return err
	}
	l := &Lead{
		AccountID: account, ID: core.NewID(core.KindLead), Email: *email, EmailKey: core.EmailKey(*email), Name: c.CustomerName, Source: LeadSourceCheckoutAbandoned,
		CheckoutID: &c.ID, Status: LeadStatusNew, CreatedAt: now, UpdatedAt: now,
	}
	if l.ProductID, err = s.firstProduct(ctx, c); err != nil {
		return err
	}
	batch := &leadBatch{Unit: u, s: s, account: account, now: now}
	if err := batch.read(ctx, []SavedLead{{Lead: l}}); err != nil || batch.leads[l.key()] != nil {
		return err
	}
	if buyer == nil {
		buyer = batch.customer(*email)
		if buyer.ExternalID = c.ExternalCustomerID; buyer.ExternalID != nil && !c.EmailVerified {
			buyer.EmailKey = nil // they only typed it: see newBuyer
		}
	}
	batch.add(l, buyer)
	return batch.store(ctx)
}

// firstProduct returns the product of the first line of a checkout, nil if that has none.
func (s *Store) firstProduct(ctx context.Context, c *Checkout) (*string, error) {
	lines, err := s.Lines.OfCheckout(ctx, c.AccountID, c.ID)
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	return lines[0].ProductID, nil
}
