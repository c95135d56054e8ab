package checkout

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/report"
)

// Status says how far a checkout has come.
type Status string

// The states of a checkout. Completed and expired are final.
const (
	StatusOpen       Status = "open"
	StatusProcessing Status = "processing" // being paid; its stock is held
	StatusCompleted  Status = "completed"
	StatusExpired    Status = "expired"
)

var lifecycle = core.Lifecycle[Status]{
	StatusOpen:       {StatusProcessing, StatusCompleted, StatusExpired},
	StatusProcessing: {StatusOpen, StatusCompleted},
}

// PaymentStatus says whether a checkout is paid.
type PaymentStatus string

// The payment states of a checkout.
const (
	PaymentStatusUnpaid            PaymentStatus = "unpaid"
	PaymentStatusPaid              PaymentStatus = "paid"
	PaymentStatusNoPaymentRequired PaymentStatus = "no_payment_required"
)

// How long a checkout may stay open.
const (
	lifetime    = 24 * time.Hour
	minLifetime = 30 * time.Minute
	maxLifetime = 30 * 24 * time.Hour
)

// Checkout is a purchase under way. An open one counts as expired from ExpiresAt on, even if its row still says open.
type Checkout struct {
	AccountID             string                             `db:"account_id"`
	ID                    string                             `db:"id"`
	SealedSecret          []byte                             `db:"client_secret"`
	ClientSecret          string                             `db:"-"` // lets its holder see and pay this checkout and nothing else
	URL                   string                             `db:"-"` // the page for the buyer
	LineItemIDs           core.JSON[[]string]                `db:"line_item_ids"`
	CustomerID            *string                            `db:"customer_id"`
	CustomerEmail         *string                            `db:"customer_email"`
	CustomerEmailKey      *string                            `db:"customer_email_key"` // see KeyOfEmail
	EmailVerified         bool                               `db:"email_verified"`     // somebody vouches that the address is the buyer's
	CustomerName          *string                            `db:"customer_name"`
	BillingAddress        core.JSON[*core.Address]           `db:"billing_address"`
	TaxID                 core.JSON[*customer.TaxID]         `db:"tax_id"`
	DiscountID            *string                            `db:"discount_id"`
	DiscountCode          *string                            `db:"discount_code"` // the code by which the discount came, nil if it came by its id
	AllowDiscountCodes    bool                               `db:"allow_discount_codes"`
	AllowQuantityChange   bool                               `db:"allow_quantity_change"` // the buyer chooses on the page how many pieces they buy
	Currency              string                             `db:"currency"`
	SubtotalAmount        int64                              `db:"subtotal_amount"`
	DiscountAmount        int64                              `db:"discount_amount"`
	NetAmount             int64                              `db:"net_amount"`
	TaxAmount             *int64                             `db:"tax_amount"` // nil as long as the tax is not known
	TaxBreakdown          core.JSON[[]lineitem.TaxBreakdown] `db:"tax_breakdown"`
	TotalAmount           int64                              `db:"total_amount"`
	AmountDueNow          int64                              `db:"amount_due_now"`
	Status                Status                             `db:"status"`
	PaymentStatus         PaymentStatus                      `db:"payment_status"`
	PaymentMethodRequired bool                               `db:"payment_method_required"`
	LastPaymentError      core.JSON[*payment.Failure]        `db:"last_payment_error"`
	Attempts              int64                              `db:"attempts"` // attempts to pay it that were declined lately or are under way
	RetryAt               *core.Time                         `db:"retry_at"` // nobody may try to pay again before it; nil: nobody has tried
	NextAction            core.JSON[*NextAction]             `db:"next_action"`
	SuccessURL            *string                            `db:"success_url"`
	CancelURL             *string                            `db:"cancel_url"`
	ReturnURL             *string                            `db:"return_url"`
	CustomFieldData       core.JSON[map[string]string]       `db:"custom_field_data"`
	ClientReferenceID     *string                            `db:"client_reference_id"`
	ExternalCustomerID    *string                            `db:"external_customer_id"`
	Locale                *string                            `db:"locale"`
	ExpiresAt             core.Time                          `db:"expires_at"`
	CompletedAt           *core.Time                         `db:"completed_at"`
	OrderID               *string                            `db:"order_id"`
	InvoiceID             *string                            `db:"invoice_id"`
	SubscriptionID        *string                            `db:"subscription_id"` // the first subscription that it made
	Source                core.JSON[*Source]                 `db:"source"`
	TermsAcceptedAt       *core.Time                         `db:"terms_accepted_at"`
	WithdrawalWaivedAt    *core.Time                         `db:"withdrawal_waived_at"`
	NewsFor               *string                            `db:"news_for"`          // the customer.NewsKey of the address for which the buyer ticked that they want news: see WantsNews
	LegalAcceptances      core.JSON[[]LegalAcceptance]       `db:"legal_acceptances"` // of its last confirmation with accepted terms
	AdsConsent            bool                               `db:"ads_consent"`       // the buyer agreed that ad networks are told of the purchase
	AdsVisit              core.JSON[*advert.Visit]           `db:"ads_visit"`         // nil without that, and once it is completed or has expired
	Metadata              core.Metadata                      `db:"metadata"`
	EventSeq              int64                              `db:"event_seq"`
	CreatedAt             core.Time                          `db:"created_at"`
	UpdatedAt             core.Time                          `db:"updated_at"`
}

