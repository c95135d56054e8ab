package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/pricing"
)

// RefundStatus is how far a refund is.
type RefundStatus string

// The states of a refund. What is pending or succeeded counts as given back.
const (
	RefundStatusPending   RefundStatus = "pending" // the provider was or will be asked, or takes its time
	RefundStatusSucceeded RefundStatus = "succeeded"
	RefundStatusFailed    RefundStatus = "failed"
	RefundStatusCanceled  RefundStatus = "canceled"
)

// A refund that succeeded fails when the buyer's bank sends the money back.
var refundLifecycle = lifecycle[RefundStatus]{
	RefundStatusPending:   {RefundStatusSucceeded, RefundStatusFailed, RefundStatusCanceled},
	RefundStatusSucceeded: {RefundStatusFailed},
}

// RefundReason says why money is given back.
type RefundReason string

// RefundReasonCustomerRequest is the reason when none is given.
const RefundReasonCustomerRequest RefundReason = "customer_request"

// Refund gives money of an order back, all of it or a part, tax included. Its id is the provider's idempotency token,
// minted once and kept by every retry, so that it gives back at most once.
type Refund struct {
	AccountID      string       `db:"account_id"`
	ID             string       `db:"id"`
	OrderID        string       `db:"order_id"`
	PaymentID      string       `db:"payment_id"`
	CustomerID     string       `db:"customer_id"`
	SubscriptionID *string      `db:"subscription_id"`
	Amount         int64        `db:"amount"`     // tax included
	TaxAmount      int64        `db:"tax_amount"` // the order's tax that goes with it
	Currency       string       `db:"currency"`
	Status         RefundStatus `db:"status"`
	Reason         RefundReason `db:"reason"`
	Comment        *string      `db:"comment"`
	RevokeAccess   bool         `db:"revoke_access"`
	FailureReason  *string      `db:"failure_reason"`
	Provider       string       `db:"provider"`
	ProviderRef    *string      `db:"provider_ref"` // nil until the provider is known to have it
	SucceededAt    *Time        `db:"succeeded_at"`
	LeaseUntil     Time         `db:"lease_until"` // by the database's clock; the reconciler leaves it alone until then
	Metadata       Metadata     `db:"metadata"`
	CreatedAt      Time         `db:"created_at"`
	UpdatedAt      Time         `db:"updated_at"`
}

// NewRefund asks to give money of an order back.
type NewRefund struct {
	Order        string
	Amount       *int64 // nil: all that is left
	Reason       RefundReason
	Comment      *string
	RevokeAccess *bool // nil: if it leaves nothing of an order that was a purchase
	Metadata     Metadata

	subscription *string // nil: the order's
}

// Refunding is how far a refund is, with the payment whose money it gives back. Resumed tells that it was begun
// before, so that the provider may know of it.
type Refunding struct {
	Refund  *Refund
	Payment *Payment
	Resumed bool
}

// RefundResult is what a provider says about a refund.
type RefundResult struct {
	Ref           string // empty if the provider has none
	Status        RefundStatus
	FailureReason string // with failed
}

// RefundDetail is an order with one of its refunds, all of them, and what else its events inline.
type RefundDetail struct {
	OrderDetail
	Refund  *Refund
	Refunds []Refund
}

// ListRefunds holds the filters of a list of refunds. An empty one does not filter.
type ListRefunds struct {
	Page
	ListFilter
	Order        string
	Customer     string
	Subscription string
	Status       RefundStatus
	Reason       RefundReason
}

// maxRefunds bounds the refunds of an order, because the order lists them.
const maxRefunds = 100

var refundColumns = columnsOf[Refund]("refunds")

// GetRefund returns a refund, or CodeMissing.
func (s *Store) GetRefund(ctx context.Context, account, ref string) (*Refund, error) {
	return s.findRefund(ctx, account, ref, "")
}

// RefundsByID returns the refunds among ids.
func (s *Store) RefundsByID(ctx context.Context, account string, ids []string) (map[string]*Refund, error) {
	return byID(ctx, s, refundColumns, account, ids)
}

// ListRefunds returns a page of refunds, newest first, and whether there are more. An order, customer or subscription
// that does not exist is CodeMissing.
func (s *Store) ListRefunds(ctx context.Context, account string, in ListRefunds) ([]Refund, bool, error) {
	var f filter
	f.is("status", string(in.Status))
	f.is("reason", string(in.Reason))
	if err := s.refundReferences(ctx, account, in, &f); err != nil {
		return nil, false, err
	}
	f.list(s, in.ListFilter, "comment", "id")
	return page(ctx, s, refundColumns, KindRefund, account, in.Page, &f)
}

