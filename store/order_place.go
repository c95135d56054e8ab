package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/pricing"
)

// Rows are locked in one order by every use case, which leaves out those that it does not need: checkout or
// subscription, payment, customer, invoice, order, checkout link, discount, counters, products by id, price variants by id, payment guards.

// bill is an order with its invoice, and what their events inline. All their events have one ordering key, the
// order's id, and one count: the order's. Order is nil while the invoice is a draft.
type bill struct {
	Order    *Order
	Invoice  *Invoice
	Items    []LineItem
	Customer *Customer
}

func (b *bill) order() *Order {
	if b == nil {
		return nil
	}
	return b.Order
}

func (b *bill) invoice() *Invoice {
	if b == nil {
		return nil
	}
	return b.Invoice
}

// placement is what an order is made of. Order says whose it is and why: ids, number, status and amounts are filled in.
// Items have their amounts; they are copied, unless they are those of a draft. Customer is locked. Invoice holds the
// terms, and is the draft if there is one; nil stands for an invoice that is charged at once.
type placement struct {
	Order    *Order
	Items    []LineItem
	Customer *Customer
	Invoice  *Invoice
}

// placeOrder makes a pending order and its open invoice: order.created follows, and invoice.created unless a draft had
// it. They count for the customer. With nothing due, the caller pays it at once.
func (u *unit) placeOrder(ctx context.Context, p placement) (*bill, error) {
	now, err := u.store.db.BusinessNow(ctx, p.Order.AccountID)
	if err != nil {
		return nil, err
	}
	b, err := newBill(p, now)
	if err != nil {
		return nil, err
	}
	b.Customer.ordered(b.Order.CreatedAt)
	if err := u.Update(ctx, customerColumns, b.Customer); err != nil {
		return nil, err
	}
	if err := u.place(ctx, b); err != nil {
		return nil, err
	}
	return b, u.storeBill(ctx, b)
}

// placePaid makes an order and an invoice that are paid already, and whose customer has been counted: order.created,
// invoice.created, order.paid and invoice.paid follow, and each row is written once. Without a payment there was
// nothing to pay.
func (u *unit) placePaid(ctx context.Context, b *bill, payment *Payment) error {
	if err := u.place(ctx, b); err != nil {
		return err
	}
	if err := u.pay(ctx, b, payment, b.Order.CreatedAt); err != nil {
		return err
	}
	return u.storeBill(ctx, b)
}

// payOrder pays a locked order and its invoice, and counts what was paid for the customer: order.paid and invoice.paid
// follow. Without a payment there was nothing left to pay. The payment is stored by the caller.
func (u *unit) payOrder(ctx context.Context, b *bill, payment *Payment) error {
	now, err := u.store.db.BusinessNow(ctx, b.Order.AccountID)
	if err != nil {
		return err
	}
	b.Customer.Type = CustomerTypeCustomer
	if payment != nil && payment.Amount > 0 {
		b.Customer.spend(payment.Currency, payment.Amount, now)
	}
	b.Customer.UpdatedAt = now
	if err := u.Update(ctx, customerColumns, b.Customer); err != nil {
		return err
	}
	if err := u.pay(ctx, b, payment, now); err != nil {
		return err
	}
	return u.updateBill(ctx, b)
}

// newBill fills in the ids, the states and the sums.
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
		items[i].belongTo(o, isDraft)
	}
	if err := o.sum(items); err != nil {
		return nil, err
	}
	inv.issue(o)
	return &bill{o, inv, items, p.Customer}, nil
}

// belongTo makes a line the order's: a line of a draft as it is, another one as a copy of its own.
func (l *LineItem) belongTo(o *Order, isDraft bool) {
	l.OrderID, l.UpdatedAt = &o.ID, o.CreatedAt
	if !isDraft {
		l.AccountID, l.ID, l.CheckoutID, l.InvoiceID, l.CreatedAt = o.AccountID, core.NewID(core.KindLineItem), nil, o.InvoiceID, o.CreatedAt
	}
}

// sum makes the order's figures those of its lines, which are bounded together: see MaxAmount.
func (o *Order) sum(items []LineItem) error {
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
	breakdown, err := taxBreakdown(items)
	o.LineItemIDs, o.TaxBreakdown = core.JSONOf(ids), core.JSONOf(breakdown)
	return err
}

// taxBreakdown adds up the tax of the lines by its rate.
func taxBreakdown(items []LineItem) ([]TaxBreakdown, error) {
	taxes, amounts := make([]pricing.Tax, len(items)), make([]pricing.Amounts, len(items))
	for i, item := range items {
		taxes[i] = item.tax()
		amounts[i] = pricing.Amounts{Net: item.NetAmount, Tax: item.TaxAmount}
	}
	totals, err := pricing.Breakdown(taxes, amounts)
	if err != nil {
		return nil, fmt.Errorf("add up taxes: %w", err)
	}
	breakdown := make([]TaxBreakdown, len(totals))
	for i, t := range totals {
		breakdown[i] = TaxBreakdown{Name: t.Name, RateBps: t.Bps, Inclusive: t.Inclusive, TaxableAmount: t.Taxable, TaxAmount: t.Amount}
	}
	return breakdown, nil
}

