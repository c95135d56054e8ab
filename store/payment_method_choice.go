package store

import (
	"context"

	"github.com/tillwright/tillwright/store/core"
)

// MethodForInvoice returns the method that an invoice is charged with while its customer is away, nil if there is none: that of
// the subscription that it bills, or else the customer's default.
func (s *Store) MethodForInvoice(ctx context.Context, i *Invoice) (*BillingMethod, error) {
	sub, err := s.subscriptionOf(ctx, i)
	if err != nil {
		return nil, err
	}
	if sub != nil {
		return s.MethodForSubscription(ctx, sub)
	}
	m, err := s.MethodToCharge(ctx, i.AccountID, i.CustomerID, nil)
	if err != nil || m == nil {
		return nil, err
	}
	return m.billing(), nil
}

// MethodForSubscription returns what a subscription is charged with, whether by a renewal, a retry or somebody's request: its
// own method as long as the customer has it, or else the customer's default, or nil if there is neither. If only a typed address
// says that the subscription is the customer's, it has its own method or none: what the customer has saved is not touched.
func (s *Store) MethodForSubscription(ctx context.Context, sub *Subscription) (*BillingMethod, error) {
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
	saved, err := s.MethodToCharge(ctx, sub.AccountID, sub.CustomerID, own)
	if err != nil || saved == nil {
		return nil, err
	}
	return saved.billing(), nil
}

// MethodToCharge returns the payment method for a charge while a customer is away: the preferred one if it is given and not
// deleted, else the customer's default. It is nil if there is neither; a deleted customer has none.
func (s *Store) MethodToCharge(ctx context.Context, account, customer string, preferred *string) (*SavedMethod, error) {
	c, err := s.Customer.Any(ctx, account, customer)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, id := range []*string{preferred, c.DefaultPaymentMethodID} {
		if id != nil {
			ids = append(ids, *id)
		}
	}
	found, err := s.PaymentMethodsByID(ctx, account, ids)
	for _, id := range ids {
		if m := found[id]; m != nil && m.CustomerID == c.ID {
			return m, err
		}
	}
	return nil, err
}

// SavedMethodForInvoice returns a saved method of the customer of an invoice, or CodeMissing on payment_method. If only a typed
// address says that the invoice's subscription is the customer's, it is CodeInvalid on payment_method.
func (s *Store) SavedMethodForInvoice(ctx context.Context, i *Invoice, ref string) (*SavedMethod, error) {
	sub, err := s.unverifiedOf(ctx, i)
	if err == nil && sub != nil {
		err = errUnverified
	}
	if err != nil {
		return nil, err
	}
	return s.CustomerPaymentMethod(ctx, i.AccountID, i.CustomerID, ref)
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
