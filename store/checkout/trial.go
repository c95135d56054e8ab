package checkout

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/subscription"
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

// productsOnTrial returns the products of which lines have a trial, in the order of their ids.
func productsOnTrial(items []lineitem.Item) []string {
	var products []string
	for _, item := range items {
		if item.HasTrial() && item.ProductID != nil {
			products = append(products, *item.ProductID)
		}
	}
	slices.Sort(products)
	return slices.Compact(products)
}

// dropUsedTrials takes the trial off each line of a checkout whose buyer has had one of its product, if the account gives each customer one. The
// other lines get theirs back. Who only typed an address keeps theirs, so that nobody learns what its owner has had: HoldTrials refuses them.
func (s *Store) dropUsedTrials(ctx context.Context, r db.Reader, c *Checkout, items []lineitem.Item) error {
	for i := range items {
		items[i].TrialUsed = false
	}
	had, err := s.TrialsOfBuyer(ctx, r, c, productsOnTrial(items))
	if err != nil {
		return err
	}
	for i := range items {
		isHad := func(t Trial) bool { return t.ProductID == core.Deref(items[i].ProductID) }
		items[i].TrialUsed = items[i].TrialDays > 0 && slices.ContainsFunc(had, isHad)
	}
	return nil
}

// TrialsOfBuyer returns the trials of products that the buyer of a checkout had, or is about to have, if the account gives each customer one.
func (s *Store) TrialsOfBuyer(ctx context.Context, r db.Reader, c *Checkout, products []string) ([]Trial, error) {
	if len(products) == 0 || c.isTyped() {
		return nil, nil
	}
	if once, err := s.triesOnce(ctx, r, c.AccountID); err != nil || !once {
		return nil, err
	}
	by, err := s.trierOf(ctx, r, c)
	if err != nil {
		return nil, err
	}
	return s.trialsOf(ctx, r, c.AccountID, products, by)
}

// CheckTrial returns CodeInvalid on price_variant if a subscription may not go on with its trial for another product. It may not if the account
// gives each customer one trial, and they had theirs or are known by a typed address alone. What the subscription was for before in the same
// trial it may be for again.
func (s *Store) CheckTrial(ctx context.Context, r db.Reader, sub *subscription.Subscription, customer *customer.Customer, product string) error {
	if product == sub.ProductID {
		return nil
	}
	if once, err := s.triesOnce(ctx, r, sub.AccountID); err != nil || !once {
		return err
	}
	if !sub.CustomerVerified {
		return core.Invalid("price_variant", "The account gives each customer one trial of a product, and whose this subscription is was only typed. Confirm that first, or change when the trial is over.")
	}
	had, err := s.trialsOf(ctx, r, sub.AccountID, []string{product}, discount.RedeemerFor(customer))
	if err != nil {
		return err
	}
	for _, trial := range had {
		own, err := s.isTrialOf(ctx, r, trial, sub)
		if err != nil {
			return err
		}
		if !own {
			return core.Invalid("price_variant", fmt.Sprintf("The customer has had a trial of product %s, and the account gives each one. Change when this trial is over.", product))
		}
	}
	return nil
}

// isTrialOf reports whether it was this subscription that had a trial: its checkout made it, and no other one.
func (s *Store) isTrialOf(ctx context.Context, r db.Reader, trial Trial, sub *subscription.Subscription) (bool, error) {
	if trial.CheckoutID == nil || *trial.CheckoutID != core.Deref(sub.CheckoutID) {
		return false, nil
	}
	other, err := db.Get[string](ctx, r, `SELECT id FROM subscriptions WHERE account_id = ? AND checkout_id = ? AND id <> ? LIMIT 1`,
		sub.AccountID, *trial.CheckoutID, sub.ID)
	if err != nil {
		return false, fmt.Errorf("look for subscriptions of a checkout: %w", err)
	}
	return other == nil, nil
}

// HasPersonalTrial reports whether it depends on the buyer if a checkout has a trial, so that it has to be known who they are.
func (s *Store) HasPersonalTrial(ctx context.Context, c *Checkout) (bool, error) {
	if once, err := s.triesOnce(ctx, s.db, c.AccountID); err != nil || !once {
		return false, err
	}
	items, err := s.rooms.Lines.OfCheckout(ctx, c.AccountID, c.ID)
	return len(productsOnTrial(items)) > 0, err
}

// triesOnce reports whether an account gives each customer one trial of a product.
func (s *Store) triesOnce(ctx context.Context, r db.Reader, account string) (bool, error) {
	seller, err := s.rooms.Tenant.Seller(ctx, r, account)
	return err == nil && seller.TrialOncePerCustomer, err
}

// trierOf returns the buyer of a checkout as somebody who has trials. It is the customer who it is known to be for, or else what is known of them.
func (s *Store) trierOf(ctx context.Context, r db.Reader, c *Checkout) (discount.Redeemer, error) {
	customer, isKnown, err := s.GetBuyer(ctx, r, c)
	if err != nil {
		return discount.Redeemer{}, err
	}
	if customer == nil || !isKnown {
		return s.redeemerOf(ctx, r, c)
	}
	return discount.RedeemerFor(customer), nil
}

