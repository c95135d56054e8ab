package store

import (
	"context"

	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/subscription"
)

// MethodForInvoice returns the method that an invoice is charged with while its customer is away, nil if there is none. That is the method of the
// subscription that it bills, or else the customer's default.
func (s *Store) MethodForInvoice(ctx context.Context, i *invoice.Invoice) (*payment.BillingMethod, error) {
	sub, err := s.subscriptionOf(ctx, i)
	if err != nil {
		return nil, err
	}
	if sub != nil {
		return s.Subscription.Method(ctx, sub)
	}
	m, err := s.Payment.MethodToCharge(ctx, i.AccountID, i.CustomerID, nil)
	if err != nil || m == nil {
		return nil, err
	}
	return m.Billing(), nil
}

// SavedMethodForInvoice returns a saved method of the customer of an invoice, or CodeMissing on payment_method. If only a typed
// address says that the invoice's subscription is the customer's, it is CodeInvalid on payment_method.
func (s *Store) SavedMethodForInvoice(ctx context.Context, i *invoice.Invoice, ref string) (*payment.SavedMethod, error) {
	sub, err := s.unverifiedOf(ctx, i)
	if err == nil && sub != nil {
		err = subscription.ErrUnverified
	}
	if err != nil {
		return nil, err
	}
	return s.Payment.Method(ctx, i.AccountID, i.CustomerID, ref)
}

// unverifiedOf returns the subscription of an invoice if only a typed address says whose it is, else nil.
func (s *Store) unverifiedOf(ctx context.Context, i *invoice.Invoice) (*subscription.Subscription, error) {
	sub, err := s.subscriptionOf(ctx, i)
	if err != nil || sub == nil || sub.CustomerVerified {
		return nil, err
	}
	return sub, nil
}

// subscriptionOf returns the subscription that an invoice bills, nil if it bills none.
func (s *Store) subscriptionOf(ctx context.Context, i *invoice.Invoice) (*subscription.Subscription, error) {
	if i.SubscriptionID == nil {
		return nil, nil
	}
	return s.Subscription.Named(ctx, s.db, i.AccountID, *i.SubscriptionID, "")
}