// UpdateRefund locks the refund, applies change and stores it. All but comment and metadata is a record: change
// leaves it alone.
func (s *Store) UpdateRefund(ctx context.Context, account, ref string, change func(*Refund)) (*Refund, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*Refund, error) {
		r, err := s.findRefund(ctx, account, ref, u.lock())
		if err != nil {
			return nil, err
		}
		before := *r
		change(r)
		var p Problems
		r.Metadata.check(&p)
		if err := p.Err(); err != nil || sameJSON(before, *r) {
			return r, err
		}
		if r.UpdatedAt, err = s.businessNow(ctx, account); err != nil {
			return nil, err
		}
		return r, u.update(ctx, refundColumns, r)
	})
}

// BeginRefund locks a paid order, takes the amount off what can be refunded and stores the intent to give it back,
// with refund.created, all of it before the provider is asked. A request that is sent again gets the intent of the
// first time. An order that nothing can be given back of is CodeInvalid on order, more than is left of it on amount.
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
		id := KindRefund.Prefix() + s.effect(ctx)
		begun, err := s.RefundsByID(ctx, account, []string{id})
		if err != nil {
			return nil, err
		}
		if r := begun[id]; r != nil {
			return s.refunding(ctx, r)
		}
		return u.beginRefund(ctx, o, id, in)
	})
}

// SettleRefund stores what the provider said. Every change of the status is a refund.updated; what fails or is
// canceled can be refunded again. A refund that is still pending is left alone for the pause.
func (s *Store) SettleRefund(ctx context.Context, begun *Refund, result RefundResult, pause time.Duration) (*Refund, error) {
	return tx(ctx, s, func(ctx context.Context, u *unit) (*Refund, error) {
		customer, err := u.lockOwner(ctx, begun.AccountID, begun.CustomerID, "orders", begun.OrderID)
		if err != nil {
			return nil, err
		}
		o, err := u.lockRefunded(ctx, begun.AccountID, begun.OrderID)
		if err != nil {
			return nil, err
		}
		r, err := s.findRefund(ctx, begun.AccountID, begun.ID, u.lock())
		if err != nil {
			return nil, err
		}
		return r, u.settleRefund(ctx, r, o, customer, result, pause)
	})
}

// GetRefunding returns a refund with what asking for it needs, or CodeMissing.
func (s *Store) GetRefunding(ctx context.Context, account, ref string) (*Refunding, error) {
	r, err := s.findRefund(ctx, account, ref, "")
	if err != nil {
		return nil, err
	}
	return s.refunding(ctx, r)
}

// BeginCancelRefund returns a refund that its provider may be asked to cancel, or that is canceled. One that has
// another outcome, or that the provider is not known to have yet, is CodeInvalid on status.
func (s *Store) BeginCancelRefund(ctx context.Context, account, ref string) (*Refund, error) {
	return step(ctx, s, func(ctx context.Context, u *unit) (*Refund, error) {
		r, err := s.findRefund(ctx, account, ref, u.lock())
		switch {
		case err != nil || r.Status == RefundStatusCanceled:
			return r, err
		case r.Status != RefundStatusPending:
			return nil, Invalid("status", fmt.Sprintf("The refund is %s: only a pending one can be canceled.", r.Status))
		case r.ProviderRef == nil:
			return nil, Invalid("status", "The provider has not said yet whether it has the refund. Try again in a minute.")
		}
		return r, nil
	})
}

// refundLeases are on the refunds without an outcome.
var refundLeases = leases{"refunds", "status = 'pending'"}

// DueRefunds returns refunds of a provider without an outcome that nobody is asking about now, at most limit, of any
// account. They are candidates: what they are by then shows once they are leased.
func (s *Store) DueRefunds(ctx context.Context, provider string, limit int) ([]Due, error) {
	return refundLeases.due(ctx, s, provider, limit)
}

// LeaseRefund claims a due refund for whoever asks first, and reports whether that is the caller.
func (s *Store) LeaseRefund(ctx context.Context, account, id string) (bool, error) {
	return refundLeases.take(ctx, s, account, id)
}

// YieldRefund ends the lease on a refund whose outcome is not known yet: the reconciler looks at it after a pause.
func (s *Store) YieldRefund(ctx context.Context, account, id string, pause time.Duration) error {
	return refundLeases.yield(ctx, s, account, id, pause)
}

func (s *Store) findRefund(ctx context.Context, account, ref, lock string) (*Refund, error) {
	id, ok := ParseID(KindRefund, ref)
	if !ok {
		return nil, Missing("refund", "", ref)
	}
	r, err := get[Refund](ctx, s, refundColumns.selectSQL+` WHERE account_id = ? AND id = ?`+lock, account, id)
	if err == nil && r == nil {
		err = Missing("refund", "", ref)
	}
	return r, err
}

