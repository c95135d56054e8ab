package checkout

import (
	"cmp"
	"context"

	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lead"
)

// leadOf makes a lead of a checkout that has just expired, for its first product, if the account wants that and somebody left an address there.
// There is none if its customer has bought something.
func (s *Store) leadOf(ctx context.Context, u *db.Unit, account, id string) error {
	c, err := db.Get[Checkout](ctx, u, Columns.SelectSQL+`
		WHERE account_id = ? AND id = ? AND (SELECT capture_abandoned_checkouts FROM accounts WHERE id = ?)`, account, id, account)
	if err != nil || c == nil {
		return err
	}
	buyer, _, err := s.lockBuyer(ctx, u, c)
	if err != nil || buyer != nil && buyer.Type == customer.TypeCustomer {
		return err
	}
	email := c.CustomerEmail
	if buyer != nil {
		email = cmp.Or(email, buyer.Email)
	}
	if email == nil {
		return nil
	}
	left := lead.AbandonedCheckout{
		AccountID: account, ID: c.ID, Email: *email, Name: c.CustomerName, Buyer: buyer, ExternalID: c.ExternalCustomerID,
		IsTyped: c.ExternalCustomerID != nil && !c.EmailVerified, // see NewBuyer
	}
	lines, err := s.rooms.Lines.OfCheckout(ctx, account, c.ID)
	if err != nil {
		return err
	}
	if len(lines) > 0 {
		left.ProductID = lines[0].ProductID
	}
	return s.rooms.Lead.CaptureAbandoned(ctx, u, left)
}
