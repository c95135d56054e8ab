package store

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
)

// NewRefund says what is to be refunded of an order.
type NewRefund struct {
	Order        string
	Amount       *int64 // nil: all that is left
	Reason       RefundReason
	Comment      *string
	RevokeAccess *bool // nil: true if the refund leaves nothing of an order that bills no subscription
	Metadata     core.Metadata

	subscription *string // nil: the order's
	balance      *int64  // the part that goes to the customer's balance; nil: what is over what can go to the payment method
}

// BeginRefund begins to give money of a paid order back. It locks the order, takes the amount off what can be refunded, and
// commits the intent before the provider is asked: refund.created follows. First goes back what the payment method paid, then what the
// customer's balance did. A refund to the balance alone has succeeded at once: refund.updated follows too. A request that is sent
// again gets the refund of the first time. An order of which nothing can be refunded is CodeInvalid on order, more than is left of it
// on amount.
func (s *Store) BeginRefund(ctx context.Context, account string, in NewRefund) (*Refunding, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Refunding, error) {
		found, err := s.Order.Named(ctx, u, account, in.Order, "order")
		if err != nil {
			return nil, err
		}
		customer, err := s.Customer.LockOwner(ctx, u, account, found.CustomerID, "orders", found.ID)
		if err != nil {
			return nil, err
		}
		o, err := s.lockRefunded(ctx, u, account, found.ID)
		if err != nil {
			return nil, err
		}
		id := core.KindRefund.Prefix() + s.db.Effect(ctx)
		begun, err := s.refundsByIDIn(ctx, u, account, []string{id})
		if err != nil {
			return nil, err
		}
		if r := begun[id]; r != nil {
			return s.refunding(ctx, u, r)
		}
		var p core.Problems
		in.Metadata.Check(&p)
		if err := p.Err(); err != nil {
			return nil, err
		}
		payment, err := s.refundable(ctx, u, o)
		if err != nil {
			return nil, err
		}
		return s.beginRefund(ctx, u, o, customer, payment, id, in)
	})
}

// lockRefunded locks the rows that a refund of an order changes, its invoice and then the order, and returns the order.
func (s *Store) lockRefunded(ctx context.Context, u *db.Unit, account, id string) (*order.Order, error) {
	o, err := s.Order.Named(ctx, u, account, id, "")
	if err != nil {
		return nil, err
	}
	if _, err := s.Invoice.Lock(ctx, u, account, *o.InvoiceID); err != nil {
		return nil, err
	}
	return s.Order.Lock(ctx, u, account, id)
}

// beginRefund stores the intent to refund an order from its payment, nil for none, and returns both: refund.created follows. What goes to the
// balance alone succeeds here. The customer, the order and its invoice are locked. An amount that cannot be refunded is CodeInvalid on amount.
func (s *Store) beginRefund(ctx context.Context, u *db.Unit, o *order.Order, customer *customer.Customer, payment *payment.Payment, id string, in NewRefund) (*Refunding, error) {
	now, err := db.BusinessNow(ctx, u, o.AccountID)
	if err != nil {
		return nil, err
	}
	r := &Refund{
		AccountID: o.AccountID, ID: id, OrderID: o.ID, CustomerID: o.CustomerID, SubscriptionID: cmp.Or(in.subscription, o.SubscriptionID),
		Currency: o.Currency, Status: RefundStatusPending, Reason: in.Reason, Comment: in.Comment, Provider: providerBalance,
		Metadata: in.Metadata, CreatedAt: now, UpdatedAt: now,
	}
	if payment != nil {
		r.PaymentID, r.Provider = payment.ID, payment.Provider
	}
	if err := r.reserve(o, in); err != nil {
		return nil, err
	}
	if r.ChargedAmount() == 0 {
		r.PaymentID, r.Provider, payment = "", providerBalance, nil
	}
	lease, err := u.LeaseUntil(ctx, db.ProviderLease)
	if err != nil {
		return nil, err
	}
	r.LeaseUntil = lease
	if err := u.Insert(ctx, refundColumns, r); err != nil {
		return nil, err
	}
	if err := s.refunded(ctx, u, outbox.EventRefundCreated, r, o, customer); err != nil {
		return nil, err
	}
	if r.ChargedAmount() == 0 {
		if err := s.settleRefund(ctx, u, r, o, customer, RefundResult{Status: RefundStatusSucceeded}, 0); err != nil {
			return nil, err
		}
	}
	return &Refunding{Refund: r, Payment: payment}, nil
}

// refundable returns the payment of an order from which money can be given back, nil if there is only what its customer's balance paid. If
// there is neither it returns CodeInvalid on order, with the reason.
func (s *Store) refundable(ctx context.Context, u *db.Unit, o *order.Order) (*payment.Payment, error) {
	switch {
	case o.PaidAt == nil || o.Status == order.StatusVoid:
		return nil, core.Invalid("order", fmt.Sprintf("The order is %s: only a paid order can be refunded.", o.Status))
	case len(o.RefundIDs.V) >= order.MaxRefunds:
		return nil, core.Invalid("order", fmt.Sprintf("The order has %d refunds, and cannot have more. Give the rest back without one, or to the customer's balance.", order.MaxRefunds))
	case o.TakenAmount() == 0:
		return nil, core.Invalid("order", "Nothing was paid for this order.")
	case o.RefundProvider == nil && o.RefundableAmount() == 0 && o.KeptAmount() > 0:
		return nil, core.Invalid("order", "No payment provider can give back what was paid for this order. "+o.Unreturnable())
	}
	return db.Get[payment.Payment](ctx, u, payment.Columns.SelectSQL+`
		WHERE account_id = ? AND order_id = ? AND status = 'succeeded' AND amount > 0 AND provider <> ?`, o.AccountID, o.ID, payment.ProviderOutOfBand)
}

// reserve sets the amount of a refund and the tax in it, and takes both off what can be refunded of its order. An amount that
// cannot be refunded is CodeInvalid on amount. The caller stores the order.
func (r *Refund) reserve(o *order.Order, in NewRefund) error {
	charged, rest := o.Returnable(), o.RefundableAmount()
	r.Amount = rest
	if in.Amount != nil {
		r.Amount = *in.Amount
	}
	r.BalanceAmount = max(r.Amount-charged, 0)
	if in.balance != nil {
		r.BalanceAmount = *in.balance
	}
	switch {
	case rest == 0:
		return core.Invalid("amount", cmp.Or(o.Unreturnable(), "All of the order is refunded or credited to the customer's balance, or about to be."))
	case r.Amount < 1:
		return core.Invalid("amount", "Refund at least 1.")
	case r.Amount > rest:
		return core.Invalid("amount", strings.TrimSpace(fmt.Sprintf("At most %d can be refunded of this order. %s", rest, o.Unreturnable())))
	}
	err := tenant.PaymentsProvider(r.Provider).Check(r.ChargedAmount(), r.Currency, "amount", "Refund an amount that ends in 0.")
	if err != nil {
		return err
	}
	if r.TaxAmount, err = o.Pricing().TaxOf(r.Amount); err != nil {
		return err
	}
	o.GiveBack(r.ChargedAmount(), r.BalanceAmount, r.TaxAmount)
	o.RefundIDs = core.JSONOf(append(o.RefundIDs.V, r.ID))
	r.RevokeAccess = o.Status == order.StatusRefunded && o.SubscriptionID == nil
	if in.RevokeAccess != nil {
		r.RevokeAccess = *in.RevokeAccess
	}
	return nil
}
