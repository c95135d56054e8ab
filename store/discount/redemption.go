package discount

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Redemption is one use of a discount, by a checkout or by a subscription that the seller gave it to. That of a checkout
// is stored when its buyer begins to pay, and deleted if the payment fails. Either is deleted if the discount is taken away, or the
// subscription ends, before it took anything off.
type Redemption struct {
	AccountID      string     `db:"account_id"`
	ID             string     `db:"id"`
	DiscountID     string     `db:"discount_id"`
	CheckoutID     *string    `db:"checkout_id"`
	SubscriptionID *string    `db:"subscription_id"` // instead of a checkout
	OrderID        *string    `db:"order_id"`        // the first order that it took something off; of a checkout, its order once that is paid
	CustomerID     *string    `db:"customer_id"`
	BuyerKey       string     `db:"buyer_key"` // hash of the buyer's address: of a deleted customer nothing else is left
	Currency       string     `db:"currency"`
	DiscountAmount int64      `db:"discount_amount"`
	UsedAt         *core.Time `db:"used_at"` // when it first took something off, by an order or a change of plan
	CreatedAt      core.Time  `db:"created_at"`
	UpdatedAt      core.Time  `db:"updated_at"`
}

// ListRedemptions holds the filters of a list of redemptions. An empty one does not filter.
type ListRedemptions struct {
	core.Page
	core.ListFilter
}

var redemptionColumns = db.ColumnsOf[Redemption]("discount_redemptions")

// Redeemer says who wants to use a discount, as far as that is known.
type Redeemer struct {
	CustomerID *string
	ExternalID *string // the merchant's own id of the customer
	Email      *string // nil as long as somebody only typed it: who types one does not learn what its owner has bought
	IsTyped    bool    // there is nothing else
}

// ListRedemptions returns a page of a discount's redemptions, newest first, and whether there are more. A
// discount that does not exist is CodeMissing.
func (s *Store) ListRedemptions(ctx context.Context, account, discount string, in ListRedemptions) ([]Redemption, bool, error) {
	d, err := s.Named(ctx, s.db, account, discount, "")
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.OrderedIfSet("discount_id", d.ID)
	f.List(s.db, "discount_redemptions", core.KindDiscountRedemption, in.ListFilter)
	return db.Page(ctx, s.db, redemptionColumns, core.KindDiscountRedemption, account, in.Page, &f)
}

// Key returns a hash by which two uses of a discount are seen to be by the same redeemer, empty if nobody is known. It is made
// of the best that is known: the address, else the merchant's own id, else the customer's.
func (r Redeemer) Key(account string) string {
	switch {
	case r.Email != nil:
		return BuyerKey(account, *r.Email)
	case r.ExternalID != nil:
		return core.HashOf(account + "\x00external_id\x00" + *r.ExternalID)
	case r.CustomerID != nil:
		return core.HashOf(account + "\x00customer\x00" + *r.CustomerID)
	}
	return ""
}

// IsPersonal reports whether it depends on the buyer, and on what they bought before, if the discount can be used.
func (d *Discount) IsPersonal() bool {
	return d.FirstPurchaseOnly || d.MaxRedemptionsPerCustomer != nil
}

// BuyerKey returns the hash of an address by which buyers are compared. It is stored in place of the address, so that a deleted
// customer leaves none.
func BuyerKey(account, email string) string {
	return core.HashOf(account + "\x00" + core.EmailKey(email))
}

// RefusesBuyer says in a sentence why the buyer cannot use the discount, and returns nothing if they can. It also returns
// nothing as long as somebody only typed an address; redeem refuses them then. A caller that goes on to count a use locks the
// discount first, or the same buyer could use it in two places at once.
func (s *Store) RefusesBuyer(ctx context.Context, r db.Reader, d *Discount, by Redeemer) (string, error) {
	if by.IsTyped {
		return "", nil
	}
	if d.FirstPurchaseOnly {
		bought, err := s.hasBought(ctx, r, d.AccountID, by)
		if err != nil || bought {
			return "This discount is for a first purchase.", err
		}
	}
	most := core.Deref(d.MaxRedemptionsPerCustomer)
	if d.FirstPurchaseOnly {
		most = 1 // of two first purchases under way, one is the second
	}
	if most == 0 {
		return "", nil
	}
	uses, err := s.redemptionsOf(ctx, r, d, by)
	if err != nil || uses < most {
		return "", err
	}
	return fmt.Sprintf("This discount can be used %d times by one customer.", most), nil
}

// hasBought reports whether the buyer has an order that is known to be theirs.
func (s *Store) hasBought(ctx context.Context, r db.Reader, account string, by Redeemer) (bool, error) {
	var key *string
	if by.Email != nil {
		key = new(core.EmailKey(*by.Email))
	}
	order, err := db.Get[string](ctx, r, `
		SELECT id FROM orders WHERE account_id = ? AND customer_verified AND customer_id IN (
			SELECT id FROM customers WHERE account_id = ? AND (id = ? OR external_id = ? OR email_key = ?)) LIMIT 1`,
		account, account, by.CustomerID, by.ExternalID, key)
	if err != nil {
		return false, fmt.Errorf("read the buyer's orders: %w", err)
	}
	return order != nil, nil
}

// redemptionsOf counts how often the buyer has used the discount, uses that are being paid included.
func (s *Store) redemptionsOf(ctx context.Context, r db.Reader, d *Discount, by Redeemer) (int64, error) {
	uses, err := db.Get[int64](ctx, r, `
		SELECT COUNT(*) FROM discount_redemptions
		WHERE account_id = ? AND discount_id = ? AND (buyer_key = ? OR customer_id IN (
			SELECT id FROM customers WHERE account_id = ? AND (id = ? OR external_id = ? OR email_key = ?)))`,
		d.AccountID, d.ID, by.Key(d.AccountID), d.AccountID, by.CustomerID, by.ExternalID, core.EmailKey(core.Deref(by.Email)))
	if err != nil {
		return 0, fmt.Errorf("count redemptions: %w", err)
	}
	return *uses, nil
}
