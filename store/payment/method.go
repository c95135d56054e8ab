package payment

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
)

// SavedMethod is a payment method that a customer can be charged with later, also while they are away. The row of a deleted one
// is kept for what was paid with it, but it is treated as missing everywhere.
type SavedMethod struct {
	AccountID   string            `db:"account_id"`
	ID          string            `db:"id"`
	CustomerID  string            `db:"customer_id"`
	Provider    string            `db:"provider"`
	ProviderRef string            `db:"provider_ref"` // the provider's id of the method
	CustomerRef string            `db:"customer_ref"` // the provider's id of the customer that it belongs to
	Card        core.JSON[Method] `db:"card"`
	DeletedAt   *core.Time        `db:"deleted_at"`
	CreatedAt   core.Time         `db:"created_at"`
	UpdatedAt   core.Time         `db:"updated_at"`
}

// maxSavedMethods is how many methods may be saved for a customer, by themselves or by the seller. A method that they buy a
// subscription with is saved beyond this limit: that was paid for.
const maxSavedMethods = 50

// MethodColumns are those of a SavedMethod.
var MethodColumns = db.ColumnsOf[SavedMethod]("payment_methods")

// Billing returns the method in the form in which a subscription or invoice is charged with it.
func (m *SavedMethod) Billing() *BillingMethod {
	return &BillingMethod{ID: &m.ID, Provider: m.Provider, Ref: m.ProviderRef, CustomerRef: &m.CustomerRef, Card: m.Card.V}
}

// MethodsByID returns those of the saved payment methods with these ids that are not deleted, by id.
func (s *Store) MethodsByID(ctx context.Context, account string, ids []string) (map[string]*SavedMethod, error) {
	return s.MethodsByIDIn(ctx, s.db, account, ids)
}

// MethodsByIDIn does what MethodsByID does, where r says.
func (s *Store) MethodsByIDIn(ctx context.Context, r db.Reader, account string, ids []string) (map[string]*SavedMethod, error) {
	found, err := db.ByID(ctx, r, MethodColumns, account, ids)
	for id, m := range found {
		if m.DeletedAt != nil {
			delete(found, id)
		}
	}
	return found, err
}

// ListMethods returns a page of a customer's payment methods, newest first, and whether there are more.
func (s *Store) ListMethods(ctx context.Context, account, customer string, in core.Page) ([]SavedMethod, bool, error) {
	c, err := s.rooms.Customer.Named(ctx, s.db, account, customer, "")
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.OrderedIfSet("customer_id", c.ID)
	f.And(`deleted_at IS NULL`)
	return db.Page(ctx, s.db, MethodColumns, core.KindPaymentMethod, account, in, &f)
}

// checkRoom returns CodeInvalid on payment_method for a customer who has maxSavedMethods methods already.
func (s *Store) checkRoom(ctx context.Context, r db.Reader, c *customer.Customer) error {
	n, err := db.Get[int](ctx, r, `SELECT COUNT(*) FROM payment_methods WHERE account_id = ? AND customer_id = ? AND deleted_at IS NULL`, c.AccountID, c.ID)
	if err == nil && *n >= maxSavedMethods {
		err = core.Invalid("payment_method", fmt.Sprintf("The customer has %d payment methods, and cannot have more. Remove one first.", *n)).Because("many", "number", int64(*n))
	}
	return err
}

// BeginSaveMethod commits what a request has done so far, before a provider is asked to save a method for a customer. It
// returns the customer, and the token that names the request to the provider: it is the same whenever the request is sent
// again. A customer who has too many methods is CodeInvalid on payment_method. The try counts as declined until ForgiveTry
// takes that back; after too many declines it is CodeRateLimit.
func (s *Store) BeginSaveMethod(ctx context.Context, account, customerID string, from Buyer) (*customer.Customer, string, error) {
	c, err := db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*customer.Customer, error) {
		c, err := s.rooms.Customer.Named(ctx, u, account, customerID, "")
		if err == nil {
			err = s.checkRoom(ctx, u, c)
		}
		if err == nil {
			err = s.tryMethod(ctx, u, account, from.guards(&c.ID))
		}
		return c, err
	})
	return c, s.db.Effect(ctx), err
}

// Method returns a payment method that a customer has, or CodeMissing on payment_method.
func (s *Store) Method(ctx context.Context, account, customerID, ref string) (*SavedMethod, error) {
	return s.MethodIn(ctx, s.db, account, customerID, ref)
}

// MethodIn does what Method does, where r says.
func (s *Store) MethodIn(ctx context.Context, r db.Reader, account, customerID, ref string) (*SavedMethod, error) {
	return s.FindMethod(ctx, r, &customer.Customer{AccountID: account, ID: customerID}, ref, "payment_method")
}

// CustomerRef returns the provider's id of a customer who has saved a method with it, also if that is deleted by now, else nil.
func (s *Store) CustomerRef(ctx context.Context, account, customer, provider string) (*string, error) {
	return db.Get[string](ctx, s.db, `
		SELECT customer_ref FROM payment_methods WHERE account_id = ? AND customer_id = ? AND provider = ? ORDER BY id DESC LIMIT 1`,
		account, customer, provider)
}

