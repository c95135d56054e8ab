package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/catalog"
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
		if c.UpdatedAt, err = db.BusinessNow(ctx, u, account); err != nil {
			return nil, err
		}
		c.Status, c.AdsVisit.V = StatusExpired, nil
		if err := u.Update(ctx, Columns, c); err != nil {
			return nil, err
		}
		return c, s.leadOf(ctx, u, account, c.ID)
	})
}

// AnswerNews records whether the buyer ticked, for the address of the checkout, that the seller may send them news.
func (d *Draft) AnswerNews(agrees bool) {
	d.NewsFor = nil
	if agrees && d.CustomerEmail != nil {
		d.NewsFor = new(customer.NewsKey(d.AccountID, *d.CustomerEmail))
	}
}

// WantsNews reports whether the buyer ticked that the seller may send them news, for the address that the checkout has now.
func (c *Checkout) WantsNews() bool {
	return c.NewsFor != nil && c.CustomerEmail != nil && *c.NewsFor == customer.NewsKey(c.AccountID, *c.CustomerEmail)
}

// IsPaying reports whether a checkout with an address is being paid.
func (s *Store) IsPaying(ctx context.Context, account, email string) (bool, error) {
	one, err := db.Get[int](ctx, s.db, `SELECT 1 FROM checkouts WHERE account_id = ? AND `+KeyOfEmail+` = ? AND status = 'processing' LIMIT 1`,
		account, core.EmailKey(email))
	if err != nil {
		return false, fmt.Errorf("look whether a checkout is being paid: %w", err)
	}
	return one != nil, nil
}

// IsOffered reports whether all that is in a checkout is for sale: its products and price variants, and the link by which its buyer came.
func (s *Store) IsOffered(ctx context.Context, c *Checkout) (bool, error) {
	if link := c.Link(); link != nil {
		if _, err := s.offeredLink(ctx, s.db, c.AccountID, *link); err != nil {
			if gone, ok := errors.AsType[*core.Error](err); ok && gone.Code == core.CodeMissing {
				return false, nil
			}
			return false, err
		}
	}
	o, err := s.GetOffer(ctx, c)
	if err != nil {
		return false, err
	}
	var ids []string
	for i := range o.Items {
		ids = append(ids, core.Deref(o.Items[i].PriceVariantID))
	}
	variants, err := s.rooms.Catalog.PriceVariantsByID(ctx, c.AccountID, ids)
	if err != nil {
		return false, err
	}
	for i := range o.Items {
		p, v := o.Products[core.Deref(o.Items[i].ProductID)], variants[core.Deref(o.Items[i].PriceVariantID)]
		if p == nil || p.Status != catalog.ProductStatusActive || v == nil || v.Status != catalog.PriceVariantStatusActive {
			return false, nil
		}
	}
	return true, nil
}

// Due names open checkouts whose time is over, at most limit, for End.
func (s *Store) Due(ctx context.Context, account string, limit int) ([]core.Due, error) {
	return s.db.Due(ctx, account, `SELECT account_id, id FROM checkouts WHERE status = 'open' AND expires_at <= ?`, `expires_at`, limit)
}

// End expires an open checkout whose time is over, as Expire does. It reports false if it did nothing: another caller may have been
// first.
func (s *Store) End(ctx context.Context, account, id string) (bool, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (bool, error) {
		now, err := db.BusinessNow(ctx, u, account)
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

// leadOf makes a lead of a checkout that has just expired, for its first product. The account has to want that, and somebody has to have left an
// address there. There is none if its customer has bought something.
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
	lines, err := s.rooms.Lines.OfCheckoutIn(ctx, u, account, c.ID)
	if err != nil {
		return err
	}
	if len(lines) > 0 {
		left.ProductID = lines[0].ProductID
	}
	return s.rooms.Lead.CaptureAbandoned(ctx, u, left)
}
