package stripe

import (
	"context"
	"errors"
	"net/http"

	stripego "github.com/stripe/stripe-go/v85"
)

// watched is a backend that tells of each answer of Stripe that refuses the account's key.
type watched struct {
	stripego.Backend
	refused func()
}

// watch returns the backends of a client that tells when Stripe refuses the key of an account.
func (p *Provider) watch(ctx context.Context, account string) *stripego.Backends {
	if p.keyRefused == nil {
		return p.backends
	}
	return &stripego.Backends{API: watched{p.backends.API, func() { p.keyRefused(ctx, account) }}, Connect: p.backends.Connect, Uploads: p.backends.Uploads, MeterEvents: p.backends.MeterEvents}
}

func (w watched) Call(method, path, key string, params stripego.ParamsContainer, v stripego.LastResponseSetter) error {
	return w.heard(w.Backend.Call(method, path, key, params, v))
}

func (w watched) CallRaw(method, path, key string, body []byte, params *stripego.Params, v stripego.LastResponseSetter) error {
	return w.heard(w.Backend.CallRaw(method, path, key, body, params, v))
}

// heard tells what an answer says of the key.
func (w watched) heard(err error) error {
	if answer, ok := errors.AsType[*stripego.Error](err); ok && (answer.HTTPStatusCode == http.StatusUnauthorized || answer.HTTPStatusCode == http.StatusForbidden) {
		w.refused()
	}
	return err
}
