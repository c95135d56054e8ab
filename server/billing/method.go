package billing

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/payment"
)

// isSaved reports whether a method is named by the id of one that a customer has saved here. Other references are the
// provider's.
func isSaved(in *payments.MethodInput) bool {
	_, saved := core.ParseID(core.KindPaymentMethod, in.Ref)
	return saved
}

// errNotPublic refuses a saved method in a public request: anybody who was sent the address could charge it.
var errNotPublic = core.Invalid("payment_method", "A saved payment method is charged only by the seller, or by its owner on the portal. Send a card.")

// attachment is a payment method that a provider is to save for a customer. Token identifies what the method is saved for, a
// payment for one. However often the provider is asked with the same token, it saves the method once.
type attachment struct {
	Token, Account string
	Customer       *string // our id, nil for a buyer who is no customer yet
	Email, Name    *string
	MethodRef      string
	Card           payment.Method
}

// attach has the provider save a method for a customer. If the provider does not know the customer, or has forgotten them, it
// is asked to create them first. It returns the provider's reference for the customer, and the method as it is charged from
// then on. A method that cannot be saved is a *payments.Decline.
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

// knownCustomer returns the provider's reference for a customer whose method it has saved before, nil if it has none.
func (b *Billing) knownCustomer(ctx context.Context, provider payments.Provider, in attachment) (*string, error) {
	if in.Customer == nil {
		return nil, nil
	}
	return b.store.Payment.CustomerRef(ctx, in.Account, *in.Customer, provider.Name())
}

// notSaved turns a provider's refusal to save a method into a *payments.Decline. Other errors stay as they are.
func notSaved(err error) error {
	if refused, ok := errors.AsType[*core.Error](err); ok {
		return &payments.Decline{Code: "payment_method_not_saved", Message: refused.Message}
	}
	return err
}

// refusal turns a *payments.Decline into CodeInvalid on payment_method, for requests that charge nothing. Other errors stay as
// they are.
func refusal(err error) error {
	if decline, ok := errors.AsType[*payments.Decline](err); ok {
		return core.Invalid("payment_method", decline.Message).Because(cmp.Or(decline.DeclineCode, decline.Code))
	}
	return err
}

// saveMethod has the provider save the method of a checkout's payment, before it is charged. It stores the saved method with
// the payment, which is charged to that from then on. The buyer may be no customer of ours until they have paid. A method that
// cannot be saved is a *payments.Decline.
func (b *Billing) saveMethod(ctx context.Context, provider payments.Provider, begun *store.PaymentProgress) error {
	payment, c := begun.Payment, begun.Checkout
	customer, method, err := b.attach(ctx, provider, attachment{
		Token: payment.ID, Account: payment.AccountID, Customer: c.CustomerID, Email: c.CustomerEmail, Name: c.CustomerName,
		MethodRef: payment.MethodRef, Card: payment.PaymentMethod.V,
	})
	if err != nil {
		return fmt.Errorf("save the method of payment %s: %w", payment.ID, err)
	}
	payment.MethodRef, payment.CustomerRef, payment.PaymentMethod = method.Ref, &customer, core.JSONOf(method.Card)
	return b.store.Payment.SetMethod(ctx, payment)
}

// SaveMethod is a method that is to be saved for a customer. Once names the form in which it was sent; the same form sent again
// saves nothing more. Requests to the API leave it empty: their Idempotency-Key does the same.
type SaveMethod struct {
	Method    payments.MethodInput
	IsDefault bool
	Once      string
	From      payment.Buyer
}

// SaveMethod saves a method for a customer, and charges nothing. One that cannot be saved is CodeInvalid on payment_method;
// after too many tries it is CodeRateLimit. After a crash in between, the provider may have a method that we do not know.
// Nobody can use it, and it does no harm.
func (b *Billing) SaveMethod(ctx context.Context, account, customer string, in SaveMethod) (*payment.SavedMethod, error) {
	provider, accepted, err := b.acceptSaved(ctx, account, customer, in.Method)
	if err != nil {
		return nil, err
	}
	in.From.OnBehalf = true
	c, request, err := b.store.Payment.BeginSaveMethod(ctx, account, customer, in.From)
	if err != nil {
		return nil, err
	}
	ref, method, err := b.attach(ctx, provider, attachmentOf(c, cmp.Or(in.Once, request), accepted))
	if err != nil {
		return nil, refusal(err)
	}
	saved, err := b.store.SavePaymentMethod(ctx, payment.SavedMethod{
		AccountID: account, CustomerID: c.ID, Provider: provider.Name(), ProviderRef: method.Ref, CustomerRef: ref, Card: core.JSONOf(method.Card),
	}, in.IsDefault)
	if err != nil {
		return nil, err
	}
	return saved, b.store.Payment.ForgiveTry(ctx, account, c.ID, in.From)
}

// acceptSaved checks a method that is to be saved, and returns the provider that is to save it. What is refused here is not
// counted as a try, because no bank was asked about it.
func (b *Billing) acceptSaved(ctx context.Context, account, customer string, in payments.MethodInput) (payments.Provider, payments.Method, error) {
	if _, err := b.store.Customer.Get(ctx, account, customer); err != nil {
		return nil, payments.Method{}, err // that there is no such customer is said before what is wrong with the method
	}
	provider, err := b.chosen(ctx, account)
	if err != nil {
		return nil, payments.Method{}, err
	}
	accepted, err := provider.Accept(in, b.store.Now().Time())
	return provider, accepted, err
}

// attachmentOf returns the attachment of an accepted method to a customer of ours. Once tells it from their other ones.
func attachmentOf(c *customer.Customer, once string, accepted payments.Method) attachment {
	return attachment{
		Token: c.ID + "-" + once, Account: c.AccountID, Customer: &c.ID, Email: c.Email, Name: c.Name, MethodRef: accepted.Ref, Card: accepted.Card,
	}
}

// PaymentWith returns how an invoice is paid with a saved method.
func PaymentWith(m *payment.SavedMethod) store.InvoicePayment {
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
