package discount

import (
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Redeem counts one use of a discount and stores its redemption, or returns CodeInvalid on field. The condition of the UPDATE
// decides: of many who read that one use is left, one gets it. The discount is locked until the transaction ends. A discount
// that depends on the buyer is refused to one who only typed an address.
func (s *Store) Redeem(ctx context.Context, u *db.Unit, r *Redemption, d *Discount, by Redeemer, field string) error {
	now, err := db.BusinessNow(ctx, u, d.AccountID)
	if err != nil {
		return err
	}
	if by.IsTyped && d.IsPersonal() { // whether or not the owner of the address could use it
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
	problem, err := s.RefusesBuyer(ctx, u, d, by)
	if err != nil {
		return err
	}
	if problem != "" {
		return core.Invalid(field, problem)
	}
	r.ID, r.CreatedAt, r.UpdatedAt = core.NewID(core.KindDiscountRedemption), now, now
	return u.Insert(ctx, redemptionColumns, r)
}

// Release takes back the use that Redeem counted for a checkout, if there is one.
func (s *Store) Release(ctx context.Context, u *db.Unit, account, checkout string) error {
	discount, err := db.Get[string](ctx, u, `DELETE FROM discount_redemptions WHERE account_id = ? AND checkout_id = ? RETURNING discount_id`, account, checkout)
	if err != nil {
		return fmt.Errorf("delete redemption: %w", err)
	}
	return s.release(ctx, u, account, discount)
}

// release lowers the number of a discount's uses by one. A nil discount is none.
func (s *Store) release(ctx context.Context, u *db.Unit, account string, discount *string) error {
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

// Order is the order that a checkout made.
type Order struct {
	AccountID  string
	ID         string
	CheckoutID *string
	CustomerID string
	Amount     int64     // that it has off
	At         core.Time // when it was made
}

// NoteOrder writes an order and its customer into the redemption of the checkout that made the order, if there is one. An order
// without any discount, because a trial comes first, does not use it yet.
func (s *Store) NoteOrder(ctx context.Context, u *db.Unit, o Order) error {
	var used *core.Time
	if o.Amount > 0 {
		used = &o.At
	}
	_, err := u.Exec(ctx, `UPDATE discount_redemptions SET order_id = ?, customer_id = ?, used_at = ?, updated_at = ? WHERE account_id = ? AND checkout_id = ?`,
		o.ID, o.CustomerID, used, o.At, o.AccountID, o.CheckoutID)
	if err != nil {
		return fmt.Errorf("give redemption to order: %w", err)
	}
	return nil
}

// Holder says which subscription has which discount.
type Holder struct {
	AccountID      string
	SubscriptionID string
	CheckoutID     *string // that made the subscription
	DiscountID     *string
}

// ReleaseUnused deletes the use of the discount that a locked subscription has, if the discount has not taken anything off yet. Then somebody
// else can have it. That is the use by which it was given, or that of the checkout that the subscription is from. The checkout's stays if another
// subscription of it goes on with the discount. It reports whether the discount has taken nothing off.
func (s *Store) ReleaseUnused(ctx context.Context, u *db.Unit, sub Holder) (bool, error) {
	if sub.DiscountID == nil {
		return false, nil
	}
	given, err := db.Get[string](ctx, u, `
		DELETE FROM discount_redemptions WHERE account_id = ? AND subscription_id = ? AND used_at IS NULL RETURNING discount_id`, sub.AccountID, sub.SubscriptionID)
	if err != nil {
		return false, fmt.Errorf("delete redemption: %w", err)
	}
	if given != nil || sub.CheckoutID == nil {
		return given != nil, s.release(ctx, u, sub.AccountID, given)
	}
	// The lock has the subscriptions of the checkout look one after the other: the last one sees that no other goes on.
	bought, err := db.Get[string](ctx, u.Locked(), `
		SELECT discount_id FROM discount_redemptions WHERE account_id = ? AND checkout_id = ? AND used_at IS NULL`, sub.AccountID, *sub.CheckoutID)
	if err != nil || bought == nil || *bought != *sub.DiscountID {
		return false, err
	}
	bought, err = db.Get[string](ctx, u, `
		DELETE FROM discount_redemptions WHERE account_id = ? AND checkout_id = ? AND used_at IS NULL AND NOT EXISTS (
			SELECT 1 FROM subscriptions s WHERE s.account_id = ? AND s.checkout_id = ? AND s.id <> ? AND s.discount_id = ? AND s.ended_at IS NULL)
		RETURNING discount_id`, sub.AccountID, *sub.CheckoutID, sub.AccountID, *sub.CheckoutID, sub.SubscriptionID, *sub.DiscountID)
	if err != nil {
		return false, fmt.Errorf("delete redemption of a checkout: %w", err)
	}
	return true, s.release(ctx, u, sub.AccountID, bought)
}

// NoteUse notes in the use of a subscription's discount that it took something off. That was off an order, or with a nil order off a change of
// plan. Only the first time counts: later ones change nothing. That of a checkout keeps the checkout's own order.
func (s *Store) NoteUse(ctx context.Context, u *db.Unit, sub Holder, order *string, off int64, now core.Time) error {
	rows, err := u.Exec(ctx, `
		UPDATE discount_redemptions SET order_id = ?, discount_amount = ?, used_at = ?, updated_at = ?
		WHERE account_id = ? AND subscription_id = ? AND used_at IS NULL`, order, off, now, now, sub.AccountID, sub.SubscriptionID)
	if err != nil {
		return fmt.Errorf("use redemption: %w", err)
	}
	if rows > 0 || sub.CheckoutID == nil {
		return nil
	}
	_, err = u.Exec(ctx, `
		UPDATE discount_redemptions SET used_at = ?, updated_at = ? WHERE account_id = ? AND checkout_id = ? AND discount_id = ? AND used_at IS NULL`,
		now, now, sub.AccountID, *sub.CheckoutID, sub.DiscountID)
	if err != nil {
		return fmt.Errorf("use redemption of a checkout: %w", err)
	}
	return nil
}
