package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// pace sends no more than the quota allows: it waits for the next window before it would be refused, and after it was.
type pace struct {
	ctx      context.Context
	base     http.RoundTripper
	document *Document
	progress func(wait time.Duration)
	spent    func(key string, reset int64) // told when an answer said that a key has no request left until reset; may be nil

	mu   sync.Mutex
	sent int
	left map[string]*window // by who is counted
}

// A request is sent so often, with at most so many seconds in between. After that its refusal is the answer.
const (
	mostTries = 4
	mostPause = 120
)

// window is what is left of a quota until it is full again.
type window struct {
	left  int64
	ends  time.Time
	spent int64 // when it is full again, in seconds of Unix time, if the server said that nothing is left; else 0
}

// counted says by whom a request is counted: its key, or the address. Operations with limits of their own are counted apart.
func (p *pace) counted(req *http.Request) string {
	who := req.Header.Get("Authorization")
	if op, _ := p.document.Match(req.Method, req.URL.Path); op != nil && op.Public {
		who = "address " + strconv.FormatInt(op.Limit, 10)
	}
	return who
}

// RoundTrip implements http.RoundTripper.
func (p *pace) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := drain(&req.Body)
	if err != nil {
		return nil, err
	}
	who := p.counted(req)
	for tries := 1; ; tries++ {
		if err := p.wait(who); err != nil {
			return nil, err
		}
		resp, err := p.send(req, sent)
		if err != nil {
			return nil, err
		}
		p.learn(who, resp)
		after, isNumber := strconv.Atoi(resp.Header.Get("Retry-After"))
		if resp.StatusCode != http.StatusTooManyRequests || isNumber != nil || after > mostPause || tries == mostTries {
			return resp, nil
		}
		received, err := drain(&resp.Body)
		if err != nil {
			return nil, err
		}
		if fault, err := ParseFault(received); err != nil || fault.Code != "rate_limit_exceeded" || fault.Param != "" {
			return resp, nil
		}
		p.mu.Lock()
		w := &window{ends: time.Now().Add(time.Duration(after) * time.Second)}
		if p.left[who] != nil {
			w.spent = p.left[who].spent // as the refusal said
		}
		p.left[who] = w
		p.mu.Unlock()
	}
}

// once sends a request whatever is left of a quota.
type once struct{ *pace }

// RoundTrip implements http.RoundTripper.
func (o once) RoundTrip(req *http.Request) (*http.Response, error) {
	o.mu.Lock()
	o.sent++
	o.mu.Unlock()
	return o.send(req, nil)
}

// isRefused sends one request more than the quota of a key allows, which is full again at reset. It reports whether the answer is that of this quota:
// the next minute may have begun.
func (r *run) isRefused(limit *Result, authorization string, reset int64) (isOfIt bool) {
	t := &part{run: r, result: limit, operation: "getAccount"}
	t.Run("getAccount", func(t T) {
		c := r.client("")
		c.HTTP.Transport = &Transport{T: t, Document: r.document, Coverage: r.coverage, Base: once{r.pace}}
		resp := c.Do(t, http.MethodGet, "/v1/account", nil, "Authorization", authorization)
		again, _ := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64)
		if isOfIt = again == reset; isOfIt {
			resp.Fault(t, http.StatusTooManyRequests, "rate_limit_exceeded")
		}
	})
	return isOfIt
}

// errUnanswered says that a request has left and its answer is not known.
var errUnanswered = errors.New("there was no answer")

// grace is how long a write that is under way may still take when the run is interrupted. What it makes has to be known, so that it can be taken
// away.
const grace = 10 * time.Second

// send sends a request once, and reads its answer.
func (p *pace) send(req *http.Request, body []byte) (*http.Response, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.ctx))
	defer cancel()
	defer context.AfterFunc(p.ctx, func() {
		if req.Method != http.MethodGet {
			select {
			case <-time.After(grace):
			case <-ctx.Done():
			}
		}
		cancel()
	})()
	var isWritten atomic.Bool
	again := req.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { isWritten.Store(true) }}))
	if body != nil {
		again.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := p.base.RoundTrip(again)
	if err == nil {
		_, err = drain(&resp.Body)
	}
	if err != nil && isWritten.Load() {
		err = fmt.Errorf("%w: %w", errUnanswered, err)
	}
	return resp, err
}

// wait returns once a request may be sent, and counts it.
func (p *pace) wait(who string) error {
	for {
		p.mu.Lock()
		w := p.left[who]
		if w == nil || time.Now().After(w.ends) {
			w = &window{left: 30, ends: time.Now().Add(time.Second)} // until an answer says more
			p.left[who] = w
		}
		if w.left > 0 {
			w.left--
			p.sent++
			p.mu.Unlock()
			return p.ctx.Err()
		}
		wait, spent := time.Until(w.ends), w.spent
		p.mu.Unlock()
		if p.spent != nil && spent != 0 {
			p.spent(who, spent)
		}
		p.progress(wait)
		select {
		case <-p.ctx.Done():
			return p.ctx.Err()
		case <-time.After(wait + 50*time.Millisecond):
		}
	}
}

// remaining returns how many requests a key has left, as far as answers have said.
func (p *pace) remaining(key string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.left["Bearer "+key]
	if w == nil || time.Now().After(w.ends) {
		return usualLimit
	}
	return w.left
}

// learn notes what an answer says is left. Of answers that overtook each other the lowest counts.
func (p *pace) learn(who string, resp *http.Response) {
	values, err := quota(resp.Header, "RateLimit", "r", "t")
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if reset, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
		ends := time.Now().Add(time.Duration(values["t"]) * time.Second)
		w := p.left[who]
		if w == nil || reset > w.ends.Unix()+2 || w.left > values["r"] || w.ends.Before(ends.Add(-2*time.Second)) {
			p.left[who] = &window{left: values["r"], ends: ends}
		}
		if values["r"] == 0 {
			p.left[who].spent = reset
		}
	}
}
