package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Trial says that somebody had, or is about to have, a trial of a product. Where an account gives each customer one, the trial is held from
// when a checkout begins to be paid, and freed if the payment fails.
type Trial struct {
	AccountID  string    `db:"account_id"`
	ID         string    `db:"id"`
	ProductID  string    `db:"product_id"`
	BuyerKey   string    `db:"buyer_key"`   // one of a product: see redeemer.key. Those from before this was kept have their customer's id instead
	CustomerID *string   `db:"customer_id"` // nil while the checkout is being paid
	CheckoutID *string   `db:"checkout_id"`
	CreatedAt  core.Time `db:"created_at"`
	UpdatedAt  core.Time `db:"updated_at"`
}

var trialColumns = db.ColumnsOf[Trial]("trials")

// HasTrial reports whether the line of a checkout costs nothing at first.
func (l LineItem) HasTrial() bool { return l.TrialDays > 0 && !l.TrialUsed }

// tried returns the products of which lines have a trial, in the order of their ids.
func tried(items []LineItem) []string {
	var products []string
	for _, item := range items {
		if item.HasTrial() && item.ProductID != nil {
			products = append(products, *item.ProductID)
		}
	}
	slices.Sort(products)
	return slices.Compact(products)
}

// useTrials takes the trial off each line of a checkout whose buyer has had one of its product, if the account gives each customer one, and
// gives it back to the others. Who only typed an address keeps theirs, so that nobody learns what its owner has had: holdTrials refuses
// them.
func (s *Store) useTrials(ctx context.Context, c *Checkout, items []LineItem) error {
	for i := range items {
		items[i].TrialUsed = false
	}
	for _, product := range tried(items) {
		had, err := s.hadTheirs(ctx, c, product)
		if err != nil {
			return err
		}
		for i := range items {
			items[i].TrialUsed = items[i].TrialUsed || had && items[i].TrialDays > 0 && core.Deref(items[i].ProductID) == product
		}
	}
	return nil
}

// hadTheirs reports whether an account that gives each customer one trial of a product has nothing left for the buyer of a checkout.
func (s *Store) hadTheirs(ctx context.Context, c *Checkout, product string) (bool, error) {
	if once, err := s.triesOnce(ctx, c.AccountID); err != nil || !once || c.isTyped() {
		return false, err
	}
	by, err := s.trierOf(ctx, c)
	if err != nil {
		return false, err
	}
	return s.hadTrial(ctx, c.AccountID, product, by)
}

// HasPersonalTrial reports whether it depends on the buyer if a checkout has a trial, so that it has to be known who they are.
func (s *Store) HasPersonalTrial(ctx context.Context, c *Checkout) (bool, error) {
	if once, err := s.triesOnce(ctx, c.AccountID); err != nil || !once {
		return false, err
	}
	items, err := s.CheckoutLines(ctx, c.AccountID, c.ID)
	return len(tried(items)) > 0, err
}

// triesOnce reports whether an account gives each customer one trial of a product.
func (s *Store) triesOnce(ctx context.Context, account string) (bool, error) {
	seller, err := s.Tenant.Seller(ctx, account)
	return err == nil && seller.TrialOncePerCustomer, err
}

// trierOf returns the buyer of a checkout as somebody who has trials: the customer who it is known to be for, or else what is known of them.
func (s *Store) trierOf(ctx context.Context, c *Checkout) (redeemer, error) {
	customer, isKnown, err := s.findBuyer(ctx, c, "")
	if err != nil {
		return redeemer{}, err
	}
	if customer == nil || !isKnown {
		return s.redeemerOf(ctx, c)
	}
	return customer.redeemer(), nil
}

// hadTrial reports whether somebody had a trial of a product, or is about to have one.
func (s *Store) hadTrial(ctx context.Context, account, product string, by redeemer) (bool, error) {
	// Those of a customer are few: an index leads to them by whose they are, and not by the product.
	trial, err := db.Get[string](ctx, s.db, `
		SELECT id FROM trials WHERE account_id = ? AND product_id = ? AND buyer_key = ?
		UNION ALL SELECT id FROM trials WHERE account_id = ? AND product_id || '' = ? AND customer_id = ? LIMIT 1`,
		account, product, by.key(account), account, product, by.customerID)
	if err != nil {
		return false, fmt.Errorf("look for a trial: %w", err)
	}
	return trial != nil, nil
}

