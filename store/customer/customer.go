package customer

import (
	"context"
	"maps"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Type tells customers, who have ordered something, from leads, who have only left their address.
type Type string

// The types of a customer. A lead becomes a customer with the first order, and stays one.
const (
	TypeLead     Type = "lead"
	TypeCustomer Type = "customer"
)

// Customer is somebody who buys, or may buy, from an account. A customer who owns their address has an EmailKey, and no other
// customer of the account owns it then, however it is written. A customer whom the seller named by an external id, and whose address was only
// typed, does not own it. They are not found by it, and whoever really has the address may become another customer.
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
	Type                   Type                         `db:"type"`
	OrdersCount            int64                        `db:"orders_count"`
	TotalSpent             core.JSON[map[string]int64]  `db:"total_spent"` // by currency: what was paid, less what was given back
	FirstPaidAt            *core.Time                   `db:"first_paid_at"`
	LastOrderAt            *core.Time                   `db:"last_order_at"`
	Balance                core.JSON[map[string]int64]  `db:"balance"` // by currency: what pays the next invoices
	MarketingConsent       core.JSON[*MarketingConsent] `db:"marketing_consent"`
	NewsWords              core.JSON[*NewsWords]        `db:"news_words"` // see ConsentText
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

// Columns are those of the customers.
var Columns = db.ColumnsOf[Customer]("customers")

// SetEmail gives the customer an address and makes them its owner, because the seller says so.
func (c *Customer) SetEmail(email string) {
	c.Email, c.EmailKey = &email, new(core.EmailKey(email))
}

// Check returns CodeInvalid with the fields that are not acceptable. Only an address that has changed is looked at.
func (c *Customer) Check(before *Customer) error {
	var p core.Problems
	if !core.SameJSON(c.Email, before.Email) || c.Email == nil {
		p.CheckEmail("email", core.Deref(c.Email), "Send an e-mail address, such as ada@example.com.")
	}
	p.Check(c.Name == nil || strings.TrimSpace(*c.Name) != "", "name", "A name is not only white space. Send null for none.")
	if !core.SameJSON(c.ExternalID, before.ExternalID) {
		CheckExternalID(&p, "external_id", c.ExternalID)
	}
	p.Check(c.NewsWords.V == nil || c.NewsWords.V.At != nil, "marketing_consent.at", "Send when they agreed to this text. A text without its time proves nothing.")
	c.Metadata.Check(&p)
	return p.Err()
}

// CheckExternalID refuses an id by which nobody could ask for its customer: in a path . and .. are the folder and the one above.
func CheckExternalID(p *core.Problems, field string, id *string) {
	p.Check(id == nil || *id != "." && *id != "..", field, "An id of . or .. cannot be asked for in a path. Send another one, such as user-4711.")
}

// List holds the filters of a list of customers. An empty one does not filter.
type List struct {
	core.Page
	core.ListFilter
	Email      string
	ExternalID string
	Type       Type
	Tag        string

	HasActiveSubscription *bool
}

// Get returns a customer, or CodeMissing; a deleted one is missing.
func (s *Store) Get(ctx context.Context, account, ref string) (*Customer, error) {
	return s.Named(ctx, s.db, account, ref, "")
}

// OfExternalID returns the customer that carries the merchant's own id, or CodeMissing.
func (s *Store) OfExternalID(ctx context.Context, account, externalID string) (*Customer, error) {
	c, err := db.Get[Customer](ctx, s.db, Columns.SelectSQL+` WHERE account_id = ? AND external_id = ?`, account, externalID)
	if err == nil && c == nil {
		err = core.Missing("customer", "", externalID)
	}
	return c, err
}

// ByID returns the customers among ids that are not deleted, by their ids.
func (s *Store) ByID(ctx context.Context, account string, ids []string) (map[string]*Customer, error) {
	found, err := db.ByID(ctx, s.db, Columns, account, ids)
	maps.DeleteFunc(found, func(_ string, c *Customer) bool { return c.DeletedAt != nil })
	return found, err
}

// List returns a page of customers, newest first, and whether there are more.
func (s *Store) List(ctx context.Context, account string, in List) ([]Customer, bool, error) {
	var f db.Filter
	f.And(`deleted_at IS NULL`)
	f.FewIfSet("email_key", core.EmailKey(in.Email)) // only owners: programs look up an address to let a person in
	f.FewIfSet("external_id", in.ExternalID)
	f.OrderedIfSet("type", string(in.Type))
	if in.Tag != "" {
		f.Entry("customers", "tag", in.Tag)
	}
	whereSubscribed(&f, in.HasActiveSubscription)
	f.List(s.db, "customers", core.KindCustomer, in.ListFilter, "email", "name", "external_id")
	return db.Page(ctx, s.db, Columns, core.KindCustomer, account, in.Page, &f)
}

// Create makes a customer. An email or external id that another customer has is CodeInvalid.
func (s *Store) Create(ctx context.Context, account string, c Customer) (*Customer, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Customer, error) {
		return s.Insert(ctx, u, account, &c)
	})
}

