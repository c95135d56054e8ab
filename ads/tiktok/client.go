package tiktok

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/tillwright/tillwright/ads"
)

// largest is how many bytes of an answer are read, longest how many bytes of a message are kept.
const (
	largest = 16 << 20
	longest = 500
)

// fields are the parameters of a request, or of an object in one.
type fields map[string]any

// request describes one request. A read has its parameters in the query, a write in the body: as JSON, or as a form.
type request struct {
	method string
	path   string // such as campaign/create
	params fields
	form   *form
}

// form is a body with a file in it.
type form struct {
	kind string
	body []byte
}

// reply is an answer, whatever its status.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// read gets something and tries again after a fault. When Tries or the time of ctx are used up, the error is
// ErrUnavailable. It does not wait for a rate limit to end.
func (d *Driver) read(ctx context.Context, c ads.Conn, path string, params fields, into any) error {
	return d.readAs(ctx, c, request{method: http.MethodGet, path: path, params: params}, into)
}

// search asks a question whose parameters TikTok wants in a body.
func (d *Driver) search(ctx context.Context, c ads.Conn, path string, params fields, into any) error {
	return d.readAs(ctx, c, request{method: http.MethodPost, path: path, params: params}, into)
}

func (d *Driver) readAs(ctx context.Context, c ads.Conn, r request, into any) error {
	for try, pause := 1, d.config.Pause; ; try, pause = try+1, 2*pause {
		answer, err := d.send(ctx, c, r)
		if err == nil {
			var said envelope
			if said, err = answer.open(); err == nil {
				if err = said.refusal(c, r, answer); err != nil {
					return err
				}
				if err = json.Unmarshal(said.Data, into); err == nil {
					return nil
				}
			}
		}
		if try == d.config.Tries || !sleep(ctx, pause) {
			return failure(c, r, ads.ErrUnavailable, err)
		}
	}
}

// write changes something, and sends the request only once. If there is no answer, or the server failed, or the answer
// cannot be read, nobody knows what became of it: the error is ErrIndeterminate. If there was no connection, nothing was
// sent: it is ErrUnavailable.
func (d *Driver) write(ctx context.Context, c ads.Conn, path string, params fields, into any) error {
	return d.writeAs(ctx, c, request{method: http.MethodPost, path: path, params: params}, into)
}

func (d *Driver) writeAs(ctx context.Context, c ads.Conn, r request, into any) error {
	if err := ctx.Err(); err != nil {
		return failure(c, r, ads.ErrUnavailable, err)
	}
	answer, err := d.send(ctx, c, r)
	if err != nil && neverSent(err) {
		return failure(c, r, ads.ErrUnavailable, err)
	}
	var said envelope
	if err == nil {
		said, err = answer.open()
	}
	if err != nil {
		return failure(c, r, ads.ErrIndeterminate, err)
	}
	if err := said.refusal(c, r, answer); err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(said.Data, into); err != nil {
		return failure(c, r, ads.ErrIndeterminate, err)
	}
	return nil
}

// again repeats a change that does no harm when it is made twice, as often as a read.
func (d *Driver) again(ctx context.Context, change func() error) error {
	err := change()
	for try, pause := 1, d.config.Pause; try < d.config.Tries; try, pause = try+1, 2*pause {
		unanswered := errors.Is(err, ads.ErrIndeterminate) || errors.Is(err, ads.ErrUnavailable)
		if !unanswered || !sleep(ctx, pause) {
			return err
		}
		err = change()
	}
	return err
}

// send sends a request and reads the whole answer.
func (d *Driver) send(ctx context.Context, c ads.Conn, r request) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, d.config.Request)
	defer cancel()
	req, err := d.build(ctx, c, r)
	if err != nil {
		return nil, err
	}
	res, err := d.client.Do(req)
	if err != nil {
		var inURL *url.Error
		if errors.As(err, &inURL) { // whose address may have the app's secret in it
			err = inURL.Err
		}
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, largest))
	if err != nil {
		return nil, err
	}
	return &reply{res.StatusCode, res.Header, body}, nil
}

// build makes the HTTP request, with the token in a header.
func (d *Driver) build(ctx context.Context, c ads.Conn, r request) (*http.Request, error) {
	target, kind := d.config.BaseURL+"/"+r.path+"/", ""
	var body io.Reader
	switch {
	case r.form != nil:
		kind, body = r.form.kind, bytes.NewReader(r.form.body)
	case r.method == http.MethodPost:
		data, err := json.Marshal(r.params)
		if err != nil {
			return nil, err
		}
		kind, body = "application/json", bytes.NewReader(data)
	default:
		query, err := inQuery(r.params)
		if err != nil {
			return nil, err
		}
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, err
	}
	if token := c.Token.Reveal(); token != "" {
		req.Header.Set("Access-Token", token)
	}
	req.Header.Set("Accept", "application/json")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	return req, nil
}

// inQuery writes parameters for an address: texts as they are, everything else as JSON.
func inQuery(params fields) (url.Values, error) {
	query := url.Values{}
	for name, value := range params {
		if text, plain := value.(string); plain {
			query.Set(name, text)
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		query.Set(name, string(data))
	}
	return query, nil
}

// neverSent reports whether an error means that there was no connection, so that nothing can have been sent.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// sleep waits, and returns false if ctx ends before.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// failure returns an error of one kind, such as ads.ErrUnavailable. The cause is kept only as text, without the token.
func failure(c ads.Conn, r request, kind, cause error) error {
	return fmt.Errorf("tiktok: %s %s: %w: %s", r.method, r.path, kind, clean(c, cause.Error()))
}

// unsupported is the error for what TikTok cannot do.
func unsupported() error { return fmt.Errorf("tiktok: %w", ads.ErrUnsupported) }
