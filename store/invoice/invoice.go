package invoice

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
)

// Status says how far an invoice has come.
type Status string

// The states of an invoice. Paid and void are final.
const (
	StatusDraft         Status = "draft" // it has no number and no order yet
	StatusOpen          Status = "open"
	StatusPastDue       Status = "past_due"
	StatusPaid          Status = "paid"
	StatusVoid          Status = "void"
	StatusUncollectible Status = "uncollectible"
)

// Lifecycle lists, for each state of an invoice, the states that may follow it.
var Lifecycle = core.Lifecycle[Status]{
	StatusDraft:         {StatusOpen},
	StatusOpen:          {StatusPastDue, StatusPaid, StatusVoid, StatusUncollectible},
	StatusPastDue:       {StatusPaid, StatusVoid, StatusUncollectible},
	StatusUncollectible: {StatusVoid},
}

// CollectionMethod says how an invoice is paid.
type CollectionMethod string

// The ways to collect.
const (
	CollectionMethodChargeAutomatically CollectionMethod = "charge_automatically" // from the customer's payment method
	CollectionMethodSendInvoice         CollectionMethod = "send_invoice"         // the customer pays it by hand, until due_at
)

// Invoice asks a customer to pay for one order. A draft has no order and no number yet. Once it is issued, Sequence and Number
// count the account's invoices without gaps, and what it says of its customer is a snapshot.
type Invoice struct {
	AccountID        string                             `db:"account_id"`
	ID               string                             `db:"id"`
	OrderKey         string                             `db:"order_key"` // the id of its order; of a draft, the ordering key of its events
	OrderID          *string                            `db:"order_id"`
	Sequence         *int64                             `db:"sequence"`
	Number           *string                            `db:"number"`
	Status           Status                             `db:"status"`
	CollectionMethod CollectionMethod                   `db:"collection_method"`
	BillingReason    order.BillingReason                `db:"billing_reason"`
	CustomerID       string                             `db:"customer_id"`
	CustomerEmail    *string                            `db:"customer_email"`
	CustomerName     *string                            `db:"customer_name"`
	CustomerAddress  core.JSON[*core.Address]           `db:"customer_address"`
	CustomerTaxID    core.JSON[*customer.TaxID]         `db:"customer_tax_id"`
	SubscriptionID   *string                            `db:"subscription_id"`
	DiscountID       *string                            `db:"discount_id"`
	LineItemIDs      core.JSON[[]string]                `db:"line_item_ids"`
	Currency         string                             `db:"currency"`
	SubtotalAmount   int64                              `db:"subtotal_amount"`
	DiscountAmount   int64                              `db:"discount_amount"`
	NetAmount        int64                              `db:"net_amount"`
	TaxAmount        int64                              `db:"tax_amount"`
	TotalAmount      int64                              `db:"total_amount"`
	AmountPaid       int64                              `db:"amount_paid"`
	BalanceApplied   int64                              `db:"balance_applied"`
	CreditNotes      int64                              `db:"credit_notes"`     // how much refunds of its order gave back to the payment method
	RefundedBalance  int64                              `db:"refunded_balance"` // and to the customer's balance
	PaymentIDs       core.JSON[[]string]                `db:"payment_ids"`      // of its order, like RefundIDs
	RefundIDs        core.JSON[[]string]                `db:"refund_ids"`
	TaxBreakdown     core.JSON[[]lineitem.TaxBreakdown] `db:"tax_breakdown"`
	PeriodStart      *core.Time                         `db:"period_start"`
	PeriodEnd        *core.Time                         `db:"period_end"`
	AttemptCount     int64                              `db:"attempt_count"`
	NextAttemptAt    *core.Time                         `db:"next_payment_attempt_at"`
	DueAt            *core.Time                         `db:"due_at"`
	FinalizedAt      *core.Time                         `db:"finalized_at"`
	PaidAt           *core.Time                         `db:"paid_at"`
	PastDueAt        *core.Time                         `db:"past_due_at"`
	UncollectibleAt  *core.Time                         `db:"uncollectible_at"`
	VoidedAt         *core.Time                         `db:"voided_at"`
	VoidReason       *string                            `db:"void_reason"`
	PaidOutOfBand    bool                               `db:"paid_out_of_band"`
	Memo             *string                            `db:"memo"`
	Footer           *string                            `db:"footer"`
	Metadata         core.Metadata                      `db:"metadata"`
	LinkVersion      int64                              `db:"link_version"` // only addresses of this version open its page
	EventSeq         int64                              `db:"event_seq"`    // counts the draft's events; once it is issued the order counts
	CreatedAt        core.Time                          `db:"created_at"`
	UpdatedAt        core.Time                          `db:"updated_at"`
	HostedURL        string                             `db:"-"` // the page for the customer, which a draft does not have yet
}

