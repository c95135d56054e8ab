package zernio

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
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/ads"
)

// largest is how many bytes of an answer are read, longest how many bytes of a message are kept.
const (
	largest = 32 << 20
	longest = 500
)

// request describes one request. Its body, if any, is sent as JSON.
type request struct {
	method string
	path   string
	query  url.Values
	body   any
	key    string // Idempotency-Key: the same request with it is carried out once in 24 hours; "" = none
}

// reply is an answer, whatever its status.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// path joins segments to a path of the API and escapes each of them.
func path(segments ...string) string {
	joined := "/v1"
	for _, segment := range segments {
		joined += "/" + url.PathEscape(segment)
	}
	return joined
}

// read gets something and tries again after a fault. When Tries or the time of ctx are used up, the error is
// ErrUnavailable. It does not wait for a rate limit to end. It returns the status: 202 says that figures are not complete.
func (d *Driver) read(ctx context.Context, path string, query url.Values, into any) (int, error) {
	return d.ask(ctx, request{method: http.MethodGet, path: path, query: query}, into)
}

// ask sends a request that changes nothing, as read does.
func (d *Driver) ask(ctx context.Context, r request, into any) (int, error) {
	for try, pause := 1, d.config.Pause; ; try, pause = try+1, 2*pause {
		answer, err := d.send(ctx, r)
		switch {
		case err == nil && !isFault(answer):
			if err := d.refusal(r, answer); err != nil {
				return answer.status, err
			}
			if err = json.Unmarshal(answer.body, into); err == nil {
				return answer.status, nil
			}
		case err == nil:
			err = fmt.Errorf("status %d", answer.status)
		}
		if try == d.config.Tries || !sleep(ctx, pause) {
			return 0, d.failure(r, ads.ErrUnavailable, err)
		}
	}
}

// write changes something, and sends the request only once. If there is no answer, or the server failed, or the answer
// cannot be read, nobody knows what became of it: the error is ErrIndeterminate. So it is if another request with its key is under way, or
// was another one. If there was no connection, nothing was sent: it is ErrUnavailable.
func (d *Driver) write(ctx context.Context, r request, into any) error {
	if err := ctx.Err(); err != nil {
		return d.failure(r, ads.ErrUnavailable, err)
	}
	answer, err := d.send(ctx, r)
	switch {
	case err != nil && neverSent(err):
		return d.failure(r, ads.ErrUnavailable, err)
	case err != nil:
		return d.failure(r, ads.ErrIndeterminate, err)
	case isFault(answer), r.key != "" && answer.isAboutKey():
		return d.failure(r, ads.ErrIndeterminate, fmt.Errorf("status %d: %s", answer.status, answer.problem().Message))
	}
	if err := d.refusal(r, answer); err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(answer.body, into); err != nil {
		return d.failure(r, ads.ErrIndeterminate, err)
	}
	return nil
}

// isAboutKey reports whether a request was refused because of its key, so that one before it may have been carried out.
func (a *reply) isAboutKey() bool {
	return a.status == http.StatusConflict || a.status == http.StatusUnprocessableEntity && a.problem().Code == "idempotency_key_reused"
}

// send sends a request and reads the whole answer.
func (d *Driver) send(ctx context.Context, r request) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, d.config.Request)
	defer cancel()
	req, err := d.build(ctx, r)
	if err != nil {
		return nil, err
	}
	res, err := d.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, largest))
	if err != nil {
		return nil, err
	}
	return &reply{res.StatusCode, res.Header, body}, nil
}

// build makes the HTTP request, with the installation's key in a header.
func (d *Driver) build(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		data, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	target := d.config.BaseURL + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+d.config.Key.Reveal())
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" { // with which net/http sends it again if a kept connection turns out to be broken, and Zernio answers as before
		req.Header.Set("Idempotency-Key", r.key)
	}
	return req, nil
}

// isFault reports whether an answer means that a server or a proxy failed, so that the request may or may not have been carried out. A 501
// is Zernio's word for what a network cannot do, and a reason is its word for what it gave up itself.
func isFault(a *reply) bool {
	if a.status == http.StatusNotImplemented || a.status == http.StatusBadGateway && a.problem().PlatformError.Reason != "" {
		return false
	}
	return a.status >= 500 || a.status == http.StatusRequestTimeout
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

// failure returns an error of one kind, such as ads.ErrUnavailable. The cause is kept only as text, without the key.
func (d *Driver) failure(r request, kind, cause error) error {
	return fmt.Errorf("zernio: %s %s: %w: %s", r.method, r.path, kind, d.clean(cause.Error()))
}

// clean removes the installation's key from a text, and cuts the text if it is long.
func (d *Driver) clean(text string) string {
	if key := d.config.Key.Reveal(); key != "" {
		text = strings.ReplaceAll(text, key, "[secret]")
	}
	return strings.ToValidUTF8(text[:min(len(text), longest)], "")
}

// retryAfter returns how long no requests are taken, or 0 if Zernio does not say. X-RateLimit-Reset is read as seconds, or as a moment if it
// is too large for that.
func retryAfter(h http.Header, now time.Time) time.Duration {
	for _, name := range []string{"Retry-After", "X-RateLimit-Reset"} {
		seconds, err := strconv.ParseInt(h.Get(name), 10, 64)
		if err == nil && seconds > int64(time.Hour/time.Second)*24 {
			seconds -= now.Unix()
		}
		if err == nil && seconds > 0 {
			return ads.Pause(seconds, time.Second)
		}
	}
	return 0
}
