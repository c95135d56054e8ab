package stripe

import (
	"context"
	"errors"
	"net/http"

	stripego "github.com/stripe/stripe-go/v85"
)

// watched is a backend that tells of each answer of Stripe that refuses the account's key, and of which key. Stripe's list of statuses has 401 for a key
// that is not valid, and 403 for one that may not do what was asked: https://docs.stripe.com/api/errors. The latter is a restricted key without a
// permission: https://docs.stripe.com/keys/restricted-api-keys. Its error is an invalid_request_error, so the status alone tells it apart.
type watched struct {
	stripego.Backend
	refused func(key string)
}

// watch returns the backends of a client that tells when Stripe refuses the key of an account.
func (p *Provider) watch(ctx context.Context, account string) *stripego.Backends {
	if p.keyRefused == nil {
		return p.backends
	}
	return &stripego.Backends{API: watched{p.backends.API, func(key string) { p.keyRefused(ctx, account, key) }}, Connect: p.backends.Connect, Uploads: p.backends.Uploads, MeterEvents: p.backends.MeterEvents}
}

func (w watched) Call(method, path, key string, params stripego.ParamsContainer, v stripego.LastResponseSetter) error {
	return w.heard(key, w.Backend.Call(method, path, key, params, v))
}

func (w watched) CallRaw(method, path, key string, body []byte, params *stripego.Params, v stripego.LastResponseSetter) error {
	return w.heard(key, w.Backend.CallRaw(method, path, key, body, params, v))
}

// heard tells what an answer says of the key.
func (w watched) heard(key string, err error) error {
	if answer, ok := errors.AsType[*stripego.Error](err); ok && (answer.HTTPStatusCode == http.StatusUnauthorized || answer.HTTPStatusCode == http.StatusForbidden) {
		w.refused(key)
	}
	return err
}
