package stripe

import (
	"context"
	"errors"
	"net/http"

	stripego "github.com/stripe/stripe-go/v85"
)

// watched is a backend that tells by each answer of Stripe whether it took the account's key. No answer tells nothing.
type watched struct {
	stripego.Backend
	tell func(works bool)
}

// watch returns the backends of a client that tells whether Stripe takes the key of an account. That it does is told only if it was known not to.
func (p *Provider) watch(ctx context.Context, account string, wasRefused bool) *stripego.Backends {
	if p.keyWorks == nil {
		return p.backends
	}
	return &stripego.Backends{API: watched{p.backends.API, func(works bool) {
		if !works || wasRefused {
			p.keyWorks(ctx, account, works)
		}
	}}, Connect: p.backends.Connect, Uploads: p.backends.Uploads, MeterEvents: p.backends.MeterEvents}
}

func (w watched) Call(method, path, key string, params stripego.ParamsContainer, v stripego.LastResponseSetter) error {
	return w.heard(w.Backend.Call(method, path, key, params, v))
}

func (w watched) CallRaw(method, path, key string, body []byte, params *stripego.Params, v stripego.LastResponseSetter) error {
	return w.heard(w.Backend.CallRaw(method, path, key, body, params, v))
}

// heard tells what an answer says of the key.
func (w watched) heard(err error) error {
	answer, ok := errors.AsType[*stripego.Error](err)
	switch {
	case err == nil:
		w.tell(true)
	case ok:
		w.tell(answer.HTTPStatusCode != http.StatusUnauthorized && answer.HTTPStatusCode != http.StatusForbidden)
	}
	return err
}