// Insert checks and stores a new customer. If they are unsubscribed, their address has no news again.
func (s *Store) Insert(ctx context.Context, u *db.Unit, account string, c *Customer) (*Customer, error) {
	now, err := db.BusinessNow(ctx, u, account)
	if err != nil {
		return nil, err
	}
	c.AccountID, c.ID, c.Type = account, core.NewID(core.KindCustomer), TypeLead
	c.CreatedAt, c.UpdatedAt = now, now
	c.SetEmail(core.Deref(c.Email))
	if err := c.Check(&Customer{}); err != nil {
		return nil, err
	}
	if err := c.Taken(u.Sent(ctx, u.Insert(ctx, Columns, c))); err != nil || !c.IsUnsubscribed() {
		return c, err
	}
	return c, s.EndNews(ctx, u, account, now, *c.Email)
}

// Named reads a customer who is not deleted, or returns CodeMissing on param, the field that named them; that is empty
// for the path.
func (s *Store) Named(ctx context.Context, r db.Reader, account, ref, param string) (*Customer, error) {
	return find(ctx, r, account, ref, param)
}

// LockNamed does what Named does, and locks the row until the transaction ends.
func (s *Store) LockNamed(ctx context.Context, u *db.Unit, account, ref, param string) (*Customer, error) {
	return find(ctx, u.Locked(), account, ref, param)
}

func find(ctx context.Context, r db.Reader, account, ref, param string) (*Customer, error) {
	id, ok := core.ParseID(core.KindCustomer, ref)
	if !ok {
		return nil, core.Missing("customer", param, ref)
	}
	c, err := db.Get[Customer](ctx, r, Columns.SelectSQL+` WHERE account_id = ? AND id = ? AND deleted_at IS NULL`, account, id)
	if err == nil && c == nil {
		err = core.Missing("customer", param, ref)
	}
	return c, err
}

// Any reads a customer that something refers to, even a deleted one.
func (s *Store) Any(ctx context.Context, r db.Reader, account, id string) (*Customer, error) {
	return findAny(ctx, r, account, id)
}

// LockAny does what Any does, and locks the row until the transaction ends.
func (s *Store) LockAny(ctx context.Context, u *db.Unit, account, id string) (*Customer, error) {
	return findAny(ctx, u.Locked(), account, id)
}

func findAny(ctx context.Context, r db.Reader, account, id string) (*Customer, error) {
	c, err := db.Get[Customer](ctx, r, Columns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && c == nil {
		err = core.Missing("customer", "", id)
	}
	return c, err
}

// Taken turns the error of a violated unique key into CodeInvalid on the field that another customer has. Any other error comes
// back as it is.
func (c *Customer) Taken(err error) error {
	switch {
	case !db.IsUnique(err):
		return err
	case strings.Contains(err.Error(), "external_id"):
		return core.Invalid("external_id", "Another customer has this external_id.")
	default:
		return core.Invalid("email", "Another customer has this e-mail address.")
	}
}

// ExternalOwner returns the id of the customer who has the merchant's own id, nil if nobody has.
func (s *Store) ExternalOwner(ctx context.Context, r db.Reader, account, externalID string) (*string, error) {
	return db.Get[string](ctx, r, `SELECT id FROM customers WHERE account_id = ? AND external_id = ?`, account, externalID)
}

// LockOwner locks the customer of a row, who may be deleted. If they were merged into another customer while this waited for the lock, the row
// belongs to that one now. Then that one is locked and returned instead.
func (s *Store) LockOwner(ctx context.Context, u *db.Unit, account, customer, table, id string) (*Customer, error) {
	for {
		c, err := s.LockAny(ctx, u, account, customer)
		if err != nil || c.DeletedAt == nil {
			return c, err
		}
		owner, err := db.Get[string](ctx, u, `SELECT customer_id FROM `+table+` WHERE account_id = ? AND id = ?`, account, id)
		if err != nil || owner == nil || *owner == customer {
			return c, err
		}
		customer = *owner
	}
}

// whereSubscribed adds the filter of customers by whether they have an active subscription; nil does not filter.
func whereSubscribed(f *db.Filter, wanted *bool) {
	if wanted == nil {
		return
	}
	if *wanted {
		f.Listed("customers", "subscriptions", "customer_id", ActiveSubscription)
		return
	}
	f.And(`NOT EXISTS (SELECT 1 FROM subscriptions s WHERE s.account_id = customers.account_id AND s.customer_id = customers.id AND s.` + ActiveSubscription + `)`)
}

// ActiveSubscription is the SQL condition on a subscription that its customer has what they pay for. A past due one is among them, because
// there are more attempts to charge it. An index has the same condition, word for word.
const ActiveSubscription = `status IN ('trialing', 'active', 'past_due')`
