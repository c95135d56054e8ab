package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// RefundStatus says how far a refund has come.
type RefundStatus string

// The states of a refund. The amount of one that is pending or has succeeded counts as given back.
const (
	RefundStatusPending   RefundStatus = "pending" // the provider was or will be asked, or takes its time
	RefundStatusSucceeded RefundStatus = "succeeded"
	RefundStatusFailed    RefundStatus = "failed"
	RefundStatusCanceled  RefundStatus = "canceled"
)

// refundLifecycle lists, for each state of a refund, the states that may follow it. A refund that has succeeded fails when the
// buyer's bank sends the money back.
var refundLifecycle = core.Lifecycle[RefundStatus]{
	RefundStatusPending:   {RefundStatusSucceeded, RefundStatusFailed, RefundStatusCanceled},
	RefundStatusSucceeded: {RefundStatusFailed},
}

// RefundReason says why money is given back.
type RefundReason string

// RefundReasonCustomerRequest is the reason when none is given.
const RefundReasonCustomerRequest RefundReason = "customer_request"

// providerBalance stands in the place of the provider of a refund that goes to the customer's balance alone. There is no payment then.
const providerBalance = "balance"

// Refund gives back money of an order, all of it or a part, tax included. Its id is the token that the provider recognises the
// refund by. It is minted once and kept by every retry, so that the money is given back at most once. What the customer's balance paid goes
// back there as soon as the refund has succeeded.
type Refund struct {
	AccountID      string        `db:"account_id"`
	ID             string        `db:"id"`
	OrderID        string        `db:"order_id"`
	PaymentID      string        `db:"payment_id"` // empty if all of it goes to the balance
	CustomerID     string        `db:"customer_id"`
	SubscriptionID *string       `db:"subscription_id"`
	Amount         int64         `db:"amount"`         // tax included
	BalanceAmount  int64         `db:"balance_amount"` // the part of it that goes to the customer's balance
	TaxAmount      int64         `db:"tax_amount"`     // the order's tax that goes with it
	Currency       string        `db:"currency"`
	Status         RefundStatus  `db:"status"`
	Reason         RefundReason  `db:"reason"`
	Comment        *string       `db:"comment"`
	RevokeAccess   bool          `db:"revoke_access"`
	FailureReason  *string       `db:"failure_reason"`
	Provider       string        `db:"provider"`
	ProviderRef    *string       `db:"provider_ref"` // nil until the provider is known to have it
	SucceededAt    *core.Time    `db:"succeeded_at"`
	LeaseUntil     core.Time     `db:"lease_until"` // by the database's clock; the reconciler leaves it alone until then
	Metadata       core.Metadata `db:"metadata"`
	CreatedAt      core.Time     `db:"created_at"`
	UpdatedAt      core.Time     `db:"updated_at"`
}

// ChargedAmount returns the part of the refund that its provider gives back.
func (r *Refund) ChargedAmount() int64 { return r.Amount - r.BalanceAmount }

// ListRefunds holds the filters of a list of refunds. An empty one does not filter.
type ListRefunds struct {
	core.Page
	core.ListFilter
	Order        string
	Customer     string
	Subscription string
	Status       RefundStatus
	Reason       RefundReason
}

var refundColumns = db.ColumnsOf[Refund]("refunds")

// GetRefund returns a refund, or CodeMissing.
func (s *Store) GetRefund(ctx context.Context, account, ref string) (*Refund, error) {
	return findRefund(ctx, s.db, account, ref)
}

// RefundsByID returns those of the refunds with these ids that exist, by id.
func (s *Store) RefundsByID(ctx context.Context, account string, ids []string) (map[string]*Refund, error) {
	return s.refundsByIDIn(ctx, s.db, account, ids)
}

// refundsByIDIn does what RefundsByID does, where r says.
func (s *Store) refundsByIDIn(ctx context.Context, r db.Reader, account string, ids []string) (map[string]*Refund, error) {
	return db.ByID(ctx, r, refundColumns, account, ids)
}

// ListRefunds returns a page of refunds, newest first, and whether there are more. An order, customer or subscription
// that does not exist is CodeMissing.
func (s *Store) ListRefunds(ctx context.Context, account string, in ListRefunds) ([]Refund, bool, error) {
	var f db.Filter
	f.OrderedIfSet("status", string(in.Status))
	f.OrderedIfSet("reason", string(in.Reason))
	f.OrderedIfSet("order_id", db.IDNamed(ctx, s.db, &f, s.Order.Named, account, in.Order, "order"))
	f.OrderedIfSet("customer_id", db.IDNamed(ctx, s.db, &f, s.Customer.Named, account, in.Customer, "customer"))
	f.OrderedIfSet("subscription_id", db.IDNamed(ctx, s.db, &f, s.Subscription.Named, account, in.Subscription, "subscription"))
	f.Made(db.Moment{Within: db.KeyLifetime})
	f.List(s.db, "refunds", core.KindRefund, in.ListFilter, "comment")
	return db.Page(ctx, s.db, refundColumns, core.KindRefund, account, in.Page, &f)
}

// UpdateRefund locks the refund, applies change and stores it. Change may set the comment and the metadata; everything else is
// a record and must be left alone. No event follows.
func (s *Store) UpdateRefund(ctx context.Context, account, ref string, change func(*Refund)) (*Refund, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Refund, error) {
		r, err := s.lockRefund(ctx, u, account, ref)
		if err != nil {
			return nil, err
		}
		before := *r
		change(r)
		var p core.Problems
		r.Metadata.Check(&p)
		if err := p.Err(); err != nil || core.SameJSON(before, *r) {
			return r, err
		}
		if r.UpdatedAt, err = db.BusinessNow(ctx, u, account); err != nil {
			return nil, err
		}
		return r, u.Update(ctx, refundColumns, r)
	})
}

// lockRefund does what GetRefund does, and locks the row until the transaction ends.
func (s *Store) lockRefund(ctx context.Context, u *db.Unit, account, ref string) (*Refund, error) {
	return findRefund(ctx, u.Locked(), account, ref)
}

// findRefund reads a refund, or returns CodeMissing.
func findRefund(ctx context.Context, r db.Reader, account, ref string) (*Refund, error) {
	id, ok := core.ParseID(core.KindRefund, ref)
	if !ok {
		return nil, core.Missing("refund", "", ref)
	}
	refund, err := db.Get[Refund](ctx, r, refundColumns.SelectSQL+` WHERE account_id = ? AND id = ?`, account, id)
	if err == nil && refund == nil {
		err = core.Missing("refund", "", ref)
	}
	return refund, err
}
