package store

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/discount"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/report"
	"github.com/tillwright/tillwright/store/tenant"
)

// OrderStatus says where an order stands. It follows from what of it is paid and refunded.
type OrderStatus string

// The states of an order.
const (
	OrderStatusPending           OrderStatus = "pending"
	OrderStatusPaid              OrderStatus = "paid"
	OrderStatusPartiallyRefunded OrderStatus = "partially_refunded"
	OrderStatusRefunded          OrderStatus = "refunded"
	OrderStatusVoid              OrderStatus = "void"
)

// orderLifecycle lists, for each state of an order, the states that may follow it. A refunded order may become a paid one
// again, because a refund that fails leaves the money with the order.
var orderLifecycle = core.Lifecycle[OrderStatus]{
	OrderStatusPending:           {OrderStatusPaid, OrderStatusVoid},
	OrderStatusPaid:              {OrderStatusPartiallyRefunded, OrderStatusRefunded},
	OrderStatusPartiallyRefunded: {OrderStatusRefunded, OrderStatusPaid},
	OrderStatusRefunded:          {OrderStatusPartiallyRefunded, OrderStatusPaid},
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
	AccountID          string                       `db:"account_id"`
	ID                 string                       `db:"id"`
	InvoiceID          *string                      `db:"invoice_id"`
	SubscriptionID     *string                      `db:"subscription_id"`
	DiscountID         *string                      `db:"discount_id"`
	Number             int64                        `db:"number"`
	Status             OrderStatus                  `db:"status"`
	BillingReason      BillingReason                `db:"billing_reason"`
	CustomerID         string                       `db:"customer_id"`
	CustomerEmail      *string                      `db:"customer_email"`     // as it was when the order was made
	CustomerEmailKey   *string                      `db:"customer_email_key"` // see keyOfEmail
	CustomerVerified   bool                         `db:"customer_verified"`  // false: only a typed address says that it is this customer's
	LineItemIDs        core.JSON[[]string]          `db:"line_item_ids"`
	PaymentIDs         core.JSON[[]string]          `db:"payment_ids"`
	RefundIDs          core.JSON[[]string]          `db:"refund_ids"`
	GrantIDs           core.JSON[[]string]          `db:"grant_ids"`            // of what its payment gave, or of what its subscription had given by then
	LegalAcceptances   core.JSON[[]LegalAcceptance] `db:"legal_acceptances"`    // by the buyer of its checkout
	WithdrawalWaivedAt *core.Time                   `db:"withdrawal_waived_at"` // by the buyer of its checkout, too
	CheckoutID         *string                      `db:"checkout_id"`
	Currency           string                       `db:"currency"`
	SubtotalAmount     int64                        `db:"subtotal_amount"`
	DiscountAmount     int64                        `db:"discount_amount"`
	NetAmount          int64                        `db:"net_amount"`
	TaxAmount          int64                        `db:"tax_amount"`
	TotalAmount        int64                        `db:"total_amount"`
	PaidAmount         int64                        `db:"paid_amount"`
	BalanceApplied     int64                        `db:"balance_applied"`  // what the customer's credit paid
	BalanceTaken       int64                        `db:"balance_taken"`    // what of that was taken off their balance: all, but of a small bill that nobody was known to owe
	RefundedAmount     int64                        `db:"refunded_amount"`  // what went back to the payment method
	RefundedBalance    int64                        `db:"refunded_balance"` // what went back to the customer's balance
	RefundedTaxAmount  int64                        `db:"refunded_tax_amount"`
	CreditedAmount     int64                        `db:"credited_amount"` // what changes of plan gave of it to the customer's balance
	RefundProvider     *string                      `db:"refund_provider"` // took PaidAmount and can give it back; nil if nobody can: it was paid out of band
	BalanceGone        bool                         `db:"balance_gone"`    // its customer was deleted, so that what their balance paid cannot go back
	TaxBreakdown       core.JSON[[]TaxBreakdown]    `db:"tax_breakdown"`
	BillingName        *string                      `db:"billing_name"`
	BillingAddress     core.JSON[*core.Address]     `db:"billing_address"`
	TaxID              core.JSON[*customer.TaxID]   `db:"tax_id"`
	CustomFieldData    core.JSON[map[string]string] `db:"custom_field_data"`
	PeriodStart        *core.Time                   `db:"period_start"` // the period of a subscription that it bills, with PeriodEnd
	PeriodEnd          *core.Time                   `db:"period_end"`
	NextAttemptAt      *core.Time                   `db:"next_payment_attempt_at"`
	PaidAt             *core.Time                   `db:"paid_at"`
	VoidedAt           *core.Time                   `db:"voided_at"`
	Metadata           core.Metadata                `db:"metadata"`
	LinkVersion        int64                        `db:"link_version"` // the version of the addresses that open its page: raising it ends those made before
	EventSeq           int64                        `db:"event_seq"`
	CreatedAt          core.Time                    `db:"created_at"`
	UpdatedAt          core.Time                    `db:"updated_at"`
	ReceiptURL         string                       `db:"-"` // the page that shows the receipt to the buyer
}

