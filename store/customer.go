package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// CustomerType tells customers, who have ordered something, from leads, who have only left their address.
type CustomerType string

// The types of a customer. A lead becomes a customer with the first order, and stays one.
const (
	CustomerTypeLead     CustomerType = "lead"
	CustomerTypeCustomer CustomerType = "customer"
)

// Customer is somebody who buys, or may buy, from an account. A customer who owns their address has an EmailKey, and no other
// customer of the account owns it then, however it is written. A customer whom the seller named by an external id, and whose
// address was only typed, does not own it: they are not found by it, and whoever really has the address may become another
// customer.
type Customer struct {
	AccountID              string                       `db:"account_id"`
	ID                     string                       `db:"id"`
	Email                  *string                      `db:"email"`     // nil once deleted
	EmailKey               *string                      `db:"email_key"` // the email as core.EmailKey has it if they own it
	Name                   *string                      `db:"name"`
	Phone                  *string                      `db:"phone"`
	ExternalID             *string                      `db:"external_id"`
	AvatarURL              *string                      `db:"avatar_url"`
	BillingAddress         core.JSON[*core.Address]     `db:"billing_address"`
	TaxID                  core.JSON[*TaxID]            `db:"tax_id"`
	TaxExempt              bool                         `db:"tax_exempt"`
	PreferredLocale        *string                      `db:"preferred_locale"`
	DefaultPaymentMethodID *string                      `db:"default_payment_method_id"`
	Type                   CustomerType                 `db:"type"`
	OrdersCount            int64                        `db:"orders_count"`
	TotalSpent             core.JSON[map[string]int64]  `db:"total_spent"` // by currency: what was paid, less what was given back
	FirstPaidAt            *core.Time                   `db:"first_paid_at"`
	LastOrderAt            *core.Time                   `db:"last_order_at"`
	Balance                core.JSON[map[string]int64]  `db:"balance"` // by currency: what pays the next invoices
	MarketingConsent       core.JSON[*MarketingConsent] `db:"marketing_consent"`
	Notes                  *string                      `db:"notes"`
	Tags                   core.JSON[[]string]          `db:"tags"`
	Metadata               core.Metadata                `db:"metadata"`
	DeletedAt              *core.Time                   `db:"deleted_at"` // kept without personal details, for its orders
	CreatedAt              core.Time                    `db:"created_at"`
	UpdatedAt              core.Time                    `db:"updated_at"`
}

// TaxID is a tax identification number with its kind, such as eu_vat.
type TaxID struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// MarketingConsent is what a customer said about being written to.
type MarketingConsent struct {
	Status string     `json:"status"`
	Source *string    `json:"source"`
	At     *core.Time `json:"at"`
}

var customerColumns = db.ColumnsOf[Customer]("customers")

// SetEmail gives the customer an address and makes them its owner, because the seller says so.
func (c *Customer) SetEmail(email string) {
	c.Email, c.EmailKey = &email, emailKey(email)
}

// check returns CodeInvalid with the fields that are not acceptable. Only an address that has changed is looked at.
func (c *Customer) check(before *Customer) error {
	var p core.Problems
	if !core.SameJSON(c.Email, before.Email) || c.Email == nil {
		p.CheckEmail("email", core.Deref(c.Email), "Send an e-mail address, such as ada@example.com.")
	}
	p.Check(c.Name == nil || strings.TrimSpace(*c.Name) != "", "name", "A name is not only white space. Send null for none.")
	if !core.SameJSON(c.ExternalID, before.ExternalID) {
		checkExternalID(&p, "external_id", c.ExternalID)
	}
	c.Metadata.Check(&p)
	return p.Err()
}

// checkExternalID refuses an id by which nobody could ask for its customer: in a path . and .. are the folder and the one above.
func checkExternalID(p *core.Problems, field string, id *string) {
	p.Check(id == nil || *id != "." && *id != "..", field, "An id of . or .. cannot be asked for in a path. Send another one, such as user-4711.")
}

