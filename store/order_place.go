package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/report"
)

// Every use case locks rows in this order, and leaves out those that it does not need, so that two of them never wait for each
// other: checkout or subscription, legal pages by id, payment, customer, invoice, order, checkout link, discount, trials, leads by id, counters,
// products by id, price variants by id, payment guards.

// bill is an order with its invoice, and what their events show in full. All their events have one ordering key, the order's
// id, and are counted by one sequence, the order's. Order is nil while the invoice is a draft.
type bill struct {
	Order    *Order
	Invoice  *Invoice
	Items    []lineitem.Item
	Customer *customer.Customer
}

// order returns the order of a bill, nil of a nil bill.
func (b *bill) order() *Order {
	if b == nil {
		return nil
	}
	return b.Order
}

// invoice returns the invoice of a bill, nil of a nil bill.
func (b *bill) invoice() *Invoice {
	if b == nil {
		return nil
	}
	return b.Invoice
}

// placement is what an order is made from. Order says whose it is and why: newBill fills in its ids, state and amounts, and
// place its number. Items have their amounts; they are copied, unless they are the lines of a draft. Customer is locked.
// Invoice holds the terms of payment, and is the draft if there is one; nil stands for an invoice that is charged at once.
type placement struct {
	Order    *Order
	Items    []lineitem.Item
	Customer *customer.Customer
	Invoice  *Invoice
}

// placeOrder makes a pending order and its open invoice, and stores both: order.created follows, and invoice.created unless a
// draft had it already. The order is counted for the customer, who is locked, and its BalanceTaken is taken off their balance. If nothing is due the caller has to pay it at
// once.
func (s *Store) placeOrder(ctx context.Context, u *db.Unit, p placement) (*bill, error) {
	now, err := s.db.BusinessNow(ctx, p.Order.AccountID)
	if err != nil {
		return nil, err
	}
	b, err := newBill(p, now)
	if err != nil {
		return nil, err
	}
	if err := s.Customer.MoveOrderBalance(ctx, u, b.Customer, b.Order.ID, b.Order.Currency, -b.Order.BalanceTaken, customer.BalanceReasonApplied, now); err != nil {
		return nil, err
	}
	b.Customer.Ordered(b.Order.CreatedAt)
	if err := u.Update(ctx, customer.Columns, b.Customer); err != nil {
		return nil, err
	}
	if err := s.place(ctx, u, b); err != nil {
		return nil, err
	}
	return b, s.storeBill(ctx, u, b)
}

// placePaid makes an order and an invoice that are paid from the start, and stores each once: order.created, invoice.created,
// order.paid and invoice.paid follow, and leads of the address are converted. A nil payment means that there was nothing to pay. The caller has counted the order for
// the customer.
func (s *Store) placePaid(ctx context.Context, u *db.Unit, b *bill, payment *payment.Payment) error {
	if err := s.Lead.Convert(ctx, u, b.Order.AccountID, b.Order.ID, cmp.Or(b.Order.CustomerEmail, b.Customer.Email), b.Order.CreatedAt); err != nil {
		return err
	}
	if err := s.place(ctx, u, b); err != nil {
		return err
	}
	if err := s.pay(ctx, u, b, payment, b.Order.CreatedAt); err != nil {
		return err
	}
	return s.storeBill(ctx, u, b)
}

// payOrder makes a locked order and its invoice paid, counts what was paid for their customer, and stores all three: order.paid
// and invoice.paid follow, and leads of the address are converted. A nil payment means that there was nothing left to pay. The payment itself is stored by the caller.
func (s *Store) payOrder(ctx context.Context, u *db.Unit, b *bill, payment *payment.Payment) error {
	now, err := s.db.BusinessNow(ctx, b.Order.AccountID)
	if err != nil {
		return err
	}
	b.Customer.Type = customer.TypeCustomer
	if payment != nil && payment.Amount > 0 {
		b.Customer.Spend(payment.Currency, payment.Amount, now)
	}
	b.Customer.UpdatedAt = now
	if err := u.Update(ctx, customer.Columns, b.Customer); err != nil {
		return err
	}
	if err := s.Lead.Convert(ctx, u, b.Order.AccountID, b.Order.ID, cmp.Or(b.Order.CustomerEmail, b.Customer.Email), now); err != nil {
		return err
	}
	if err := s.pay(ctx, u, b, payment, now); err != nil {
		return err
	}
	return s.updateBill(ctx, u, b)
}