// ForgetMethod deletes a method of a locked customer, and stores the intent to tell its provider, which the reconciler does.
func (s *Store) ForgetMethod(ctx context.Context, u *db.Unit, c *customer.Customer, m *SavedMethod) error {
	now, err := db.BusinessNow(ctx, u, c.AccountID)
	if err != nil {
		return err
	}
	if err := s.detach(ctx, u, c, m.ID); err != nil {
		return err
	}
	m.DeletedAt, m.UpdatedAt = &now, now
	if err := u.Update(ctx, MethodColumns, m); err != nil {
		return err
	}
	if c.DefaultPaymentMethodID == nil || *c.DefaultPaymentMethodID != m.ID {
		return nil
	}
	c.DefaultPaymentMethodID, c.UpdatedAt = nil, now
	return u.Update(ctx, customer.Columns, c)
}

// KeepMethod stores a method of a locked customer and returns it. If they have the same one already, that is returned instead.
func (s *Store) KeepMethod(ctx context.Context, u *db.Unit, m SavedMethod, now core.Time) (*SavedMethod, error) {
	kept, err := db.Get[SavedMethod](ctx, u, MethodColumns.SelectSQL+`
		WHERE account_id = ? AND customer_id = ? AND provider = ? AND provider_ref = ? AND deleted_at IS NULL`,
		m.AccountID, m.CustomerID, m.Provider, m.ProviderRef)
	if err != nil {
		return nil, fmt.Errorf("look for a payment method: %w", err)
	}
	if kept != nil {
		return kept, nil
	}
	m.ID, m.CreatedAt, m.UpdatedAt = cmp.Or(m.ID, core.NewID(core.KindPaymentMethod)), now, now
	return &m, u.Insert(ctx, MethodColumns, &m)
}

// FindMethod reads a payment method of a customer that is not deleted, or returns CodeMissing. Param is the parameter that
// named it, "" if the path did.
func (s *Store) FindMethod(ctx context.Context, r db.Reader, c *customer.Customer, ref, param string) (*SavedMethod, error) {
	id, ok := core.ParseID(core.KindPaymentMethod, ref)
	if !ok {
		return nil, core.Missing("payment method", param, ref)
	}
	m, err := db.Get[SavedMethod](ctx, r, MethodColumns.SelectSQL+`
		WHERE account_id = ? AND id = ? AND customer_id = ? AND deleted_at IS NULL`, c.AccountID, id, c.ID)
	if err == nil && m == nil {
		err = core.Missing("payment method", param, ref)
	}
	return m, err
}

// NewDefault returns the customer's default payment method if it is another one than before, else nil. Before is the id of the
// former default. A method that the customer does not have is CodeMissing on default_payment_method.
func (s *Store) NewDefault(ctx context.Context, r db.Reader, c *customer.Customer, before *string) (*SavedMethod, error) {
	if c.DefaultPaymentMethodID == nil || before != nil && *before == *c.DefaultPaymentMethodID {
		return nil, nil
	}
	return s.FindMethod(ctx, r, c, *c.DefaultPaymentMethodID, "default_payment_method")
}

// ForgetMethods deletes every payment method of a locked customer who is being deleted, and stores the intents to tell the
// providers.
func (s *Store) ForgetMethods(ctx context.Context, u *db.Unit, c *customer.Customer) error {
	now, err := db.BusinessNow(ctx, u, c.AccountID)
	if err != nil {
		return err
	}
	if err := s.detach(ctx, u, c, ""); err != nil {
		return err
	}
	_, err = u.Exec(ctx, `UPDATE payment_methods SET deleted_at = ?, updated_at = ? WHERE account_id = ? AND customer_id = ? AND deleted_at IS NULL`,
		now, now, c.AccountID, c.ID)
	if err != nil {
		return fmt.Errorf("delete payment methods: %w", err)
	}
	return nil
}

// MethodToCharge returns the payment method for a charge while a customer is away. It is the preferred one if that is given and not deleted, else
// the customer's default. It is nil if there is neither; a deleted customer has none.
func (s *Store) MethodToCharge(ctx context.Context, account, customer string, preferred *string) (*SavedMethod, error) {
	return s.MethodToChargeIn(ctx, s.db, account, customer, preferred)
}

// MethodToChargeIn does what MethodToCharge does, where r says.
func (s *Store) MethodToChargeIn(ctx context.Context, r db.Reader, account, customer string, preferred *string) (*SavedMethod, error) {
	c, err := s.rooms.Customer.Any(ctx, r, account, customer)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, id := range []*string{preferred, c.DefaultPaymentMethodID} {
		if id != nil {
			ids = append(ids, *id)
		}
	}
	found, err := s.MethodsByIDIn(ctx, r, account, ids)
	for _, id := range ids {
		if m := found[id]; m != nil && m.CustomerID == c.ID {
			return m, err
		}
	}
	return nil, err
}