// lockRefunded locks what a refund of an order changes: its invoice and the order.
func (u *unit) lockRefunded(ctx context.Context, account, id string) (*Order, error) {
	o, err := u.store.findOrder(ctx, account, id, "")
	if err != nil {
		return nil, err
	}
	if _, err := u.store.findInvoice(ctx, account, *o.InvoiceID, "", u.lock()); err != nil {
		return nil, err
	}
	return u.store.findOrder(ctx, account, id, u.lock())
}

// namedOrder reads the order that a field or parameter of this name means.
func (s *Store) namedOrder(ctx context.Context, account, ref, lock string) (*Order, error) {
	o, err := s.findOrder(ctx, account, ref, lock)
	if missing := (*Error)(nil); errors.As(err, &missing) && missing.Code == CodeMissing {
		return nil, Missing("order", "order", ref)
	}
	return o, err
}

// refundReferences adds the filters by another object.
func (s *Store) refundReferences(ctx context.Context, account string, in ListRefunds, f *filter) error {
	if in.Order != "" {
		order, err := s.namedOrder(ctx, account, in.Order, "")
		if err != nil {
			return err
		}
		f.is("order_id", order.ID)
	}
	if in.Customer != "" {
		customer, err := s.findCustomer(ctx, account, in.Customer, "customer", "")
		if err != nil {
			return err
		}
		f.is("customer_id", customer.ID)
	}
	if in.Subscription != "" {
		subscription, err := s.findSubscription(ctx, account, in.Subscription, "subscription", "")
		if err != nil {
			return err
		}
		f.is("subscription_id", subscription.ID)
	}
	return nil
}

// refunding is a refund that was begun before.
func (s *Store) refunding(ctx context.Context, r *Refund) (*Refunding, error) {
	payment, err := s.findPayment(ctx, r.AccountID, r.PaymentID, "")
	return &Refunding{Refund: r, Payment: payment, Resumed: true}, err
}

// beginRefund reserves the amount of an order that is locked, as is its invoice, and stores the intent.
func (u *unit) beginRefund(ctx context.Context, o *Order, id string, in NewRefund) (*Refunding, error) {
	var p Problems
	in.Metadata.check(&p)
	if err := p.Err(); err != nil {
		return nil, err
	}
	payment, err := u.refundable(ctx, o)
	if err != nil {
		return nil, err
	}
	now, err := u.store.businessNow(ctx, o.AccountID)
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
	lease, err := get[Time](ctx, u.store, `SELECT `+u.store.dbNow()+` + ?`, paymentLease.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("read the database's clock: %w", err)
	}
	r.LeaseUntil = *lease
	if err := u.insert(ctx, refundColumns, r); err != nil {
		return nil, err
	}
	customer, err := u.store.anyCustomer(ctx, o.AccountID, o.CustomerID, "")
	if err != nil {
		return nil, err
	}
	return &Refunding{Refund: r, Payment: payment}, u.refunded(ctx, EventRefundCreated, r, o, customer)
}

// refundable returns the payment whose money can be given back, or says what keeps it from that.
func (u *unit) refundable(ctx context.Context, o *Order) (*Payment, error) {
	switch {
	case o.PaidAt == nil || o.Status == OrderStatusVoid:
		return nil, Invalid("order", fmt.Sprintf("The order is %s: only a paid order can be refunded.", o.Status))
	case len(o.RefundIDs.V) >= maxRefunds:
		return nil, Invalid("order", fmt.Sprintf("The order has %d refunds, and cannot have more.", maxRefunds))
	}
	payment, err := get[Payment](ctx, u.store, paymentColumns.selectSQL+`
		WHERE account_id = ? AND order_id = ? AND status = 'succeeded' AND amount > 0 AND provider <> ?`, o.AccountID, o.ID, providerOutOfBand)
	if err != nil || payment != nil {
		return payment, err
	}
	if o.TotalAmount == 0 {
		return nil, Invalid("order", "Nothing was paid for this order.")
	}
	return nil, Invalid("order", "No payment provider took money for this order: it was paid from the customer's balance or out of band. "+
		"Give the money back the way it came.")
}