// emailKey returns an address in the form in which addresses are compared.
func emailKey(email string) *string { return new(core.EmailKey(email)) }

// keyOfEmail is SQL for the key of the address of a checkout or an order. Only one that is not the address in lower case is stored.
const keyOfEmail = `COALESCE(customer_email_key, LOWER(customer_email))`

// ListCustomers holds the filters of a list of customers. An empty one does not filter.
type ListCustomers struct {
	core.Page
	core.ListFilter
	Email      string
	ExternalID string
	Type       CustomerType
	Tag        string

	HasActiveSubscription *bool
}

// GetCustomer returns a customer, or CodeMissing; a deleted one is missing.
func (s *Store) GetCustomer(ctx context.Context, account, ref string) (*Customer, error) {
	return s.getCustomer(ctx, account, ref, "")
}

// GetCustomerByExternalID returns the customer that carries the merchant's own id, or CodeMissing.
func (s *Store) GetCustomerByExternalID(ctx context.Context, account, externalID string) (*Customer, error) {
	c, err := db.Get[Customer](ctx, s.db, customerColumns.SelectSQL+` WHERE account_id = ? AND external_id = ?`, account, externalID)
	if err == nil && c == nil {
		err = core.Missing("customer", "", externalID)
	}
	return c, err
}

// CustomersByID returns the customers among ids that are not deleted, by their ids.
func (s *Store) CustomersByID(ctx context.Context, account string, ids []string) (map[string]*Customer, error) {
	found, err := db.ByID(ctx, s.db, customerColumns, account, ids)
	maps.DeleteFunc(found, func(_ string, c *Customer) bool { return c.DeletedAt != nil })
	return found, err
}

// ListCustomers returns a page of customers, newest first, and whether there are more.
func (s *Store) ListCustomers(ctx context.Context, account string, in ListCustomers) ([]Customer, bool, error) {
	var f db.Filter
	f.And(`deleted_at IS NULL`)
	f.One("email_key", core.EmailKey(in.Email)) // only owners: programs look up an address to let a person in
	f.One("external_id", in.ExternalID)
	f.Is("type", string(in.Type))
	if in.Tag != "" {
		f.Entry("customers", "tag", in.Tag)
	}
	whereSubscribed(&f, in.HasActiveSubscription)
	f.List(s.db, "customers", core.KindCustomer, in.ListFilter, "email", "name", "external_id")
	return db.Page(ctx, s.db, customerColumns, core.KindCustomer, account, in.Page, &f)
}

// CreateCustomer makes a customer. An email or external id that another customer has is CodeInvalid.
func (s *Store) CreateCustomer(ctx context.Context, account string, c Customer) (*Customer, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Customer, error) {
		return s.createCustomer(ctx, u, account, &c)
	})
}

// createCustomer checks and stores a new customer.
func (s *Store) createCustomer(ctx context.Context, u *db.Unit, account string, c *Customer) (*Customer, error) {
	now, err := s.db.BusinessNow(ctx, account)
	if err != nil {
		return nil, err
	}
	c.AccountID, c.ID, c.Type = account, core.NewID(core.KindCustomer), CustomerTypeLead
	c.CreatedAt, c.UpdatedAt = now, now
	c.SetEmail(core.Deref(c.Email))
	if err := c.check(&Customer{}); err != nil {
		return nil, err
	}
	return c, c.taken(u.Sent(ctx, u.Insert(ctx, customerColumns, c)))
}

