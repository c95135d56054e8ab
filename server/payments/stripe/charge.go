package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/tillwright/tillwright/server/payments"
)

// PrepareCharge implements payments.Provider: it makes an intent that waits for its confirmation. No intent, no money:
// what Stripe refuses here is a *payments.Decline.
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

// ConfirmCharge implements payments.Provider. The intent is its own guard against charging twice: it holds its method
// until it is charged or declined, and none is sent here. A key of the request would do worse, because Stripe repeats
// under it even the answer that something broke.
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

// afterRefusal finds out what became of an intent that was not confirmed. If it could still be, it is given up: a
// charge that is told to be declined must never go through.
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

// giveUp cancels an intent, unless it has gone on meanwhile.
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

// look finds out how an intent is.
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

// declineOf turns an error of a request without which no money moves into a *payments.Decline, unless asking again
// may help. That its token was sent with something else is no answer: what was sent first may have been done.
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
