package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
)

// envelope is what has to be known of an event before its signature can be checked: whose it is.
type envelope struct {
	Data struct {
		Object struct {
			Object   string            `json:"object"`
			Metadata map[string]string `json:"metadata"`
		} `json:"object"`
	} `json:"data"`
}

// ParseWebhook implements payments.Notifier. What it reads of an event has been the same in every version of Stripe's
// API since there are PaymentIntents, so that an endpoint may have any. An event about an object that is not ours is
// of no concern, whoever signed it: a seller may do more with Stripe than sell here.
func (p *Provider) ParseWebhook(ctx context.Context, header http.Header, body []byte) (payments.Event, error) {
	var peek envelope
	if err := json.Unmarshal(body, &peek); err != nil {
		return payments.Event{}, payments.ErrForged
	}
	account := peek.Data.Object.Metadata[keyAccount]
	if account == "" || !slices.Contains([]string{"payment_intent", "setup_intent", "refund"}, peek.Data.Object.Object) {
		return payments.Event{}, nil
	}
	secret, err := p.webhookSecret(ctx, account)
	if err != nil {
		return payments.Event{}, err
	}
	event, err := stripego.ConstructEvent(body, header.Get("Stripe-Signature"), secret, stripego.WithIgnoreAPIVersionMismatch())
	if err != nil {
		return payments.Event{}, payments.ErrForged
	}
	return eventOf(account, &event)
}

// webhookSecret returns the account's secret for notifications. No account and no secret make every signature wrong.
func (p *Provider) webhookSecret(ctx context.Context, account string) (string, error) {
	c, err := p.credentials(ctx, account)
	if missing, ok := errors.AsType[*store.Error](err); ok && missing.Code == store.CodeMissing || err == nil && c.WebhookSecret == "" {
		return "", payments.ErrForged
	}
	return c.WebhookSecret, err
}

// eventOf reads what became of the object of an event. An intent that was only made is of no concern.
func eventOf(account string, event *stripego.Event) (payments.Event, error) {
	e := payments.Event{ID: event.ID, Account: account}
	if event.Data.Object["object"] == "refund" {
		var made stripego.Refund
		if err := json.Unmarshal(event.Data.Raw, &made); err != nil {
			return e, fmt.Errorf("stripe: read a refund: %w", err)
		}
		var err error
		e.Kind, e.Metadata = payments.EventRefund, made.Metadata
		e.Refund, err = refundOf(&made)
		return e, err
	}
	made, err := intentOf(event)
	if err != nil {
		return e, fmt.Errorf("stripe: read an intent: %w", err)
	}
	if made.Status == payments.ChargePrepared {
		return e, nil
	}
	e.Kind, e.Charge, e.Metadata = payments.EventCharge, made.Charge, made.Metadata
	return e, nil
}

func intentOf(event *stripego.Event) (intent, error) {
	if event.Data.Object["object"] == "setup_intent" {
		var made stripego.SetupIntent
		err := json.Unmarshal(event.Data.Raw, &made)
		return setupIntentOf(&made, err)
	}
	var made stripego.PaymentIntent
	err := json.Unmarshal(event.Data.Raw, &made)
	return paymentIntentOf(&made, err)
}
