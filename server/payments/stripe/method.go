package stripe

import (
	"context"
	"regexp"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/payment"
)

// methodRef matches the id of a PaymentMethod, or one of Stripe's test tokens such as pm_card_visa.
var methodRef = regexp.MustCompile(`^pm_[A-Za-z0-9_]{1,200}$`)

// Accept implements payments.Provider. It refuses every card number: the buyer's browser gives those to Stripe, and they must
// never come here.
func (*Provider) Accept(in payments.MethodInput, _ time.Time) (payments.Method, error) {
	if in.Card != nil {
		return payments.Method{}, core.Invalid("payment_method",
			"Card numbers are not taken here. Let Stripe.js or Stripe's mobile SDKs make a PaymentMethod of the card, and send its id, pm_...")
	}
	if !methodRef.MatchString(in.Ref) {
		return payments.Method{}, core.Invalid("payment_method", "Send the id of a Stripe PaymentMethod, pm_...")
	}
	return payments.Method{Ref: in.Ref, Card: payment.Method{Type: "card"}}, nil
}

// CreateCustomer implements payments.Provider.
func (p *Provider) CreateCustomer(ctx context.Context, in payments.CustomerInput) (string, error) {
	c, err := p.ready(ctx, in.Account)
	if err != nil {
		return "", err
	}
	params := &stripego.CustomerCreateParams{Metadata: map[string]string{
		keyAccount: in.Account, keyToken: in.Token, "tillwright_customer": in.Customer,
	}}
	if in.Email != "" {
		params.Email = &in.Email
	}
	if in.Name != "" {
		params.Name = &in.Name
	}
	params.SetIdempotencyKey(in.Token + "-customer") // a charge may use the same token, and Stripe's keys are shared by all calls
	made, err := c.V1Customers.Create(ctx, params)
	if err != nil {
		return "", declineOf("create a customer", err)
	}
	return made.ID, nil
}

// AttachMethod implements payments.Provider. A method that the customer has already counts as attached.
func (p *Provider) AttachMethod(ctx context.Context, in payments.AttachInput) (payments.Method, error) {
	c, err := p.ready(ctx, in.Account)
	if err != nil {
		return payments.Method{}, err
	}
	params := &stripego.PaymentMethodAttachParams{Customer: &in.CustomerRef}
	params.SetIdempotencyKey(in.Token + "-attach")
	method, err := c.V1PaymentMethods.Attach(ctx, in.MethodRef, params)
	if err == nil {
		return methodOf(method), nil
	}
	e, refused := refusal(err)
	if !refused {
		return payments.Method{}, declineOf("attach a payment method", err)
	}
	if has, getErr := c.V1PaymentMethods.Retrieve(ctx, in.MethodRef, nil); getErr == nil && has.Customer != nil && has.Customer.ID == in.CustomerRef {
		return methodOf(has), nil
	}
	if e.Code == stripego.ErrorCodeResourceMissing && e.Param == "customer" {
		return payments.Method{}, payments.ErrNoCustomer
	}
	return payments.Method{}, core.Invalid("payment_method", "Stripe does not save the payment method: "+e.Msg)
}

// DetachMethod implements payments.Provider. If Stripe refuses, no customer has the method, and one that was detached can never
// be attached or charged again: that is what was wanted. No idempotency key is sent, because under it Stripe would repeat for a
// day that something broke.
func (p *Provider) DetachMethod(ctx context.Context, account, ref string) error {
	c, err := p.client(ctx, account)
	if err != nil {
		return err
	}
	_, err = c.V1PaymentMethods.Detach(ctx, ref, nil)
	if _, refused := refusal(err); err == nil || refused {
		return nil
	}
	return explain("detach a payment method", err)
}

func methodOf(m *stripego.PaymentMethod) payments.Method {
	method := payments.Method{Ref: m.ID, Card: payment.Method{Type: "card"}}
	if m.Card != nil {
		method.Card.Brand, method.Card.Last4 = string(m.Card.Brand), m.Card.Last4
		method.Card.ExpMonth, method.Card.ExpYear = int(m.Card.ExpMonth), int(m.Card.ExpYear)
	}
	return method
}
