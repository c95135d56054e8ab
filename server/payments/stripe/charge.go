package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/tillwright/tillwright/server/payments"
)

// PrepareCharge implements payments.Provider. It creates an intent that waits to be confirmed. As no money can move without an
// intent, what Stripe refuses here is a *payments.Decline.
func (p *Provider) PrepareCharge(ctx context.Context, in payments.ChargeInput) (string, error) {
	amount, decline := amountOf(in.Amount, in.Currency)
	if decline != nil {
		return "", decline
	}
	c, err := p.ready(ctx, in.Account)
	if err != nil {
		return "", err
	}
	ref, err := intentsFor(c, amount).create(ctx, in, amount)
	if err != nil {
		return "", declineOf("create an intent", err)
	}
	return ref, nil
}

// ConfirmCharge implements payments.Provider. The intent itself prevents a second charge: it holds its method until it is
// charged or declined, and no method is sent here. An idempotency key would do harm, because under the same key Stripe repeats
// even the answer that something broke.
func (p *Provider) ConfirmCharge(ctx context.Context, account, ref, back string) (payments.Charge, error) {
	all, err := p.intents(ctx, account, ref)
	if err != nil {
		return payments.Charge{}, err
	}
	found, err := look(ctx, all, ref)
	if err != nil || found.Status != payments.ChargePrepared {
		return found.Charge, err
	}
	confirmed, err := all.confirm(ctx, found, back)
	if err == nil {
		return confirmed.Charge, nil
	}
	if _, refused := refusal(err); refused {
		return afterRefusal(ctx, all, ref, err)
	}
	return payments.Charge{}, explain("confirm an intent", err)
}

// afterRefusal finds out what became of an intent whose confirmation Stripe refused. If it could still be confirmed later, it
// is cancelled first: a charge that we call declined must never go through.
func afterRefusal(ctx context.Context, all intents, ref string, refused error) (payments.Charge, error) {
	found, err := look(ctx, all, ref)
	if err != nil || found.Status != payments.ChargePrepared {
		return found.Charge, err
	}
	charge, err := giveUp(ctx, all, ref)
	if err != nil || charge.Status != payments.ChargeCanceled {
		return charge, err
	}
	decline, _ := errors.AsType[*payments.Decline](declineOf("", refused))
	return payments.Charge{Ref: ref, Status: payments.ChargeDeclined, Decline: decline}, nil
}

// GetCharge implements payments.Provider.
func (p *Provider) GetCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	all, err := p.intents(ctx, account, ref)
	if err != nil {
		return payments.Charge{}, err
	}
	found, err := look(ctx, all, ref)
	return found.Charge, err
}

// CancelCharge implements payments.Provider.
func (p *Provider) CancelCharge(ctx context.Context, account, ref string) (payments.Charge, error) {
	all, err := p.intents(ctx, account, ref)
	if err != nil {
		return payments.Charge{}, err
	}
	found, err := look(ctx, all, ref)
	if err != nil {
		return payments.Charge{}, err
	}
	switch found.Status {
	case payments.ChargePrepared, payments.ChargeRequiresAction, payments.ChargePending:
		return giveUp(ctx, all, ref)
	case payments.ChargeSucceeded, payments.ChargeDeclined, payments.ChargeCanceled:
	}
	return found.Charge, nil
}

// giveUp cancels an intent. If Stripe refuses because the intent has gone on meanwhile, it returns what has become of it.
func giveUp(ctx context.Context, all intents, ref string) (payments.Charge, error) {
	canceled, err := all.cancel(ctx, ref)
	if err == nil {
		return canceled.Charge, nil
	}
	if _, refused := refusal(err); refused {
		found, err := look(ctx, all, ref)
		return found.Charge, err
	}
	return payments.Charge{}, explain("cancel an intent", err)
}

// look reads an intent. It is payments.ErrNoCharge if Stripe does not know it.
func look(ctx context.Context, all intents, ref string) (intent, error) {
	found, err := all.retrieve(ctx, ref)
	if err == nil {
		return found, nil
	}
	if e, refused := refusal(err); refused && e.Code == stripego.ErrorCodeResourceMissing {
		return intent{}, fmt.Errorf("%w: %w", payments.ErrNoCharge, explain("retrieve an intent", err))
	}
	return intent{}, explain("retrieve an intent", err)
}

// declineOf turns the error of a request into a *payments.Decline, if Stripe will never carry it out. It is only for requests
// that come before money moves. Any other error stays one, because asking again may help. That a token was used for another
// request is no refusal either: that other request may have been carried out.
func declineOf(did string, err error) error {
	e, ok := errors.AsType[*stripego.Error](err)
	if !ok || e.Type == stripego.ErrorTypeIdempotency {
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

// reasonOf returns an error of Stripe as a decline. What is no error of a card is the seller's, but for buyers whom their bank did not recognise.
func reasonOf(e *stripego.Error) *payments.Decline {
	return &payments.Decline{
		Code: cmp.Or(string(e.Code), string(e.Type)), DeclineCode: string(e.DeclineCode), Message: cmp.Or(e.Msg, "The payment was refused."),
		OfSeller: e.Type != stripego.ErrorTypeCard && !strings.HasSuffix(string(e.Code), "_authentication_failure"),
	}
}

// ready is client for requests that come before money moves: if the account has no key, the payment is declined.
func (p *Provider) ready(ctx context.Context, account string) (*stripego.Client, error) {
	c, err := p.client(ctx, account)
	if errors.Is(err, errNoKey) {
		return nil, notReady("api_key_missing")
	}
	return c, err
}

// notReady returns a decline that is the seller's fault. The code says why; the buyer need not know.
func notReady(code string) *payments.Decline {
	return &payments.Decline{Code: code, Message: "The seller cannot take this payment at the moment. Nothing was charged.", OfSeller: true}
}