// Source says where a buyer came from.
type Source struct {
	CheckoutLink *string `json:"checkout_link"` // by which the buyer came; set by following it alone: see SetSource
	Referrer     *string `json:"referrer"`
	UTMSource    *string `json:"utm_source"`
	UTMMedium    *string `json:"utm_medium"`
	UTMCampaign  *string `json:"utm_campaign"`
	UTMTerm      *string `json:"utm_term"`
	UTMContent   *string `json:"utm_content"`
}

// NextAction is what the buyer has to do before a payment goes on.
type NextAction struct {
	Type string `json:"type"` // redirect
	URL  string `json:"url"`
}

// Detail is a checkout together with its lines, as its events hold them.
type Detail struct {
	Checkout *Checkout
	Items    []lineitem.Item
}

// List holds the filters of a list of checkouts. An empty one does not filter.
type List struct {
	core.Page
	core.ListFilter
	Status        Status
	PaymentStatus PaymentStatus
	Customer      string
	CustomerEmail string
	Product       string // id or slug
	Discount      string
}

// EndsUnpaid is the SQL condition that a checkout has expired, or will as it is. An index has the same expression, word for word.
const EndsUnpaid = `(status IN ('open', 'expired'))`

// Columns are those of a Checkout.
var Columns = db.ColumnsOf[Checkout]("checkouts")

// Get returns a checkout, or CodeMissing.
func (s *Store) Get(ctx context.Context, account, ref string) (*Checkout, error) {
	return s.Named(ctx, s.db, account, ref, "")
}

// ByID returns the checkouts among ids, as they are now, by their ids.
func (s *Store) ByID(ctx context.Context, account string, ids []string) (map[string]*Checkout, error) {
	return s.ByIDIn(ctx, s.db, account, ids)
}

// ByIDIn does what ByID does, where r says.
func (s *Store) ByIDIn(ctx context.Context, r db.Reader, account string, ids []string) (map[string]*Checkout, error) {
	now, err := db.BusinessNow(ctx, r, account)
	if err != nil {
		return nil, err
	}
	found, err := db.ByID(ctx, r, Columns, account, ids)
	for _, c := range found {
		if err == nil {
			err = s.present(c, now)
		}
	}
	return found, err
}

