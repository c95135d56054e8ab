package store

import (
	"context"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/report"
)

// Refunding is a refund with the payment whose money it gives back, nil if it goes to the balance alone. Resumed says that it was
// begun before, so that the provider may know of it already.
type Refunding struct {
	Refund  *Refund
	Payment *payment.Payment
	Resumed bool
}

// RefundResult is the provider's answer about a refund.
type RefundResult struct {
	Ref           string // empty if the provider has none
	Status        RefundStatus
	FailureReason string // with failed
}

// RefundDetail is the data of a refund's events: the order, the refund, and all refunds of the order.
type RefundDetail struct {
	order.Detail
	Refund  *Refund
	Refunds []Refund
}

// SettleRefund stores what the provider said about a refund. Every change of the status emits refund.updated. What fails or is
// canceled can be refunded again. A refund that is still pending is not asked about again before the pause is over.
func (s *Store) SettleRefund(ctx context.Context, begun *Refund, result RefundResult, pause time.Duration) (*Refund, error) {
	return db.Tx(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Refund, error) {
		customer, err := s.Customer.LockOwner(ctx, u, begun.AccountID, begun.CustomerID, "orders", begun.OrderID)
		if err != nil {
			return nil, err
		}
		o, err := s.lockRefunded(ctx, u, begun.AccountID, begun.OrderID)
		if err != nil {
			return nil, err
		}
		r, err := s.lockRefund(ctx, u, begun.AccountID, begun.ID)
		if err != nil {
			return nil, err
		}
		return r, s.settleRefund(ctx, u, r, o, customer, result, pause)
	})
}

