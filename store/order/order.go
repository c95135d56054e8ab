package order

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/tenant"
)

// Status says where an order stands. It follows from what of it is paid and refunded.
type Status string

// The states of an order.
const (
	StatusPending           Status = "pending"
	StatusPaid              Status = "paid"
	StatusPartiallyRefunded Status = "partially_refunded"
	StatusRefunded          Status = "refunded"
	StatusVoid              Status = "void"
)

// Lifecycle lists, for each state of an order, the states that may follow it. A refunded order may become a paid one
// again, because a refund that fails leaves the money with the order.
var Lifecycle = core.Lifecycle[Status]{
	StatusPending:           {StatusPaid, StatusVoid},
	StatusPaid:              {StatusPartiallyRefunded, StatusRefunded},
	StatusPartiallyRefunded: {StatusRefunded, StatusPaid},
	StatusRefunded:          {StatusPartiallyRefunded, StatusPaid},
}

// BillingReason says what made an order.
type BillingReason string

// The reasons for an order. The first two are sales: they are counted in a product's sales and take from its stock.
const (
	BillingReasonPurchase           BillingReason = "purchase"            // a checkout
	BillingReasonSubscriptionCreate BillingReason = "subscription_create" // the start of a subscription
	BillingReasonSubscriptionCycle  BillingReason = "subscription_cycle"  // a renewal
	BillingReasonSubscriptionUpdate BillingReason = "subscription_update" // a change of plan
	BillingReasonManual             BillingReason = "manual"              // an invoice that the seller wrote
)

// Order is a purchase, or a bill of a subscription or an invoice, once it was placed. Number counts the account's orders from 1
// without gaps.
type Order struct {
	AccountID          string                                `db:"account_id"`
	ID                 string                                `db:"id"`
	InvoiceID          *string                               `db:"invoice_id"`
	SubscriptionID     *string                               `db:"subscription_id"`
	DiscountID         *string                               `db:"discount_id"`
	Number             int64                                 `db:"number"`
	Status             Status                                `db:"status"`
	BillingReason      BillingReason                         `db:"billing_reason"`
	CustomerID         string                                `db:"customer_id"`
	CustomerEmail      *string                               `db:"customer_email"`     // as it was when the order was made
	CustomerEmailKey   *string                               `db:"customer_email_key"` // see checkout.KeyOfEmail
	CustomerVerified   bool                                  `db:"customer_verified"`  // false: only a typed address says that it is this customer's
	LineItemIDs        core.JSON[[]string]                   `db:"line_item_ids"`
	PaymentIDs         core.JSON[[]string]                   `db:"payment_ids"`
	RefundIDs          core.JSON[[]string]                   `db:"refund_ids"`
	GrantIDs           core.JSON[[]string]                   `db:"grant_ids"`            // of what its payment gave, or of what its subscription had given by then
	LegalAcceptances   core.JSON[[]checkout.LegalAcceptance] `db:"legal_acceptances"`    // by the buyer of its checkout
	WithdrawalWaivedAt *core.Time                            `db:"withdrawal_waived_at"` // by the buyer of its checkout, too
	CheckoutID         *string                               `db:"checkout_id"`
	Currency           string                                `db:"currency"`
	SubtotalAmount     int64                                 `db:"subtotal_amount"`
	DiscountAmount     int64                                 `db:"discount_amount"`
	NetAmount          int64                                 `db:"net_amount"`
	TaxAmount          int64                                 `db:"tax_amount"`
	TotalAmount        int64                                 `db:"total_amount"`
	PaidAmount         int64                                 `db:"paid_amount"`
	BalanceApplied     int64                                 `db:"balance_applied"`  // what the customer's credit paid
	BalanceTaken       int64                                 `db:"balance_taken"`    // what of that was taken off their balance: all, but of a small bill that nobody was known to owe
	RefundedAmount     int64                                 `db:"refunded_amount"`  // what went back to the payment method
	RefundedBalance    int64                                 `db:"refunded_balance"` // what went back to the customer's balance
	RefundedTaxAmount  int64                                 `db:"refunded_tax_amount"`
	CreditedAmount     int64                                 `db:"credited_amount"` // what changes of plan gave of it to the customer's balance
	RefundProvider     *string                               `db:"refund_provider"` // took PaidAmount and can give it back; nil if nobody can: it was paid out of band
	BalanceGone        bool                                  `db:"balance_gone"`    // its customer was deleted, so that what their balance paid cannot go back
	TaxBreakdown       core.JSON[[]lineitem.TaxBreakdown]    `db:"tax_breakdown"`
	BillingName        *string                               `db:"billing_name"`
	BillingAddress     core.JSON[*core.Address]              `db:"billing_address"`
	TaxID              core.JSON[*customer.TaxID]            `db:"tax_id"`
	CustomFieldData    core.JSON[map[string]string]          `db:"custom_field_data"`
	PeriodStart        *core.Time                            `db:"period_start"` // the period of a subscription that it bills, with PeriodEnd
	PeriodEnd          *core.Time                            `db:"period_end"`
	NextAttemptAt      *core.Time                            `db:"next_payment_attempt_at"`
	PaidAt             *core.Time                            `db:"paid_at"`
	VoidedAt           *core.Time                            `db:"voided_at"`
	Metadata           core.Metadata                         `db:"metadata"`
	LinkVersion        int64                                 `db:"link_version"` // the version of the addresses that open its page: raising it ends those made before
	EventSeq           int64                                 `db:"event_seq"`
	EventKey           *string                               `db:"event_key"` // the ordering key of its events, if that is not its id: see EventsBy
	CreatedAt          core.Time                             `db:"created_at"`
	UpdatedAt          core.Time                             `db:"updated_at"`
	ReceiptURL         string                                `db:"-"` // the page that shows the receipt to the buyer
}

