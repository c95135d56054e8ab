package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// DiscountRedemption is one use of a discount, by a checkout or by a subscription that the seller gave it to. That of a checkout
// is stored when its buyer begins to pay, and deleted if the payment fails. Either is deleted if the discount is taken away, or the
// subscription ends, before it took anything off.
type DiscountRedemption struct {
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

// ListDiscountRedemptions holds the filters of a list of redemptions. An empty one does not filter.
type ListDiscountRedemptions struct {
	core.Page
	core.ListFilter
}

var discountRedemptionColumns = db.ColumnsOf[DiscountRedemption]("discount_redemptions")

// redeemer says who wants to use a discount, as far as that is known.
type redeemer struct {
	customerID *string
	externalID *string // the merchant's own id of the customer
	email      *string // nil as long as somebody only typed it: who types one does not learn what its owner has bought
	isTyped    bool    // there is nothing else
}

// redeemer returns the customer as somebody who uses a discount. An address that they do not own is left out.
func (c *Customer) redeemer() redeemer {
	by := redeemer{customerID: &c.ID, externalID: c.ExternalID}
	if c.EmailKey != nil {
		by.email = c.Email
	}
	return by
}

// redeemerOf returns the buyer of a checkout as somebody who uses its discount. The address counts if it is verified, or if the
// customer whom the checkout names owns it.
func (s *Store) redeemerOf(ctx context.Context, c *Checkout) (redeemer, error) {
	by := redeemer{customerID: c.CustomerID, externalID: c.ExternalCustomerID, isTyped: c.isTyped()}
	if c.EmailVerified {
		by.email = c.CustomerEmail
	}
	if c.EmailVerified || c.CustomerID == nil {
		return by, nil
	}
	typed, err := db.Get[string](ctx, s.db, `
		SELECT id FROM customers WHERE account_id = ? AND id = ? AND email_key IS NULL AND deleted_at IS NULL`, c.AccountID, *c.CustomerID)
	if err != nil {
		return by, fmt.Errorf("look whose the address of a customer is: %w", err)
	}
	if typed == nil {
		by.email = c.CustomerEmail
	}
	return by, nil
}

// ListDiscountRedemptions returns a page of a discount's redemptions, newest first, and whether there are more. A
// discount that does not exist is CodeMissing.
func (s *Store) ListDiscountRedemptions(ctx context.Context, account, discount string, in ListDiscountRedemptions) ([]DiscountRedemption, bool, error) {
	d, err := s.getDiscount(ctx, account, discount, "")
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.Is("discount_id", d.ID)
	f.List(s.db, "discount_redemptions", core.KindDiscountRedemption, in.ListFilter)
	return db.Page(ctx, s.db, discountRedemptionColumns, core.KindDiscountRedemption, account, in.Page, &f)
}

// key returns a hash by which two uses of a discount are seen to be by the same redeemer, empty if nobody is known. It is made
// of the best that is known: the address, else the merchant's own id, else the customer's.
func (r redeemer) key(account string) string {
	switch {
	case r.email != nil:
		return buyerKey(account, *r.email)
	case r.externalID != nil:
		return core.HashOf(account + "\x00external_id\x00" + *r.externalID)
	case r.customerID != nil:
		return core.HashOf(account + "\x00customer\x00" + *r.customerID)
	}
	return ""
}

// isPersonal reports whether it depends on the buyer, and on what they bought before, if the discount can be used.
func (d *Discount) isPersonal() bool {
	return d.FirstPurchaseOnly || d.MaxRedemptionsPerCustomer != nil
}

// buyerKey returns the hash of an address by which buyers are compared. It is stored in place of the address, so that a deleted
// customer leaves none.
func buyerKey(account, email string) string {
	return core.HashOf(account + "\x00" + core.EmailKey(email))
}

// refusesBuyer says in a sentence why the buyer cannot use the discount, and returns nothing if they can. It also returns
// nothing as long as somebody only typed an address; redeem refuses them then. A caller that goes on to count a use locks the
// discount first, or the same buyer could use it in two places at once.
func (s *Store) refusesBuyer(ctx context.Context, d *Discount, by redeemer) (string, error) {
	if by.isTyped {
		return "", nil
	}
	if d.FirstPurchaseOnly {
		bought, err := s.hasBought(ctx, d.AccountID, by)
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
	uses, err := s.redemptionsOf(ctx, d, by)
	if err != nil || uses < most {
		return "", err
	}
	return fmt.Sprintf("This discount can be used %d times by one customer.", most), nil
}

// hasBought reports whether the buyer has an order that is known to be theirs.
func (s *Store) hasBought(ctx context.Context, account string, by redeemer) (bool, error) {
	var key *string
	if by.email != nil {
		key = emailKey(*by.email)
	}
	order, err := db.Get[string](ctx, s.db, `
		SELECT id FROM orders WHERE account_id = ? AND customer_verified AND customer_id IN (
			SELECT id FROM customers WHERE account_id = ? AND (id = ? OR external_id = ? OR email_key = ?)) LIMIT 1`,
		account, account, by.customerID, by.externalID, key)
	if err != nil {
		return false, fmt.Errorf("read the buyer's orders: %w", err)
	}
	return order != nil, nil
}

// redemptionsOf counts how often the buyer has used the discount, uses that are being paid included.
func (s *Store) redemptionsOf(ctx context.Context, d *Discount, by redeemer) (int64, error) {
	uses, err := db.Get[int64](ctx, s.db, `
		SELECT COUNT(*) FROM discount_redemptions
		WHERE account_id = ? AND discount_id = ? AND (buyer_key = ? OR customer_id IN (
			SELECT id FROM customers WHERE account_id = ? AND (id = ? OR external_id = ? OR email_key = ?)))`,
		d.AccountID, d.ID, by.key(d.AccountID), d.AccountID, by.customerID, by.externalID, emailKey(core.Deref(by.email)))
	if err != nil {
		return 0, fmt.Errorf("count redemptions: %w", err)
	}
	return *uses, nil
}

// redemption returns the use of a discount by a checkout that is about to be paid, for redeem to count and store.
func (c *Checkout) redemption(d *Discount, by redeemer) *DiscountRedemption {
	return &DiscountRedemption{
		AccountID: c.AccountID, DiscountID: d.ID, CheckoutID: &c.ID, CustomerID: c.CustomerID,
		BuyerKey: cmp.Or(by.key(c.AccountID), buyerKey(c.AccountID, *c.CustomerEmail)),
		Currency: c.Currency, DiscountAmount: c.DiscountAmount,
	}
}

// redeem counts one use of a discount and stores its redemption, or returns CodeInvalid on field. The condition of the UPDATE
// decides: of many who read that one use is left, one gets it. The discount is locked until the transaction ends. A discount
// that depends on the buyer is refused to one who only typed an address.
func (s *Store) redeem(ctx context.Context, u *db.Unit, r *DiscountRedemption, d *Discount, by redeemer, field string) error {
	now, err := s.db.BusinessNow(ctx, d.AccountID)
	if err != nil {
		return err
	}
	if by.isTyped && d.isPersonal() { // whether or not the owner of the address could use it
		return core.Invalid(field, "This discount is for customers whose e-mail address is confirmed. Have a link sent to the address, and open it.").Because("unconfirmed")
	}
	rows, err := u.Exec(ctx, `
		UPDATE discounts SET redemptions_count = redemptions_count + 1
		WHERE account_id = ? AND id = ? AND deleted_at IS NULL AND disabled_at IS NULL
			AND (starts_at IS NULL OR starts_at <= ?) AND (ends_at IS NULL OR ends_at > ?)
			AND (max_redemptions IS NULL OR redemptions_count < max_redemptions)`, d.AccountID, d.ID, now, now)
	if err != nil {
		return fmt.Errorf("count redemption: %w", err)
	}
	if rows == 0 {
		return core.Invalid(field, "This discount cannot be used any more. Send another one, or none.")
	}
	problem, err := s.refusesBuyer(ctx, d, by)
	if err != nil {
		return err
	}
	if problem != "" {
		return core.Invalid(field, problem)
	}
	r.ID, r.CreatedAt, r.UpdatedAt = core.NewID(core.KindDiscountRedemption), now, now
	return u.Insert(ctx, discountRedemptionColumns, r)
}

// releaseRedemption takes back the use that redeem counted for a checkout, if there is one.
func (s *Store) releaseRedemption(ctx context.Context, u *db.Unit, c *Checkout) error {
	discount, err := db.Get[string](ctx, u, `DELETE FROM discount_redemptions WHERE account_id = ? AND checkout_id = ? RETURNING discount_id`, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("delete redemption: %w", err)
	}
	return s.releaseDiscount(ctx, u, c.AccountID, discount)
}

// releaseDiscount lowers the number of a discount's uses by one. A nil discount is none.
func (s *Store) releaseDiscount(ctx context.Context, u *db.Unit, account string, discount *string) error {
	if discount == nil {
		return nil
	}
	err := u.Later(ctx, db.Change{
		Table: "discounts", Query: `UPDATE discounts SET redemptions_count = redemptions_count - 1 WHERE account_id = ? AND id = ?`,
		Args: []any{account, *discount}, Rows: 1,
	})
	if err != nil {
		return fmt.Errorf("release discount %s: %w", *discount, err)
	}
	return nil
}

// orderRedemption writes an order and its customer into the redemption of the checkout that made the order, if there is one. An order
// without any discount, because a trial comes first, does not use it yet.
func (s *Store) orderRedemption(ctx context.Context, u *db.Unit, o *Order) error {
	var used *core.Time
	if o.DiscountAmount > 0 {
		used = &o.CreatedAt
	}
	_, err := u.Exec(ctx, `UPDATE discount_redemptions SET order_id = ?, customer_id = ?, used_at = ?, updated_at = ? WHERE account_id = ? AND checkout_id = ?`,
		o.ID, o.CustomerID, used, o.CreatedAt, o.AccountID, o.CheckoutID)
	if err != nil {
		return fmt.Errorf("give redemption to order: %w", err)
	}
	return nil
}
