package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/tillwright/tillwright/server/payments"
)

// PrepareCharge implements payments.Provider: it makes a PaymentIntent that waits for its confirmation. No intent, no
// money: what Stripe refuses here is a *payments.Decline.
func (p *Provider) PrepareCharge(ctx context.Context, in payments.ChargeInput) (string, error) {
	amount, decline := amountOf(in.Amount, in.Currency)
	if decline != nil {
		return "", decline
	}
	c, err := p.ready(ctx, in.Account)
	if err != nil {
		return "", err
	}
	intent, err := c.V1PaymentIntents.Create(ctx, intentParams(in, amount))
	if err != nil {
		return "", declineOf("create a payment intent", err)
	}
	return intent.ID, nil
}

// intentParams asks for cards alone, which are all that we can show. A method of a customer, charged while they are
// there, is authenticated for later charges too.
func intentParams(in payments.ChargeInput, amount int64) *stripego.PaymentIntentCreateParams {
	params := &stripego.PaymentIntentCreateParams{
		Amount: &amount, Currency: &in.Currency, PaymentMethod: &in.MethodRef,
		PaymentMethodTypes: []*string{new("card")}, Metadata: map[string]string{},
	}
	maps.Copy(params.Metadata, in.Metadata)
	params.Metadata[keyAccount], params.Metadata[keyToken] = in.Account, in.Token
	if in.ReturnURL != "" {
		params.Metadata[keyReturnURL] = in.ReturnURL
	}
	if in.OffSession {
		params.Metadata[keyOffSession] = "true"
	}
	if in.CustomerRef != "" {
		params.Customer = &in.CustomerRef
		if !in.OffSession {
			params.SetupFutureUsage = new("off_session")
		}
	}
	params.SetIdempotencyKey(in.Token)
	return params
}

// ConfirmCharge implements payments.Provider. The intent is its own guard against charging twice: it holds its method
// until it is charged or declined, and none is sent here. A key of the request would do worse, because Stripe repeats
// under it even the answer that something broke.
func (p *Provider) ConfirmCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	c, err := p.client(ctx, account)
	if err != nil {
		return payments.Charge{}, err
	}
	intent, charge, err := look(ctx, c, ref)
	if err != nil || charge.Status != payments.ChargePrepared {
		return charge, err
	}
	params := &stripego.PaymentIntentConfirmParams{}
	if intent.Metadata[keyOffSession] != "" {
		params.OffSession = new(true)
	} else if url := intent.Metadata[keyReturnURL]; url != "" {
		params.ReturnURL = &url
	}
	confirmed, err := c.V1PaymentIntents.Confirm(ctx, ref, params)
	if err == nil {
		return chargeOf(confirmed)
	}
	if _, refused := refusal(err); refused {
		return afterRefusal(ctx, c, ref, err)
	}
	return payments.Charge{}, explain("confirm a payment intent", err)
}

// afterRefusal finds out what became of an intent that was not confirmed. If it could still be, it is given up: a
// charge that is told to be declined must never go through.
func afterRefusal(ctx context.Context, c *stripego.Client, ref string, refused error) (payments.Charge, error) {
	_, charge, err := look(ctx, c, ref)
	if err != nil || charge.Status != payments.ChargePrepared {
		return charge, err
	}
	if charge, err = giveUp(ctx, c, ref); err != nil || charge.Status != payments.ChargeCanceled {
		return charge, err
	}
	decline, _ := errors.AsType[*payments.Decline](declineOf("", refused))
	return payments.Charge{Ref: ref, Status: payments.ChargeDeclined, Decline: decline}, nil
}

// GetCharge implements payments.Provider.
func (p *Provider) GetCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	c, err := p.client(ctx, account)
	if err != nil {
		return payments.Charge{}, err
	}
	_, charge, err := look(ctx, c, ref)
	return charge, err
}

