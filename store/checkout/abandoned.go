package checkout

import (
	"cmp"
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lead"
)

// Expire ends an open checkout. Expiring an expired one changes nothing. If the account wants that, it becomes a lead: see
// leadOf.
func (s *Store) Expire(ctx context.Context, account, ref string) (*Checkout, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Checkout, error) {
		c, err := s.Lock(ctx, u, account, ref)
		if err != nil || c.Status == StatusExpired {
			return c, err
		}
		if err := lifecycle.Check("checkout", c.Status, StatusExpired); err != nil {
			return nil, err
		}
		if c.UpdatedAt, err = s.db.BusinessNow(ctx, account); err != nil {
			return nil, err
		}
		c.Status, c.AdsVisit.V = StatusExpired, nil
		if err := u.Update(ctx, Columns, c); err != nil {
			return nil, err
		}
		return c, s.leadOf(ctx, u, account, c.ID)
	})
}

// IsEnded reports whether a checkout was ended before its time was over.
func (s *Store) IsEnded(ctx context.Context, c *Checkout) (bool, error) {
	ended, err := db.Get[int](ctx, s.db, `SELECT 1 FROM checkouts WHERE account_id = ? AND id = ? AND status = 'expired' AND updated_at < expires_at`, c.AccountID, c.ID)
	return ended != nil, err
}

// Due names open checkouts whose time is over, at most limit, for End.
func (s *Store) Due(ctx context.Context, account string, limit int) ([]core.Due, error) {
	return s.db.Due(ctx, account, `SELECT account_id, id FROM checkouts WHERE status = 'open' AND expires_at <= ?`, `expires_at`, limit)
}

// End expires an open checkout whose time is over, as Expire does. It reports false if it did nothing: another caller may have been
// first.
func (s *Store) End(ctx context.Context, account, id string) (bool, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		now, err := s.db.BusinessNow(ctx, account)
		if err != nil {
			return false, err
		}
		rows, err := u.Exec(ctx, `
			UPDATE checkouts SET status = 'expired', ads_visit = NULL, updated_at = ?
			WHERE account_id = ? AND id = ? AND status = 'open' AND expires_at <= ?`, now, account, id, now)
		if err != nil || rows == 0 {
			return false, err
		}
		return true, s.leadOf(ctx, u, account, id)
	})
}

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
