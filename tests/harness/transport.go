package harness

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dunglas/httpsfv"
	"github.com/getkin/kin-openapi/openapi3filter"
)

// Transport sends requests and checks each answer against the specification: its status is documented, its body valid for two
// validators, and its headers complete and well-formed. A request that the server accepted must be valid, too.
type Transport struct {
	T        testing.TB
	Coverage *Coverage
	Base     http.RoundTripper // http.DefaultTransport when nil
}

// RoundTrip implements http.RoundTripper. An answer that breaks the contract fails the test, and is returned all the same.
func (r *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := drain(&req.Body)
	if err != nil {
		return nil, err
	}
	if sent != nil { // net/http must be able to send the body on a second connection
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(sent)), nil }
	}
	base := r.Base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	received, err := drain(&resp.Body)
	if err != nil {
		return nil, err
	}
	if err := r.check(req, sent, resp, received); err != nil {
		r.T.Errorf("%s %s answered %d against the contract: %v\nsent: %.500s\nanswer: %.1000s", req.Method, req.URL.RequestURI(), resp.StatusCode, err, sent, received)
	}
	return resp, nil
}

func drain(body *io.ReadCloser) ([]byte, error) {
	if *body == nil || *body == http.NoBody {
		return nil, nil
	}
	data, err := io.ReadAll(*body)
	_ = (*body).Close()
	*body = io.NopCloser(bytes.NewReader(data))
	return data, err
}

// check returns how an answer of the API breaks the contract, nil if it does not.
func (r *Transport) check(req *http.Request, sent []byte, resp *http.Response, received []byte) error {
	if !strings.HasPrefix(req.URL.Path, "/v1/") && !strings.HasPrefix(req.URL.Path, "/public/") {
		return nil
	}
	if req.Method == http.MethodOptions && resp.StatusCode == http.StatusNoContent {
		return nil // a browser asks whether a page may ask
	}
	path := req.URL.Path
	if strings.HasPrefix(path, "/v1/public/") { // the same operation is there
		path = strings.TrimPrefix(path, "/v1")
	}
	op, params := match(req.Method, path)
	if err := checkHeaders(resp, received, op); err != nil {
		return err
	}
	if !r.Coverage.newRequestID(resp.Header.Get("x-request-id")) {
		return fmt.Errorf("x-request-id %s was given twice", resp.Header.Get("x-request-id"))
	}
	if op == nil { // an unknown route or a wrong method: only the envelope can be checked
		return checkEnvelope(received)
	}
	r.Coverage.saw(op, resp.StatusCode)
	sent = bytes.Trim(sent, " \t\r\n") // white space alone is no body
	if err := op.validate(req, params, sent, resp, received); err != nil {
		return err
	}
	return op.checkStrictly(sent, resp.StatusCode, received)
}

// validate validates the answer, and the request if it was accepted, with the validator that the server uses.
func (o *Operation) validate(req *http.Request, params map[string]string, sent []byte, resp *http.Response, received []byte) error {
	copied := req.Clone(context.Background())
	copied.URL = &url.URL{Path: req.URL.Path, RawQuery: req.URL.RawQuery}
	copied.Body = io.NopCloser(bytes.NewReader(sent))
	copied.GetBody = nil // it has the white space, which the validator would read
	options := &openapi3filter.Options{
		IncludeResponseStatus: true,
		MultiError:            true,
		AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
	}
	request := &openapi3filter.RequestValidationInput{Request: copied, PathParams: params, Route: o.route, Options: options}
	if resp.StatusCode < 300 && !o.wrapped(sent) {
		if err := openapi3filter.ValidateRequest(context.Background(), request); err != nil {
			return fmt.Errorf("the server accepted an invalid request: %w", err)
		}
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: request,
		Status:                 resp.StatusCode,
		Header:                 resp.Header,
		Body:                   io.NopCloser(bytes.NewReader(received)),
		Options:                options,
	})
}