// TaxBreakdown is the tax that an order's lines of one rate come to.
type TaxBreakdown struct {
	Name          string `json:"name"`
	RateBps       int64  `json:"rate_bps"`
	TaxableAmount int64  `json:"taxable_amount"`
	TaxAmount     int64  `json:"tax_amount"`
	Inclusive     bool   `json:"inclusive"`
}

// RefundableAmount returns how much of the order can still be refunded, to the payment method and to the customer's balance: a refund of
// just so much is not refused.
func (o *Order) RefundableAmount() int64 {
	if len(o.RefundIDs.V) >= maxRefunds {
		return 0
	}
	applied := o.appliedLeft()
	if o.BalanceGone {
		applied = 0
	}
	return max(min(o.returnable()+applied, o.KeptAmount()), 0)
}

// returnable returns how much the provider can still give back to the payment method.
func (o *Order) returnable() int64 {
	if o.RefundProvider == nil {
		return 0
	}
	return tenant.PaymentsProvider(*o.RefundProvider).Takes(o.chargedLeft(), o.Currency)
}

// GivenBack returns what is refunded of the order, wherever it went.
func (o *Order) GivenBack() int64 { return o.RefundedAmount + o.RefundedBalance }

// chargedLeft returns what is left of what was charged, or paid out of band: no more than was neither refunded nor credited.
func (o *Order) chargedLeft() int64 {
	return max(min(o.PaidAmount-o.RefundedAmount, o.KeptAmount()), 0)
}

// appliedLeft is chargedLeft of what the customer's balance paid.
func (o *Order) appliedLeft() int64 {
	return max(min(o.takenAmount()-o.PaidAmount-o.RefundedBalance, o.KeptAmount()), 0)
}

// KeptAmount returns what was paid for the order, however it was paid, and was neither refunded nor credited.
func (o *Order) KeptAmount() int64 { return o.takenAmount() - o.GivenBack() - o.CreditedAmount }

// takenAmount returns what was paid for the order, through a provider, out of band and from the customer's balance. Of a balance it is no more
// than was really taken.
func (o *Order) takenAmount() int64 {
	if o.PaidAt == nil || o.Status == OrderStatusVoid {
		return o.PaidAmount
	}
	return o.PaidAmount + o.BalanceTaken
}

// DueAmount returns what is still to be paid of the order; nothing if it is void.
func (o *Order) DueAmount() int64 {
	if o.Status == OrderStatusVoid {
		return 0
	}
	return o.TotalAmount - o.PaidAmount - o.BalanceApplied
}

// OrderDetail is an order with the objects that its events show in full. Customer is nil if they were deleted.
type OrderDetail struct {
	Order    *Order
	Items    []lineitem.Item
	Customer *customer.Customer
}

