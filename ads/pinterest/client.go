package pinterest

import (
	"bytes"
	"cmp"
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
	largest = 16 << 20
	longest = 500
)

// request describes one request. Its body, if any, is sent as JSON.
type request struct {
	method string
	path   string
	query  url.Values
	body   any
}

// reply is an answer, whatever its status.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// path joins segments to a path and escapes each of them.
func path(segments ...string) string {
	var joined strings.Builder
	for _, segment := range segments {
		joined.WriteString("/" + url.PathEscape(segment))
	}
	return joined.String()
}

// read gets something and tries again after a fault. When Tries or the time of ctx are used up, the error is
// ErrUnavailable. It does not wait for a rate limit to end.
func (d *Driver) read(ctx context.Context, c ads.Conn, path string, query url.Values, into any) error {
	r := request{method: http.MethodGet, path: path, query: query}
	for try, pause := 1, d.config.Pause; ; try, pause = try+1, 2*pause {
		answer, err := d.send(ctx, c, r)
		switch {
		case err == nil && !isFault(answer.status):
			err = refusal(c, r, answer)
			if err != nil {
				return err
			}
			if err = json.Unmarshal(answer.body, into); err == nil {
				return nil
			}
		case err == nil:
			err = fmt.Errorf("status %d", answer.status)
		}
		if try == d.config.Tries || !sleep(ctx, pause) {
			return failure(c, r, ads.ErrUnavailable, err)
		}
	}
}

// write changes something, and sends the request only once. The errors are those of exchange; if the answer cannot be read, nobody knows
// what became of it: the error is ErrIndeterminate.
func (d *Driver) write(ctx context.Context, c ads.Conn, r request, into any) error {
	answer, err := d.exchange(ctx, c, r)
	if err != nil {
		return err
	}
	if err := refusal(c, r, answer); err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(answer.body, into); err != nil {
		return failure(c, r, ads.ErrIndeterminate, err)
	}
	return nil
}

// exchange sends a request that changes something, once, and returns the network's answer, which may be a refusal. If there is no
// answer, or the server failed, nobody knows what became of it: the error is ErrIndeterminate. If there was no connection, nothing was
// sent: it is ErrUnavailable.
func (d *Driver) exchange(ctx context.Context, c ads.Conn, r request) (*reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, failure(c, r, ads.ErrUnavailable, err)
	}
	answer, err := d.send(ctx, c, r)
	switch {
	case err != nil && neverSent(err):
		return nil, failure(c, r, ads.ErrUnavailable, err)
	case err != nil:
		return nil, failure(c, r, ads.ErrIndeterminate, err)
	case isFault(answer.status):
		return nil, failure(c, r, ads.ErrIndeterminate, fmt.Errorf("status %d", answer.status))
	}
	return answer, nil
}

// ask is write for a question that changes nothing although it is a POST: what is not answered is ErrUnavailable.
func (d *Driver) ask(ctx context.Context, c ads.Conn, r request, into any) error {
	err := d.write(ctx, c, r, into)
	if errors.Is(err, ads.ErrIndeterminate) {
		return failure(c, r, ads.ErrUnavailable, err)
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
	req.Header.Set("Authorization", "Bearer "+c.Token.Reveal())
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// isFault reports whether a status means that a server or a proxy failed, so that the request may or may not have been
// carried out.
func isFault(status int) bool { return status >= 500 || status == http.StatusRequestTimeout }

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
	return fmt.Errorf("pinterest: %s %s: %w: %s", r.method, r.path, kind, clean(c, cause.Error()))
}

// clean removes the channel's token from a text, and cuts the text if it is long.
func clean(c ads.Conn, text string) string {
	if token := c.Token.Reveal(); token != "" {
		text = strings.ReplaceAll(text, token, "[secret]")
	}
	return strings.ToValidUTF8(text[:min(len(text), longest)], "")
}

// problem says why a request, or an item of a batch, was refused.
type problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// refusal returns the error for an answer, or nil if it is a success.
func refusal(c ads.Conn, r request, answer *reply) error {
	var p problem
	if json.Unmarshal(answer.body, &p) != nil || p.Message == "" {
		p.Message = http.StatusText(answer.status)
	}
	switch {
	case answer.status/100 == 2:
		return nil
	case answer.status == http.StatusUnauthorized:
		return failure(c, r, ads.ErrUnauthorized, errors.New(p.Message))
	case answer.status == http.StatusForbidden:
		return failure(c, r, ads.ErrForbidden, errors.New(p.Message))
	case answer.status == http.StatusNotFound:
		return failure(c, r, ads.ErrNotFound, errors.New(p.Message))
	case answer.status == http.StatusTooManyRequests:
		return &ads.RateLimited{After: retryAfter(answer.header)}
	case answer.status < 400:
		return failure(c, r, ads.ErrUnavailable, fmt.Errorf("redirected with status %d", answer.status))
	}
	return p.rejected(c, answer.status)
}

// rejected returns the error for a refused request. For an item of a batch, status is 200.
func (p problem) rejected(c ads.Conn, status int) *ads.Rejected {
	return &ads.Rejected{Message: clean(c, p.Message), Raw: strconv.Itoa(status) + "/" + strconv.Itoa(p.Code)}
}

// retryAfter returns how long the network takes no requests, or 0 if it does not say.
func retryAfter(h http.Header) time.Duration {
	return cmp.Or(ads.PauseSeconds(h.Get("X-RateLimit-Reset")), ads.PauseSeconds(h.Get("Retry-After")))
}
