package invoice

import (
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/tenant"
)

// Bill is an order with its invoice, and what their events show in full. All their events have one ordering key, which the draft
// had before them, and are counted by one sequence, the order's. Order is nil while the invoice is a draft.
type Bill struct {
	Order    *order.Order
	Invoice  *Invoice
	Items    []lineitem.Item
	Customer *customer.Customer

	// NotTold says that the seller's team is told of no sale by itself. It is known of a bill that this transaction has numbered.
	NotTold bool
}

// Placement is what an order is made from. Order says whose it is and why: NewBill fills in its ids, state and amounts, and
// place its number. Items have their amounts; they are copied, unless they are the lines of a draft. Customer is locked.
// Invoice holds the terms of payment, and is the draft if there is one; nil stands for an invoice that is charged at once.
type Placement struct {
	Order    *order.Order
	Items    []lineitem.Item
	Customer *customer.Customer
	Invoice  *Invoice
}

// PlaceOrder makes a pending order and its open invoice, and stores both: order.created follows, and invoice.created unless a
// draft had it already. The order is counted for the customer, who is locked, and its BalanceTaken is taken off their balance. If nothing is due the caller has to pay it at
// once.
func (s *Store) PlaceOrder(ctx context.Context, u *db.Unit, p Placement) (*Bill, error) {
	now, err := db.BusinessNow(ctx, u, p.Order.AccountID)
	if err != nil {
		return nil, err
	}
	b, err := NewBill(p, now)
	if err != nil {
		return nil, err
	}
	if err := s.rooms.Customer.MoveOrderBalance(ctx, u, b.Customer, b.Order.ID, b.Order.Currency, -b.Order.BalanceTaken, customer.BalanceReasonApplied, now); err != nil {
		return nil, err
	}
	b.Customer.Ordered(b.Order.CreatedAt)
	if err := u.Update(ctx, customer.Columns, b.Customer); err != nil {
		return nil, err
	}
	if err := s.Place(ctx, u, b); err != nil {
		return nil, err
	}
	return b, s.StoreBill(ctx, u, b)
}

// NewBill makes the order and the invoice of a placement in memory. It fills in their ids, states and sums, and gives the lines to them. They
// have no numbers yet: Place gives those.
func NewBill(p Placement, now core.Time) (*Bill, error) {
	o, inv := p.Order, p.Invoice
	if inv == nil {
		inv = &Invoice{CollectionMethod: CollectionMethodChargeAutomatically, DueAt: &now}
	}
	isDraft := inv.ID != ""
	if !isDraft {
		inv.ID, inv.OrderKey, inv.CreatedAt = core.NewID(core.KindInvoice), core.NewID(core.KindOrder), now
	} else { // the order is as old as its id says
		o.EventKey, inv.OrderKey = new(inv.OrderKey), core.NewID(core.KindOrder)
	}
	o.ID, o.InvoiceID, o.CustomerID = inv.OrderKey, &inv.ID, p.Customer.ID
	o.Status, o.EventSeq, o.CreatedAt, o.UpdatedAt = order.StatusPending, inv.EventSeq, now, now
	items := p.Items
	if !isDraft {
		items = slices.Clone(p.Items)
	}
	for i := range items {
		o.Own(&items[i], isDraft)
	}
	if err := o.Sum(items); err != nil {
		return nil, err
	}
	inv.issue(o)
	return &Bill{Order: o, Invoice: inv, Items: items, Customer: p.Customer}, nil
}

// Place stores the lines of a bill, and gives the order and the invoice their numbers. It emits order.created, and invoice.created unless the
// invoice was a draft. The rows of the order and the invoice are stored by the caller.
func (s *Store) Place(ctx context.Context, u *db.Unit, b *Bill) error {
	isDraft := b.Invoice.EventSeq > 0
	if err := s.placeLines(ctx, u, b, isDraft); err != nil {
		return err
	}
	if err := s.rooms.Outbox.ReadSubscribers(ctx, u, b.Order.AccountID); err != nil { // before the numbers, for which others wait
		return err
	}
	if err := s.NumberBill(ctx, u, b); err != nil {
		return err
	}
	if err := s.EmitOrder(ctx, u, outbox.EventOrderCreated, b); err != nil || isDraft {
		return err
	}
	return s.EmitInvoice(ctx, u, outbox.EventInvoiceCreated, b)
}

// placeLines stores the lines of a new bill. The lines of a draft are stored already: they only learn which order they belong
// to.
func (s *Store) placeLines(ctx context.Context, u *db.Unit, b *Bill, isDraft bool) error {
	if !isDraft {
		return s.rooms.Lines.Insert(ctx, u, b.Items)
	}
	_, err := u.Exec(ctx, `UPDATE line_items SET order_id = ?, updated_at = ? WHERE account_id = ? AND invoice_id = ?`,
		b.Order.ID, b.Order.CreatedAt, b.Order.AccountID, b.Invoice.ID)
	if err != nil {
		return fmt.Errorf("give lines to order: %w", err)
	}
	return nil
}