// UpdateCustomer locks the customer, applies change and stores it. A default payment method that the customer does not have is
// CodeMissing. A new one is what the customer's past due subscriptions are charged with from now on, and they are charged at
// once.
func (s *Store) UpdateCustomer(ctx context.Context, account, ref string, change func(*Customer)) (*Customer, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Customer, error) {
		id, _ := core.ParseID(core.KindCustomer, ref)
		// Subscriptions are locked before their customer, as everywhere.
		pastDue, err := s.lockPastDue(ctx, u, account, id)
		if err != nil {
			return nil, err
		}
		c, err := s.lockCustomer(ctx, u, account, ref, "")
		if err != nil {
			return nil, err
		}
		before := *c
		change(c)
		if err := c.check(&before); err != nil || core.SameJSON(before, *c) {
			return c, err
		}
		method, err := s.newDefault(ctx, c, before.DefaultPaymentMethodID)
		if err != nil {
			return c, err
		}
		if c.UpdatedAt, err = s.db.BusinessNow(ctx, account); err != nil {
			return nil, err
		}
		if err := c.taken(u.Sent(ctx, u.Update(ctx, customerColumns, c))); err != nil {
			return c, err
		}
		if err := s.noteCustomer(ctx, u, &before, c); err != nil || method == nil {
			return c, err
		}
		return c, s.chargePastDue(ctx, u, pastDue, method, c.UpdatedAt)
	})
}

// getCustomer reads a customer who is not deleted, or returns CodeMissing on param, the field that named them; that is empty
// for the path.
func (s *Store) getCustomer(ctx context.Context, account, ref, param string) (*Customer, error) {
	return findCustomer(ctx, s.db, account, ref, param)
}

// lockCustomer does what getCustomer does, and locks the row until the transaction ends.
func (s *Store) lockCustomer(ctx context.Context, u *db.Unit, account, ref, param string) (*Customer, error) {
	return findCustomer(ctx, u.Locked(), account, ref, param)
}

func findCustomer(ctx context.Context, r db.Reader, account, ref, param string) (*Customer, error) {
	id, ok := core.ParseID(core.KindCustomer, ref)
	if !ok {
		return nil, core.Missing("customer", param, ref)
	}
	c, err := db.Get[Customer](ctx, r, customerColumns.SelectSQL+` WHERE account_id = ? AND id = ? AND deleted_at IS NULL`, account, id)
	if err == nil && c == nil {
		err = core.Missing("customer", param, ref)
	}
	return c, err
}

// getAnyCustomer reads a customer that something refers to, even a deleted one.
func (s *Store) getAnyCustomer(ctx context.Context, account, id string) (*Customer, error) {
	return findAnyCustomer(ctx, s.db, account, id)
}

// lockAnyCustomer does what getAnyCustomer does, and locks the row until the transaction ends.
func (s *Store) lockAnyCustomer(ctx context.Context, u *db.Unit, account, id string) (*Customer, error) {
	return findAnyCustomer(ctx, u.Locked(), account, id)
}

