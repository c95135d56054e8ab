package store

import (
	"context"
	"slices"

	"github.com/tillwright/tillwright/store/grant"
	"github.com/tillwright/tillwright/store/internal/db"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
)

// deliverOrder gives what a bill, that is being paid for the first time, was for: each line that sells something is a grant. A bill of a
// period or a change of a subscription gives nothing. Nor does one whose customer was deleted: nobody is there to have it.
func (s *Store) deliverOrder(ctx context.Context, u *db.Unit, b *invoice.Bill) error {
	o := b.Order
	if o.BillingReason == order.BillingReasonSubscriptionCycle || o.BillingReason == order.BillingReasonSubscriptionUpdate || b.Customer.DeletedAt != nil {
		return nil
	}
	var givings []grant.Giving
	for i := range b.Items {
		if l := &b.Items[i]; l.IsGiven() {
			givings = append(givings, grant.Giving{
				Account: o.AccountID, Customer: o.CustomerID, Product: *l.ProductID, Variant: l.PriceVariantID, Quantity: l.Quantity,
				Source: grant.Source{Type: grant.SourceTypeOrder, ID: o.ID}, Item: l.ID, Licensing: l.Licensing,
			})
		}
	}
	given, err := s.Grant.GiveNew(ctx, u, givings)
	for i := range given {
		o.Gave(given[i].ID)
	}
	return err
}

// deliverRefund takes away what the order of a refund gave, or its subscriptions, once the refund has succeeded and is to end access. If it
// fails after that, and no other such refund is left, that is taken back. From is the refund's former state.
func (s *Store) deliverRefund(ctx context.Context, u *db.Unit, r *Refund, from RefundStatus) error {
	if !r.RevokeAccess || r.Status != RefundStatusSucceeded && from != RefundStatusSucceeded {
		return nil
	}
	sources, err := s.sourcesOf(ctx, u, r)
	if err != nil {
		return err
	}
	for _, source := range sources {
		if r.Status == RefundStatusSucceeded {
			err = s.Grant.Revoke(ctx, u, r.AccountID, source, grant.ReasonRefund)
		} else {
			err = s.reinstate(ctx, u, r, source)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sourcesOf returns by what the order of a refund gave something: by itself, and by the subscriptions that it bills.
func (s *Store) sourcesOf(ctx context.Context, u *db.Unit, r *Refund) ([]grant.Source, error) {
	sources := []grant.Source{{Type: grant.SourceTypeOrder, ID: r.OrderID}}
	billed, err := db.Select[string](ctx, u, `
		SELECT subscription_id FROM line_items WHERE account_id = ? AND order_id = ? AND subscription_id IS NOT NULL ORDER BY subscription_id`, r.AccountID, r.OrderID)
	if err != nil {
		return nil, err
	}
	if r.SubscriptionID != nil {
		billed = append(billed, *r.SubscriptionID)
	}
	slices.Sort(billed)
	for _, id := range slices.Compact(billed) {
		sources = append(sources, grant.Source{Type: grant.SourceTypeSubscription, ID: id})
	}
	return sources, nil
}

// reinstate takes back what a refund that has failed had taken away from a source, unless another refund still does. One of a subscription does so
// until the next payment.
func (s *Store) reinstate(ctx context.Context, u *db.Unit, r *Refund, source grant.Source) error {
	another, err := db.Get[int](ctx, u, `
		SELECT 1 FROM refunds WHERE account_id = ? AND (order_id = ? OR subscription_id = ?) AND id <> ? AND status = 'succeeded' AND revoke_access
			AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.account_id = refunds.account_id AND o.subscription_id = ? AND o.paid_at > refunds.succeeded_at) LIMIT 1`,
		r.AccountID, r.OrderID, source.ID, r.ID, source.ID)
	if err != nil || another != nil {
		return err
	}
	return s.Grant.Reinstate(ctx, u, r.AccountID, source, func() (grant.Reason, error) {
		if source.Type != grant.SourceTypeSubscription {
			return "", nil
		}
		sub, err := s.Subscription.Named(ctx, u, r.AccountID, source.ID, "")
		if err != nil || sub.Granted.V == nil {
			return "", err
		}
		return sub.Granted.V.Suspended, nil
	})
}