// AmountDue returns how much of the invoice is still to be paid, in the currency's minor unit. Of a void one that is nothing.
func (i *Invoice) AmountDue() int64 {
	if i.Status == StatusVoid {
		return 0
	}
	return i.TotalAmount - i.AmountPaid - i.BalanceApplied
}

// Detail is an invoice together with its lines and its customer, as its events hold them.
type Detail struct {
	Invoice  *Invoice
	Items    []lineitem.Item
	Customer *customer.Customer
}

// List holds the filters of a list of invoices. An empty one does not filter.
type List struct {
	core.Page
	core.ListFilter
	Status           Status
	CollectionMethod CollectionMethod
	BillingReason    order.BillingReason
	Customer         string
	Order            string
	Subscription     string
	Number           string
	DueAfter         *core.Time // inclusive
	DueBefore        *core.Time // exclusive

	IsVerified bool // leaves out those of purchases by somebody who only typed the customer's address
}

// Columns are those of an Invoice.
var Columns = db.ColumnsOf[Invoice]("invoices")

// due is when an invoice is due. An index has the same condition, word for word.
var due = db.Moment{Column: "due_at", Within: time.Hour, Late: `due_at > created_at + 3600000000`}

// Get returns an invoice, or CodeMissing.
func (s *Store) Get(ctx context.Context, account, ref string) (*Invoice, error) {
	return s.GetIn(ctx, s.db, account, ref)
}

// GetIn does what Get does, where r says.
func (s *Store) GetIn(ctx context.Context, r db.Reader, account, ref string) (*Invoice, error) {
	return find(ctx, r, account, ref)
}

// ByID returns the invoices among ids.
func (s *Store) ByID(ctx context.Context, account string, ids []string) (map[string]*Invoice, error) {
	return db.ByID(ctx, s.db, Columns, account, ids)
}

// Lines returns the lines of an invoice in their order. Once it is issued they are the lines of its order too.
func (s *Store) Lines(ctx context.Context, account, invoice string) ([]lineitem.Item, error) {
	return s.linesIn(ctx, s.db, account, invoice)
}

// linesIn does what Lines does, where r says.
func (s *Store) linesIn(ctx context.Context, r db.Reader, account, invoice string) ([]lineitem.Item, error) {
	return db.Select[lineitem.Item](ctx, r, lineitem.Columns.SelectSQL+` WHERE account_id = ? AND invoice_id = ? ORDER BY position`, account, invoice)
}