func findAnyCustomer(ctx context.Context, r db.Reader, account, id string) (*Customer, error) {
	c, err := db.Get[Customer](ctx, r, customerColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && c == nil {
		err = core.Missing("customer", "", id)
	}
	return c, err
}

// taken turns the error of a violated unique key into CodeInvalid on the field that another customer has. Any other error comes
// back as it is.
func (c *Customer) taken(err error) error {
	switch {
	case !db.IsUnique(err):
		return err
	case strings.Contains(err.Error(), "external_id"):
		return core.Invalid("external_id", "Another customer has this external_id.")
	default:
		return core.Invalid("email", "Another customer has this e-mail address.")
	}
}

// buyer returns the locked customer of a checkout that is being bought, and whether the buyer is known to be that customer. It
// is the one that the checkout names, the one with the merchant's own id, the one with the address, or a new one. The order is
// counted for them. A customer who is known to be the buyer also learns from the checkout what was not known of them.
func (s *Store) buyer(ctx context.Context, u *db.Unit, c *Checkout) (customer *Customer, isKnown bool, err error) {
	now, err := s.db.BusinessNow(ctx, c.AccountID)
	if err != nil {
		return nil, false, err
	}
	customer, isKnown, err = s.lockBuyer(ctx, u, c)
	if err == nil && customer == nil {
		var isNew bool
		if customer, isNew, err = s.newBuyer(ctx, u, c, isKnown, now); err != nil || isNew {
			return customer, isKnown, err
		}
		_, isKnown, err = s.getBuyer(ctx, c)
	}
	if err != nil {
		return nil, false, err
	}
	customer.count(c, now)
	if isKnown {
		if err := s.identify(ctx, customer, c.ExternalCustomerID); err != nil {
			return nil, false, err
		}
		if err := s.claimEmail(ctx, u, customer, c); err != nil {
			return nil, false, err
		}
		if !c.isNamed() {
			if err := s.forgetTypedName(ctx, u, customer); err != nil {
				return nil, false, err
			}
		}
		customer.learn(c)
	}
	return customer, isKnown, u.Update(ctx, customerColumns, customer)
}

// identify gives a customer who has none the merchant's own id. If another customer has it nothing happens: the buyer may have
// paid, so that there is nothing left to refuse.
func (s *Store) identify(ctx context.Context, customer *Customer, externalID *string) error {
	if customer.ExternalID != nil || externalID == nil {
		return nil
	}
	owner, err := s.externalOwner(ctx, customer.AccountID, *externalID)
	if err == nil && owner == nil {
		customer.ExternalID = externalID
	}
	return err
}

// claimEmail makes the customer the owner of their address, if it is the verified one of the checkout and nobody else owns it.
func (s *Store) claimEmail(ctx context.Context, u *db.Unit, customer *Customer, c *Checkout) error {
	if customer.EmailKey != nil || !c.EmailVerified || !core.SameEmail(core.Deref(customer.Email), *c.CustomerEmail) {
		return nil
	}
	key := emailKey(*c.CustomerEmail)
	owner, err := db.Get[string](ctx, u, `SELECT id FROM customers WHERE account_id = ? AND email_key = ?`, customer.AccountID, key)
	if err == nil && owner == nil {
		customer.EmailKey = key
	}
	return err
}

// forgetTypedName clears the customer's name if it came from somebody who only typed the customer's address: from the unverified
// purchase that made the customer, as long as none of their orders is verified. The name of a customer whom the seller made is
// the seller's, and stays.
func (s *Store) forgetTypedName(ctx context.Context, u *db.Unit, customer *Customer) error {
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

// externalOwner returns the id of the customer who has the merchant's own id, nil if nobody has.
func (s *Store) externalOwner(ctx context.Context, account, externalID string) (*string, error) {
	return db.Get[string](ctx, s.db, `SELECT id FROM customers WHERE account_id = ? AND external_id = ?`, account, externalID)
}

// ordered counts an order for the customer.
func (c *Customer) ordered(now core.Time) {
	c.OrdersCount++
	c.LastOrderAt, c.UpdatedAt = &now, now
}

// count counts a paid order of a checkout for the customer, with what was paid at once.
func (c *Customer) count(checkout *Checkout, now core.Time) {
	c.Type = CustomerTypeCustomer
	c.ordered(now)
	if checkout.AmountDueNow > 0 {
		c.spend(checkout.Currency, checkout.AmountDueNow, now)
	}
}

// learn fills in the customer's name and billing address from a checkout, each if there was none.
func (c *Customer) learn(checkout *Checkout) {
	if c.Name == nil {
		c.Name = checkout.CustomerName
	}
	if c.BillingAddress.V == nil {
		c.BillingAddress = checkout.BillingAddress
	}
}

// spend adds an amount that was paid.
func (c *Customer) spend(currency string, amount int64, now core.Time) {
	spent := maps.Clone(c.TotalSpent.V)
	if spent == nil {
		spent = map[string]int64{}
	}
	spent[currency] += amount
	c.TotalSpent = core.JSONOf(spent)
	if c.FirstPaidAt == nil {
		c.FirstPaidAt = &now
	}
}

// refund takes an amount that is given back off what was paid. A negative one adds it again, because it is not given back after
// all.
func (c *Customer) refund(currency string, amount int64, now core.Time) {
	if c.UpdatedAt = now; amount == 0 {
		return
	}
	spent := maps.Clone(c.TotalSpent.V)
	spent[currency] -= amount
	c.TotalSpent = core.JSONOf(spent)
}

// isTyped reports whether a checkout says who it is for by an address that somebody typed, and by nothing else.
func (c *Checkout) isTyped() bool { return !c.isNamed() && !c.EmailVerified }

// isNamed reports whether the seller named the customer of a checkout, by its id or by their own.
func (c *Checkout) isNamed() bool { return c.CustomerID != nil || c.ExternalCustomerID != nil }

// knowsBuyer reports whether it is known who a checkout is for, by more than an address that somebody typed: see findBuyer.
func (s *Store) knowsBuyer(ctx context.Context, c *Checkout) (bool, error) {
	if c.isTyped() {
		return false, nil
	}
	_, isKnown, err := s.getBuyer(ctx, c)
	return isKnown, err
}

// getBuyer reads the customer that a checkout is for, nil if there is none yet, and says whether the buyer is known to be them:
// the seller named them, or somebody vouches for the address. A buyer who only typed the address of a customer may be anybody:
// they do not use what the customer has, learn nothing of it and change nothing of it. A new customer whom the seller named
// counts as known: an address that they only typed leads to nobody else.
func (s *Store) getBuyer(ctx context.Context, c *Checkout) (customer *Customer, isKnown bool, err error) {
	return findBuyer(ctx, s.db, c)
}

// lockBuyer does what getBuyer does, and locks the customer until the transaction ends.
func (s *Store) lockBuyer(ctx context.Context, u *db.Unit, c *Checkout) (customer *Customer, isKnown bool, err error) {
	return findBuyer(ctx, u.Locked(), c)
}

func findBuyer(ctx context.Context, r db.Reader, c *Checkout) (customer *Customer, isKnown bool, err error) {
	var key *string
	if c.CustomerEmail != nil {
		key = emailKey(*c.CustomerEmail)
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
		customer, err := db.Get[Customer](ctx, r, customerColumns.SelectSQL+`
			WHERE account_id = ? AND `+by.column+` = ? AND deleted_at IS NULL`, c.AccountID, *by.value)
		if err != nil || customer != nil {
			return customer, by.isKnown, err
		}
	}
	return nil, c.EmailVerified || c.ExternalCustomerID != nil, nil
}

// newBuyer inserts the customer of a checkout that has none yet. If another purchase made it at the same moment, that one is
// locked and returned, and isNew is false.
//
// A buyer who is not known leaves a name, but neither a billing address nor a tax id. Somebody whom the seller named by an
// external id does not own an address that they only typed: they log in at the seller's, and would be given what the true owner
// of the address buys. Anybody else owns it, because the address is all that is known of them.
func (s *Store) newBuyer(ctx context.Context, u *db.Unit, c *Checkout, isKnown bool, now core.Time) (customer *Customer, isNew bool, err error) {
	customer = &Customer{
		AccountID: c.AccountID, ID: core.NewID(core.KindCustomer), Email: c.CustomerEmail,
		ExternalID: c.ExternalCustomerID, Type: CustomerTypeCustomer, Name: c.CustomerName, PreferredLocale: c.Locale,
		CreatedAt: now, UpdatedAt: now,
	}
	if c.ExternalCustomerID == nil || c.EmailVerified {
		customer.EmailKey = emailKey(*c.CustomerEmail)
	}
	customer.count(c, now)
	if isKnown {
		customer.TaxID = c.TaxID
		customer.learn(c)
	}
	rows, err := u.Exec(ctx, customerColumns.InsertSQL+` ON CONFLICT DO NOTHING`, customerColumns.Values(customer)...)
	if err != nil {
		return nil, false, fmt.Errorf("insert customer: %w", err)
	}
	if rows == 1 {
		return customer, true, nil
	}
	if customer, _, err = s.lockBuyer(ctx, u, c); err == nil && customer == nil {
		err = errors.New("insert customer: the address was taken and given up at once")
	}
	return customer, false, err
}
