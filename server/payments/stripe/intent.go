package stripe

import (
	"context"
	"fmt"
	"maps"
	"strings"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/tillwright/tillwright/server/payments"
)

// intents is one of the two kinds of objects with which Stripe charges: PaymentIntents, and for the amount 0 SetupIntents.
// SetupIntents ask the bank whether the method may be charged later while its owner is away.
type intents interface {
	create(ctx context.Context, in payments.ChargeInput, amount int64) (ref string, err error)
	retrieve(ctx context.Context, ref string) (intent, error)
	confirm(ctx context.Context, prepared intent, back string) (intent, error)
	cancel(ctx context.Context, ref string) (intent, error)
}

// intent is a charge together with the metadata that it was created with.
type intent struct{ payments.Charge }

// returnURL returns the address to which the buyer of an intent comes back, nil if the buyer is not there.
func (i intent) returnURL(back string) *string {
	if back == "" || i.offSession() {
		return nil
	}
	return &back
}

// offSession reports whether the intent was created for a buyer who is not there.
func (i intent) offSession() bool { return i.Metadata[keyOffSession] != "" }

// intents returns the kind of intents that a reference belongs to.
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

// intentsFor returns the kind of intents that charge an amount.
func intentsFor(c *stripego.Client, amount int64) intents {
	if amount == 0 {
		return setupIntents{c}
	}
	return paymentIntents{c}
}

// metadataOf returns the metadata that an intent is created with.
func metadataOf(in payments.ChargeInput) map[string]string {
	m := map[string]string{}
	maps.Copy(m, in.Metadata)
	m[keyAccount], m[keyToken] = in.Account, in.Token
	if in.OffSession {
		m[keyOffSession] = "true"
	}
	return m
}

// stateOf translates the state of an intent into ours. An intent that waits for a method was declined if it has an error;
// otherwise it was never tried.
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

// abandoned is the reason that Stripe is given when an intent is cancelled.
const abandoned = "abandoned"

type paymentIntents struct{ *stripego.Client }

// create creates a PaymentIntent for cards only, because no other method can be shown here. If a customer is charged while they
// are there, their bank is asked to allow later charges too.
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

// paymentIntentOf returns a PaymentIntent as a charge. The amount is the one that was asked for, and after a success the one
// received.
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