// newBill makes the order and the invoice of a placement in memory: it fills in their ids, states and sums, and gives the lines
// to them. They have no numbers yet: place gives those.
func newBill(p placement, now core.Time) (*bill, error) {
	o, inv := p.Order, p.Invoice
	if inv == nil {
		inv = &Invoice{CollectionMethod: CollectionMethodChargeAutomatically, DueAt: &now}
	}
	isDraft := inv.ID != ""
	if !isDraft {
		inv.ID, inv.OrderKey, inv.CreatedAt = core.NewID(core.KindInvoice), core.NewID(core.KindOrder), now
	}
	o.ID, o.InvoiceID, o.CustomerID = inv.OrderKey, &inv.ID, p.Customer.ID
	o.Status, o.EventSeq, o.CreatedAt, o.UpdatedAt = OrderStatusPending, inv.EventSeq, now, now
	items := p.Items
	if !isDraft {
		items = slices.Clone(p.Items)
	}
	for i := range items {
		o.own(&items[i], isDraft)
	}
	if err := o.sum(items); err != nil {
		return nil, err
	}
	inv.issue(o)
	return &bill{o, inv, items, p.Customer}, nil
}

// own gives a line to the order. A line of a draft keeps its id; any other line, such as one of a checkout, has been
// copied and becomes a new line of the order and its invoice.
func (o *Order) own(l *lineitem.Item, isDraft bool) {
	l.OrderID, l.UpdatedAt = &o.ID, o.CreatedAt
	if !isDraft {
		l.AccountID, l.ID, l.CheckoutID, l.InvoiceID, l.CreatedAt = o.AccountID, core.NewID(core.KindLineItem), nil, o.InvoiceID, o.CreatedAt
	}
}

// sum sets the order's amounts and its tax breakdown to the sums of its lines. The lines were checked together, so the sums
// fit: see core.MaxAmount.
func (o *Order) sum(items []lineitem.Item) error {
	ids := make([]string, len(items))
	o.SubtotalAmount, o.DiscountAmount, o.NetAmount, o.TaxAmount, o.TotalAmount = 0, 0, 0, 0, 0
	for i, item := range items {
		ids[i] = item.ID
		o.SubtotalAmount += item.SubtotalAmount
		o.DiscountAmount += item.DiscountAmount
		o.NetAmount += item.NetAmount
		o.TaxAmount += item.TaxAmount
		o.TotalAmount += item.TotalAmount
	}
	breakdown, err := lineitem.Breakdown(items)
	o.LineItemIDs, o.TaxBreakdown = core.JSONOf(ids), core.JSONOf(breakdown)
	return err
}

// place stores the lines of a bill, gives the order and the invoice their numbers, and emits order.created and, unless the
// invoice was a draft, invoice.created. The rows of the order and the invoice are stored by the caller.
func (s *Store) place(ctx context.Context, u *db.Unit, b *bill) error {
	isDraft := b.Invoice.EventSeq > 0
	if err := s.placeLines(ctx, u, b, isDraft); err != nil {
		return err
	}
	if err := s.Outbox.ReadSubscribers(ctx, u, b.Order.AccountID); err != nil { // before the numbers, for which others wait
		return err
	}
	if err := s.numberBill(ctx, u, b); err != nil {
		return err
	}
	if err := s.emitOrder(ctx, u, outbox.EventOrderCreated, b); err != nil || isDraft {
		return err
	}
	return s.emitInvoice(ctx, u, outbox.EventInvoiceCreated, b)
}

// placeLines stores the lines of a new bill. The lines of a draft are stored already: they only learn which order they belong
// to.
func (s *Store) placeLines(ctx context.Context, u *db.Unit, b *bill, isDraft bool) error {
	if !isDraft {
		return s.Lines.Insert(ctx, u, b.Items)
	}
	_, err := u.Exec(ctx, `UPDATE line_items SET order_id = ?, updated_at = ? WHERE account_id = ? AND invoice_id = ?`,
		b.Order.ID, b.Order.CreatedAt, b.Order.AccountID, b.Invoice.ID)
	if err != nil {
		return fmt.Errorf("give lines to order: %w", err)
	}
	return nil
}

// numberBill gives an order and its invoice the next numbers of the account. Both counters stay locked until the transaction ends:
// if it is undone so is the count, so that no number is ever left out.
func (s *Store) numberBill(ctx context.Context, u *db.Unit, b *bill) error {
	counted, err := db.Select[struct {
		Name   string `db:"name"`
		Value  int64  `db:"value"`
		Prefix string `db:"prefix"`
	}](ctx, u, `
		INSERT INTO counters AS c (account_id, name, value) VALUES (?, 'order_number', 1), (?, 'invoice_number', 1)
		ON CONFLICT (account_id, name) DO UPDATE SET value = c.value + 1
		RETURNING name, value, (SELECT a.invoice_prefix FROM accounts a WHERE a.id = ?) AS prefix`,
		b.Order.AccountID, b.Order.AccountID, b.Order.AccountID)
	if err != nil {
		return fmt.Errorf("count orders and invoices: %w", err)
	}
	for _, c := range counted {
		if c.Name == "order_number" {
			b.Order.Number = c.Value
			continue
		}
		number := fmt.Sprintf("%s-%06d", c.Prefix, c.Value)
		b.Invoice.Sequence, b.Invoice.Number = &c.Value, &number
	}
	return nil
}