// place stores the lines, gives the numbers and tells of the order and the invoice, whose rows the caller stores.
func (u *unit) place(ctx context.Context, b *bill) error {
	isDraft := b.Invoice.EventSeq > 0
	if err := u.placeLines(ctx, b, isDraft); err != nil {
		return err
	}
	if _, err := u.subscribersOf(ctx, b.Order.AccountID); err != nil { // before the numbers, for which others wait
		return err
	}
	if err := u.number(ctx, b); err != nil {
		return err
	}
	if err := u.emitOrder(ctx, EventOrderCreated, b); err != nil || isDraft {
		return err
	}
	return u.emitInvoice(ctx, EventInvoiceCreated, b)
}

func (u *unit) placeLines(ctx context.Context, b *bill, isDraft bool) error {
	if !isDraft {
		return u.insertLines(ctx, b.Items)
	}
	_, err := u.Exec(ctx, `UPDATE line_items SET order_id = ?, updated_at = ? WHERE account_id = ? AND invoice_id = ?`,
		b.Order.ID, b.Order.CreatedAt, b.Order.AccountID, b.Invoice.ID)
	if err != nil {
		return fmt.Errorf("give lines to order: %w", err)
	}
	return nil
}

// number gives the next numbers of the account to an order and its invoice. Both sequences stay locked until the
// transaction ends, so that no number is ever left out.
func (u *unit) number(ctx context.Context, b *bill) error {
	counted, err := db.Select[struct {
		Name   string `db:"name"`
		Value  int64  `db:"value"`
		Prefix string `db:"prefix"`
	}](ctx, u.store.db, `
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

// pay makes both paid and tells of it. The rows are stored by the caller.
func (u *unit) pay(ctx context.Context, b *bill, payment *Payment, now core.Time) error {
	o, inv := b.Order, b.Invoice
	o.Status, o.PaidAt, o.NextAttemptAt, o.UpdatedAt = OrderStatusPaid, &now, nil, now
	inv.Status, inv.PaidAt, inv.NextAttemptAt, inv.UpdatedAt = InvoiceStatusPaid, &now, nil, now
	if payment != nil && payment.Amount > 0 {
		o.PaidAmount, o.PaymentIDs = payment.Amount, core.JSONOf(append(slices.Clone(o.PaymentIDs.V), payment.ID))
		inv.AmountPaid, inv.PaymentIDs = payment.Amount, o.PaymentIDs
		inv.AttemptCount++
	}
	if o.DueAmount() != 0 {
		return fmt.Errorf("order %s: %d would be left to pay", o.ID, o.DueAmount())
	}
	if err := u.emitOrder(ctx, EventOrderPaid, b); err != nil {
		return err
	}
	return u.emitInvoice(ctx, EventInvoicePaid, b)
}

// storeBill stores what is new of a bill.
func (u *unit) storeBill(ctx context.Context, b *bill) error {
	if err := u.Insert(ctx, orderColumns, b.Order); err != nil {
		return err
	}
	if b.Invoice.EventSeq > 0 {
		return u.Update(ctx, invoiceColumns, b.Invoice)
	}
	return u.Insert(ctx, invoiceColumns, b.Invoice)
}

func (u *unit) updateBill(ctx context.Context, b *bill) error {
	if err := u.Update(ctx, invoiceColumns, b.Invoice); err != nil {
		return err
	}
	return u.Update(ctx, orderColumns, b.Order)
}

// lockBill locks the customer of an invoice, the invoice and its order, and reads its lines.
func (u *unit) lockBill(ctx context.Context, account, ref string) (*bill, error) {
	s := u.store
	found, err := s.findInvoice(ctx, account, ref, "", "")
	if err != nil {
		return nil, err
	}
	var b bill
	// Whoever paid may have been made anonymous since.
	if b.Customer, err = u.lockOwner(ctx, account, found.CustomerID, "invoices", found.ID); err != nil {
		return nil, err
	}
	if b.Invoice, err = s.findInvoice(ctx, account, found.ID, "", u.Lock()); err != nil {
		return nil, err
	}
	if b.Invoice.OrderID != nil {
		if b.Order, err = s.findOrder(ctx, account, *b.Invoice.OrderID, u.Lock()); err != nil {
			return nil, err
		}
	}
	b.Items, err = s.InvoiceLines(ctx, account, b.Invoice.ID)
	return &b, err
}

func (u *unit) emitOrder(ctx context.Context, kind string, b *bill) error {
	o := b.Order
	o.EventSeq++
	return u.emit(ctx, event{kind, o.AccountID, o.ID, o.EventSeq, &OrderDetail{o, b.Items, b.Customer}})
}

// emitInvoice counts on the order, and on the draft as long as there is none.
func (u *unit) emitInvoice(ctx context.Context, kind string, b *bill) error {
	inv, seq := b.Invoice, &b.Invoice.EventSeq
	if b.Order != nil {
		seq = &b.Order.EventSeq
	}
	*seq++
	return u.emit(ctx, event{kind, inv.AccountID, inv.OrderKey, *seq, &InvoiceDetail{inv, b.Items, b.Customer}})
}
