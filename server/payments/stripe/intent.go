package stripe

import (
	"context"
	"fmt"
	"maps"
	"strings"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/tillwright/tillwright/server/payments"
)

// intents are what Stripe charges a method by. One of nothing is a SetupIntent, which asks the bank whether the method
// may be charged later, while its owner is away.
type intents interface {
	create(ctx context.Context, in payments.ChargeInput, amount int64) (ref string, err error)
	retrieve(ctx context.Context, ref string) (intent, error)
	confirm(ctx context.Context, prepared intent, back string) (intent, error)
	cancel(ctx context.Context, ref string) (intent, error)
}

// intent is a charge with what it was told when it was made.
type intent struct{ payments.Charge }

// returnURL is where the buyer of an intent comes back to; nil for one who is not there.
func (i intent) returnURL(back string) *string {
	if back == "" || i.offSession() {
		return nil
	}
	return &back
}

func (i intent) offSession() bool { return i.Metadata[keyOffSession] != "" }

// intents are those of the kind that a reference has.
func (p *Provider) intents(ctx context.Context, account, ref string) (intents, error) {
	c, err := p.client(ctx, account)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(ref, "seti_") {
		return setupIntents{c}, nil
	}
	return paymentIntents{c}, nil
}

// intentsFor are those that charge an amount.
func intentsFor(c *stripego.Client, amount int64) intents {
	if amount == 0 {
		return setupIntents{c}
	}
	return paymentIntents{c}
}

// metadataOf is what an intent is told when it is made.
func metadataOf(in payments.ChargeInput) map[string]string {
	m := map[string]string{}
	maps.Copy(m, in.Metadata)
	m[keyAccount], m[keyToken] = in.Account, in.Token
	if in.OffSession {
		m[keyOffSession] = "true"
	}
	return m
}

// stateOf puts the state of an intent into our words. One that lost its method has been declined; one that never had any
// has not been tried.
func stateOf(ref, status string, failed *stripego.Error, next string) (payments.Charge, error) {
	charge := payments.Charge{Ref: ref}
	switch status {
	case "requires_confirmation":
		charge.Status = payments.ChargePrepared
	case "requires_payment_method":
		charge.Status = payments.ChargePrepared
		if failed != nil {
			charge.Status, charge.Decline = payments.ChargeDeclined, reasonOf(failed)
		}
	case "requires_action":
		charge.Status, charge.NextActionURL = payments.ChargeRequiresAction, next
	case "processing":
		charge.Status = payments.ChargePending
	case "succeeded":
		charge.Status = payments.ChargeSucceeded
	case "canceled":
		charge.Status = payments.ChargeCanceled
	default:
		return charge, fmt.Errorf("stripe: intent %s is %q: %w", ref, status, payments.ErrUnknownStatus)
	}
	return charge, nil
}

// abandoned is why we cancel an intent.
const abandoned = "abandoned"

type paymentIntents struct{ *stripego.Client }

// create asks for cards alone, which are all that we can show. A method of a customer, charged while they are there, is
// authenticated for later charges too.
func (c paymentIntents) create(ctx context.Context, in payments.ChargeInput, amount int64) (string, error) {
	params := &stripego.PaymentIntentCreateParams{
		Amount: &amount, Currency: &in.Currency, PaymentMethod: &in.MethodRef,
		PaymentMethodTypes: []*string{new("card")}, Metadata: metadataOf(in),
	}
	if in.CustomerRef != "" {
		params.Customer = &in.CustomerRef
		if !in.OffSession {
			params.SetupFutureUsage = new("off_session")
		}
	}
	params.SetIdempotencyKey(in.Token)
	made, err := c.V1PaymentIntents.Create(ctx, params)
	if err != nil {
		return "", err
	}
	return made.ID, nil
}

func (c paymentIntents) retrieve(ctx context.Context, ref string) (intent, error) {
	return paymentIntentOf(c.V1PaymentIntents.Retrieve(ctx, ref, nil))
}

func (c paymentIntents) confirm(ctx context.Context, prepared intent, back string) (intent, error) {
	params := &stripego.PaymentIntentConfirmParams{ReturnURL: prepared.returnURL(back)}
	if prepared.offSession() {
		params.OffSession = new(true)
	}
	return paymentIntentOf(c.V1PaymentIntents.Confirm(ctx, prepared.Ref, params))
}

func (c paymentIntents) cancel(ctx context.Context, ref string) (intent, error) {
	return paymentIntentOf(c.V1PaymentIntents.Cancel(ctx, ref, &stripego.PaymentIntentCancelParams{CancellationReason: new(abandoned)}))
}

func paymentIntentOf(made *stripego.PaymentIntent, err error) (intent, error) {
	if err != nil {
		return intent{}, err
	}
	next := ""
	if made.NextAction != nil && made.NextAction.RedirectToURL != nil {
		next = made.NextAction.RedirectToURL.URL
	}
	charge, err := stateOf(made.ID, string(made.Status), made.LastPaymentError, next)
	charge.Amount, charge.Metadata = oursOf(made.Amount, string(made.Currency)), made.Metadata
	if charge.Status == payments.ChargeSucceeded {
		charge.Amount = oursOf(made.AmountReceived, string(made.Currency))
	}
	return intent{charge}, err
}

type setupIntents struct{ *stripego.Client }

func (c setupIntents) create(ctx context.Context, in payments.ChargeInput, _ int64) (string, error) {
	params := &stripego.SetupIntentCreateParams{
		Customer: &in.CustomerRef, PaymentMethod: &in.MethodRef, Usage: new("off_session"),
		PaymentMethodTypes: []*string{new("card")}, Metadata: metadataOf(in),
	}
	params.SetIdempotencyKey(in.Token)
	made, err := c.V1SetupIntents.Create(ctx, params)
	if err != nil {
		return "", err
	}
	return made.ID, nil
}

func (c setupIntents) retrieve(ctx context.Context, ref string) (intent, error) {
	return setupIntentOf(c.V1SetupIntents.Retrieve(ctx, ref, nil))
}

func (c setupIntents) confirm(ctx context.Context, prepared intent, back string) (intent, error) {
	return setupIntentOf(c.V1SetupIntents.Confirm(ctx, prepared.Ref, &stripego.SetupIntentConfirmParams{ReturnURL: prepared.returnURL(back)}))
}

func (c setupIntents) cancel(ctx context.Context, ref string) (intent, error) {
	return setupIntentOf(c.V1SetupIntents.Cancel(ctx, ref, &stripego.SetupIntentCancelParams{CancellationReason: new(abandoned)}))
}

func setupIntentOf(made *stripego.SetupIntent, err error) (intent, error) {
	if err != nil {
		return intent{}, err
	}
	next := ""
	if made.NextAction != nil && made.NextAction.RedirectToURL != nil {
		next = made.NextAction.RedirectToURL.URL
	}
	charge, err := stateOf(made.ID, string(made.Status), made.LastSetupError, next)
	charge.Metadata = made.Metadata
	return intent{charge}, err
}
