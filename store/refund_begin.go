package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/pricing"
	"github.com/tillwright/tillwright/store/tenant"
)

// NewRefund says what is to be refunded of an order.
type NewRefund struct {
	Order        string
	Amount       *int64 // nil: all that is left
	Reason       RefundReason
	Comment      *string
	RevokeAccess *bool // nil: true if the refund leaves nothing of an order that was a purchase
	Metadata     core.Metadata

	subscription *string // nil: the order's
}

// maxRefunds bounds the refunds of an order, because the order lists them.
const maxRefunds = 100

// BeginRefund begins to give money of a paid order back. It locks the order, takes the amount off what can be refunded, and
// commits the intent before the provider is asked: refund.created follows. A request that is sent again gets the refund of the
// first time. An order of which nothing can be refunded is CodeInvalid on order, more than is left of it on amount.
func (s *Store) BeginRefund(ctx context.Context, account string, in NewRefund) (*Refunding, error) {
	return step(ctx, s, func(ctx context.Context, u *unit) (*Refunding, error) {
		found, err := s.namedOrder(ctx, account, in.Order, "")
		if err != nil {
			return nil, err
		}
		o, err := u.lockRefunded(ctx, account, found.ID)
		if err != nil {
			return nil, err
		}
		id := core.KindRefund.Prefix() + s.db.Effect(ctx)
		begun, err := s.RefundsByID(ctx, account, []string{id})
		if err != nil {
			return nil, err
		}
		if r := begun[id]; r != nil {
			return s.refunding(ctx, r)
		}
		var p core.Problems
		in.Metadata.Check(&p)
		if err := p.Err(); err != nil {
			return nil, err
		}
		payment, err := u.refundable(ctx, o)
		if err != nil {
			return nil, err
		}
		return u.beginRefund(ctx, o, payment, id, in)
	})
}

// lockRefunded locks the rows that a refund of an order changes, its invoice and then the order, and returns the order.
func (u *unit) lockRefunded(ctx context.Context, account, id string) (*Order, error) {
	o, err := u.store.findOrder(ctx, account, id, "")
	if err != nil {
		return nil, err
	}
	if _, err := u.store.findInvoice(ctx, account, *o.InvoiceID, "", u.Lock()); err != nil {
		return nil, err
	}
	return u.store.findOrder(ctx, account, id, u.Lock())
}

// namedOrder reads the order that a field or parameter named "order" refers to. If it does not exist, that is CodeMissing on
// order.
func (s *Store) namedOrder(ctx context.Context, account, ref, lock string) (*Order, error) {
	o, err := s.findOrder(ctx, account, ref, lock)
	if missing := (*core.Error)(nil); errors.As(err, &missing) && missing.Code == core.CodeMissing {
		return nil, core.Missing("order", "order", ref)
	}
	return o, err
}

// beginRefund stores the intent to refund an order from its payment, and returns both: refund.created follows. The order and
// its invoice are locked. An amount that cannot be refunded is CodeInvalid on amount.
func (u *unit) beginRefund(ctx context.Context, o *Order, payment *Payment, id string, in NewRefund) (*Refunding, error) {
	now, err := u.store.db.BusinessNow(ctx, o.AccountID)
	if err != nil {
		return nil, err
	}
	r := &Refund{
		AccountID: o.AccountID, ID: id, OrderID: o.ID, PaymentID: payment.ID, CustomerID: o.CustomerID, SubscriptionID: cmp.Or(in.subscription, o.SubscriptionID),
		Currency: o.Currency, Status: RefundStatusPending, Reason: in.Reason, Comment: in.Comment, Provider: payment.Provider,
		Metadata: in.Metadata, CreatedAt: now, UpdatedAt: now,
	}
	if err := r.reserve(o, in); err != nil {
		return nil, err
	}
	lease, err := db.Get[core.Time](ctx, u, `SELECT `+u.store.db.NowSQL()+` + ?`, db.ProviderLease.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("read the database's clock: %w", err)
	}
	r.LeaseUntil = *lease
	if err := u.Insert(ctx, refundColumns, r); err != nil {
		return nil, err
	}
	customer, err := u.store.anyCustomer(ctx, o.AccountID, o.CustomerID, "")
	if err != nil {
		return nil, err
	}
	return &Refunding{Refund: r, Payment: payment}, u.refunded(ctx, outbox.EventRefundCreated, r, o, customer)
}

// refundable returns the payment of an order from which money can be given back. If there is none it returns CodeInvalid on
// order, with the reason.
func (u *unit) refundable(ctx context.Context, o *Order) (*Payment, error) {
	switch {
	case o.PaidAt == nil || o.Status == OrderStatusVoid:
		return nil, core.Invalid("order", fmt.Sprintf("The order is %s: only a paid order can be refunded.", o.Status))
	case len(o.RefundIDs.V) >= maxRefunds:
		return nil, core.Invalid("order", fmt.Sprintf("The order has %d refunds, and cannot have more.", maxRefunds))
	}
	payment, err := db.Get[Payment](ctx, u, paymentColumns.SelectSQL+`
		WHERE account_id = ? AND order_id = ? AND status = 'succeeded' AND amount > 0 AND provider <> ?`, o.AccountID, o.ID, providerOutOfBand)
	if err != nil || payment != nil {
		return payment, err
	}
	if o.TotalAmount == 0 {
		return nil, core.Invalid("order", "Nothing was paid for this order.")
	}
	return nil, core.Invalid("order", "No payment provider took money for this order: it was paid from the customer's balance or out of band. "+
		"Give the money back the way it came.")
}

// reserve sets the amount of a refund and the tax in it, and takes both off what can be refunded of its order. An amount that
// cannot be refunded is CodeInvalid on amount. The caller stores the order.
func (r *Refund) reserve(o *Order, in NewRefund) error {
	rest := o.RefundableAmount()
	r.Amount = rest
	if in.Amount != nil {
		r.Amount = *in.Amount
	}
	switch {
	case rest == 0:
		return core.Invalid("amount", "All of the order is refunded or credited to the customer's balance, or about to be.")
	case r.Amount < 1:
		return core.Invalid("amount", "Refund at least 1.")
	case r.Amount > rest:
		return core.Invalid("amount", fmt.Sprintf("At most %d can be refunded of this order.", rest))
	}
	err := tenant.PaymentsProvider(r.Provider).Check(r.Amount, r.Currency, "amount", "Refund an amount that ends in 0.")
	if err != nil {
		return err
	}
	if r.TaxAmount, err = o.pricing().TaxOf(r.Amount); err != nil {
		return err
	}
	o.giveBack(r.Amount, r.TaxAmount)
	o.RefundIDs = core.JSONOf(append(o.RefundIDs.V, r.ID))
	r.RevokeAccess = o.Status == OrderStatusRefunded && o.BillingReason == BillingReasonPurchase
	if in.RevokeAccess != nil {
		r.RevokeAccess = *in.RevokeAccess
	}
	return nil
}

// pricing returns the figures from which the tax in a refund of the order is computed.
func (o *Order) pricing() pricing.Refundable {
	return pricing.Refundable{Total: o.TotalAmount, Tax: o.TaxAmount, Refunded: o.RefundedAmount, RefundedTax: o.RefundedTaxAmount}
}