// NumberBill gives an order and its invoice the next numbers of the account. Both counters stay locked until the transaction ends:
// if it is undone so is the count, so that no number is ever left out.
func (s *Store) NumberBill(ctx context.Context, u *db.Unit, b *Bill) error {
	counted, err := db.Select[struct {
		Name   string `db:"name"`
		Value  int64  `db:"value"`
		Prefix string `db:"prefix"`
		Told   bool   `db:"told"`
	}](ctx, u, `
		INSERT INTO counters AS c (account_id, name, value) VALUES (?, 'order_number', 1), (?, 'invoice_number', 1)
		ON CONFLICT (account_id, name) DO UPDATE SET value = c.value + 1
		RETURNING name, value, (SELECT a.invoice_prefix FROM accounts a WHERE a.id = ?) AS prefix, (SELECT `+tenant.WritesOfSales+` FROM accounts a WHERE a.id = ?) AS told`,
		b.Order.AccountID, b.Order.AccountID, b.Order.AccountID, b.Order.AccountID)
	if err != nil {
		return fmt.Errorf("count orders and invoices: %w", err)
	}
	for _, c := range counted {
		b.NotTold = !c.Told
		if c.Name == "order_number" {
			b.Order.Number = c.Value
			continue
		}
		number := fmt.Sprintf("%s-%06d", c.Prefix, c.Value)
		b.Invoice.Sequence, b.Invoice.Number = &c.Value, &number
	}
	return nil
}

// StoreBill inserts the order of a bill, and inserts or updates its invoice, which is there already if it was a draft.
func (s *Store) StoreBill(ctx context.Context, u *db.Unit, b *Bill) error {
	b.Order.CustomerEmailKey = core.OddEmailKey(b.Order.CustomerEmail)
	if err := u.Insert(ctx, order.Columns, b.Order); err != nil {
		return err
	}
	if b.Invoice.EventSeq > 0 {
		return u.Update(ctx, Columns, b.Invoice)
	}
	return u.Insert(ctx, Columns, b.Invoice)
}

// UpdateBill stores a locked order and its invoice.
func (s *Store) UpdateBill(ctx context.Context, u *db.Unit, b *Bill) error {
	if err := u.Update(ctx, Columns, b.Invoice); err != nil {
		return err
	}
	return u.Update(ctx, order.Columns, b.Order)
}

// LockBill locks the customer of an invoice, the invoice and its order, in this order, and returns them with the lines.
func (s *Store) LockBill(ctx context.Context, u *db.Unit, account, ref string) (*Bill, error) {
	found, err := s.GetIn(ctx, u, account, ref)
	if err != nil {
		return nil, err
	}
	var b Bill
	// The customer may have been deleted, or merged into another one, since the invoice was made.
	if b.Customer, err = s.rooms.Customer.LockOwner(ctx, u, account, found.CustomerID, "invoices", found.ID); err != nil {
		return nil, err
	}
	if b.Invoice, err = s.Lock(ctx, u, account, found.ID); err != nil {
		return nil, err
	}
	if b.Invoice.OrderID != nil {
		if b.Order, err = s.rooms.Order.Lock(ctx, u, account, *b.Invoice.OrderID); err != nil {
			return nil, err
		}
	}
	b.Items, err = s.linesIn(ctx, u, account, b.Invoice.ID)
	return &b, err
}

// EmitOrder emits an event of an order, and counts it in the order's EventSeq, which the caller stores.
func (s *Store) EmitOrder(ctx context.Context, u *db.Unit, kind string, b *Bill) error {
	o := b.Order
	o.EventSeq++
	return s.rooms.Outbox.Emit(ctx, u, outbox.NewEvent{Kind: kind, Account: o.AccountID, Key: o.EventsBy(), Seq: o.EventSeq, Data: &order.Detail{Order: o, Items: b.Items, Customer: b.Customer}})
}

// EmitInvoice emits an event of an invoice. It is counted in the order's EventSeq, or in the invoice's own as long as it is a
// draft; the caller stores that.
func (s *Store) EmitInvoice(ctx context.Context, u *db.Unit, kind string, b *Bill) error {
	inv, key, seq := b.Invoice, b.Invoice.OrderKey, &b.Invoice.EventSeq
	if b.Order != nil {
		key, seq = b.Order.EventsBy(), &b.Order.EventSeq
	}
	*seq++
	return s.rooms.Outbox.Emit(ctx, u, outbox.NewEvent{Kind: kind, Account: inv.AccountID, Key: key, Seq: *seq, Data: &Detail{inv, b.Items, b.Customer}})
}