// ListOrders holds the filters of a list of orders. An empty one does not filter.
type ListOrders struct {
	core.Page
	core.ListFilter
	Status        OrderStatus
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

var orderColumns = db.ColumnsOf[Order]("orders")

// ofDraft is the SQL condition that an order may be of an invoice that was a draft: it has had its id since then. Indexes have the
// same condition, word for word.
const ofDraft = `checkout_id IS NULL AND subscription_id IS NULL`

// orderPaid is when an order was paid. An index has the same condition, word for word.
var orderPaid = db.Moment{Column: "paid_at", Within: time.Hour, Late: `(` + ofDraft + ` OR paid_at > created_at + 3600000000)`}

// GetOrder returns an order, or CodeMissing.
func (s *Store) GetOrder(ctx context.Context, account, ref string) (*Order, error) {
	return findOrder(ctx, s.db, account, ref)
}

// OrdersByID returns those of the orders with these ids that exist, by id.
func (s *Store) OrdersByID(ctx context.Context, account string, ids []string) (map[string]*Order, error) {
	return db.ByID(ctx, s.db, orderColumns, account, ids)
}

// ListOrders returns a page of orders, newest first, and whether there are more. A customer, product, price variant,
// checkout, subscription or discount that does not exist is CodeMissing.
func (s *Store) ListOrders(ctx context.Context, account string, in ListOrders) ([]Order, bool, error) {
	var f db.Filter
	f.Is("status", string(in.Status))
	f.Is("billing_reason", string(in.BillingReason))
	f.Is(keyOfEmail, core.EmailKey(in.CustomerEmail))
	if in.Number != nil {
		f.Only("number", *in.Number)
	}
	f.Within(orderPaid, in.PaidAfter, in.PaidBefore)
	db.Between(&f, "total_amount", in.TotalMin, "<=", in.TotalMax)
	f.Made(db.Moment{Late: ofDraft})
	if in.IsVerified {
		f.And(`customer_verified`)
	}
	if err := s.orderReferences(ctx, account, in, &f); err != nil {
		return nil, false, err
	}
	f.List(s.db, "orders", core.KindOrder, in.ListFilter, "customer_email", "billing_name")
	return db.Page(ctx, s.db, orderColumns, core.KindOrder, account, in.Page, &f)
}

// OrderPatch says what to change about an order. IsVerified is nil if it stays as it is. Change sets the other fields, and leaves
// amounts and lines alone.
type OrderPatch struct {
	IsVerified *bool
	Change     func(*Order)
}

// UpdateOrder applies a patch to an order. With IsVerified it verifies the purchase as VerifyCheckout does, and what is verified stays so: to take
// it back is CodeInvalid on customer_verified. The invoice is issued when the order is made, so what it says about the buyer is a record:
// changing that is CodeInvalid on status. No event follows.
func (s *Store) UpdateOrder(ctx context.Context, account, ref string, in OrderPatch) (*Order, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Order, error) {
		if in.IsVerified != nil {
			if err := s.verifyOrder(ctx, account, ref, *in.IsVerified); err != nil {
				return nil, err
			}
		}
		o, err := s.lockOrder(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		before := *o
		in.Change(o)
		var p core.Problems
		o.Metadata.Check(&p)
		isRecord := core.SameJSON(before.BillingName, o.BillingName) && core.SameJSON(before.BillingAddress, o.BillingAddress) && core.SameJSON(before.TaxID, o.TaxID)
		p.Check(isRecord, "status", "The order's invoice is issued: what it says about the buyer cannot be changed any more, only metadata.")
		if err := p.Err(); err != nil || core.SameJSON(before, *o) {
			return o, err
		}
		if o.UpdatedAt, err = s.db.BusinessNow(ctx, account); err != nil {
			return nil, err
		}
		return o, u.Update(ctx, orderColumns, o)
	})
}

// VoidOrder voids an order that is not paid, with its invoice: invoice.voided follows. An order that is paid, or that is being
// paid, is CodeInvalid on status; one that is void is returned as it is.
func (s *Store) VoidOrder(ctx context.Context, account, ref string) (*Order, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Order, error) {
		o, err := s.GetOrder(ctx, account, ref)
		if err != nil {
			return nil, err
		}
		sub, err := s.lockBilled(ctx, u, account, *o.InvoiceID)
		if err != nil {
			return nil, err
		}
		b, err := s.lockBill(ctx, u, account, *o.InvoiceID)
		if err != nil || b.Order.Status == OrderStatusVoid {
			return b.order(), err
		}
		if err := orderLifecycle.Check("order", b.Order.Status, OrderStatusVoid); err != nil {
			return nil, err
		}
		return b.Order, s.callOff(ctx, u, sub, b)
	})
}

