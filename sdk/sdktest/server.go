package sdktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tillwright/tillwright/sdk"
)

// Key is an API key that every fake server takes.
const Key = "sk_sdktest"

const (
	maxBody = 1 << 20
	quota   = 600 // what the headers say; it is never used up
)

// Server is a fake server. Its methods may be called by any number of goroutines at once.
type Server struct {
	// URL is the base address, for sdk.WithBaseURL and for programs in other languages. It ends in "/v1".
	URL string

	t       testing.TB
	http    *httptest.Server
	closing chan struct{}

	mu       sync.Mutex // of all below
	state    *state
	faults   []*Fault
	requests []Request
	answers  map[string]*answer // by Idempotency-Key
	hooks    hooks
}

// Request is a request as the server got it.
type Request struct {
	// Operation is the operationId, for example "createProduct". It is empty if the API has no such operation.
	Operation string
	Method    string
	Path      string
	Query     url.Values
	Header    http.Header
	Body      []byte
	// Status is what was answered, 0 if no answer was sent.
	Status int
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, closing: make(chan struct{}), answers: map[string]*answer{}}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL + "/v1"
	s.state = newState(s.http.URL)
	t.Cleanup(func() {
		close(s.closing)
		s.http.Close()
	})
	return s
}

// Client returns a client of this server. Options change it as they change one of sdk.New.
func (s *Server) Client(options ...sdk.ClientOption) *sdk.Client {
	return sdk.New(Key, append([]sdk.ClientOption{sdk.WithBaseURL(s.URL), sdk.WithHTTPClient(s.http.Client())}, options...)...)
}

// Requests returns the requests so far in the order in which they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// answer is an answer before it is sent.
type answer struct {
	status      int
	body        []byte
	header      map[string]string
	fingerprint string // of its request, if it is stored
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	op, values, methods := described().find(r)
	number := s.record(r, op, body)
	var fault *Fault
	if op != nil {
		fault = s.faultOf(op.ID)
	}
	if !fault.isAfterChange() {
		s.wait(r, fault)
	}
	var a *answer
	if !fault.stops() {
		a = s.answer(r, op, values, methods, body)
	}
	if fault.isAfterChange() {
		s.wait(r, fault)
	}
	if fault != nil && fault.Drop {
		drop(w)
		return
	}
	if fault != nil && fault.Status != 0 {
		a = fault.answer()
	}
	s.mu.Lock()
	s.requests[number].Status = a.status
	s.mu.Unlock()
	s.write(w, a)
}

// record notes a request and returns its number.
func (s *Server) record(r *http.Request, op *operation, body []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	noted := Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body}
	if op != nil {
		noted.Operation = op.ID
	}
	s.requests = append(s.requests, noted)
	return len(s.requests) - 1
}

// answer does what is asked, delivers the events of it, and returns the answer.
func (s *Server) answer(r *http.Request, op *operation, values map[string]string, methods []string, body []byte) *answer {
	a, events, err := s.do(r, op, values, methods, body)
	s.deliver(events)
	if err == nil {
		return a
	}
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		refused = refuse(http.StatusInternalServerError, "", err.Error())
	}
	a = refused.answer()
	switch refused.status {
	case http.StatusUnauthorized:
		a.header["WWW-Authenticate"] = "Bearer"
	case http.StatusMethodNotAllowed:
		a.header["Allow"] = strings.Join(methods, ", ")
	}
	return a
}

// do checks a request in the order of the real server, and does it. It returns the events to deliver, too.
func (s *Server) do(r *http.Request, op *operation, values map[string]string, methods []string, body []byte) (*answer, []*event, error) {
	isPublic := strings.HasPrefix(r.URL.Path, "/public/") || op != nil && op.Public
	switch {
	case !isPublic && !hasKey(r.Header):
		return nil, nil, refuse(http.StatusUnauthorized, "", "The API key is missing, malformed, expired or revoked, or its account is disabled. Send one header: Authorization: Bearer sk_...")
	case op == nil && methods == nil:
		return nil, nil, refuse(http.StatusNotFound, "", "There is nothing at this path. Paths begin with /v1 and have no slash at the end.")
	case op == nil:
		return nil, nil, refuse(http.StatusMethodNotAllowed, "", "This path takes "+strings.Join(methods, ", ")+".")
	case handlers[op.ID] == nil:
		return nil, nil, unfaked("do " + op.ID)
	}
	c, err := op.read(r, values, body)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.once(c, func() (*answer, error) { return s.handle(c) })
	return a, s.happened(), err
}