// List returns a page of invoices, newest first, and whether there are more. A customer, order or
// subscription that does not exist is CodeMissing.
func (s *Store) List(ctx context.Context, account string, in List) ([]Invoice, bool, error) {
	var f db.Filter
	f.OrderedIfSet("status", string(in.Status))
	f.OrderedIfSet("collection_method", string(in.CollectionMethod))
	f.OrderedIfSet("billing_reason", string(in.BillingReason))
	whereNumber(&f, in.Number)
	if in.IsVerified {
		f.And(`NOT EXISTS (SELECT 1 FROM orders o WHERE o.account_id = invoices.account_id AND o.id = invoices.order_id AND NOT o.customer_verified)`)
	}
	f.Within(due, in.DueAfter, in.DueBefore)
	f.OrderedIfSet("customer_id", db.IDNamed(ctx, s.db, &f, s.rooms.Customer.Named, account, in.Customer, "customer"))
	f.FewIfSet("order_key", db.IDNamed(ctx, s.db, &f, s.rooms.Order.Named, account, in.Order, "order"))
	f.OrderedIfSet("subscription_id", db.IDNamed(ctx, s.db, &f, s.rooms.Subscription.Named, account, in.Subscription, "subscription"))
	f.List(s.db, "invoices", core.KindInvoice, in.ListFilter, "number", "customer_email", "customer_name")
	return db.Page(ctx, s.db, Columns, core.KindInvoice, account, in.Page, &f)
}

// whereNumber adds the filter by number; "" does not filter. A number ends with its sequence, by which it is found.
func whereNumber(f *db.Filter, number string) {
	if number == "" {
		return
	}
	sequence, err := strconv.ParseInt(number[strings.LastIndexByte(number, '-')+1:], 10, 64)
	if err != nil {
		sequence = 0 // no invoice has it
	}
	f.Few("sequence", sequence)
	f.And("number = ?", number)
}

// ListLines returns a page of the lines of an invoice, the last one first, and whether there are more.
func (s *Store) ListLines(ctx context.Context, account, ref string, in core.Page) ([]lineitem.Item, bool, error) {
	i, err := s.Get(ctx, account, ref)
	if err != nil {
		return nil, false, err
	}
	var f db.Filter
	f.Few("invoice_id", i.ID)
	return db.Page(ctx, s.db, lineitem.Columns, core.KindLineItem, account, in, &f)
}

// VoidReasonRequested is the reason of an invoice that the seller made void.
const VoidReasonRequested = "requested"

// issue opens the invoice and copies into it what its new order says. Metadata of its own stays.
func (i *Invoice) issue(o *order.Order) {
	i.AccountID, i.OrderID, i.Status, i.BillingReason = o.AccountID, &o.ID, StatusOpen, o.BillingReason
	i.CustomerID, i.CustomerEmail, i.CustomerName = o.CustomerID, o.CustomerEmail, o.BillingName
	i.CustomerAddress, i.CustomerTaxID = o.BillingAddress, o.TaxID
	i.SubscriptionID, i.DiscountID, i.LineItemIDs, i.Currency = o.SubscriptionID, o.DiscountID, o.LineItemIDs, o.Currency
	i.SubtotalAmount, i.DiscountAmount, i.NetAmount, i.TaxAmount = o.SubtotalAmount, o.DiscountAmount, o.NetAmount, o.TaxAmount
	i.TotalAmount, i.BalanceApplied, i.TaxBreakdown = o.TotalAmount, o.BalanceApplied, o.TaxBreakdown
	i.PeriodStart, i.PeriodEnd, i.NextAttemptAt = o.PeriodStart, o.PeriodEnd, o.NextAttemptAt
	i.FinalizedAt, i.UpdatedAt = &o.CreatedAt, o.CreatedAt
	if i.Metadata == "" {
		i.Metadata = o.Metadata
	}
}

// Lock does what Get does, and locks the row until the transaction ends.
func (s *Store) Lock(ctx context.Context, u *db.Unit, account, ref string) (*Invoice, error) {
	return find(ctx, u.Locked(), account, ref)
}

// find reads an invoice, or returns CodeMissing.
func find(ctx context.Context, r db.Reader, account, ref string) (*Invoice, error) {
	id, ok := core.ParseID(core.KindInvoice, ref)
	if !ok {
		return nil, core.Missing("invoice", "", ref)
	}
	i, err := db.Get[Invoice](ctx, r, Columns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err != nil {
		return nil, fmt.Errorf("read invoice: %w", err)
	}
	if i == nil {
		return nil, core.Missing("invoice", "", ref)
	}
	return i, nil
}