// List returns a page of checkouts, newest first, and whether there are more. A customer or product that
// does not exist is CodeMissing.
func (s *Store) List(ctx context.Context, account string, in List) ([]Checkout, bool, error) {
	var f db.Filter
	now, err := db.BusinessNow(ctx, s.db, account)
	if err != nil {
		return nil, false, err
	}
	switch in.Status {
	case StatusOpen:
		f.OrderedIfSet("status", string(in.Status))
		f.And(`expires_at > ?`, now)
	case StatusExpired:
		f.Ordered(EndsUnpaid, true)
		f.And(`(status = 'expired' OR expires_at <= ?)`, now)
	case StatusProcessing, StatusCompleted:
		f.OrderedIfSet("status", string(in.Status))
	}
	f.OrderedIfSet("payment_status", string(in.PaymentStatus))
	f.OrderedIfSet(KeyOfEmail, core.EmailKey(in.CustomerEmail))
	f.OrderedIfSet("customer_id", db.IDNamed(ctx, s.db, &f, s.rooms.Customer.Named, account, in.Customer, "customer"))
	if product := db.IDNamed(ctx, s.db, &f, s.rooms.Catalog.ProductNamed, account, in.Product, "product"); product != "" {
		f.Listed("checkouts", "line_items", "checkout_id", "product_id = ?", product)
	}
	f.OrderedIfSet("discount_id", db.IDNamed(ctx, s.db, &f, s.rooms.Discount.Named, account, in.Discount, "discount"))
	f.Made(db.Moment{Within: db.KeyLifetime})
	f.List(s.db, "checkouts", core.KindCheckout, in.ListFilter, "customer_email", "customer_name", "client_reference_id")
	list, more, err := db.Page(ctx, s.db, Columns, core.KindCheckout, account, in.Page, &f)
	for i := range list {
		if err == nil {
			err = s.present(&list[i], now)
		}
	}
	return list, more, err
}

// Create opens a checkout with the prices that its lines have now. It is CodeInvalid on line_items if something cannot be sold, and on currency
// if it is not sold in that. If the discount cannot be used, it is CodeInvalid on the field that names it. A price variant, customer or discount
// that does not exist is CodeMissing. checkout.created follows.
func (s *Store) Create(ctx context.Context, account string, draft Draft) (*Checkout, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Checkout, error) {
		c, items, err := s.open(ctx, u, account, draft)
		if err != nil {
			return nil, err
		}
		if err := s.giveSecret(ctx, u, c); err != nil {
			return nil, err
		}
		s.count(u, c, 1)
		if err := u.Insert(ctx, Columns, c); err != nil {
			return nil, err
		}
		if err := s.rooms.Lines.Insert(ctx, u, items); err != nil {
			return nil, err
		}
		return c, s.rooms.Outbox.Emit(ctx, u, outbox.NewEvent{
			Kind: outbox.EventCheckoutCreated, Account: account, Key: c.ID, Seq: c.EventSeq, Data: &Detail{c, items},
		})
	})
}

// open makes a new open checkout and its priced lines out of a draft. It stores nothing.
func (s *Store) open(ctx context.Context, r db.Reader, account string, draft Draft) (*Checkout, []lineitem.Item, error) {
	now, err := db.BusinessNow(ctx, r, account)
	if err != nil {
		return nil, nil, err
	}
	c := *draft.Checkout
	c.AccountID, c.ID = account, cmp.Or(c.ID, core.NewID(core.KindCheckout))
	c.Status, c.PaymentStatus, c.EventSeq = StatusOpen, PaymentStatusUnpaid, 1
	c.CreatedAt, c.UpdatedAt = now, now
	if c.ExpiresAt == 0 {
		c.ExpiresAt = c.CreatedAt.Add(lifetime)
	}
	lines, err := s.prepare(ctx, r, Draft{Checkout: &c, Lines: draft.Lines}, &Checkout{}, c.CreatedAt)
	if err != nil {
		return nil, nil, err
	}
	return &c, lines.items, nil
}