// reserve takes the refund off what can be refunded of its order.
func (r *Refund) reserve(o *Order, in NewRefund) error {
	rest := o.RefundableAmount()
	r.Amount = rest
	if in.Amount != nil {
		r.Amount = *in.Amount
	}
	switch {
	case rest == 0:
		return Invalid("amount", "All of the order is refunded, or about to be.")
	case r.Amount < 1:
		return Invalid("amount", "Refund at least 1.")
	case r.Amount > rest:
		return Invalid("amount", fmt.Sprintf("At most %d can be refunded of this order.", rest))
	}
	var err error
	if r.TaxAmount, err = o.pricing().TaxOf(r.Amount); err != nil {
		return err
	}
	o.giveBack(r.Amount, r.TaxAmount)
	o.RefundIDs = JSONOf(append(o.RefundIDs.V, r.ID))
	r.RevokeAccess = o.Status == OrderStatusRefunded && o.BillingReason == BillingReasonPurchase
	if in.RevokeAccess != nil {
		r.RevokeAccess = *in.RevokeAccess
	}
	return nil
}

// pricing is what the tax in a refund is computed from.
func (o *Order) pricing() pricing.Refundable {
	return pricing.Refundable{Total: o.TotalAmount, Tax: o.TaxAmount, Refunded: o.RefundedAmount, RefundedTax: o.RefundedTaxAmount}
}

// giveBack counts money that is given back, or with negative amounts that is not after all.
func (o *Order) giveBack(amount, tax int64) {
	o.RefundedAmount += amount
	o.RefundedTaxAmount += tax
	switch o.RefundedAmount {
	case 0:
		o.Status = OrderStatusPaid
	case o.PaidAmount:
		o.Status = OrderStatusRefunded
	default:
		o.Status = OrderStatusPartiallyRefunded
	}
}

// settleRefund moves a refund along its arrow, and the order and the customer with it.
func (u *unit) settleRefund(ctx context.Context, r *Refund, o *Order, customer *Customer, result RefundResult, pause time.Duration) error {
	if r.ProviderRef == nil && result.Ref != "" {
		r.ProviderRef = &result.Ref
	}
	from := r.Status
	if from == result.Status || !refundLifecycle.allows(from, result.Status) {
		return u.postpone(ctx, r, pause)
	}
	now, err := u.store.businessNow(ctx, r.AccountID)
	if err != nil {
		return err
	}
	r.Status, r.SucceededAt, r.UpdatedAt = result.Status, nil, now
	switch {
	case r.Status == RefundStatusSucceeded:
		r.SucceededAt = &now
		customer.refund(r.Currency, r.Amount, now)
	case from == RefundStatusSucceeded:
		customer.refund(r.Currency, -r.Amount, now)
		fallthrough
	default:
		o.giveBack(-r.Amount, -r.TaxAmount)
	}
	if r.Status == RefundStatusFailed {
		r.FailureReason = &result.FailureReason
	}
	if err := u.update(ctx, customerColumns, customer); err != nil {
		return err
	}
	if err := u.update(ctx, refundColumns, r); err != nil {
		return err
	}
	return u.refunded(ctx, EventRefundUpdated, r, o, customer)
}

// postpone stores the reference of a refund that did not move, and when to ask about it again.
func (u *unit) postpone(ctx context.Context, r *Refund, pause time.Duration) error {
	_, err := u.exec(ctx, `UPDATE refunds SET provider_ref = ?, lease_until = `+u.store.dbNow()+` + ? WHERE account_id = ? AND id = ?`,
		r.ProviderRef, pause.Microseconds(), r.AccountID, r.ID)
	return err
}

// refunded stores an order of which a refund has changed, notes it on the invoice, and tells of it. Both are locked.
func (u *unit) refunded(ctx context.Context, kind string, r *Refund, o *Order, customer *Customer) error {
	items, err := selectAll[LineItem](ctx, u.store, lineItemColumns.selectSQL+` WHERE account_id = ? AND order_id = ? ORDER BY position`, o.AccountID, o.ID)
	if err != nil {
		return err
	}
	refunds, err := selectAll[Refund](ctx, u.store, refundColumns.selectSQL+` WHERE account_id = ? AND order_id = ? ORDER BY id`, o.AccountID, o.ID)
	if err != nil {
		return err
	}
	o.UpdatedAt = r.UpdatedAt
	o.EventSeq++
	d := &RefundDetail{OrderDetail: OrderDetail{Order: o, Items: items}, Refund: r, Refunds: refunds}
	if customer.DeletedAt == nil {
		d.Customer = customer
	}
	if err := u.emit(ctx, event{kind, o.AccountID, o.ID, o.EventSeq, d}); err != nil {
		return err
	}
	_, err = u.exec(ctx, `UPDATE invoices SET credit_notes = ?, refund_ids = ?, updated_at = ? WHERE account_id = ? AND id = ?`,
		o.RefundedAmount, o.RefundIDs, o.UpdatedAt, o.AccountID, *o.InvoiceID)
	if err != nil {
		return fmt.Errorf("note a refund on its invoice: %w", err)
	}
	return u.update(ctx, orderColumns, o)
}
