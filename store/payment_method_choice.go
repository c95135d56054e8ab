package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
)

// MethodForInvoice returns the method that an invoice is charged with while its customer is away, nil if there is none: that of
// the subscription that it bills, or else the customer's default.
func (s *Store) MethodForInvoice(ctx context.Context, i *Invoice) (*payment.BillingMethod, error) {
	sub, err := s.subscriptionOf(ctx, i)
	if err != nil {
		return nil, err
	}
	if sub != nil {
		return s.MethodForSubscription(ctx, sub)
	}
	m, err := s.Payment.MethodToCharge(ctx, i.AccountID, i.CustomerID, nil)
	if err != nil || m == nil {
		return nil, err
	}
	return m.Billing(), nil
}

// MethodForSubscription returns what a subscription is charged with, whether by a renewal, a retry or somebody's request: its
// own method as long as the customer has it, or else the customer's default, or nil if there is neither. If only a typed address
// says that the subscription is the customer's, it has its own method or none: what the customer has saved is not touched.
func (s *Store) MethodForSubscription(ctx context.Context, sub *Subscription) (*payment.BillingMethod, error) {
	var own *string
	if m := sub.Method.V; m != nil {
		if m.ID == nil {
			return m, nil
		}
		own = m.ID
	}
	if !sub.CustomerVerified {
		return nil, nil
	}
	saved, err := s.Payment.MethodToCharge(ctx, sub.AccountID, sub.CustomerID, own)
	if err != nil || saved == nil {
		return nil, err
	}
	return saved.Billing(), nil
}

// SavedMethodForInvoice returns a saved method of the customer of an invoice, or CodeMissing on payment_method. If only a typed
// address says that the invoice's subscription is the customer's, it is CodeInvalid on payment_method.
func (s *Store) SavedMethodForInvoice(ctx context.Context, i *Invoice, ref string) (*payment.SavedMethod, error) {
	sub, err := s.unverifiedOf(ctx, i)
	if err == nil && sub != nil {
		err = errUnverified
	}
	if err != nil {
		return nil, err
	}
	return s.Payment.Method(ctx, i.AccountID, i.CustomerID, ref)
}

// errUnverified refuses to charge a customer's saved methods for a subscription that somebody bought who only typed their
// address.
var errUnverified = core.Invalid("payment_method", "Only a typed e-mail address says that this is the customer's subscription: it is not charged to what they have saved. If you know that they bought it, send the subscription customer_verified true.")

// unverifiedOf returns the subscription of an invoice if only a typed address says whose it is, else nil.
func (s *Store) unverifiedOf(ctx context.Context, i *Invoice) (*Subscription, error) {
	sub, err := s.subscriptionOf(ctx, i)
	if err != nil || sub == nil || sub.CustomerVerified {
		return nil, err
	}
	return sub, nil
}

// subscriptionOf returns the subscription that an invoice bills, nil if it bills none.
func (s *Store) subscriptionOf(ctx context.Context, i *Invoice) (*Subscription, error) {
	if i.SubscriptionID == nil {
		return nil, nil
	}
	return s.getSubscription(ctx, i.AccountID, *i.SubscriptionID, "")
}
