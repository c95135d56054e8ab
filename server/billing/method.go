package billing

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// isSaved tells the id of a payment method that a customer has saved here from what a provider knows.
func isSaved(in *payments.MethodInput) bool {
	_, saved := core.ParseID(core.KindPaymentMethod, in.Ref)
	return saved
}

// errNotPublic refuses a saved method at an address that anybody may have been sent.
var errNotPublic = core.Invalid("payment_method", "A saved payment method is charged only by the seller, or by its owner on the portal. Send a card.")

// attachment is a method that a provider is to save for somebody. Token is of what it is saved for: whatever is asked for with
// it happens once.
type attachment struct {
	Token, Account string
	Customer       *string // ours; nil for a buyer who is none yet
	Email, Name    *string
	MethodRef      string
	Card           store.PaymentMethod
}

// attach lets a provider save a method, and returns its name of the customer, who is made there if it knows none, and what the
// method is charged as from then on. A method that cannot be saved is a *payments.Decline.
func (b *Billing) attach(ctx context.Context, provider payments.Provider, in attachment) (customerRef string, method payments.Method, err error) {
	known, err := b.knownCustomer(ctx, provider, in)
	if err != nil {
		return "", payments.Method{}, err
	}
	ask := payments.AttachInput{Token: in.Token + "-method", Account: in.Account, CustomerRef: deref(known), MethodRef: in.MethodRef, Card: in.Card}
	if known != nil {
		if method, err = provider.AttachMethod(ctx, ask); !errors.Is(err, payments.ErrNoCustomer) {
			return ask.CustomerRef, method, notSaved(err)
		}
	}
	if known != nil {
		ask.Token = in.Token + "-again"
	}
	ask.CustomerRef, err = provider.CreateCustomer(ctx, payments.CustomerInput{
		Token: in.Token + "-customer", Account: in.Account, Customer: cmp.Or(deref(in.Customer), in.Token), Email: deref(in.Email), Name: deref(in.Name),
	})
	if err != nil {
		return "", payments.Method{}, err
	}
	method, err = provider.AttachMethod(ctx, ask)
	return ask.CustomerRef, method, notSaved(err)
}

// knownCustomer is what a provider called somebody when it last saved a method of theirs, nil for nobody.
func (b *Billing) knownCustomer(ctx context.Context, provider payments.Provider, in attachment) (*string, error) {
	if in.Customer == nil {
		return nil, nil
	}
	return b.store.CustomerRef(ctx, in.Account, *in.Customer, provider.Name())
}

// notSaved makes the refusal to save a method the decline of what it is saved for.
func notSaved(err error) error {
	if refused, ok := errors.AsType[*core.Error](err); ok {
		return &payments.Decline{Code: "payment_method_not_saved", Message: refused.Message}
	}
	return err
}

// refusal makes a decline the answer to a request that charges nothing.
func refusal(err error) error {
	if decline, ok := errors.AsType[*payments.Decline](err); ok {
		return core.Invalid("payment_method", decline.Message)
	}
	return err
}

// saveMethod lets the provider save the method of a payment for the buyer of its checkout, who becomes our customer only when
// they have paid, and stores what it is charged as from then on. A method that cannot be saved is a *payments.Decline.
func (b *Billing) saveMethod(ctx context.Context, provider payments.Provider, begun *store.Confirmation) error {
	payment, c := begun.Payment, begun.Checkout
	customer, method, err := b.attach(ctx, provider, attachment{
		Token: payment.ID, Account: payment.AccountID, Customer: c.CustomerID, Email: c.CustomerEmail, Name: c.CustomerName,
		MethodRef: payment.MethodRef, Card: payment.PaymentMethod.V,
	})
	if err != nil {
		return fmt.Errorf("save the method of payment %s: %w", payment.ID, err)
	}
	payment.MethodRef, payment.CustomerRef, payment.PaymentMethod = method.Ref, &customer, core.JSONOf(method.Card)
	return b.store.SetPaymentMethod(ctx, payment)
}

// SaveMethod is how a customer gives what they are to be charged with. Once names the form that they did it in, which sent
// again saves nothing more; a request to the API has its Idempotency-Key for that.
type SaveMethod struct {
	Method    payments.MethodInput
	IsDefault bool
	Once      string
	From      store.Buyer
}

// SaveMethod keeps a method for a customer, and charges nothing. One that cannot be saved is CodeInvalid on payment_method.
// What the provider has kept when a crash comes between is of no use to anybody, and does no harm.
func (b *Billing) SaveMethod(ctx context.Context, account, customer string, in SaveMethod) (*store.SavedMethod, error) {
	provider, accepted, err := b.acceptSaved(ctx, account, customer, in.Method)
	if err != nil {
		return nil, err
	}
	in.From.OnBehalf = true
	c, request, err := b.store.BeginSaveMethod(ctx, account, customer, in.From)
	if err != nil {
		return nil, err
	}
	ref, method, err := b.attach(ctx, provider, attachmentOf(c, cmp.Or(in.Once, request), accepted))
	if err != nil {
		return nil, refusal(err)
	}
	saved, err := b.store.SavePaymentMethod(ctx, store.SavedMethod{
		AccountID: account, CustomerID: c.ID, Provider: provider.Name(), ProviderRef: method.Ref, CustomerRef: ref, Card: core.JSONOf(method.Card),
	}, in.IsDefault)
	if err != nil {
		return nil, err
	}
	return saved, b.store.ForgiveTry(ctx, account, c.ID, in.From)
}

// acceptSaved reads a method that is to be saved. What can never pay counts as no try: nobody was asked about it.
func (b *Billing) acceptSaved(ctx context.Context, account, customer string, in payments.MethodInput) (payments.Provider, payments.Method, error) {
	if _, err := b.store.GetCustomer(ctx, account, customer); err != nil {
		return nil, payments.Method{}, err // which customer comes before how they pay
	}
	provider, err := b.chosen(ctx, account)
	if err != nil {
		return nil, payments.Method{}, err
	}
	accepted, err := provider.Accept(in, b.store.Now().Time())
	return provider, accepted, err
}

// attachmentOf is one for a customer of ours.
func attachmentOf(c *store.Customer, once string, accepted payments.Method) attachment {
	return attachment{
		Token: c.ID + "-" + once, Account: c.AccountID, Customer: &c.ID, Email: c.Email, Name: c.Name, MethodRef: accepted.Ref, Card: accepted.Card,
	}
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