// orderReferences adds the filters that name another object. One that does not exist is CodeMissing.
func (s *Store) orderReferences(ctx context.Context, account string, in ListOrders, f *db.Filter) error {
	if in.Customer != "" {
		customer, err := s.Customer.Named(ctx, account, in.Customer, "customer")
		if err != nil {
			return err
		}
		f.Is("customer_id", customer.ID)
	}
	if in.Checkout != "" {
		checkout, err := s.getCheckout(ctx, account, in.Checkout, "checkout")
		if err != nil {
			return err
		}
		f.One("checkout_id", checkout.ID)
	}
	if in.Subscription != "" {
		subscription, err := s.getSubscription(ctx, account, in.Subscription, "subscription")
		if err != nil {
			return err
		}
		f.Is("subscription_id", subscription.ID)
	}
	if in.Discount != "" {
		discount, err := s.Discount.Named(ctx, account, in.Discount, "discount")
		if err != nil {
			return err
		}
		f.Is("discount_id", discount.ID)
	}
	if in.Product != "" {
		product, err := s.Catalog.ProductNamed(ctx, account, in.Product, "product")
		if err != nil {
			return err
		}
		f.Listed("orders", "line_items", "order_id", "product_id = ?", product.ID)
	}
	if in.PriceVariant != "" {
		variant, err := s.Catalog.PriceVariantNamed(ctx, account, in.PriceVariant, "price_variant")
		if err != nil {
			return err
		}
		f.Listed("orders", "line_items", "order_id", "price_variant_id = ?", variant.ID)
	}
	return nil
}

// lockOrder does what GetOrder does, and locks the row until the transaction ends.
func (s *Store) lockOrder(ctx context.Context, u *db.Unit, account, ref string) (*Order, error) {
	return findOrder(ctx, u.Locked(), account, ref)
}

