package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// CustomerType tells those who bought from those who only left their address.
type CustomerType string

// The types of a customer. A lead becomes a customer with the first order, and stays one.
const (
	CustomerTypeLead     CustomerType = "lead"
	CustomerTypeCustomer CustomerType = "customer"
)

// Customer is somebody who buys, or may buy, from an account. The email is unique in the account, in any case.
type Customer struct {
	AccountID              string                  `db:"account_id"`
	ID                     string                  `db:"id"`
	Email                  *string                 `db:"email"` // nil once deleted
	EmailKey               *string                 `db:"email_key"`
	Name                   *string                 `db:"name"`
	Phone                  *string                 `db:"phone"`
	ExternalID             *string                 `db:"external_id"`
	AvatarURL              *string                 `db:"avatar_url"`
	BillingAddress         JSON[*Address]          `db:"billing_address"`
	TaxID                  JSON[*TaxID]            `db:"tax_id"`
	TaxExempt              bool                    `db:"tax_exempt"`
	PreferredLocale        *string                 `db:"preferred_locale"`
	DefaultPaymentMethodID *string                 `db:"default_payment_method_id"`
	Type                   CustomerType            `db:"type"`
	OrdersCount            int64                   `db:"orders_count"`
	TotalSpent             JSON[map[string]int64]  `db:"total_spent"` // by currency: what was paid, less what was given back
	FirstPaidAt            *Time                   `db:"first_paid_at"`
	LastOrderAt            *Time                   `db:"last_order_at"`
	Balance                JSON[map[string]int64]  `db:"balance"` // by currency: what pays the next invoices
	MarketingConsent       JSON[*MarketingConsent] `db:"marketing_consent"`
	Notes                  *string                 `db:"notes"`
	Tags                   JSON[[]string]          `db:"tags"`
	Metadata               Metadata                `db:"metadata"`
	DeletedAt              *Time                   `db:"deleted_at"` // kept without personal details, for its orders
	CreatedAt              Time                    `db:"created_at"`
	UpdatedAt              Time                    `db:"updated_at"`
}

// TaxID is a tax identification number with its kind, such as eu_vat.
type TaxID struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// MarketingConsent is what a customer said about being written to.
type MarketingConsent struct {
	Status string  `json:"status"`
	Source *string `json:"source"`
	At     *Time   `json:"at"`
}

var customerColumns = columnsOf[Customer]("customers")

// check normalises the email and reports what is not acceptable.
func (c *Customer) check() error {
	var p Problems
	if c.Email == nil || !isEmail(*c.Email) {
		p.Add("email", "Send an e-mail address, such as ada@example.com.")
	} else {
		c.EmailKey = emailKey(*c.Email)
	}
	p.Check(c.Name == nil || strings.TrimSpace(*c.Name) != "", "name", "A name is not only white space. Send null for none.")
	c.Metadata.check(&p)
	return p.Err()
}

// emailKey is the form in which addresses are compared.
func emailKey(email string) *string {
	key := strings.ToLower(email)
	return &key
}

// ListCustomers holds the filters of a list of customers. An empty one does not filter.
type ListCustomers struct {
	Page
	ListFilter
	Email      string
	ExternalID string
	Type       CustomerType
	Tag        string

	HasActiveSubscription *bool
}

// GetCustomer returns a customer, or CodeMissing; a deleted one is missing.
func (s *Store) GetCustomer(ctx context.Context, account, ref string) (*Customer, error) {
	return s.findCustomer(ctx, account, ref, "", "")
}

// GetCustomerByExternalID returns the customer that carries the merchant's own id, or CodeMissing.
func (s *Store) GetCustomerByExternalID(ctx context.Context, account, externalID string) (*Customer, error) {
	c, err := get[Customer](ctx, s, customerColumns.selectSQL+` WHERE account_id = ? AND external_id = ?`, account, externalID)
	if err == nil && c == nil {
		err = Missing("customer", "", externalID)
	}
	return c, err
}

// CustomersByID returns the customers among ids that are not deleted.
func (s *Store) CustomersByID(ctx context.Context, account string, ids []string) (map[string]*Customer, error) {
	found, err := byID(ctx, s, customerColumns, account, ids)
	maps.DeleteFunc(found, func(_ string, c *Customer) bool { return c.DeletedAt != nil })
	return found, err
}