// CancelCharge implements payments.Provider.
func (p *Provider) CancelCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	c, err := p.client(ctx, account)
	if err != nil {
		return payments.Charge{}, err
	}
	_, charge, err := look(ctx, c, ref)
	if err != nil {
		return payments.Charge{}, err
	}
	switch charge.Status {
	case payments.ChargePrepared, payments.ChargeRequiresAction, payments.ChargePending:
		return giveUp(ctx, c, ref)
	}
	return charge, nil
}

// giveUp cancels an intent, unless it has gone on meanwhile.
func giveUp(ctx context.Context, c *stripego.Client, ref string) (payments.Charge, error) {
	params := &stripego.PaymentIntentCancelParams{CancellationReason: new(string(stripego.PaymentIntentCancellationReasonAbandoned))}
	intent, err := c.V1PaymentIntents.Cancel(ctx, ref, params)
	if err == nil {
		return chargeOf(intent)
	}
	if _, refused := refusal(err); refused {
		_, charge, err := look(ctx, c, ref)
		return charge, err
	}
	return payments.Charge{}, explain("cancel a payment intent", err)
}

func look(ctx context.Context, c *stripego.Client, ref string) (*stripego.PaymentIntent, payments.Charge, error) {
	intent, err := c.V1PaymentIntents.Retrieve(ctx, ref, nil)
	if err != nil {
		return nil, payments.Charge{}, explain("retrieve a payment intent", err)
	}
	charge, err := chargeOf(intent)
	return intent, charge, err
}

// chargeOf puts the state of an intent into our words. One that lost its method has been declined; one that never
// had any has not been tried.
func chargeOf(intent *stripego.PaymentIntent) (payments.Charge, error) {
	charge := payments.Charge{Ref: intent.ID}
	switch intent.Status {
	case stripego.PaymentIntentStatusRequiresConfirmation:
		charge.Status = payments.ChargePrepared
	case stripego.PaymentIntentStatusRequiresPaymentMethod:
		charge.Status = payments.ChargePrepared
		if e := intent.LastPaymentError; e != nil {
			charge.Status, charge.Decline = payments.ChargeDeclined, reasonOf(e)
		}
	case stripego.PaymentIntentStatusRequiresAction:
		charge.Status = payments.ChargeRequiresAction
		if next := intent.NextAction; next != nil && next.RedirectToURL != nil {
			charge.NextActionURL = next.RedirectToURL.URL
		}
	case stripego.PaymentIntentStatusProcessing:
		charge.Status = payments.ChargePending
	case stripego.PaymentIntentStatusSucceeded:
		charge.Status = payments.ChargeSucceeded
	case stripego.PaymentIntentStatusCanceled:
		charge.Status = payments.ChargeCanceled
	default:
		return charge, fmt.Errorf("stripe: payment intent %s is %q, which is not known", intent.ID, intent.Status)
	}
	return charge, nil
}

// declineOf turns an error of a request without which no money moves into a *payments.Decline, unless asking again
// may help.
func declineOf(did string, err error) error {
	e, ok := errors.AsType[*stripego.Error](err)
	if !ok {
		return explain(did, err)
	}
	switch e.HTTPStatusCode {
	case http.StatusBadRequest, http.StatusPaymentRequired, http.StatusNotFound:
		return reasonOf(e)
	case http.StatusUnauthorized, http.StatusForbidden:
		return notReady("api_key_refused")
	}
	return explain(did, err)
}

func reasonOf(e *stripego.Error) *payments.Decline {
	return &payments.Decline{Code: cmp.Or(string(e.Code), string(e.Type)), DeclineCode: string(e.DeclineCode), Message: cmp.Or(e.Msg, "The payment was refused.")}
}

// ready is client for what comes before money moves: without a key the answer is no.
func (p *Provider) ready(ctx context.Context, account string) (*stripego.Client, error) {
	c, err := p.client(ctx, account)
	if errors.Is(err, errNoKey) {
		return nil, notReady("api_key_missing")
	}
	return c, err
}

// notReady declines because of the seller. Why is in the code; the buyer need not know.
func notReady(code string) *payments.Decline {
	return &payments.Decline{Code: code, Message: "The seller cannot take this payment at the moment. Nothing was charged."}
}