// trialsOf returns the trials of products that somebody had, or is about to have.
func (s *Store) trialsOf(ctx context.Context, r db.Reader, account string, products []string, by discount.Redeemer) ([]Trial, error) {
	among, args := `(''`+strings.Repeat(", ?", len(products))+`)`, make([]any, len(products))
	for i, product := range products {
		args[i] = product
	}
	// Those of a customer are few: an index leads to them by whose they are, and not by the product.
	trials, err := db.Select[Trial](ctx, r, trialColumns.SelectSQL+` WHERE account_id = ? AND product_id IN `+among+` AND buyer_key = ?
		UNION ALL `+trialColumns.SelectSQL+` WHERE account_id = ? AND product_id || '' IN `+among+` AND customer_id = ?`,
		slices.Concat([]any{account}, args, []any{by.Key(account), account}, args, []any{by.CustomerID})...)
	if err != nil {
		return nil, fmt.Errorf("look for trials: %w", err)
	}
	return trials, nil
}

// HoldTrials holds the trials of a checkout that is about to be paid, if the account gives each customer one. The same buyer may be about to have
// one elsewhere: then it returns db.ErrOvertaken, so that the checkout is priced again without it. A buyer who only typed an address is
// CodeInvalid on customer_email, whether or not its owner had a trial.
func (s *Store) HoldTrials(ctx context.Context, u *db.Unit, c *Checkout, items []lineitem.Item) error {
	products := productsOnTrial(items)
	if len(products) == 0 {
		return nil
	}
	if once, err := s.triesOnce(ctx, u, c.AccountID); err != nil || !once {
		return err
	}
	if c.isTyped() {
		return core.Invalid("customer_email", "This trial is for customers whose e-mail address is confirmed. Have a link sent to the address, and open it.").Because("unconfirmed")
	}
	by, err := s.trierOf(ctx, u, c)
	if err != nil {
		return err
	}
	now, err := db.BusinessNow(ctx, u, c.AccountID)
	if err != nil {
		return err
	}
	for _, product := range products {
		rows, err := s.insertTrial(ctx, u, Trial{AccountID: c.AccountID, ProductID: product, BuyerKey: by.Key(c.AccountID), CheckoutID: &c.ID}, now)
		if err != nil {
			return err
		}
		if rows == 0 {
			return fmt.Errorf("a trial of %s: %w", product, db.ErrOvertaken)
		}
	}
	return nil
}

// ReleaseTrials frees the trials that a checkout with these lines holds.
func (s *Store) ReleaseTrials(ctx context.Context, u *db.Unit, c *Checkout, items []lineitem.Item) error {
	if len(productsOnTrial(items)) == 0 {
		return nil
	}
	if _, err := u.Exec(ctx, `DELETE FROM trials WHERE account_id = ? AND checkout_id = ?`, c.AccountID, c.ID); err != nil {
		return fmt.Errorf("free trials: %w", err)
	}
	return nil
}

// BeginTrials notes that the buyer of a checkout has had the trials of its lines. It does so even if the account gives a customer more than one,
// because it may give only one later. Who only typed an address has not had its owner's: Verify notes them once that is known.
func (s *Store) BeginTrials(ctx context.Context, u *db.Unit, c *Checkout, items []lineitem.Item, buyer *customer.Customer, isKnown bool, now core.Time) error {
	products := productsOnTrial(items)
	if len(products) == 0 {
		return nil
	}
	if !isKnown {
		return s.ReleaseTrials(ctx, u, c, items)
	}
	held, err := u.Exec(ctx, `UPDATE trials SET customer_id = ?, updated_at = ? WHERE account_id = ? AND checkout_id = ?`, buyer.ID, now, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("note trials: %w", err)
	}
	if held == int64(len(products)) {
		return nil
	}
	for _, product := range products {
		if _, err := s.NoteTrial(ctx, u, buyer, product, &c.ID, now); err != nil {
			return err
		}
	}
	return nil
}

// NoteTrial notes that a customer has had a trial of a product, and reports whether it is their first. One that they had before is enough.
func (s *Store) NoteTrial(ctx context.Context, u *db.Unit, c *customer.Customer, product string, checkout *string, now core.Time) (isNew bool, err error) {
	rows, err := s.insertTrial(ctx, u, Trial{
		AccountID: c.AccountID, ProductID: product, BuyerKey: discount.RedeemerFor(c).Key(c.AccountID), CustomerID: &c.ID, CheckoutID: checkout,
	}, now)
	return rows > 0, err
}

// insertTrial stores a trial, unless the buyer has one of the product: then it returns 0.
func (s *Store) insertTrial(ctx context.Context, u *db.Unit, t Trial, now core.Time) (rows int64, err error) {
	t.ID, t.CreatedAt, t.UpdatedAt = core.NewID(core.KindTrial), now, now
	rows, err = u.Exec(ctx, trialColumns.InsertSQL+` ON CONFLICT (account_id, product_id, buyer_key) DO NOTHING`, trialColumns.Values(&t)...)
	if err != nil {
		return 0, fmt.Errorf("insert trial: %w", err)
	}
	return rows, nil
}
