// Package stripe takes payments through Stripe: PaymentIntents for charges, SetupIntents for what is charged later,
// Refunds, and saved PaymentMethods of Customers. Invoices and subscriptions stay ours. Each account brings its own key.
//
// Nothing is sent twice by itself: a call that fails is repeated by whoever made it, with the same token.
package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/tillwright/tillwright/server/payments"
	"github.com/tillwright/tillwright/store"
)

// Options say how Stripe is reached and with whose keys.
type Options struct {
	Client      *http.Client
	BaseURL     string // empty = Stripe's own
	Credentials func(ctx context.Context, account string) (payments.Credentials, error)
}

// Provider speaks to Stripe for any account. It is safe for concurrent use.
type Provider struct {
	backends    *stripego.Backends
	credentials func(ctx context.Context, account string) (payments.Credentials, error)
}

// New makes a provider. It tells Stripe nothing about this machine and writes no log of its own.
func New(o Options) *Provider {
	return &Provider{credentials: o.Credentials, backends: stripego.NewBackendsWithConfig(&stripego.BackendConfig{
		HTTPClient: o.Client, URL: new(cmp.Or(o.BaseURL, stripego.APIURL)),
		EnableTelemetry: new(false), MaxNetworkRetries: new(int64(0)), LeveledLogger: &stripego.LeveledLogger{},
	})}
}

// Keys reads the keys that accounts have given us.
func Keys(s *store.Store) func(ctx context.Context, account string) (payments.Credentials, error) {
	return func(ctx context.Context, account string) (payments.Credentials, error) {
		secrets, err := s.GetStripeSecrets(ctx, account)
		return payments.Credentials{SecretKey: secrets.SecretKey, WebhookSecret: secrets.WebhookSecret}, err
	}
}

// Name implements payments.Provider.
func (*Provider) Name() string { return "stripe" }

// errNoKey means that the account has given no key of Stripe.
var errNoKey = errors.New("stripe: the account has no secret key")

// client speaks with the account's key. Making one costs microseconds, so that none is kept: a key that was changed
// counts at once.
func (p *Provider) client(ctx context.Context, account string) (*stripego.Client, error) {
	c, err := p.credentials(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("read the keys of Stripe: %w", err)
	}
	if c.SecretKey == "" {
		return nil, errNoKey
	}
	return stripego.NewClient(c.SecretKey, stripego.WithBackends(p.backends)), nil
}

// What our objects at Stripe carry beside the metadata that they are given. The first two tell whose a notification
// is; the last is what a confirmation needs and Stripe only takes then.
const (
	keyAccount    = "tillwright_account"
	keyToken      = "tillwright_token"
	keyOffSession = "tillwright_off_session"
)

// refusal returns what Stripe says about a request that it did not carry out and never will. All else, a key that is
// not accepted and a token that was used for something else included, leaves open what happened.
func refusal(err error) (*stripego.Error, bool) {
	e, ok := errors.AsType[*stripego.Error](err)
	if !ok || e.Type == stripego.ErrorTypeIdempotency {
		return nil, false
	}
	switch e.HTTPStatusCode {
	case http.StatusBadRequest, http.StatusPaymentRequired, http.StatusNotFound:
		return e, true
	}
	return nil, false
}

// explain says what could not be done. The library's own text of an error holds the whole object, with its secret.
func explain(did string, err error) error {
	if e, ok := errors.AsType[*stripego.Error](err); ok {
		return fmt.Errorf("stripe: %s: %d %s: %s (%s)", did, e.HTTPStatusCode, cmp.Or(string(e.Code), string(e.Type)), e.Msg, e.RequestID)
	}
	return fmt.Errorf("stripe: %s: %w", did, err)
}