// ListCustomers returns a page of customers, newest first, and whether there are more.
func (s *Store) ListCustomers(ctx context.Context, account string, in ListCustomers) ([]Customer, bool, error) {
	var f filter
	f.and(`deleted_at IS NULL`)
	f.is("email_key", strings.ToLower(in.Email))
	f.is("external_id", in.ExternalID)
	f.is("type", string(in.Type))
	if in.Tag != "" {
		f.has(s, "tags", in.Tag)
	}
	f.subscribed(in.HasActiveSubscription)
	f.list(s, in.ListFilter, "email", "name", "external_id", "id")
	return page(ctx, s, customerColumns, KindCustomer, account, in.Page, &f)
}

// CreateCustomer makes a customer. An email or external id that another customer has is CodeInvalid.
func (s *Store) CreateCustomer(ctx context.Context, account string, c Customer) (*Customer, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*Customer, error) {
		now, err := s.businessNow(ctx, account)
		if err != nil {
			return nil, err
		}
		c.AccountID, c.ID, c.Type = account, NewID(KindCustomer), CustomerTypeLead
		c.CreatedAt, c.UpdatedAt = now, now
		if err := c.check(); err != nil {
			return nil, err
		}
		return &c, c.taken(u.insert(ctx, customerColumns, &c))
	})
}

// UpdateCustomer locks the customer, applies change and stores it. A default payment method that the customer does not
// have is CodeMissing; the customer's subscriptions that are past due are charged with a new one from now on, at once.
func (s *Store) UpdateCustomer(ctx context.Context, account, ref string, change func(*Customer)) (*Customer, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*Customer, error) {
		id, _ := ParseID(KindCustomer, ref)
		pastDue, err := u.lockPastDue(ctx, account, id)
		if err != nil {
			return nil, err
		}
		c, err := s.findCustomer(ctx, account, ref, "", u.lock())
		if err != nil {
			return nil, err
		}
		before := *c
		change(c)
		if err := c.check(); err != nil || sameJSON(before, *c) {
			return c, err
		}
		method, err := s.newDefault(ctx, c, before.DefaultPaymentMethodID)
		if err != nil {
			return c, err
		}
		if c.UpdatedAt, err = s.businessNow(ctx, account); err != nil {
			return nil, err
		}
		if err := c.taken(u.update(ctx, customerColumns, c)); err != nil || method == nil {
			return c, err
		}
		return c, u.chargePastDue(ctx, pastDue, method, c.UpdatedAt)
	})
}

// findCustomer reads a customer that is not deleted. Param is what named it, empty for the path.
func (s *Store) findCustomer(ctx context.Context, account, ref, param, lock string) (*Customer, error) {
	id, ok := ParseID(KindCustomer, ref)
	if !ok {
		return nil, Missing("customer", param, ref)
	}
	c, err := get[Customer](ctx, s, customerColumns.selectSQL+` WHERE account_id = ? AND id = ? AND deleted_at IS NULL`+lock, account, id)
	if err == nil && c == nil {
		err = Missing("customer", param, ref)
	}
	return c, err
}

// anyCustomer reads a customer, deleted or not, that something refers to.
func (s *Store) anyCustomer(ctx context.Context, account, id, lock string) (*Customer, error) {
	c, err := get[Customer](ctx, s, customerColumns.selectSQL+` WHERE account_id = ? AND id = ?`+lock, account, id)
	if err == nil && c == nil {
		err = Missing("customer", "", id)
	}
	return c, err
}

// taken turns a violated unique key into what is wrong with the request.
func (c *Customer) taken(err error) error {
	switch {
	case !isUnique(err):
		return err
	case strings.Contains(err.Error(), "external_id"):
		return Invalid("external_id", "Another customer has this external_id.")
	default:
		return Invalid("email", "Another customer has this e-mail address.")
	}
}

// buyer returns the customer of a checkout that is being bought: the one it is for, the one with the merchant's own
// id, the one with the address, or a new one. The order counts for them.
func (u *unit) buyer(ctx context.Context, c *Checkout) (*Customer, error) {
	now, err := u.store.businessNow(ctx, c.AccountID)
	if err != nil {
		return nil, err
	}
	customer, err := u.store.findBuyer(ctx, c, u.lock())
	if err == nil && customer == nil {
		var isNew bool
		if customer, isNew, err = u.newBuyer(ctx, c, now); isNew {
			return customer, err
		}
	}
	if err != nil {
		return nil, err
	}
	if err := u.identify(ctx, customer, c.ExternalCustomerID); err != nil {
		return nil, err
	}
	customer.count(c, now)
	return customer, u.update(ctx, customerColumns, customer)
}