// wrapped reports whether the body has the wrapper that the operation accepts besides the plain form.
func (o *Operation) wrapped(sent []byte) bool {
	wrapper, ok := o.route.Operation.Extensions["x-unwrap"].(string)
	return ok && bytes.HasPrefix(bytes.TrimLeft(sent, "{ \n\t"), []byte(strconv.Quote(wrapper)))
}

var requestID = regexp.MustCompile(`^req_[0-9a-hjkmnp-tv-z]{26}$`)

func checkHeaders(resp *http.Response, body []byte, op *Operation) error {
	h := resp.Header
	if id := h.Get("x-request-id"); !requestID.MatchString(id) {
		return fmt.Errorf("x-request-id is %q", id)
	}
	if h.Get("X-Content-Type-Options") != "nosniff" {
		return fmt.Errorf("X-Content-Type-Options is %q", h.Get("X-Content-Type-Options"))
	}
	if ct := h.Get("Content-Type"); ct != "application/json" && !strings.HasPrefix(ct, "application/json;") {
		return fmt.Errorf("Content-Type is %q", ct)
	}
	limit := int64(usualLimit)
	if op != nil {
		limit = op.Limit
	}
	return checkRateLimit(resp, body, limit)
}

// usualLimit is how many requests a minute are answered, unless the operation says otherwise.
const usualLimit = 600

// checkRateLimit parses the headers about the quota as structured fields, and compares them with each other. A limit of an ad
// network, which the answer names as `platform`, has nothing to do with our quota.
func checkRateLimit(resp *http.Response, body []byte, limit int64) error {
	h := resp.Header
	policy, err := quota(h, "RateLimit-Policy", "q", "w")
	if err != nil {
		return err
	}
	if policy["q"] != limit || policy["w"] != 60 {
		return fmt.Errorf("RateLimit-Policy is %q", h.Get("RateLimit-Policy"))
	}
	left, err := quota(h, "RateLimit", "r", "t")
	if err != nil {
		return err
	}
	if left["r"] < 0 || left["r"] > limit || left["t"] < 1 || left["t"] > 60 {
		return fmt.Errorf("RateLimit is %q", h.Get("RateLimit"))
	}
	if reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err != nil || reset%60 != 0 {
		return fmt.Errorf("X-RateLimit-Reset is %q, not the end of a minute", h.Get("X-RateLimit-Reset"))
	}
	wait := h.Get("Retry-After")
	if fault, err := ParseFault(body); resp.StatusCode == http.StatusTooManyRequests && err == nil && fault.Param != "" { // of something else than requests
		if seconds, err := strconv.Atoi(wait); err != nil || seconds < 1 {
			return fmt.Errorf("a 429 that is no quota's has Retry-After %q", wait)
		}
		return nil
	}
	if resp.StatusCode == http.StatusTooManyRequests && (wait != strconv.FormatInt(left["t"], 10) || left["r"] != 0) {
		return fmt.Errorf("a 429 has Retry-After %q beside RateLimit %q", wait, h.Get("RateLimit"))
	}
	if resp.StatusCode < 400 && wait != "" {
		return fmt.Errorf("a %d has Retry-After", resp.StatusCode)
	}
	return nil
}

// quota reads a header with one structured item named "default", which has two integer parameters.
func quota(h http.Header, name, first, second string) (map[string]int64, error) {
	list, err := httpsfv.UnmarshalList(h.Values(name))
	if err != nil || len(list) != 1 {
		return nil, fmt.Errorf("%s is %q: one structured item is needed (%w)", name, h.Values(name), err)
	}
	item, ok := list[0].(httpsfv.Item)
	if !ok || item.Value != "default" {
		return nil, fmt.Errorf("%s is %q: the policy's name is missing", name, h.Get(name))
	}
	values := map[string]int64{}
	for _, key := range []string{first, second} {
		v, _ := item.Params.Get(key)
		n, ok := v.(int64)
		if !ok {
			return nil, fmt.Errorf("%s is %q: parameter %s is missing", name, h.Get(name), key)
		}
		values[key] = n
	}
	return values, nil
}