// Update locks an open checkout, applies change and stores it. One that is not open is CodeInvalid on status. Lines that
// come out as they are stored keep their ids, and a change that changes nothing stores nothing.
func (s *Store) Update(ctx context.Context, account, ref string, change func(*Draft)) (*Checkout, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Checkout, error) {
		c, err := s.LockWithSecret(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		if c.Status != StatusOpen {
			return nil, core.Invalid("status", fmt.Sprintf("The checkout is %s. Only an open one can be changed.", c.Status))
		}
		now, err := db.BusinessNow(ctx, u, account)
		if err != nil {
			return nil, err
		}
		before := *c
		draft := Draft{Checkout: c}
		change(&draft)
		if draft.refused != nil {
			return nil, draft.refused
		}
		lines, err := s.prepare(ctx, u, draft, &before, now)
		if err != nil || lines.isEmpty() && core.SameJSON(before, *c) {
			return c, err
		}
		c.UpdatedAt = now
		s.count(u, &before, -1) // in its currency, which may be another one now
		s.count(u, c, 1)
		if err := u.Update(ctx, Columns, c); err != nil || lines.isEmpty() {
			return c, err
		}
		return c, s.replaceLines(ctx, u, *lines, now)
	})
}

// Named reads a checkout, or returns CodeMissing on param, the field that named it; that is empty for the path.
func (s *Store) Named(ctx context.Context, r db.Reader, account, ref, param string) (*Checkout, error) {
	return s.find(ctx, r, account, ref, param)
}

// Lock does what Named does, and locks the row until the transaction ends.
func (s *Store) Lock(ctx context.Context, u *db.Unit, account, ref string) (*Checkout, error) {
	return s.find(ctx, u.Locked(), account, ref, "")
}

func (s *Store) find(ctx context.Context, r db.Reader, account, ref, param string) (*Checkout, error) {
	id, ok := core.ParseID(core.KindCheckout, ref)
	if !ok {
		return nil, core.Missing("checkout", param, ref)
	}
	c, err := db.Get[Checkout](ctx, r, Columns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read checkout: %w", err)
	}
	if c == nil {
		return nil, core.Missing("checkout", param, ref)
	}
	now, err := db.BusinessNow(ctx, r, account)
	if err != nil {
		return nil, err
	}
	return c, s.present(c, now)
}

// present completes a checkout that was read from its row. It opens the client secret, unless that was sealed with a key that is lost. It sets
// the status to expired if the checkout's time is over.
func (s *Store) present(c *Checkout, now core.Time) error {
	if s.db.Options.Sealer.Knows(c.SealedSecret) {
		secret, err := s.db.Options.Sealer.Open(c.SealedSecret, c.sealContext())
		if err != nil {
			return fmt.Errorf("checkout %s: %w", c.ID, err)
		}
		c.reveal(s, string(secret))
	}
	if c.Status == StatusOpen && c.ExpiresAt <= now {
		c.Status = StatusExpired
	}
	return nil
}

// LockWithSecret locks a checkout that is about to be changed or paid. If its client secret was sealed with a key that is lost, it gets another
// one. Its buyer may have to be led to it now. The secret before, which the buyer may have, opens it as before.
func (s *Store) LockWithSecret(ctx context.Context, u *db.Unit, account, ref string) (*Checkout, error) {
	c, err := s.Lock(ctx, u, account, ref)
	if err != nil || c.ClientSecret != "" {
		return c, err
	}
	if err := s.giveSecret(ctx, u, c); err != nil {
		return nil, fmt.Errorf("give checkout another client secret: %w", err)
	}
	_, err = u.Exec(ctx, `UPDATE checkouts SET client_secret = ? WHERE account_id = ? AND id = ?`, c.SealedSecret, c.AccountID, c.ID)
	return c, err
}

// count counts a checkout for when it was made, or with -1 takes it back from there.
func (s *Store) count(u *db.Unit, c *Checkout, times int64) {
	s.rooms.Report.Count(u, c.AccountID, c.Currency, c.CreatedAt, report.Figures{Checkouts: times})
}