// findOrder reads an order, or returns CodeMissing.
func findOrder(ctx context.Context, r db.Reader, account, ref string) (*Order, error) {
	id, ok := core.ParseID(core.KindOrder, ref)
	if !ok {
		return nil, core.Missing("order", "", ref)
	}
	o, err := db.Get[Order](ctx, r, orderColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && o == nil {
		err = core.Missing("order", "", ref)
	}
	return o, err
}

// complete makes the order of a locked checkout, together with its invoice, both paid. With a payment, that has succeeded, and
// the stock is held already. Without one there is nothing to pay and nothing is held yet, so stock that is not there any more
// is CodeInvalid on line_items. Nothing else may be refused here, because the buyer may have paid.
//
// Each recurring line makes a subscription, which is charged from now on with the method of the payment, or with method if
// there is none. The events show the order and its invoice as they become: first pending and open, then paid. The rows that
// every purchase of the account or of the product needs are locked last, so that purchases wait for each other as briefly as
// possible.
func (s *Store) complete(ctx context.Context, u *db.Unit, c *Checkout, items []lineitem.Item, payment *Payment, method *BillingMethod) error {
	pastDue, err := s.lockPastDueOf(ctx, u, c, payment)
	if err != nil {
		return err
	}
	customer, isKnown, err := s.buyer(ctx, u, c)
	if err != nil {
		return err
	}
	now, err := s.db.BusinessNow(ctx, c.AccountID)
	if err != nil {
		return err
	}
	if isKnown && payment != nil && c.keepsMethods(payment.Keyless) {
		if err := s.saveMethod(ctx, u, customer, payment, pastDue); err != nil {
			return err
		}
	}
	if payment != nil {
		method = methodOf(payment)
	}
	variants, err := s.readOffered(ctx, c.AccountID, items)
	if err != nil {
		return err
	}
	if payment == nil { // nothing was reserved, and the keys are given before the rest is
		if err := s.Lines.CheckLicenses(ctx, c.AccountID, items); err != nil {
			return err
		}
	}
	subs, lines, err := s.newSubscriptions(ctx, c, items, variants, owner{customer, isKnown}, method, now)
	if err != nil {
		return err
	}
	seller, err := s.Tenant.Seller(ctx, c.AccountID)
	if err != nil {
		return err
	}
	order := orderOf(c)
	order.CustomerVerified = isKnown
	b, err := newBill(placement{Order: order, Items: order.subscribe(subs, lines, placed(items, seller, now)), Customer: customer}, now)
	if err != nil {
		return err
	}
	if err := s.tellAds(ctx, u, c, b, isKnown, subs, lines); err != nil {
		return err
	}
	if err := s.giveSubscriptions(ctx, u, subs, lines, items); err != nil {
		return err
	}
	for i := range subs {
		b.Order.gave(subs[i].Granted.V.GrantID)
	}
	if err := s.insertSubscriptions(ctx, u, subs, b.Invoice.ID); err != nil {
		return err
	}
	if err := s.beginTrials(ctx, u, c, items, owner{customer, isKnown}, now); err != nil {
		return err
	}
	c.SubscriptionID = order.SubscriptionID
	if err := s.linkOrder(ctx, u, b, c, payment); err != nil {
		return err
	}
	if c.DiscountID != nil {
		if err := s.Discount.NoteOrder(ctx, u, discount.Order{
			AccountID: b.Order.AccountID, ID: b.Order.ID, CheckoutID: b.Order.CheckoutID, CustomerID: b.Order.CustomerID,
			Amount: b.Order.DiscountAmount, At: b.Order.CreatedAt,
		}); err != nil {
			return err
		}
	}
	if err := s.placePaid(ctx, u, b, payment); err != nil {
		return err
	}
	if payment == nil { // after those before, as in every purchase: the order in which rows are locked
		if err := s.Lines.ReserveProducts(ctx, u, c.AccountID, items); err != nil {
			return err
		}
	}
	return s.Lines.Sell(ctx, u, c.AccountID, items)
}

// orderOf returns an order with what its checkout says about it. Ids, lines and amounts are still missing.
func orderOf(c *Checkout) *Order {
	return &Order{
		AccountID: c.AccountID, BillingReason: BillingReasonPurchase, CustomerEmail: c.CustomerEmail, CheckoutID: &c.ID, Currency: c.Currency,
		DiscountID:  c.DiscountID,
		BillingName: c.CustomerName, BillingAddress: c.BillingAddress, TaxID: c.TaxID, CustomFieldData: c.CustomFieldData, LegalAcceptances: c.LegalAcceptances, WithdrawalWaivedAt: c.WithdrawalWaivedAt, Metadata: c.Metadata,
	}
}

// linkOrder makes the checkout completed, and stores in it and in its payment, if there is one, which order and invoice they
// made.
func (s *Store) linkOrder(ctx context.Context, u *db.Unit, b *bill, c *Checkout, payment *Payment) error {
	o := b.Order
	c.PaymentStatus = CheckoutPaymentStatusNoPaymentRequired
	if payment != nil {
		if payment.Amount > 0 {
			c.PaymentStatus = CheckoutPaymentStatusPaid
		}
		payment.OrderID, payment.InvoiceID, payment.CustomerID = &o.ID, &b.Invoice.ID, &o.CustomerID
		if err := u.Update(ctx, paymentColumns, payment); err != nil {
			return err
		}
	}
	before := c.Status
	c.Status, c.OrderID, c.InvoiceID, c.CustomerID = CheckoutStatusCompleted, &o.ID, &b.Invoice.ID, &o.CustomerID
	c.NextAction, c.LastPaymentError = core.JSON[*NextAction]{}, core.JSON[*PaymentFailure]{}
	c.CompletedAt, c.UpdatedAt = &o.CreatedAt, o.CreatedAt
	s.Report.Count(u, c.AccountID, c.Currency, c.CreatedAt, report.Figures{Completed: 1})
	if err := u.Update(ctx, checkoutColumns, c); err != nil {
		return err
	}
	return s.notePurchase(ctx, u, c, before)
}
