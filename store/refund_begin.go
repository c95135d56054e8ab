package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/payment"
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
	balance      *int64  // the part that goes to the customer's balance; nil: what is over what can go to the payment method
}

// maxRefunds bounds the refunds of an order, because the order lists them.
const maxRefunds = 100

// BeginRefund begins to give money of a paid order back. It locks the order, takes the amount off what can be refunded, and
// commits the intent before the provider is asked: refund.created follows. First goes back what the payment method paid, then what the
// customer's balance did. A refund to the balance alone has succeeded at once: refund.updated follows too. A request that is sent
// again gets the refund of the first time. An order of which nothing can be refunded is CodeInvalid on order, more than is left of it
// on amount.
func (s *Store) BeginRefund(ctx context.Context, account string, in NewRefund) (*Refunding, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Refunding, error) {
		found, err := s.namedOrder(ctx, account, in.Order)
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
		payment, err := s.refundable(ctx, u, o)
		if err != nil {
			return nil, err
		}
		return s.beginRefund(ctx, u, o, customer, payment, id, in)
	})
}

// lockRefunded locks the rows that a refund of an order changes, its invoice and then the order, and returns the order.
func (s *Store) lockRefunded(ctx context.Context, u *db.Unit, account, id string) (*Order, error) {
	o, err := s.GetOrder(ctx, account, id)
	if err != nil {
		return nil, err
	}
	if _, err := s.lockInvoice(ctx, u, account, *o.InvoiceID); err != nil {
		return nil, err
	}
	return s.lockOrder(ctx, u, account, id)
}

// namedOrder reads the order that a field or parameter named "order" refers to. If it does not exist, that is CodeMissing on
// order.
func (s *Store) namedOrder(ctx context.Context, account, ref string) (*Order, error) {
	o, err := s.GetOrder(ctx, account, ref)
	if missing := (*core.Error)(nil); errors.As(err, &missing) && missing.Code == core.CodeMissing {
		return nil, core.Missing("order", "order", ref)
	}
	return o, err
}

// beginRefund stores the intent to refund an order from its payment, nil for none, and returns both: refund.created follows. What goes to the
// balance alone succeeds here. The customer, the order and its invoice are locked. An amount that cannot be refunded is CodeInvalid on amount.
func (s *Store) beginRefund(ctx context.Context, u *db.Unit, o *Order, customer *customer.Customer, payment *payment.Payment, id string, in NewRefund) (*Refunding, error) {
	now, err := s.db.BusinessNow(ctx, o.AccountID)
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
	lease, err := db.Get[core.Time](ctx, u, `SELECT `+s.db.NowSQL()+` + ?`, db.ProviderLease.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("read the database's clock: %w", err)
	}
	r.LeaseUntil = *lease
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
func (s *Store) refundable(ctx context.Context, u *db.Unit, o *Order) (*payment.Payment, error) {
	switch {
	case o.PaidAt == nil || o.Status == OrderStatusVoid:
		return nil, core.Invalid("order", fmt.Sprintf("The order is %s: only a paid order can be refunded.", o.Status))
	case len(o.RefundIDs.V) >= maxRefunds:
		return nil, core.Invalid("order", fmt.Sprintf("The order has %d refunds, and cannot have more. Give the rest back without one, or to the customer's balance.", maxRefunds))
	case o.takenAmount() == 0:
		return nil, core.Invalid("order", "Nothing was paid for this order.")
	case o.RefundProvider == nil && o.RefundableAmount() == 0 && o.KeptAmount() > 0:
		return nil, core.Invalid("order", "No payment provider can give back what was paid for this order. "+o.unreturnable())
	}
	return db.Get[payment.Payment](ctx, u, payment.Columns.SelectSQL+`
		WHERE account_id = ? AND order_id = ? AND status = 'succeeded' AND amount > 0 AND provider <> ?`, o.AccountID, o.ID, payment.ProviderOutOfBand)
}

// unreturnable says what of the rest of an order cannot be refunded, and what to do instead. It is empty if all of it can, from whichever source.
func (o *Order) unreturnable() string {
	if o.RefundableAmount() >= o.KeptAmount() {
		return ""
	}
	var why []string
	switch charged := o.chargedLeft(); {
	case o.RefundProvider == nil && charged > 0:
		why = append(why, "What was paid out of band goes back the way it came.")
	case charged > o.returnable():
		why = append(why, tenant.PaymentsProvider(*o.RefundProvider).Refuses(charged, o.Currency)+" Give the rest back another way.")
	}
	if o.BalanceGone && o.appliedLeft() > 0 {
		why = append(why, "The customer was deleted: there is no balance to which what it paid could go back.")
	}
	return strings.Join(why, " ")
}

// reserve sets the amount of a refund and the tax in it, and takes both off what can be refunded of its order. An amount that
// cannot be refunded is CodeInvalid on amount. The caller stores the order.
func (r *Refund) reserve(o *Order, in NewRefund) error {
	charged, rest := o.returnable(), o.RefundableAmount()
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
		return core.Invalid("amount", cmp.Or(o.unreturnable(), "All of the order is refunded or credited to the customer's balance, or about to be."))
	case r.Amount < 1:
		return core.Invalid("amount", "Refund at least 1.")
	case r.Amount > rest:
		return core.Invalid("amount", strings.TrimSpace(fmt.Sprintf("At most %d can be refunded of this order. %s", rest, o.unreturnable())))
	}
	err := tenant.PaymentsProvider(r.Provider).Check(r.ChargedAmount(), r.Currency, "amount", "Refund an amount that ends in 0.")
	if err != nil {
		return err
	}
	if r.TaxAmount, err = o.pricing().TaxOf(r.Amount); err != nil {
		return err
	}
	o.giveBack(r, 1)
	o.RefundIDs = core.JSONOf(append(o.RefundIDs.V, r.ID))
	r.RevokeAccess = o.Status == OrderStatusRefunded && o.BillingReason == BillingReasonPurchase
	if in.RevokeAccess != nil {
		r.RevokeAccess = *in.RevokeAccess
	}
	return nil
}

// pricing returns the figures from which the tax in a refund of the order is computed.
func (o *Order) pricing() pricing.Refundable {
	return pricing.Refundable{Total: o.TotalAmount, Tax: o.TaxAmount, Refunded: o.GivenBack(), RefundedTax: o.RefundedTaxAmount}
}
