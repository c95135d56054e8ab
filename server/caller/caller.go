// Package caller carries in a context who is asking, and in which request. It depends on no other package of the server: the
// middleware fills it, and handlers read it.
package caller

import (
	"cmp"
	"context"
)

// Caller is whoever sends a request.
type Caller struct {
	RequestID string                                    // req_..., made here, on every log line and response of the request
	Account   string                                    // acct_..., empty without an API key
	KeyID     string                                    // key_..., empty without an API key
	KeyName   string                                    // what the key is called
	PersonID  string                                    // pers_..., of who is signed in to the dashboard; empty for a request from outside
	Email     string                                    // of that person
	Address   string                                    // from which they ask, as far as our own proxies know
	Scopes    []string                                  // what the key may do; none means everything
	Until     string                                    // when the key expires, empty for never
	Stranger  bool                                      // the request needs no API key, and is known to have been counted by its address
	Needed    []string                                  // the scopes that the request takes
	Writes    bool                                      // the request changes something
	Effect    bool                                      // and has an effect outside, which is there before its answer
	Made      Object                                    // what the request has made or changed, if the answer does not say it
	Code      string                                    // of the error that it was answered with, empty if it did not fail
	Failure   error                                     // why the server could not do it, nil if it did or the request is to blame; for the log alone
	Turn      *Turn                                     // what the request computes, nil if nobody waits for that
	Bytes     func(n int64) (release func(), err error) // counts what is held for whoever reads the answer, nil if that is not bounded
	Items     int                                       // how many items its body has that are written one by one
	Refused   Items                                     // of these, by their places, those that do not match what they should be
	Refusal   []byte                                    // the envelope that it was answered with, nil if it did not fail
}

// Items are some items of a request's body, by their places.
type Items map[int]Item

// Item is one of them as it was sent, with what is wrong with it.
type Item struct {
	Sent any
	Err  error
}

// Object is something of an account, by the name of its kind and its id.
type Object struct{ Kind, ID string }

type contextKey struct{}

// With returns a context that carries c. The middleware that learns more about the caller later sets the fields of the same c.
func With(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// Of returns the caller of ctx. Outside of a request it is an empty Caller, never nil.
func Of(ctx context.Context) *Caller {
	if c, ok := ctx.Value(contextKey{}).(*Caller); ok {
		return c
	}
	return &Caller{}
}

// Account returns the id of the account that ctx acts for.
func Account(ctx context.Context) string { return Of(ctx).Account }

// Address returns the network address from which the request of ctx came, or "unknown".
func Address(ctx context.Context) string { return cmp.Or(Of(ctx).Address, "unknown") }

// Hold counts n bytes that are held in memory while the caller of ctx reads them, until release is called. It is an error if too many are.
func Hold(ctx context.Context, n int64) (release func(), err error) {
	if bound := Of(ctx).Bytes; bound != nil {
		return bound(n)
	}
	return func() {}, nil
}

// RequestID returns the id of the request that ctx belongs to.
func RequestID(ctx context.Context) string { return Of(ctx).RequestID }

// May reports whether the caller's key has a scope. A key without scopes has all of them.
func (c *Caller) May(scope string) bool {
	if len(c.Scopes) == 0 || scope == "" {
		return true
	}
	for _, s := range c.Scopes {
		if s == scope {
			return true
		}
	}
	return false
}