// holdTrials holds the trials of a checkout that is about to be paid, if the account gives each customer one. The same buyer may be about to have
// one elsewhere: then it returns db.ErrOvertaken, so that the checkout is priced again without it. A buyer who only typed an address is
// CodeInvalid on customer_email, whether or not its owner had a trial.
func (u *unit) holdTrials(ctx context.Context, c *Checkout, items []LineItem) error {
	products := tried(items)
	if len(products) == 0 {
		return nil
	}
	if once, err := u.store.triesOnce(ctx, c.AccountID); err != nil || !once {
		return err
	}
	if c.isTyped() {
		return core.Invalid("customer_email", "This trial is for customers whose e-mail address is confirmed.")
	}
	by, err := u.store.trierOf(ctx, c)
	if err != nil {
		return err
	}
	now, err := u.store.db.BusinessNow(ctx, c.AccountID)
	if err != nil {
		return err
	}
	for _, product := range products {
		rows, err := u.insertTrial(ctx, Trial{AccountID: c.AccountID, ProductID: product, BuyerKey: by.key(c.AccountID), CheckoutID: &c.ID}, now)
		if err != nil {
			return err
		}
		if rows == 0 {
			return fmt.Errorf("a trial of %s: %w", product, db.ErrOvertaken)
		}
	}
	return nil
}

// releaseTrials frees the trials that a checkout with these lines holds.
func (u *unit) releaseTrials(ctx context.Context, c *Checkout, items []LineItem) error {
	if len(tried(items)) == 0 {
		return nil
	}
	if _, err := u.Exec(ctx, `DELETE FROM trials WHERE account_id = ? AND checkout_id = ?`, c.AccountID, c.ID); err != nil {
		return fmt.Errorf("free trials: %w", err)
	}
	return nil
}

// beginTrials notes that the buyer of a checkout has had the trials of its lines, whether or not the account gives each customer one: it may do
// so later. Who only typed an address has not had its owner's: VerifyCheckout notes them once that is known.
func (u *unit) beginTrials(ctx context.Context, c *Checkout, items []LineItem, by owner, now core.Time) error {
	products := tried(items)
	if len(products) == 0 {
		return nil
	}
	if !by.isKnown {
		return u.releaseTrials(ctx, c, items)
	}
	held, err := u.Exec(ctx, `UPDATE trials SET customer_id = ?, updated_at = ? WHERE account_id = ? AND checkout_id = ?`, by.ID, now, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("note trials: %w", err)
	}
	if held == int64(len(products)) {
		return nil
	}
	for _, product := range products {
		if err := u.noteTrial(ctx, by.Customer, product, &c.ID, now); err != nil {
			return err
		}
	}
	return nil
}

// noteTrial notes that a customer has had a trial of a product. One that they had before is enough.
func (u *unit) noteTrial(ctx context.Context, c *Customer, product string, checkout *string, now core.Time) error {
	_, err := u.insertTrial(ctx, Trial{
		AccountID: c.AccountID, ProductID: product, BuyerKey: c.redeemer().key(c.AccountID), CustomerID: &c.ID, CheckoutID: checkout,
	}, now)
	return err
}

// insertTrial stores a trial, unless the buyer has one of the product: then it returns 0.
func (u *unit) insertTrial(ctx context.Context, t Trial, now core.Time) (rows int64, err error) {
	t.ID, t.CreatedAt, t.UpdatedAt = core.NewID(core.KindTrial), now, now
	rows, err = u.Exec(ctx, trialColumns.InsertSQL+` ON CONFLICT (account_id, product_id, buyer_key) DO NOTHING`, trialColumns.Values(&t)...)
	if err != nil {
		return 0, fmt.Errorf("insert trial: %w", err)
	}
	return rows, nil
}
