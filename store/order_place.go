package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/report"
)

// Every use case locks rows in the order that .github/ARCHITECTURE.md has under "The order of locks". So two of them never wait for each other.

// placePaid makes an order and an invoice that are paid from the start, and stores each once. The events order.created, invoice.created, order.paid
// and invoice.paid follow, and leads of the address are converted. A nil payment means that there was nothing to pay. The caller has counted the
// order for the customer.
func (s *Store) placePaid(ctx context.Context, u *db.Unit, b *invoice.Bill, payment *payment.Payment) error {
	if err := s.Lead.Convert(ctx, u, b.Order.AccountID, b.Order.ID, cmp.Or(b.Order.CustomerEmail, b.Customer.Email), b.Order.CreatedAt); err != nil {
		return err
	}
	if err := s.Invoice.Place(ctx, u, b); err != nil {
		return err
	}
	if err := s.pay(ctx, u, b, payment, b.Order.CreatedAt); err != nil {
		return err
	}
	return s.Invoice.StoreBill(ctx, u, b)
}

// payOrder makes a locked order and its invoice paid, counts what was paid for their customer, and stores all three. The events order.paid and
// invoice.paid follow, and leads of the address are converted. A nil payment means that there was nothing left to pay. The payment itself is stored
// by the caller.
func (s *Store) payOrder(ctx context.Context, u *db.Unit, b *invoice.Bill, payment *payment.Payment) error {
	now, err := db.BusinessNow(ctx, u, b.Order.AccountID)
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
	return s.Invoice.UpdateBill(ctx, u, b)
}

// pay sets an order and its invoice to paid, gives what was bought, counts it, has the receipt sent, and emits order.paid and invoice.paid. It returns an error if something
// would be left to pay. The caller stores the rows.
func (s *Store) pay(ctx context.Context, u *db.Unit, b *invoice.Bill, p *payment.Payment, now core.Time) error {
	o, inv := b.Order, b.Invoice
	o.Status, o.PaidAt, o.NextAttemptAt, o.UpdatedAt = order.StatusPaid, &now, nil, now
	inv.Status, inv.PaidAt, inv.NextAttemptAt, inv.UpdatedAt = invoice.StatusPaid, &now, nil, now
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
	if err := s.noteSale(ctx, u, b); err != nil {
		return err
	}
	if err := s.Invoice.EmitOrder(ctx, u, outbox.EventOrderPaid, b); err != nil {
		return err
	}
	return s.Invoice.EmitInvoice(ctx, u, outbox.EventInvoicePaid, b)
}

// countPaid counts an order that has just been paid.
func (s *Store) countPaid(u *db.Unit, o *order.Order) {
	f := report.Figures{Revenue: o.TotalAmount, NetRevenue: o.NetAmount, Orders: 1}
	if o.BillingReason == order.BillingReasonSubscriptionCycle {
		f.Renewed = 1
	}
	s.Report.Count(u, o.AccountID, o.Currency, *o.PaidAt, f)
}
