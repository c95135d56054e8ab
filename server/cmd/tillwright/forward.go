package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/sdk/signature"
	"github.com/tillwright/tillwright/server"
)

const (
	forwardTimeout = 30 * time.Second
	forwardQueue   = 1000
)

// delivery is an event as the server delivered it.
type delivery struct {
	event  *sdk.Event
	header http.Header
	body   []byte
}

// forwarder posts deliveries to a program on this machine, one after the other. It signs them with a secret of its own.
type forwarder struct {
	target string // "" passes nothing on
	secret string
	queue  chan delivery
	client *http.Client
	out    *liveOutput
}

func newForwarder(o listenOptions, out *liveOutput) (*forwarder, error) {
	f := &forwarder{queue: make(chan delivery, forwardQueue), client: directClient(), out: out}
	if o.forwardTo == "" {
		return f, nil
	}
	target, err := parseHTTP("forward-to", o.forwardTo)
	if err != nil {
		return nil, err
	}
	f.target = target.String()
	f.secret, err = forwardingSecret(o.secretFile)
	return f, err
}

// forwardingSecret reads the secret from its file, which the first run creates.
func forwardingSecret(file string) (string, error) {
	if file == "" {
		var err error
		if file, err = forwardingSecretFile(); err != nil {
			return "", err
		}
	}
	text, err := server.KeptSecret(file)
	if err != nil {
		return "", fmt.Errorf("forwarding secret: %w", err)
	}
	if key, err := base64.StdEncoding.DecodeString(text); err != nil || len(key) != 32 {
		return "", fmt.Errorf("the forwarding secret in %s is not base64 of 32 bytes: delete the file for a new one", file)
	}
	return signature.Prefix + text, nil
}

// directClient returns an HTTP client that follows no redirects, as the server does not. It uses no proxy, because its target
// is on this machine or near it.
func directClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// add queues a delivery. It reports false if too many wait already.
func (f *forwarder) add(d delivery) bool {
	if f.target == "" {
		return true
	}
	select {
	case f.queue <- d:
		return true
	default:
		return false
	}
}

// run passes deliveries on until ctx ends. Then it prints how many are left.
func (f *forwarder) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case d := <-f.queue:
			f.post(ctx, d)
		}
	}
	if left := len(f.queue); left > 0 {
		f.out.note("%d events were not passed on", left)
	}
}

// post passes a delivery on, and prints what the program answered.
func (f *forwarder) post(ctx context.Context, d delivery) {
	ctx, cancel := context.WithTimeout(ctx, forwardTimeout)
	defer cancel()
	begin := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.target, bytes.NewReader(d.body))
	if err != nil {
		f.out.forwarded(d.event, "failed: "+err.Error(), 0)
		return
	}
	req.Header = resigned(d, f.secret, begin)
	resp, err := f.client.Do(req)
	took := time.Since(begin)
	if err != nil {
		f.out.forwarded(d.event, "failed: "+describeFailure(err), took)
		return
	}
	defer resp.Body.Close()
	f.out.forwarded(d.event, strconv.Itoa(resp.StatusCode)+" "+http.StatusText(resp.StatusCode), took)
	if resp.StatusCode != http.StatusSwitchingProtocols { // nothing that ends follows it
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, largestBody)) // so that the connection can be used again
	}
}

// describeFailure returns why a delivery could not be passed on, without the address, which was printed at the start.
func describeFailure(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return err.Error()
}

// resigned returns the headers of a delivery with each signature replaced by one with our own secret. A signature with a
// previous secret is dropped, because ours has no previous one.
func resigned(d delivery, secret string, now time.Time) http.Header {
	h := d.header.Clone()
	for name := range h {
		lower := strings.ToLower(name)
		switch {
		case lower == "content-length", lower == "connection", strings.HasSuffix(lower, "-hmac-sha256-previous"):
			delete(h, name)
		case strings.HasSuffix(lower, "-hmac-sha256"):
			h[name] = []string{signature.Sign(d.body, secret)}
		}
	}
	if h.Get("webhook-signature") != "" {
		h.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
		h.Set("webhook-signature", signature.StandardSign(h.Get("webhook-id"), now, d.body, secret))
	}
	return h
}
