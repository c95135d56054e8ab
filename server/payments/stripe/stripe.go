// Package stripe takes payments through Stripe: with PaymentIntents for charges, SetupIntents for methods that are charged
// later, Refunds, and PaymentMethods that are saved for Customers. Invoices and subscriptions stay ours. Each account brings
// its own key.
//
// Nothing is sent again by itself: a call that fails is repeated by whoever made it, with the same token.
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

// Options say how Stripe is reached, and where the keys of an account are read.
type Options struct {
	Client      *http.Client
	BaseURL     string // empty = Stripe's own
	Credentials func(ctx context.Context, account string) (payments.Credentials, error)

	// KeyRefused is told when Stripe refuses a key of an account, or that it may do what was asked. The account may have another key by then. Nil: nobody is.
	KeyRefused func(ctx context.Context, account, key string)
}

// Provider speaks to Stripe for any account. It is safe for concurrent use.
type Provider struct {
	backends    *stripego.Backends
	credentials func(ctx context.Context, account string) (payments.Credentials, error)
	keyRefused  func(ctx context.Context, account, key string)
}

// New returns a provider. It tells Stripe nothing about this machine and writes no log of its own.
func New(o Options) *Provider {
	return &Provider{credentials: o.Credentials, keyRefused: o.KeyRefused, backends: stripego.NewBackendsWithConfig(&stripego.BackendConfig{
		HTTPClient: o.Client, URL: new(cmp.Or(o.BaseURL, stripego.APIURL)),
		EnableTelemetry: new(false), MaxNetworkRetries: new(int64(0)), LeveledLogger: &stripego.LeveledLogger{},
	})}
}

// Keys returns a function that reads the Stripe keys of an account from the store.
func Keys(s *store.Store) func(ctx context.Context, account string) (payments.Credentials, error) {
	return func(ctx context.Context, account string) (payments.Credentials, error) {
		secrets, err := s.Tenant.GetStripeSecrets(ctx, account)
		return payments.Credentials{SecretKey: secrets.SecretKey, WebhookSecret: secrets.WebhookSecret}, err
	}
}

// Name implements payments.Provider.
func (*Provider) Name() string { return "stripe" }

// errNoKey means that the account has given no key of Stripe.
var errNoKey = errors.New("stripe: the account has no secret key")

// client returns a client with the account's key, or errNoKey. Making one costs microseconds, so none is kept, and a key that
// was changed is used at once.
func (p *Provider) client(ctx context.Context, account string) (*stripego.Client, error) {
	c, err := p.credentials(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("read the keys of Stripe: %w", err)
	}
	if c.SecretKey == "" {
		return nil, errNoKey
	}
	return stripego.NewClient(c.SecretKey, stripego.WithBackends(p.watch(ctx, account))), nil
}

// These keys are added to the metadata of all that we create at Stripe. The first two tell which account a notification belongs to.
// The last keeps whether the buyer is there, which Stripe only takes with the confirmation.
const (
	keyAccount    = "tillwright_account"
	keyToken      = "tillwright_token"
	keyOffSession = "tillwright_off_session"
)

// refusal returns what Stripe says if it did not carry out a request and never will. It returns false for every other error, which
// leaves open what happened. Such errors are that a key is not accepted, and that a token was used for another request.
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

// explain returns an error that says what could not be done. The text of the library's own error is not used: it holds the
// whole object, with its secret.
func explain(did string, err error) error {
	if e, ok := errors.AsType[*stripego.Error](err); ok {
		return fmt.Errorf("stripe: %s: %d %s: %s (%s)", did, e.HTTPStatusCode, cmp.Or(string(e.Code), string(e.Type)), e.Msg, e.RequestID)
	}
	return fmt.Errorf("stripe: %s: %w", did, err)
}