// identify gives a buyer without one the merchant's own id, unless another customer has it: the buyer may have paid,
// so that there is nothing left to refuse.
func (u *unit) identify(ctx context.Context, customer *Customer, externalID *string) error {
	if customer.ExternalID != nil || externalID == nil {
		return nil
	}
	owner, err := u.store.externalOwner(ctx, customer.AccountID, *externalID)
	if err == nil && owner == nil {
		customer.ExternalID = externalID
	}
	return err
}

// externalOwner returns the id of the customer who has the merchant's own id, nil if nobody has.
func (s *Store) externalOwner(ctx context.Context, account, externalID string) (*string, error) {
	return get[string](ctx, s, `SELECT id FROM customers WHERE account_id = ? AND external_id = ?`, account, externalID)
}

// ordered adds an order.
func (c *Customer) ordered(now Time) {
	c.OrdersCount++
	c.LastOrderAt, c.UpdatedAt = &now, now
}

// count adds an order that is paid, and what was not known of the customer.
func (c *Customer) count(checkout *Checkout, now Time) {
	c.Type = CustomerTypeCustomer
	c.ordered(now)
	if checkout.AmountDueNow > 0 {
		c.spend(checkout.Currency, checkout.AmountDueNow, now)
	}
	if c.Name == nil {
		c.Name = checkout.CustomerName
	}
	if c.BillingAddress.V == nil {
		c.BillingAddress = checkout.BillingAddress
	}
}

// spend counts a paid amount.
func (c *Customer) spend(currency string, amount int64, now Time) {
	spent := maps.Clone(c.TotalSpent.V)
	if spent == nil {
		spent = map[string]int64{}
	}
	spent[currency] += amount
	c.TotalSpent = JSONOf(spent)
	if c.FirstPaidAt == nil {
		c.FirstPaidAt = &now
	}
}

// refund takes what was given back off the paid amounts. A negative amount is not given back after all.
func (c *Customer) refund(currency string, amount int64, now Time) {
	spent := maps.Clone(c.TotalSpent.V)
	spent[currency] -= amount
	c.TotalSpent, c.UpdatedAt = JSONOf(spent), now
}

// findBuyer reads the customer that a checkout means, nil if there is none yet or nobody knows who it is for.
func (s *Store) findBuyer(ctx context.Context, c *Checkout, lock string) (*Customer, error) {
	var key *string
	if c.CustomerEmail != nil {
		key = emailKey(*c.CustomerEmail)
	}
	for _, by := range []struct {
		column string
		value  *string
	}{{"id", c.CustomerID}, {"external_id", c.ExternalCustomerID}, {"email_key", key}} {
		if by.value == nil {
			continue
		}
		customer, err := get[Customer](ctx, s, customerColumns.selectSQL+`
			WHERE account_id = ? AND `+by.column+` = ? AND deleted_at IS NULL`+lock, c.AccountID, *by.value)
		if err != nil || customer != nil {
			return customer, err
		}
	}
	return nil, nil
}

// newBuyer makes the customer of a checkout. Where another purchase made it meanwhile, that one is returned.
func (u *unit) newBuyer(ctx context.Context, c *Checkout, now Time) (customer *Customer, isNew bool, err error) {
	customer = &Customer{
		AccountID: c.AccountID, ID: NewID(KindCustomer), Email: c.CustomerEmail, EmailKey: emailKey(*c.CustomerEmail),
		ExternalID: c.ExternalCustomerID, Type: CustomerTypeCustomer, PreferredLocale: c.Locale, TaxID: c.TaxID,
		CreatedAt: now, UpdatedAt: now,
	}
	customer.count(c, now)
	rows, err := u.exec(ctx, customerColumns.insertSQL+` ON CONFLICT DO NOTHING`, values(customer, customerColumns.inserted)...)
	if err != nil {
		return nil, false, fmt.Errorf("insert customer: %w", err)
	}
	if rows == 1 {
		return customer, true, nil
	}
	if customer, err = u.store.findBuyer(ctx, c, u.lock()); err == nil && customer == nil {
		err = errors.New("insert customer: the address was taken and given up at once")
	}
	return customer, false, err
}