// pay sets an order and its invoice to paid, gives what was bought, counts it, has the receipt sent, and emits order.paid and invoice.paid. It returns an error if something
// would be left to pay. The caller stores the rows.
func (s *Store) pay(ctx context.Context, u *db.Unit, b *bill, p *payment.Payment, now core.Time) error {
	o, inv := b.Order, b.Invoice
	o.Status, o.PaidAt, o.NextAttemptAt, o.UpdatedAt = OrderStatusPaid, &now, nil, now
	inv.Status, inv.PaidAt, inv.NextAttemptAt, inv.UpdatedAt = InvoiceStatusPaid, &now, nil, now
	if p != nil && p.Amount > 0 {
		o.PaidAmount, o.PaymentIDs = p.Amount, core.JSONOf(append(slices.Clone(o.PaymentIDs.V), p.ID))
		if p.Provider != payment.ProviderOutOfBand {
			o.RefundProvider = &p.Provider
		}
		inv.AmountPaid, inv.PaymentIDs = p.Amount, o.PaymentIDs
		inv.AttemptCount++
	}
	if o.DueAmount() != 0 {
		return fmt.Errorf("order %s: %d would be left to pay", o.ID, o.DueAmount())
	}
	s.countPaid(u, o)
	if err := s.deliverOrder(ctx, u, b); err != nil {
		return err
	}
	if err := s.writeReceipt(ctx, u, b); err != nil {
		return err
	}
	if err := s.emitOrder(ctx, u, outbox.EventOrderPaid, b); err != nil {
		return err
	}
	return s.emitInvoice(ctx, u, outbox.EventInvoicePaid, b)
}

// storeBill inserts the order of a bill, and inserts or updates its invoice, which is there already if it was a draft.
func (s *Store) storeBill(ctx context.Context, u *db.Unit, b *bill) error {
	b.Order.CustomerEmailKey = core.OddEmailKey(b.Order.CustomerEmail)
	if err := u.Insert(ctx, orderColumns, b.Order); err != nil {
		return err
	}
	if b.Invoice.EventSeq > 0 {
		return u.Update(ctx, invoiceColumns, b.Invoice)
	}
	return u.Insert(ctx, invoiceColumns, b.Invoice)
}

// updateBill stores a locked order and its invoice.
func (s *Store) updateBill(ctx context.Context, u *db.Unit, b *bill) error {
	if err := u.Update(ctx, invoiceColumns, b.Invoice); err != nil {
		return err
	}
	return u.Update(ctx, orderColumns, b.Order)
}

// lockBill locks the customer of an invoice, the invoice and its order, in this order, and returns them with the lines.
func (s *Store) lockBill(ctx context.Context, u *db.Unit, account, ref string) (*bill, error) {
	found, err := s.GetInvoice(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	var b bill
	// The customer may have been deleted, or merged into another one, since the invoice was made.
	if b.Customer, err = s.Customer.LockOwner(ctx, u, account, found.CustomerID, "invoices", found.ID); err != nil {
		return nil, err
	}
	if b.Invoice, err = s.lockInvoice(ctx, u, account, found.ID); err != nil {
		return nil, err
	}
	if b.Invoice.OrderID != nil {
		if b.Order, err = s.lockOrder(ctx, u, account, *b.Invoice.OrderID); err != nil {
			return nil, err
		}
	}
	b.Items, err = s.InvoiceLines(ctx, account, b.Invoice.ID)
	return &b, err
}

// emitOrder emits an event of an order, and counts it in the order's EventSeq, which the caller stores.
func (s *Store) emitOrder(ctx context.Context, u *db.Unit, kind string, b *bill) error {
	o := b.Order
	o.EventSeq++
	return s.Outbox.Emit(ctx, u, outbox.NewEvent{Kind: kind, Account: o.AccountID, Key: o.ID, Seq: o.EventSeq, Data: &OrderDetail{o, b.Items, b.Customer}})
}

// emitInvoice emits an event of an invoice. It is counted in the order's EventSeq, or in the invoice's own as long as it is a
// draft; the caller stores that.
func (s *Store) emitInvoice(ctx context.Context, u *db.Unit, kind string, b *bill) error {
	inv, seq := b.Invoice, &b.Invoice.EventSeq
	if b.Order != nil {
		seq = &b.Order.EventSeq
	}
	*seq++
	return s.Outbox.Emit(ctx, u, outbox.NewEvent{Kind: kind, Account: inv.AccountID, Key: inv.OrderKey, Seq: *seq, Data: &InvoiceDetail{inv, b.Items, b.Customer}})
}

// countPaid counts an order that has just been paid.
func (s *Store) countPaid(u *db.Unit, o *Order) {
	f := report.Figures{Revenue: o.TotalAmount, NetRevenue: o.NetAmount, Orders: 1}
	if o.BillingReason == BillingReasonSubscriptionCycle {
		f.Renewed = 1
	}
	s.Report.Count(u, o.AccountID, o.Currency, *o.PaidAt, f)
}
