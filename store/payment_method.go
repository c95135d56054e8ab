package store

import (
	"context"
	"fmt"
)

// SavedMethod is a payment method that a customer can be charged with later, also while they are away. A deleted one
// is kept for what was paid with it, and is missing everywhere.
type SavedMethod struct {
	AccountID   string              `db:"account_id"`
	ID          string              `db:"id"`
	CustomerID  string              `db:"customer_id"`
	Provider    string              `db:"provider"`
	ProviderRef string              `db:"provider_ref"` // what the provider charges
	CustomerRef string              `db:"customer_ref"` // the provider's name of the customer that it belongs to
	Card        JSON[PaymentMethod] `db:"card"`
	DeletedAt   *Time               `db:"deleted_at"`
	CreatedAt   Time                `db:"created_at"`
	UpdatedAt   Time                `db:"updated_at"`
}

var savedMethodColumns = columnsOf[SavedMethod]("payment_methods")

// PaymentMethodsByID returns the saved payment methods among ids that are not deleted.
func (s *Store) PaymentMethodsByID(ctx context.Context, account string, ids []string) (map[string]*SavedMethod, error) {
	found, err := byID(ctx, s, savedMethodColumns, account, ids)
	for id, m := range found {
		if m.DeletedAt != nil {
			delete(found, id)
		}
	}
	return found, err
}

// ListCustomerPaymentMethods returns a page of a customer's payment methods, newest first, and whether there are more.
func (s *Store) ListCustomerPaymentMethods(ctx context.Context, account, customer string, in Page) ([]SavedMethod, bool, error) {
	c, err := s.findCustomer(ctx, account, customer, "", "")
	if err != nil {
		return nil, false, err
	}
	var f filter
	f.is("customer_id", c.ID)
	f.and(`deleted_at IS NULL`)
	return page(ctx, s, savedMethodColumns, KindPaymentMethod, account, in, &f)
}

// DeleteCustomerPaymentMethod forgets a payment method of a customer. Was it the default, the customer has none then.
func (s *Store) DeleteCustomerPaymentMethod(ctx context.Context, account, customer, ref string) (*SavedMethod, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*SavedMethod, error) {
		c, err := s.findCustomer(ctx, account, customer, "", u.lock())
		if err != nil {
			return nil, err
		}
		m, err := s.findMethod(ctx, c, ref, "")
		if err != nil {
			return nil, err
		}
		now, err := s.businessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		m.DeletedAt, m.UpdatedAt = &now, now
		if err := u.update(ctx, savedMethodColumns, m); err != nil {
			return nil, err
		}
		if c.DefaultPaymentMethodID == nil || *c.DefaultPaymentMethodID != m.ID {
			return m, nil
		}
		c.DefaultPaymentMethodID, c.UpdatedAt = nil, now
		return m, u.update(ctx, customerColumns, c)
	})
}

// MethodToCharge returns the payment method for a charge while a customer is away: the preferred one if it is given
// and not deleted, else the customer's default. It is nil if there is neither, or if the customer is deleted.
func (s *Store) MethodToCharge(ctx context.Context, account, customer string, preferred *string) (*SavedMethod, error) {
	c, err := s.anyCustomer(ctx, account, customer, "")
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, id := range []*string{preferred, c.DefaultPaymentMethodID} {
		if id != nil {
			ids = append(ids, *id)
		}
	}
	found, err := s.PaymentMethodsByID(ctx, account, ids)
	for _, id := range ids {
		if m := found[id]; m != nil && m.CustomerID == c.ID {
			return m, err
		}
	}
	return nil, err
}

// CustomerPaymentMethod returns a payment method that a customer has. Anything else is CodeMissing on payment_method.
func (s *Store) CustomerPaymentMethod(ctx context.Context, account, customer, ref string) (*SavedMethod, error) {
	return s.findMethod(ctx, &Customer{AccountID: account, ID: customer}, ref, "payment_method")
}

// findMethod reads a payment method of a customer that is not deleted. Param is what named it, empty for the path.
func (s *Store) findMethod(ctx context.Context, c *Customer, ref, param string) (*SavedMethod, error) {
	id, ok := ParseID(KindPaymentMethod, ref)
	if !ok {
		return nil, Missing("payment method", param, ref)
	}
	m, err := get[SavedMethod](ctx, s, savedMethodColumns.selectSQL+`
		WHERE account_id = ? AND id = ? AND customer_id = ? AND deleted_at IS NULL`, c.AccountID, id, c.ID)
	if err == nil && m == nil {
		err = Missing("payment method", param, ref)
	}
	return m, err
}

// checkDefault says whether a default payment method that is not the one before is one of the customer's.
func (s *Store) checkDefault(ctx context.Context, c *Customer, before *string) error {
	if c.DefaultPaymentMethodID == nil || before != nil && *before == *c.DefaultPaymentMethodID {
		return nil
	}
	_, err := s.findMethod(ctx, c, *c.DefaultPaymentMethodID, "default_payment_method")
	return err
}

// forgetMethods deletes every payment method of a customer who is deleted.
func (u *unit) forgetMethods(ctx context.Context, c *Customer) error {
	now, err := u.store.businessNow(ctx, c.AccountID)
	if err != nil {
		return err
	}
	_, err = u.exec(ctx, `UPDATE payment_methods SET deleted_at = ?, updated_at = ? WHERE account_id = ? AND customer_id = ? AND deleted_at IS NULL`,
		now, now, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("delete payment methods: %w", err)
	}
	return nil
}