// EventsBy returns the ordering key of the order's events: webhooks with one key go out one after another.
func (o *Order) EventsBy() string {
	if o.EventKey != nil {
		return *o.EventKey
	}
	return o.ID
}

// RefundableAmount returns how much of the order can still be refunded, to the payment method and to the customer's balance. A refund of just so
// much is not refused.
func (o *Order) RefundableAmount() int64 {
	if len(o.RefundIDs.V) >= MaxRefunds {
		return 0
	}
	applied := o.appliedLeft()
	if o.BalanceGone {
		applied = 0
	}
	return max(min(o.Returnable()+applied, o.KeptAmount()), 0)
}

// Returnable returns how much the provider can still give back to the payment method.
func (o *Order) Returnable() int64 {
	if o.RefundProvider == nil {
		return 0
	}
	return tenant.PaymentsProvider(*o.RefundProvider).Takes(o.ChargedLeft(), o.Currency)
}

// GivenBack returns what is refunded of the order, wherever it went.
func (o *Order) GivenBack() int64 { return o.RefundedAmount + o.RefundedBalance }

// ChargedLeft returns what is left of what was charged, or paid out of band: no more than was neither refunded nor credited.
func (o *Order) ChargedLeft() int64 {
	return max(min(o.PaidAmount-o.RefundedAmount, o.KeptAmount()), 0)
}

// appliedLeft is chargedLeft of what the customer's balance paid.
func (o *Order) appliedLeft() int64 {
	return max(min(o.TakenAmount()-o.PaidAmount-o.RefundedBalance, o.KeptAmount()), 0)
}

// KeptAmount returns what was paid for the order, however it was paid, and was neither refunded nor credited.
func (o *Order) KeptAmount() int64 { return o.TakenAmount() - o.GivenBack() - o.CreditedAmount }

// TakenAmount returns what was paid for the order, through a provider, out of band and from the customer's balance. Of a balance it is no more
// than was really taken.
func (o *Order) TakenAmount() int64 {
	if o.PaidAt == nil || o.Status == StatusVoid {
		return o.PaidAmount
	}
	return o.PaidAmount + o.BalanceTaken
}

// DueAmount returns what is still to be paid of the order; nothing if it is void.
func (o *Order) DueAmount() int64 {
	if o.Status == StatusVoid {
		return 0
	}
	return o.TotalAmount - o.PaidAmount - o.BalanceApplied
}

// Detail is an order with the objects that its events show in full. Customer is nil if they were deleted.
type Detail struct {
	Order    *Order
	Items    []lineitem.Item
	Customer *customer.Customer
}

// List holds the filters of a list of orders. An empty one does not filter.
type List struct {
	core.Page
	core.ListFilter
	Status        Status
	BillingReason BillingReason
	Customer      string
	CustomerEmail string
	Product       string // id or slug
	PriceVariant  string
	Checkout      string
	Subscription  string
	Discount      string
	Number        *int64
	PaidAfter     *core.Time // inclusive
	PaidBefore    *core.Time // exclusive
	TotalMin      *int64
	TotalMax      *int64

	IsVerified bool // leaves out those of which only a typed address says that they are the customer's
}

// Columns are those of an Order.
var Columns = db.ColumnsOf[Order]("orders")

// ofDraft is the SQL condition that an order may be of an invoice that was a draft: it has had its id since then. Indexes have the
// same condition, word for word.
const ofDraft = `checkout_id IS NULL AND subscription_id IS NULL`

// paid is when an order was paid. An index has the same condition, word for word.
var paid = db.Moment{Column: "paid_at", Within: time.Hour, Late: `(` + ofDraft + ` OR paid_at > created_at + 3600000000)`}

// Get returns an order, or CodeMissing.
func (s *Store) Get(ctx context.Context, account, ref string) (*Order, error) {
	return s.Named(ctx, s.db, account, ref, "")
}

// ByID returns those of the orders with these ids that exist, by id.
func (s *Store) ByID(ctx context.Context, account string, ids []string) (map[string]*Order, error) {
	return s.ByIDIn(ctx, s.db, account, ids)
}