// hasKey reports whether there is one Authorization header, with Bearer, spaces and a key.
func hasKey(h http.Header) bool {
	values := h["Authorization"]
	if len(values) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	return strings.EqualFold(scheme, "Bearer") && strings.HasPrefix(strings.TrimLeft(token, " "), "sk_")
}

// read checks a request against the document.
func (o *operation) read(r *http.Request, values map[string]string, body []byte) (c *call, err error) {
	c = &call{op: o, request: r, values: values, status: o.Status}
	if err = checkKey(r); err != nil {
		return nil, err
	}
	if c.query, err = o.checkQuery(r.URL.Query()); err != nil {
		return nil, err
	}
	c.body, err = o.readBody(r, body)
	return c, err
}

// handle does a checked request.
func (s *Server) handle(c *call) (*answer, error) {
	c.state, c.now = s.state, timestamp(time.Now())
	found, err := handlers[c.op.ID](c)
	if err != nil {
		return nil, err
	}
	return &answer{status: c.status, body: encode(c.expand(found))}, nil
}

// readBody reads and checks the body of a request. It is empty if the operation has none.
func (o *operation) readBody(r *http.Request, text []byte) (object, error) {
	text = bytes.TrimSpace(text)
	switch {
	case o.Body == nil || len(text) == 0 && !o.BodyRequired:
		return object{}, nil
	case len(text) == 0:
		param := o.Body.Expects
		if len(o.Body.Required) > 0 {
			param = o.Body.Required[0]
		}
		refused := refuse(http.StatusBadRequest, param, "The body is missing. Send a JSON object, Content-Type: application/json.")
		refused.Code = sdk.CodeParameterMissing
		return nil, refused
	case len(text) > maxBody:
		return nil, refuse(http.StatusRequestEntityTooLarge, "", fmt.Sprintf("The body is larger than the %d bytes that this operation takes.", maxBody))
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, refuse(http.StatusUnsupportedMediaType, "", "Send the body as Content-Type: application/json, in UTF-8.")
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	if _, end := decoder.Token(); err != nil || !errors.Is(end, io.EOF) {
		return nil, refuse(http.StatusBadRequest, "", "The body is not JSON.")
	}
	if outer, ok := value.(map[string]any); ok && o.Unwrap != "" && len(outer) == 1 && outer[o.Unwrap] != nil {
		value = outer[o.Unwrap]
	}
	return checkBody(o.Body, value)
}

// write sends an answer with the headers that each has.
func (s *Server) write(w http.ResponseWriter, a *answer) {
	now := time.Now()
	left := int64(60 - now.Second())
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Request-Id", "req_"+newULID())
	h.Set("RateLimit-Policy", fmt.Sprintf(`"default";q=%d;w=60`, quota))
	remaining := quota - 1
	if a.status == http.StatusTooManyRequests {
		remaining = 0
		if seconds, err := strconv.ParseInt(a.header["Retry-After"], 10, 64); err == nil {
			left = min(max(seconds, 1), 60)
		}
	}
	h.Set("RateLimit", fmt.Sprintf(`"default";r=%d;t=%d`, remaining, left))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Truncate(time.Minute).Add(time.Minute).Unix(), 10))
	for name, value := range a.header {
		h.Set(name, value)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client may be gone
}

// answer returns the envelope of an error.
func (r *refusal) answer() *answer {
	return &answer{status: r.status, body: encode(map[string]any{"error": r}), header: map[string]string{}}
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("sdktest: " + err.Error()) // nothing here has no JSON
	}
	return append(text, '\n')
}