// GetRefunding returns a refund with its payment, which asking the provider for it needs, or CodeMissing.
func (s *Store) GetRefunding(ctx context.Context, account, ref string) (*Refunding, error) {
	r, err := s.GetRefund(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	return s.refunding(ctx, s.db, r)
}

// BeginCancelRefund returns a refund that the provider may now be asked to cancel, or one that is canceled already. A refund
// that has another outcome, or of which the provider has not said yet that it has it, is CodeInvalid on status.
func (s *Store) BeginCancelRefund(ctx context.Context, account, ref string) (*Refund, error) {
	return db.Step(ctx, s.db, func(ctx context.Context, u *db.Unit) (*Refund, error) {
		r, err := s.lockRefund(ctx, u, account, ref)
		switch {
		case err != nil || r.Status == RefundStatusCanceled:
			return r, err
		case r.Status != RefundStatusPending:
			return nil, core.Invalid("status", fmt.Sprintf("The refund is %s: only a pending one can be canceled.", r.Status))
		case r.ProviderRef == nil:
			return nil, core.Invalid("status", "The provider has not said yet whether it has the refund. Try again in a minute.")
		}
		return r, nil
	})
}

// refundLeases makes sure that one process at a time asks the provider about a refund without an outcome.
var refundLeases = db.Leases{Table: "refunds", Open: "status = 'pending'"}

// DueRefunds returns at most limit refunds of a provider, of any account, that have no outcome and that nobody is asking about
// now. They are candidates: another process may take one first, or settle it, until LeaseRefund has claimed it.
func (s *Store) DueRefunds(ctx context.Context, provider string, limit int) ([]core.Due, error) {
	return refundLeases.Due(ctx, s.db, provider, limit)
}

// LeaseRefund claims a due refund for the caller, and reports false if somebody else was first or it has its outcome.
func (s *Store) LeaseRefund(ctx context.Context, account, id string) (bool, error) {
	return refundLeases.Take(ctx, s.db, account, id)
}

// YieldRefund ends the caller's lease on a refund whose outcome is not known yet: it is due again after the pause.
func (s *Store) YieldRefund(ctx context.Context, account, id string, pause time.Duration) error {
	return refundLeases.Yield(ctx, s.db, account, id, pause)
}

// refunding returns a refund that was begun before, with its payment.
func (s *Store) refunding(ctx context.Context, where db.Reader, r *Refund) (*Refunding, error) {
	if r.PaymentID == "" {
		return &Refunding{Refund: r, Resumed: true}, nil
	}
	payment, err := s.Payment.Get(ctx, where, r.AccountID, r.PaymentID)
	return &Refunding{Refund: r, Payment: payment, Resumed: true}, err
}

// settleRefund gives a refund its next state and changes the order and the customer to match. All three are locked, and stored
// here. If the state does not change it only plans when to ask again.
func (s *Store) settleRefund(ctx context.Context, u *db.Unit, r *Refund, o *order.Order, buyer *customer.Customer, result RefundResult, pause time.Duration) error {
	if r.ProviderRef == nil && result.Ref != "" {
		r.ProviderRef = &result.Ref
	}
	from := r.Status
	if from == result.Status || !refundLifecycle.Allows(from, result.Status) {
		return s.postpone(ctx, u, r, pause)
	}
	now, err := db.BusinessNow(ctx, u, r.AccountID)
	if err != nil {
		return err
	}
	succeededAt := r.SucceededAt
	r.Status, r.SucceededAt, r.UpdatedAt = result.Status, nil, now
	switch {
	case r.Status == RefundStatusSucceeded:
		r.SucceededAt = &now
		s.countRefund(u, r, now, 1)
		if err := s.refundCustomer(ctx, u, buyer, r, 1, now); err != nil {
			return err
		}
		if err := s.writeRefund(ctx, u, r, buyer); err != nil {
			return err
		}
	case from == RefundStatusSucceeded: // it was counted for the customer, and the money came back
		if err := s.refundCustomer(ctx, u, buyer, r, -1, now); err != nil {
			return err
		}
		s.countRefund(u, r, *succeededAt, -1)
		fallthrough
	default:
		o.GiveBack(-r.ChargedAmount(), -r.BalanceAmount, -r.TaxAmount)
	}
	if r.Status == RefundStatusFailed {
		r.FailureReason = &result.FailureReason
	}
	if err := u.Update(ctx, customer.Columns, buyer); err != nil {
		return err
	}
	if err := u.Update(ctx, refundColumns, r); err != nil {
		return err
	}
	if err := s.deliverRefund(ctx, u, r, from); err != nil {
		return err
	}
	if err := s.noteRefund(ctx, u, r, from); err != nil {
		return err
	}
	return s.refunded(ctx, u, outbox.EventRefundUpdated, r, o, buyer)
}

// refundCustomer counts a refund that has succeeded for its locked customer, and gives what their balance paid back to it. With -1 it takes
// both back, so that they may owe what they have spent meanwhile. The caller stores the customer.
func (s *Store) refundCustomer(ctx context.Context, u *db.Unit, c *customer.Customer, r *Refund, sign int64, now core.Time) error {
	c.Refund(r.Currency, sign*r.ChargedAmount(), now)
	return s.Customer.MoveBalance(ctx, u, c, &customer.BalanceTransaction{Currency: r.Currency, Amount: sign * r.BalanceAmount, Reason: customer.BalanceReasonRefunded, SourceID: &r.ID}, now)
}

// postpone stores the provider's reference of a refund whose state did not change, and lets nobody ask about it for the pause.
func (s *Store) postpone(ctx context.Context, u *db.Unit, r *Refund, pause time.Duration) error {
	_, err := u.Exec(ctx, `UPDATE refunds SET provider_ref = ?, lease_until = `+s.db.NowSQL()+` + ? WHERE account_id = ? AND id = ?`,
		r.ProviderRef, pause.Microseconds(), r.AccountID, r.ID)
	return err
}

// refunded stores an order after one of its refunds has changed, notes what is refunded on the invoice, and emits the event
// kind. Order and invoice are locked. A deleted customer is not shown in the event.
func (s *Store) refunded(ctx context.Context, u *db.Unit, kind string, r *Refund, o *order.Order, customer *customer.Customer) error {
	items, err := db.Select[lineitem.Item](ctx, u, lineitem.Columns.SelectSQL+` WHERE account_id = ? AND order_id = ? ORDER BY position`, o.AccountID, o.ID)
	if err != nil {
		return err
	}
	refunds, err := db.Select[Refund](ctx, u, refundColumns.SelectSQL+` WHERE account_id = ? AND order_id = ? ORDER BY id`, o.AccountID, o.ID)
	if err != nil {
		return err
	}
	o.UpdatedAt = r.UpdatedAt
	o.EventSeq++
	d := &RefundDetail{Detail: order.Detail{Order: o, Items: items}, Refund: r, Refunds: refunds}
	if customer.DeletedAt == nil {
		d.Customer = customer
	}
	if err := s.Outbox.Emit(ctx, u, outbox.NewEvent{Kind: kind, Account: o.AccountID, Key: o.EventsBy(), Seq: o.EventSeq, Data: d}); err != nil {
		return err
	}
	_, err = u.Exec(ctx, `UPDATE invoices SET credit_notes = ?, refunded_balance = ?, refund_ids = ?, updated_at = ? WHERE account_id = ? AND id = ?`,
		o.RefundedAmount, o.RefundedBalance, o.RefundIDs, o.UpdatedAt, o.AccountID, *o.InvoiceID)
	if err != nil {
		return fmt.Errorf("note a refund on its invoice: %w", err)
	}
	return u.Update(ctx, order.Columns, o)
}

// countRefund counts a refund for when it succeeded, or with -1 takes it back from there.
func (s *Store) countRefund(u *db.Unit, r *Refund, at core.Time, times int64) {
	s.Report.Count(u, r.AccountID, r.Currency, at, report.Figures{Refunds: times * r.Amount, NetRevenue: -times * (r.Amount - r.TaxAmount)})
}
