package sdk

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// maxAnswer is the largest body of an answer that is read, in bytes.
const maxAnswer = 32 << 20

var errAnswerTooLarge = fmt.Errorf("the answer is over %d MiB", maxAnswer>>20)

// do carries out an operation; every method of the client ends here. Params and body are nil where the operation has none. A
// body that is a nil pointer is an error of the caller.
func do[T any](ctx context.Context, c *Client, operation string, ids []string, params, body any, opts []Option) (*T, error) {
	op := Operations[operation]
	r, err := c.prepare(op, ids, params, body, opts)
	if err != nil {
		return nil, fmt.Errorf("sdk: %s: %w", operation, err)
	}
	a, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(bytes.TrimSpace(a.body), []byte("null")) { // encoding/json would leave the result empty and say nothing
		return nil, fmt.Errorf("sdk: %s: the answer (status %d) is null", operation, a.status)
	}
	result := new(T)
	if err := json.Unmarshal(a.body, result); err != nil {
		return nil, fmt.Errorf("sdk: %s: read the answer (status %d): %w", operation, a.status, err)
	}
	return result, nil
}

// request is a call that is ready to be sent, as many times as needed.
type request struct {
	operation Operation
	url       string
	// shown is the path without what gives access.
	shown    string
	header   http.Header
	body     []byte
	timeout  time.Duration
	response *Response
}

// answer is a response that was read to its end, so that its connection can be used again.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// prepare turns a call into a request, and returns what is wrong with the call before anything is sent.
func (c *Client) prepare(op Operation, ids []string, params, body any, opts []Option) (*request, error) {
	var s settings
	for _, o := range opts {
		o.apply(&s)
	}
	path, err := op.fill(ids)
	if err := cmp.Or(c.misuse, c.checkKey(op), s.misuse, err); err != nil {
		return nil, err
	}
	query, err := s.query(params)
	if err != nil {
		return nil, err
	}
	encoded, err := encodeBody(body)
	if err != nil {
		return nil, err
	}
	if encoded, err = s.addFields(op, encoded); err != nil {
		return nil, err
	}
	r := &request{operation: op, url: c.baseURL + path, shown: path, body: encoded, timeout: s.timeout, response: s.response}
	if op.Public {
		r.url, r.shown = c.publicURL+path, op.Path
	}
	if len(query) > 0 {
		r.url += "?" + query.Encode()
	}
	r.header = c.headers(op, &s, encoded != nil)
	return r, checkHeader(r.header)
}

func (c *Client) checkKey(op Operation) error {
	if c.key == "" && !op.Public {
		return errors.New("the API key is empty: pass one to New")
	}
	return nil
}

// query returns the parameters of a call, with those that its options add.
func (s *settings) query(params any) (url.Values, error) {
	query := encodeQuery(params)
	maps.Copy(query, s.extra)
	if len(s.expand) > 0 {
		if given := query.Get("expand"); given != "" {
			s.expand = append([]string{given}, s.expand...)
		}
		query.Set("expand", strings.Join(s.expand, ","))
	}
	if s.dryRun {
		query.Set("dry_run", "true")
	}
	if s.at != nil {
		return query, s.at.walk(query)
	}
	return query, nil
}

func encodeBody(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	if reflect.ValueOf(body).IsNil() {
		return nil, fmt.Errorf("the body is nil: pass a %T", body)
	}
	return json.Marshal(body)
}

// addFields returns a body with the fields that the options add.
func (s *settings) addFields(op Operation, body []byte) ([]byte, error) {
	if len(s.fields) == 0 {
		return body, nil
	}
	if !op.writes() {
		return nil, errors.New("WithField: a read has no body: use WithQuery")
	}
	all := map[string]json.RawMessage{}
	if body != nil {
		if err := json.Unmarshal(body, &all); err != nil {
			return nil, fmt.Errorf("WithField: the body is no object: %w", err)
		}
	}
	maps.Copy(all, s.fields)
	return json.Marshal(all)
}

// optional returns a body that may be left out, nil if it is.
func optional[T any](body *T) any {
	if body == nil {
		return nil
	}
	return body
}

// headers returns the headers of a call. A write gets a random Idempotency-Key unless the caller gave one.
func (c *Client) headers(op Operation, s *settings, hasBody bool) http.Header {
	h := http.Header{}
	h.Set("Accept", "application/json")
	h.Set("User-Agent", c.userAgent)
	if !op.Public {
		h.Set("Authorization", "Bearer "+c.key)
	}
	if hasBody {
		h.Set("Content-Type", "application/json")
	}
	if op.writes() {
		if s.key == "" {
			s.key = rand.Text()
		}
		h.Set("Idempotency-Key", s.key)
	}
	for name, values := range s.header {
		h[name] = values
	}
	return h
}

// checkHeader refuses a header that net/http would refuse at every attempt. It does not quote the value, which may be the key.
func checkHeader(h http.Header) error {
	for name, values := range h {
		if strings.ContainsFunc(strings.Join(values, ""), unicode.IsControl) {
			return fmt.Errorf("the header %s holds a control character, such as a line break", name)
		}
	}
	return nil
}

// exchange sends the request once. Its error is an *Error for every status that is not 2xx. Otherwise it is the error of the
// network, without the URL, because that may contain a client secret.
func (c *Client) exchange(ctx context.Context, r *request) (*answer, error) {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, r.operation.Method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return nil, withoutURL(err)
	}
	req.Header = r.header.Clone()
	res, err := c.http.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusSwitchingProtocols { // nothing that ends follows it
		a := &answer{status: res.StatusCode, header: res.Header}
		return a, decodeError(r.operation.ID, a, time.Now())
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	a := &answer{status: res.StatusCode, header: res.Header, body: body}
	switch {
	case err != nil:
		return a, err
	case len(body) > maxAnswer:
		return a, errAnswerTooLarge
	case a.status < 200 || a.status > 299:
		return a, decodeError(r.operation.ID, a, time.Now())
	}
	return a, nil
}

func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
