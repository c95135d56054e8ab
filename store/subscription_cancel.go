package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/subscription"
)

// CancellationRefund says what a customer gets back whose subscription ends before its period does.
type CancellationRefund string

// What is given back. The zero value is none.
const (
	CancellationRefundNone     CancellationRefund = "none"
	CancellationRefundProrated CancellationRefund = "prorated" // what is left of the period
)

// CancelSubscription says how a subscription is to be cancelled.
type CancelSubscription struct {
	Now      bool // not at the end of the period
	Reason   *subscription.CancellationReason
	Comment  *string
	Refund   CancellationRefund
	Customer string // who cancels it, if they do so themselves; empty for the seller
}

// CancelSubscription cancels a subscription, at the end of its period or now. One that is past due, or whose period is over, is
// always cancelled now. Then an invoice that was not collected yet is made void, and invoice.voided follows; debits that wait for the next
// period are dropped. With the period they are billed: see billLast. So they are when the period is over and the request does not say now: the
// worker ends the subscription then.
//
// With a refund of what is left of the period, the intents to give it back are stored too, and refund.created follows. Cancellation names these
// refunds, and the caller is to ask the provider for them. A request that is sent again gets the refunds of the first time.
//
// A subscription that has ended, or is being charged at this moment, is CodeInvalid on status. A refund of one that ends with its period, or whose
// order cannot have another refund, is CodeInvalid on refund.
func (s *Store) CancelSubscription(ctx context.Context, account, ref string, in CancelSubscription) (*subscription.Subscription, error) {
	refund := core.KindRefund.Prefix() + s.db.Effect(ctx)
	return s.changeSubscription(ctx, account, ref, func(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) error {
		if c := sub.Cancellation.V; c != nil && slices.Contains(c.RefundIDs, refund) {
			return nil
		}
		if in.Refund == CancellationRefundProrated && !in.Now {
			return core.Invalid("refund", "At the end of its period nothing of it is left. Send at_period_end false with this.")
		}
		if err := sub.GoesOn(); err != nil {
			return err
		}
		c := &subscription.Cancellation{Reason: in.Reason, Comment: in.Comment, By: subscription.CancelledByMerchant}
		if before := sub.Cancellation.V; before != nil {
			c.Reason, c.Comment = cmp.Or(in.Reason, before.Reason), cmp.Or(in.Comment, before.Comment)
		}
		if in.Customer != "" {
			if c.By = subscription.CancelledByCustomer; sub.CancelAtPeriodEnd {
				return nil // it is cancelled already: who did so, and when, stays as it is
			}
		}
		sub.Cancel(c, now)
		if !in.Now && sub.Status != subscription.StatusPastDue && (sub.CurrentPeriodEnd > now || len(sub.Prorations.V) > 0) {
			if sub.CancelAtPeriodEnd {
				return nil // the customer knows it already
			}
			sub.CancelAtPeriodEnd = true
			return s.writeCanceled(ctx, u, sub)
		}
		err := s.cancelNow(ctx, u, sub, now)
		if err == nil && in.Refund == CancellationRefundProrated {
			err = s.refundUnused(ctx, u, sub, c, refund, now)
		}
		return err
	})
}

// cancelNow ends a locked subscription and voids its latest invoice if that is unpaid. If a change of plan is being paid, or the subscription is
// being charged, it returns CodeInvalid on status. The money would be taken for nothing. The caller stores the subscription.
func (s *Store) cancelNow(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) error {
	if err := s.Subscription.CheckFree(ctx, u, sub); err != nil {
		return err
	}
	if sub.LatestInvoiceID != nil {
		if err := s.dropUnpaid(ctx, u, sub, now); err != nil {
			return err
		}
	}
	sub.End(subscription.StatusCanceled, now)
	return nil
}

// dropUnpaid voids the latest invoice of a locked subscription, unless it is paid or void already. If a payment of it is under
// way it returns CodeInvalid on status.
func (s *Store) dropUnpaid(ctx context.Context, u *db.Unit, sub *subscription.Subscription, now core.Time) error {
	latest, err := s.Invoice.GetIn(ctx, u, sub.AccountID, *sub.LatestInvoiceID)
	if err != nil || latest.Status == invoice.StatusPaid || latest.Status == invoice.StatusVoid {
		return err
	}
	b, err := s.Invoice.LockBill(ctx, u, sub.AccountID, latest.ID)
	if err != nil {
		return err
	}
	busy, err := s.isBeingPaid(ctx, u, b)
	if err != nil {
		return err
	}
	if busy {
		return core.Invalid("status", "The subscription is being charged. Ask again in a moment.").Because("charging")
	}
	return s.Invoice.VoidBill(ctx, u, b, "subscription_canceled", now)
}

// UncancelSubscription takes back that a subscription is to end with its period. If it is not going to end, or has ended, that
// is CodeInvalid on status.
func (s *Store) UncancelSubscription(ctx context.Context, account, ref string) (*subscription.Subscription, error) {
	return s.changeSubscription(ctx, account, ref, func(_ context.Context, _ *db.Unit, sub *subscription.Subscription, _ core.Time) error {
		if err := sub.GoesOn(); err != nil {
			return err
		}
		if !sub.CancelAtPeriodEnd {
			return core.Invalid("status", "The subscription is not going to end: there is nothing to take back.")
		}
		sub.Keep(subscription.CancelledByMerchant)
		return nil
	})
}
