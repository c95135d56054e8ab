package stripe

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store/core"
)

// envelope is what is read of an event before its signature can be checked: the account it belongs to, whose secret checks it.
type envelope struct {
	Data struct {
		Object struct {
			Object   string            `json:"object"`
			Metadata map[string]string `json:"metadata"`
		} `json:"object"`
	} `json:"data"`
}

// HasSignature implements payments.Notifier.
func (p *Provider) HasSignature(header http.Header) bool {
	var dated, signed bool
	for pair := range strings.SplitSeq(header.Get("Stripe-Signature"), ",") {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "t":
			seconds, err := strconv.ParseInt(value, 10, 64)
			dated = err == nil && time.Since(time.Unix(seconds, 0)).Abs() <= stripego.WebhookDefaultTolerance+time.Second
		case "v1":
			sum, err := hex.DecodeString(value)
			signed = signed || err == nil && len(sum) == sha256.Size
		}
	}
	return dated && signed
}

// ParseWebhook implements payments.Notifier. It reads only fields that have been the same in every version of Stripe's API
// since there are PaymentIntents. So an endpoint may use any version. Events about objects that we did not create do not
// concern us, whoever signed them: a seller may use Stripe for other things too.
func (p *Provider) ParseWebhook(ctx context.Context, header http.Header, body []byte) (payments.Event, error) {
	var peek envelope
	if err := json.Unmarshal(body, &peek); err != nil || bytes.Contains(body, []byte(`\u0000`)) { // PostgreSQL takes no NUL
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
	signature := header.Get("Stripe-Signature")
	event, err := stripego.ConstructEvent(body, signature, secret, stripego.WithIgnoreAPIVersionMismatch())
	if err != nil || isAhead(signature, time.Now()) {
		return payments.Event{}, payments.ErrForged
	}
	switch {
	case event.ID == "": // the next event without an id would be taken for the same one
		return payments.Event{}, fmt.Errorf("%w: it has no id", payments.ErrUnusable)
	case event.Data == nil: // the body had the field twice, the second time with null
		return payments.Event{}, fmt.Errorf("%w: it has no data", payments.ErrUnusable)
	}
	read, err := eventOf(account, &event)
	switch {
	case err != nil && !errors.Is(err, payments.ErrUnknownStatus):
		return payments.Event{}, fmt.Errorf("%w: %w", payments.ErrUnusable, err)
	case err == nil && read.Kind != "" && cmp.Or(read.Charge.Ref, read.Refund.Ref) == "":
		return payments.Event{}, fmt.Errorf("%w: its object has no id", payments.ErrUnusable)
	}
	return read, err
}

// isAhead reports whether a signature is dated in the future by more than it may be old. The library does not check that. Such
// a signature could be kept, and sent again for as long.
func isAhead(signature string, now time.Time) bool {
	for pair := range strings.SplitSeq(signature, ",") {
		if at, ok := strings.CutPrefix(pair, "t="); ok {
			seconds, err := strconv.ParseInt(at, 10, 64)
			if err != nil || seconds > now.Add(stripego.WebhookDefaultTolerance).Unix() {
				return true
			}
		}
	}
	return false
}

// webhookSecret returns the account's secret for notifications. Without such an account, or without a secret, no signature can
// be right, and it is payments.ErrForged.
func (p *Provider) webhookSecret(ctx context.Context, account string) (string, error) {
	c, err := p.credentials(ctx, account)
	if missing, ok := errors.AsType[*core.Error](err); ok && missing.Code == core.CodeMissing || err == nil && c.WebhookSecret == "" {
		return "", payments.ErrForged
	}
	return c.WebhookSecret, err
}

// eventOf reads what became of the object of an event. An intent that was only created does not concern us.
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

// intentOf reads the intent of an event, of either kind.
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
