package checkout

import (
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Buyer returns the locked customer of a checkout that is being bought, and whether the buyer is known to be that customer. It
// is the one that the checkout names, the one with the merchant's own id, the one with the address, or a new one. The order is
// counted for them. A customer who is known to be the buyer also learns from the checkout what was not known of them.
func (s *Store) Buyer(ctx context.Context, u *db.Unit, c *Checkout) (buyer *customer.Customer, isKnown bool, err error) {
	now, err := db.BusinessNow(ctx, u, c.AccountID)
	if err != nil {
		return nil, false, err
	}
	buyer, isKnown, err = s.lockBuyer(ctx, u, c)
	if err == nil && buyer == nil {
		var isNew bool
		if buyer, isNew, err = s.NewBuyer(ctx, u, c, isKnown, now); err != nil || isNew {
			return buyer, isKnown, err
		}
		_, isKnown, err = s.GetBuyer(ctx, u, c)
	}
	if err != nil {
		return nil, false, err
	}
	c.countFor(buyer, now)
	if isKnown {
		if err := s.identify(ctx, u, buyer, c.ExternalCustomerID); err != nil {
			return nil, false, err
		}
		if err := s.claimEmail(ctx, u, buyer, c); err != nil {
			return nil, false, err
		}
		if !c.isNamed() {
			if err := s.forgetTypedName(ctx, u, buyer); err != nil {
				return nil, false, err
			}
		}
		c.teach(buyer)
	}
	return buyer, isKnown, u.Update(ctx, customer.Columns, buyer)
}

// identify gives a customer who has none the merchant's own id. If another customer has it nothing happens: the buyer may have
// paid, so that there is nothing left to refuse.
func (s *Store) identify(ctx context.Context, r db.Reader, customer *customer.Customer, externalID *string) error {
	if customer.ExternalID != nil || externalID == nil {
		return nil
	}
	owner, err := s.rooms.Customer.ExternalOwner(ctx, r, customer.AccountID, *externalID)
	if err == nil && owner == nil {
		customer.ExternalID = externalID
	}
	return err
}

// claimEmail makes the customer the owner of their address, if it is the verified one of the checkout and nobody else owns it.
func (s *Store) claimEmail(ctx context.Context, u *db.Unit, customer *customer.Customer, c *Checkout) error {
	if customer.EmailKey != nil || !c.EmailVerified || !core.SameEmail(core.Deref(customer.Email), *c.CustomerEmail) {
		return nil
	}
	key := new(core.EmailKey(*c.CustomerEmail))
	owner, err := db.Get[string](ctx, u, `SELECT id FROM customers WHERE account_id = ? AND email_key = ?`, customer.AccountID, key)
	if err == nil && owner == nil {
		customer.EmailKey = key
	}
	return err
}

// forgetTypedName clears the customer's name if it came from somebody who only typed the customer's address. That is so if the name
// is from the unverified purchase that made the customer, and none of their orders is verified. The name of a customer whom the
// seller made is the seller's, and stays.
func (s *Store) forgetTypedName(ctx context.Context, u *db.Unit, customer *customer.Customer) error {
	if customer.Name == nil {
		return nil
	}
	typed, err := db.Get[string](ctx, u, `
		SELECT o.id FROM orders o JOIN checkouts c ON c.account_id = o.account_id AND c.id = o.checkout_id AND c.created_at <= ?
		WHERE o.account_id = ? AND o.customer_id = ? AND NOT o.customer_verified AND o.billing_name = ? AND NOT EXISTS (
			SELECT 1 FROM orders WHERE account_id = ? AND customer_id = ? AND customer_verified) LIMIT 1`,
		customer.CreatedAt, customer.AccountID, customer.ID, *customer.Name, customer.AccountID, customer.ID)
	if err != nil {
		return fmt.Errorf("look who typed a name: %w", err)
	}
	if typed != nil {
		customer.Name = nil
	}
	return nil
}

// countFor counts the paid order of the checkout for its buyer, with what was paid at once.
func (c *Checkout) countFor(buyer *customer.Customer, now core.Time) {
	buyer.Type = customer.TypeCustomer
	buyer.Ordered(now)
	if c.AmountDueNow > 0 {
		buyer.Spend(c.Currency, c.AmountDueNow, now)
	}
}

// teach fills in the buyer's name and billing address from the checkout, each if there was none.
func (c *Checkout) teach(buyer *customer.Customer) {
	if buyer.Name == nil {
		buyer.Name = c.CustomerName
	}
	if buyer.BillingAddress.V == nil {
		buyer.BillingAddress = c.BillingAddress
	}
}

// isTyped reports whether a checkout says who it is for by an address that somebody typed, and by nothing else.
func (c *Checkout) isTyped() bool { return !c.isNamed() && !c.EmailVerified }

// isNamed reports whether the seller named the customer of a checkout, by its id or by their own.
func (c *Checkout) isNamed() bool { return c.CustomerID != nil || c.ExternalCustomerID != nil }

// knowsBuyer reports whether it is known who a checkout is for, by more than an address that somebody typed: see findBuyer.
func (s *Store) knowsBuyer(ctx context.Context, r db.Reader, c *Checkout) (bool, error) {
	if c.isTyped() {
		return false, nil
	}
	_, isKnown, err := s.GetBuyer(ctx, r, c)
	return isKnown, err
}

// GetBuyer reads the customer that a checkout is for, nil if there is none yet. It also says whether the buyer is known to be them: the seller
// named them, or somebody vouches for the address. A buyer who only typed the address of a customer may be anybody. They do not use what the
// customer has, learn nothing of it and change nothing of it. A new customer whom the seller named counts as known: an address that they only
// typed leads to nobody else.
func (s *Store) GetBuyer(ctx context.Context, r db.Reader, c *Checkout) (customer *customer.Customer, isKnown bool, err error) {
	return findBuyer(ctx, r, c)
}

// lockBuyer does what GetBuyer does, and locks the customer until the transaction ends.
func (s *Store) lockBuyer(ctx context.Context, u *db.Unit, c *Checkout) (customer *customer.Customer, isKnown bool, err error) {
	return findBuyer(ctx, u.Locked(), c)
}

func findBuyer(ctx context.Context, r db.Reader, c *Checkout) (buyer *customer.Customer, isKnown bool, err error) {
	var key *string
	if c.CustomerEmail != nil {
		key = new(core.EmailKey(*c.CustomerEmail))
	}
	// The seller named somebody else than the owner of an address that was only typed.
	if c.ExternalCustomerID != nil && !c.EmailVerified {
		key = nil
	}
	for _, by := range []struct {
		column  string
		value   *string
		isKnown bool
	}{{"id", c.CustomerID, true}, {"external_id", c.ExternalCustomerID, true}, {"email_key", key, c.EmailVerified}} {
		if by.value == nil {
			continue
		}
		customer, err := db.Get[customer.Customer](ctx, r, customer.Columns.SelectSQL+`
			WHERE account_id = ? AND `+by.column+` = ? AND deleted_at IS NULL`, c.AccountID, *by.value)
		if err != nil || customer != nil {
			return customer, by.isKnown, err
		}
	}
	return nil, c.EmailVerified || c.ExternalCustomerID != nil, nil
}

// NewBuyer inserts the customer of a checkout that has none yet. If another purchase made it at the same moment, that one is
// locked and returned, and isNew is false.
//
// A buyer who is not known leaves a name, but neither a billing address nor a tax id. Somebody whom the seller named by an external id does not
// own an address that they only typed. They log in at the seller's, and would be given what the true owner of the address buys. Anybody else owns
// it, because the address is all that is known of them.
func (s *Store) NewBuyer(ctx context.Context, u *db.Unit, c *Checkout, isKnown bool, now core.Time) (buyer *customer.Customer, isNew bool, err error) {
	buyer = &customer.Customer{
		AccountID: c.AccountID, ID: core.NewID(core.KindCustomer), Email: c.CustomerEmail,
		ExternalID: c.ExternalCustomerID, Type: customer.TypeCustomer, Name: c.CustomerName, PreferredLocale: c.Locale,
		CreatedAt: now, UpdatedAt: now,
	}
	if c.ExternalCustomerID == nil || c.EmailVerified {
		buyer.EmailKey = new(core.EmailKey(*c.CustomerEmail))
	}
	c.countFor(buyer, now)
	if isKnown {
		buyer.TaxID = c.TaxID
		c.teach(buyer)
	}
	rows, err := u.Exec(ctx, customer.Columns.InsertSQL+` ON CONFLICT DO NOTHING`, customer.Columns.Values(buyer)...)
	if err != nil {
		return nil, false, fmt.Errorf("insert customer: %w", err)
	}
	if rows == 1 {
		return buyer, true, nil
	}
	if buyer, _, err = s.lockBuyer(ctx, u, c); err == nil && buyer == nil {
		err = errors.New("insert customer: the address was taken and given up at once")
	}
	return buyer, false, err
}

// KeyOfEmail is SQL for the key of the address of a checkout or an order. Only one that is not the address in lower case is stored.
const KeyOfEmail = `COALESCE(customer_email_key, LOWER(customer_email))`
