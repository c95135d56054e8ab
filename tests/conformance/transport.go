package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/getkin/kin-openapi/openapi3filter"
)

// Transport sends requests and checks each answer against the specification. Its status is documented, its body valid by the letter, and its headers
// complete and well-formed. A request that the server accepted must be valid, too.
type Transport struct {
	T        TB
	Document *Document // Promised when nil
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
	witness, isWitness := r.T.(witness)
	if isWitness {
		witness.saw(&exchange{request: req, sent: sent, response: resp, received: received})
	}
	promise, err := r.check(req, sent, resp, received)
	if err != nil && isWitness {
		witness.breaks(promise, err.Error())
	} else if err != nil {
		r.T.Errorf("%s %s answered %d against the contract: %v\nsent: %.500s\nanswer: %.1000s", req.Method, req.URL.RequestURI(), resp.StatusCode, err, sent, received)
	}
	return resp, nil
}

// exchange is a request and its answer.
type exchange struct {
	request  *http.Request
	sent     []byte
	response *http.Response
	received []byte
	broken   bool // a promise of every answer
}

// witness is a T that wants to know every exchange, and which promise an answer breaks.
type witness interface {
	saw(*exchange)
	breaks(promise, message string)
}

func (r *Transport) document() *Document {
	if r.Document != nil {
		return r.Document
	}
	return Promised()
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

// check returns which promise an answer of the API breaks, and how; nil if it breaks none.
func (r *Transport) check(req *http.Request, sent []byte, resp *http.Response, received []byte) (promise string, err error) {
	if !strings.HasPrefix(req.URL.Path, "/v1/") && !strings.HasPrefix(req.URL.Path, "/public/") {
		return "", nil
	}
	if req.Method == http.MethodOptions && resp.StatusCode == http.StatusNoContent {
		return "", nil // a browser asks whether a page may ask
	}
	path := req.URL.Path
	if strings.HasPrefix(path, "/v1/public/") { // the same operation is there
		path = strings.TrimPrefix(path, "/v1")
	}
	op, params := r.document().Match(req.Method, path)
	if promise, err := checkHeaders(resp, received, op); err != nil {
		return promise, err
	}
	if !r.Coverage.newRequestID(resp.Header.Get("x-request-id")) {
		return "request-id", fmt.Errorf("x-request-id %s was given twice", resp.Header.Get("x-request-id"))
	}
	if resp.StatusCode >= 400 {
		if err := checkEnvelope(received); err != nil {
			return "envelope", err
		}
	}
	if op == nil { // an unknown route or a wrong method: only the envelope can be checked
		return "envelope", checkEnvelope(received)
	}
	r.Coverage.saw(op, resp.StatusCode)
	if err := op.checkDeprecation(resp); err != nil {
		return "deprecation", err
	}
	sent = bytes.Trim(sent, " \t\r\n") // white space alone is no body
	sent = op.acceptedOf(sent, resp.StatusCode, received)
	err = op.validate(req, params, sent, resp)
	if err == nil {
		err = op.checkStrictly(sent, resp.StatusCode, received)
	}
	if errors.Is(err, errAccepted) {
		return "", err
	}
	return "document", err
}

// errAccepted says that a request was accepted that the document does not allow. Which promise that breaks, knows who sent it.
var errAccepted = errors.New("the server accepted an invalid request")

// checkDeprecation compares the headers about an operation's end with the document. What is sent may be deprecated, too, so
// that a write may have them all the same.
func (o *Operation) checkDeprecation(resp *http.Response) error {
	want := map[string]string{"Deprecation": "", "Sunset": "", "Link": ""}
	if o.route.Operation.Deprecated {
		x := o.route.Operation.Extensions
		since, err := time.Parse(time.DateOnly, fmt.Sprint(x["x-deprecated-at"]))
		if err != nil {
			return fmt.Errorf("the document says no date in x-deprecated-at: %w", err)
		}
		sunset, err := time.Parse(time.DateOnly, fmt.Sprint(x["x-sunset-at"]))
		if err != nil || sunset.Sub(since) < 183*24*time.Hour {
			return fmt.Errorf("x-sunset-at of the document is %v, x-deprecated-at %v", x["x-sunset-at"], x["x-deprecated-at"])
		}
		want["Deprecation"], want["Sunset"] = fmt.Sprintf("@%d", since.Unix()), sunset.Format(http.TimeFormat)
		want["Link"] = fmt.Sprintf(`<%v>; rel="deprecation"; type="text/html"`, x["x-deprecation-link"])
	} else if o.IsWrite() {
		return nil
	}
	for name, value := range want {
		if got := resp.Header.Get(name); got != value && (value != "" || name != "Link") {
			return fmt.Errorf("%s is %q, %q is expected", name, got, value)
		}
	}
	return nil
}

// validate validates the headers of the answer, and the request if it was accepted, with the validator that the server uses. The body of the
// answer is checked strictly, which finds all that this one would.
func (o *Operation) validate(req *http.Request, params map[string]string, sent []byte, resp *http.Response) error {
	copied := req.Clone(context.Background())
	copied.URL = &url.URL{Path: req.URL.Path, RawQuery: req.URL.RawQuery}
	copied.Body = io.NopCloser(bytes.NewReader(sent))
	copied.GetBody = nil // it has the white space, which the validator would read
	options := &openapi3filter.Options{
		IncludeResponseStatus: true,
		ExcludeResponseBody:   true,
		MultiError:            true,
		AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
	}
	request := &openapi3filter.RequestValidationInput{Request: copied, PathParams: params, Route: o.route, Options: options}
	if resp.StatusCode < 300 && !o.wrapped(sent) {
		if err := openapi3filter.ValidateRequest(context.Background(), request); err != nil {
			return fmt.Errorf("%w: %w", errAccepted, err)
		}
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: request,
		Status:                 resp.StatusCode,
		Header:                 resp.Header,
		Options:                options,
	})
}

// wrapped reports whether the body has the wrapper that the operation accepts besides the plain form.
func (o *Operation) wrapped(sent []byte) bool {
	wrapper, ok := o.route.Operation.Extensions["x-unwrap"].(string)
	return ok && bytes.HasPrefix(bytes.TrimLeft(sent, "{ \n\t"), []byte(strconv.Quote(wrapper)))
}

var requestID = regexp.MustCompile(`^req_[0-9a-hjkmnp-tv-z]{26}$`)

func checkHeaders(resp *http.Response, body []byte, op *Operation) (promise string, err error) {
	h := resp.Header
	if id := h.Get("x-request-id"); !requestID.MatchString(id) {
		return "request-id", fmt.Errorf("x-request-id is %q", id)
	}
	if h.Get("X-Content-Type-Options") != "nosniff" {
		return "nosniff", fmt.Errorf("X-Content-Type-Options is %q", h.Get("X-Content-Type-Options"))
	}
	if ct := h.Get("Content-Type"); ct != "application/json" && !strings.HasPrefix(ct, "application/json;") {
		return "json", fmt.Errorf("Content-Type is %q", ct)
	}
	limit := int64(usualLimit)
	if op != nil {
		limit = op.Limit
	}
	return "rate-headers", checkRateLimit(resp, body, limit)
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
	if resp.StatusCode == http.StatusTooManyRequests && isOfAField(body) { // of something else than requests
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

// isOfAField reports whether an error names what it is about.
func isOfAField(body []byte) bool {
	fault, err := ParseFault(body)
	return err == nil && fault.Param != ""
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