// ByIDIn does what ByID does, where r says.
func (s *Store) ByIDIn(ctx context.Context, r db.Reader, account string, ids []string) (map[string]*Order, error) {
	return db.ByID(ctx, r, Columns, account, ids)
}

// List returns a page of orders, newest first, and whether there are more. A customer, product, price variant,
// checkout, subscription or discount that does not exist is CodeMissing.
func (s *Store) List(ctx context.Context, account string, in List) ([]Order, bool, error) {
	var f db.Filter
	f.OrderedIfSet("status", string(in.Status))
	f.OrderedIfSet("billing_reason", string(in.BillingReason))
	f.OrderedIfSet(checkout.KeyOfEmail, core.EmailKey(in.CustomerEmail))
	if in.Number != nil {
		f.Few("number", *in.Number)
	}
	f.Within(paid, in.PaidAfter, in.PaidBefore)
	db.Between(&f, "total_amount", in.TotalMin, "<=", in.TotalMax)
	f.Made(db.Moment{Late: ofDraft})
	if in.IsVerified {
		f.And(`customer_verified`)
	}
	f.OrderedIfSet("customer_id", db.IDNamed(ctx, s.db, &f, s.rooms.Customer.Named, account, in.Customer, "customer"))
	f.FewIfSet("checkout_id", db.IDNamed(ctx, s.db, &f, s.rooms.Checkout.Named, account, in.Checkout, "checkout"))
	f.OrderedIfSet("subscription_id", db.IDNamed(ctx, s.db, &f, s.rooms.Subscription.Named, account, in.Subscription, "subscription"))
	f.OrderedIfSet("discount_id", db.IDNamed(ctx, s.db, &f, s.rooms.Discount.Named, account, in.Discount, "discount"))
	if product := db.IDNamed(ctx, s.db, &f, s.rooms.Catalog.ProductNamed, account, in.Product, "product"); product != "" {
		f.Listed("orders", "line_items", "order_id", "product_id = ?", product)
	}
	if variant := db.IDNamed(ctx, s.db, &f, s.rooms.Catalog.PriceVariantNamed, account, in.PriceVariant, "price_variant"); variant != "" {
		f.Listed("orders", "line_items", "order_id", "price_variant_id = ?", variant)
	}
	f.List(s.db, "orders", core.KindOrder, in.ListFilter, "customer_email", "billing_name")
	return db.Page(ctx, s.db, Columns, core.KindOrder, account, in.Page, &f)
}

// mostLookedAt is how many orders of a buyer are looked through for what they bought.
const mostLookedAt = 1000

// HasBought reports whether an address or a customer has orders of any of these products, or of anything since a moment. All orders count but
// those that are void. Whoever has more than 1,000 orders is taken to have.
func (s *Store) HasBought(ctx context.Context, account, email, customer string, products []string, since core.Time) (bool, error) {
	condition, arg := s.db.In("product_id || ''", products) // so that no plan reads all sales of the products; quantity has SQLite take the index of the order
	for _, whose := range []struct{ column, value string }{{checkout.KeyOfEmail, core.EmailKey(email)}, {"customer_id", customer}} {
		one, err := db.Get[int](ctx, s.db, `SELECT 1 FROM orders WHERE account_id = ? AND `+whose.column+` = ? ORDER BY id LIMIT 1 OFFSET ?`, account, whose.value, mostLookedAt)
		if err == nil && one == nil {
			one, err = db.Get[int](ctx, s.db, `
			SELECT 1 FROM orders WHERE account_id = ? AND `+whose.column+` = ? AND status || '' <> 'void' AND (created_at >= ? OR EXISTS (
				SELECT 1 FROM line_items WHERE account_id = ? AND order_id = orders.id AND quantity > 0 AND `+condition+`)) LIMIT 1`,
				account, whose.value, since, account, arg)
		}
		if err != nil {
			return false, fmt.Errorf("look whether somebody has bought: %w", err)
		}
		if one != nil {
			return true, nil
		}
	}
	return false, nil
}

// Lock does what Get does, and locks the row until the transaction ends.
func (s *Store) Lock(ctx context.Context, u *db.Unit, account, ref string) (*Order, error) {
	return find(ctx, u.Locked(), account, ref, "")
}

// Named reads an order, or returns CodeMissing. Param is the parameter that named it, "" if the path did.
func (s *Store) Named(ctx context.Context, r db.Reader, account, ref, param string) (*Order, error) {
	return find(ctx, r, account, ref, param)
}

// find does what Named does, with any reader.
func find(ctx context.Context, r db.Reader, account, ref, param string) (*Order, error) {
	id, ok := core.ParseID(core.KindOrder, ref)
	if !ok {
		return nil, core.Missing("order", param, ref)
	}
	o, err := db.Get[Order](ctx, r, Columns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && o == nil {
		err = core.Missing("order", param, ref)
	}
	return o, err
}
