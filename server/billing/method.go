package billing

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
)

// isSaved tells the id of a payment method that a customer has saved here from what a provider knows.
func isSaved(in *payments.MethodInput) bool {
	_, saved := store.ParseID(store.KindPaymentMethod, in.Ref)
	return saved
}

// saveMethod lets the provider save the method of a payment for its customer, and stores what it is charged as from then
// on. Every call has a token of the payment's, so that it may be repeated. A method that cannot be saved is a
// *payments.Decline.
func (b *Billing) saveMethod(ctx context.Context, provider payments.Provider, begun *store.Confirmation) error {
	payment := begun.Payment
	customer, err := b.customerRef(ctx, provider, begun)
	if err != nil {
		return fmt.Errorf("save the customer of payment %s: %w", payment.ID, err)
	}
	method, err := provider.AttachMethod(ctx, payments.AttachInput{
		Token: payment.ID + "-method", Account: payment.AccountID, CustomerRef: customer, MethodRef: payment.MethodRef, Card: payment.PaymentMethod.V,
	})
	if refused, ok := errors.AsType[*store.Error](err); ok {
		return &payments.Decline{Code: "payment_method_not_saved", Message: refused.Message}
	}
	if err != nil {
		return err
	}
	payment.MethodRef, payment.CustomerRef, payment.PaymentMethod = method.Ref, &customer, store.JSONOf(method.Card)
	return b.store.SetPaymentMethod(ctx, payment)
}

// customerRef returns the provider's customer for the buyer of a checkout, who becomes ours only when they have paid.
func (b *Billing) customerRef(ctx context.Context, provider payments.Provider, begun *store.Confirmation) (string, error) {
	payment, c := begun.Payment, begun.Checkout
	if c.CustomerID != nil {
		known, err := b.store.CustomerRef(ctx, payment.AccountID, *c.CustomerID, provider.Name())
		if err != nil || known != nil {
			return deref(known), err
		}
	}
	return provider.CreateCustomer(ctx, payments.CustomerInput{
		Token: payment.ID + "-customer", Account: payment.AccountID, Customer: cmp.Or(deref(c.CustomerID), payment.ID),
		Email: deref(c.CustomerEmail), Name: deref(c.CustomerName),
	})
}

// SaveMethod is how a customer gives what they are to be charged with. Once names the form that they did it in, which sent
// again saves nothing more; a request to the API has its Idempotency-Key for that.
type SaveMethod struct {
	Method    payments.MethodInput
	IsDefault bool
	Once      string
}

// SaveMethod keeps a method for a customer, and charges nothing. One that cannot be saved is CodeInvalid on payment_method.
// What the provider has kept when a crash comes between is of no use to anybody, and does no harm.
func (b *Billing) SaveMethod(ctx context.Context, account, customer string, in SaveMethod) (*store.SavedMethod, error) {
	c, request, err := b.store.BeginSaveMethod(ctx, account, customer)
	if err != nil {
		return nil, err
	}
	provider, err := b.chosen(ctx, account)
	if err != nil {
		return nil, err
	}
	accepted, err := provider.Accept(in.Method, b.store.Now().Time())
	if err != nil {
		return nil, err
	}
	token := c.ID + "-" + cmp.Or(in.Once, request)
	ref, err := b.refOf(ctx, provider, c, token)
	if err != nil {
		return nil, err
	}
	method, err := provider.AttachMethod(ctx, payments.AttachInput{
		Token: token + "-method", Account: account, CustomerRef: ref, MethodRef: accepted.Ref, Card: accepted.Card,
	})
	if err != nil {
		return nil, err
	}
	return b.store.SavePaymentMethod(ctx, store.SavedMethod{
		AccountID: account, CustomerID: c.ID, Provider: provider.Name(), ProviderRef: method.Ref, CustomerRef: ref, Card: store.JSONOf(method.Card),
	}, in.IsDefault)
}

// refOf returns the provider's customer for one of ours, made now if there is none.
func (b *Billing) refOf(ctx context.Context, provider payments.Provider, c *store.Customer, token string) (string, error) {
	known, err := b.store.CustomerRef(ctx, c.AccountID, c.ID, provider.Name())
	if err != nil || known != nil {
		return deref(known), err
	}
	ref, err := provider.CreateCustomer(ctx, payments.CustomerInput{
		Token: token + "-customer", Account: c.AccountID, Customer: c.ID, Email: deref(c.Email), Name: deref(c.Name),
	})
	if decline, ok := errors.AsType[*payments.Decline](err); ok {
		return "", store.Invalid("payment_method", decline.Message)
	}
	return ref, err
}

// PaymentWith is how an invoice is paid with a saved method.
func PaymentWith(m *store.SavedMethod) store.InvoicePayment {
	return store.InvoicePayment{
		Provider: m.Provider, MethodRef: m.ProviderRef, PaymentMethod: m.Card.V, CustomerRef: &m.CustomerRef, MethodID: &m.ID,
	}
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
