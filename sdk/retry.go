package sdk

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

const (
	firstBackoff = 500 * time.Millisecond
	lastBackoff  = 8 * time.Second
	// longestWait is how long a call waits in all because the server asks for it. Beyond that the caller should decide.
	longestWait = 2 * time.Minute
	// longestClaim is how long a call waits for the first request with its Idempotency-Key to end. The server may have died in the middle of one that
	// had gone to a payment provider or an ad network. Nobody takes such a request over for a minute.
	longestClaim = 75 * time.Second
)

// Attempt is one request of a call, as a hook sees it. It holds no key, no client secret, no query and no body.
type Attempt struct {
	// Operation is the operationId, for example "createProduct".
	Operation string
	Method    string
	// Path is the path under the base URL. A public operation keeps its placeholder, because the path would hold a secret.
	Path string
	// Number counts the attempts of a call from 1.
	Number    int
	StartedAt time.Time
	Duration  time.Duration
	// Status is 0 if no answer came.
	Status    int
	RequestID string
	// Err is nil, an *Error, or the error of the network.
	Err error
}

// send sends the request until it is answered or refused for good, or until attempts or time run out. Every attempt has the
// same headers and body, and so the same Idempotency-Key.
func (c *Client) send(ctx context.Context, r *request) (*answer, error) {
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.timeout)
		defer cancel()
	}
	begun, asked := time.Now(), time.Duration(0)
	for number := 1; ; number++ {
		a, err := c.attempt(ctx, r, number)
		if err == nil {
			return a, nil
		}
		wait := backoff(number)
		if refusal, ok := errors.AsType[*Error](err); ok {
			wait += refusal.RetryAfter
			asked += refusal.RetryAfter
		}
		if ctx.Err() != nil || !repeatable(err) || c.spent(number, time.Since(begun)+wait, asked, err) || outlasts(ctx, wait) {
			return nil, named(r, err)
		}
		if stopped := sleep(ctx, wait); stopped != nil {
			return nil, fmt.Errorf("sdk: %s: %w while waiting to repeat after: %w", r.operation.ID, stopped, err)
		}
	}
}

// spent reports whether a call has made its last attempt. After is how long after the first attempt the next one would begin, and asked how much of
// that the server has asked to wait. For up to longestClaim, attempts that find the first one still running do not count, because its answer is
// about to come.
func (c *Client) spent(attempts int, after, asked time.Duration, err error) bool {
	switch {
	case c.retries == 0 || c.retryTime <= 0:
		return true
	case CodeOf(err) == CodeRequestInProgress && after < longestClaim:
		return false
	case asked > longestWait || after-asked > c.retryTime && attempts > 1: // of an attempt that took all the time there may be an answer
		return true
	}
	return c.retries > 0 && attempts > c.retries
}

// attempt sends the request once, and tells the hooks and WithResponse about it.
func (c *Client) attempt(ctx context.Context, r *request, number int) (*answer, error) {
	started := time.Now()
	a, err := c.exchange(ctx, r)
	seen := Attempt{Operation: r.operation.ID, Method: r.operation.Method, Path: r.shown,
		Number: number, StartedAt: started, Duration: time.Since(started), Err: err}
	response := Response{Attempts: number}
	if a != nil {
		seen.Status, seen.RequestID = a.status, requestID(a.header)
		response.Status, response.Header, response.Body, response.RequestID = a.status, a.header, a.body, requestID(a.header)
		response.Replayed = a.header.Get("Idempotent-Replayed") == "true"
	}
	for _, hook := range c.hooks {
		hook(ctx, seen)
	}
	if r.response != nil {
		*r.response = response
	}
	return a, err
}

// repeatable reports whether another attempt may succeed. It may after a network error, a 5xx or a 429, and while the first request with this
// Idempotency-Key is still running. Every other 4xx would be refused again, and so would a 501. An answer that is too large would come again, and a
// client that is misdirected would stay so.
func repeatable(err error) bool {
	refusal, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return !errors.Is(err, errAnswerTooLarge) && !misdirected(err)
	case refusal.Status == http.StatusConflict:
		return refusal.Code == CodeRequestInProgress
	case refusal.Status == http.StatusNotImplemented:
		return false
	}
	return refusal.Status >= http.StatusInternalServerError || refusal.Status == http.StatusTooManyRequests
}

// misdirected reports whether the base URL or the client's trust is wrong. That shows in a host that DNS does not know, a certificate that is not
// accepted, or plain HTTP where TLS is expected. Nothing was sent, and another attempt would find the same.
func misdirected(err error) bool {
	unknown, ok := errors.AsType[*net.DNSError](err)
	if ok && unknown.IsNotFound && !unknown.IsTemporary {
		return true
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return untrusted || errors.Is(err, http.ErrSchemeMismatch)
}

// backoff returns how long to wait before the next attempt, beside what the server asks for. It is a random time in the upper half of a bound that
// doubles each time. So clients that failed together do not come back together.
func backoff(number int) time.Duration {
	bound := min(lastBackoff, firstBackoff<<min(number-1, 10))
	return bound/2 + rand.N(bound/2)
}

// outlasts reports whether waiting would use up the time that is left. Then the caller is better served with the error now.
func outlasts(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= wait
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// named adds the name of the operation to an error that does not have it yet.
func named(r *request, err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return fmt.Errorf("sdk: %s: %w", r.operation.ID, err)
}
