// Package tiktokfake is TikTok's Business API as far as an ads driver sees it: stateful, in memory, and strict. It refuses a request unless TikTok's
// own descriptions (facts.txt, documented.txt) have the call and each parameter with its type. It also refuses one that breaks a rule which its
// documents state in words (rule.go). Every answer is 200 with a code, as TikTok's are.
package tiktokfake

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Prefix is the path under which the API is served.
const Prefix = "/open_api/v1.3"

// Object is an object as it goes over the wire.
type Object map[string]any

// Text returns a field that is a text, "" if it is absent.
func (o Object) Text(name string) string {
	text, _ := o[name].(string)
	return text
}

// Texts returns a field that is a list of texts.
func (o Object) Texts(name string) []string {
	list, _ := o[name].([]any)
	var texts []string
	for _, one := range list {
		text, _ := one.(string)
		texts = append(texts, text)
	}
	return texts
}

// Number returns a field that is a number, 0 if it is absent.
func (o Object) Number(name string) float64 {
	number, _ := o[name].(json.Number)
	value, _ := number.Float64()
	return value
}

// Object returns a field that is an object, nil if it is absent.
func (o Object) Object(name string) Object {
	inner, _ := o[name].(map[string]any)
	return inner
}

// Network is one TikTok. Its methods may be called while it serves.
type Network struct {
	OnHang func(*http.Request) // called when it stops answering one, so that a test need not wait for a timeout
	App    App                 // to which TikTok lists the ad accounts of a token
	Slow   int                 // how many looks at a video find it still being worked on
	Most   int                 // how many rows a page has at most, whatever is asked for; 0 = as many as are asked for

	mu       sync.Mutex
	now      func() time.Time
	table    *table
	last     int64
	tokens   map[string][]string // the ids of the ad accounts that a token reaches
	accounts map[string]*Account
	order    []string // the ids of the ad accounts in the order in which they were added
	centers  []Object
	forbids  map[string]bool // business centers that do not show what is in them
	faults   []*fault
	calls    []string
	refused  []string
	codes    map[string]*consented
	minted   []string
	requests map[string]bool // request_ids that were carried out
	events   []Object
	owner    string // the token of whoever consents
}

// Account is one ad account and all that is in it. Slices are in the order of creation.
type Account struct {
	ID         string
	about      Object
	identities []Object
	campaigns  []Object
	groups     []Object
	ads        []Object
	videos     []*video
	images     map[string]string // name by id
	audiences  []*people
	files      map[string]file
	pixels     []Object
	posts      map[string][]Object // by identity
	figures    []figure
}

// New returns a network without ad accounts.
func New(now func() time.Time) *Network {
	return &Network{
		now: now, table: loaded(), last: 1_780_000_000_000_000, tokens: map[string][]string{}, accounts: map[string]*Account{}, forbids: map[string]bool{},
		codes: map[string]*consented{}, requests: map[string]bool{},
	}
}

// request is a call that was read.
type request struct {
	operation string // "POST campaign/create"
	params    Object
	token     string
	file      []byte
	account   *Account // that advertiser_id names
}

// ServeHTTP serves the API under Prefix, and the page that asks for consent.
func (n *Network) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	if h.URL.Path == consentPath {
		n.ask(w, h)
		return
	}
	body, err := io.ReadAll(h.Body)
	if err != nil {
		return // the caller is gone
	}
	h.Body = io.NopCloser(bytes.NewReader(body))
	r := &request{operation: OperationOf(h)}
	refusal := n.open(r, h)
	n.mu.Lock()
	n.calls = append(n.calls, r.operation)
	var spoilt *fault
	if refusal == nil {
		spoilt = n.fault(r.operation)
	}
	n.mu.Unlock()
	if spoilt != nil && spoilt.before(n, w, h) {
		return
	}
	var data any
	if refusal == nil {
		n.mu.Lock()
		data, refusal = n.serve(r)
		n.mu.Unlock()
	}
	switch {
	case refusal != nil:
		n.mu.Lock()
		n.refused = append(n.refused, fmt.Sprintf("%s: %d %s %s", r.operation, refusal.code, refusal.rule, refusal.message))
		n.mu.Unlock()
		answer(w, refusal.code, refusal.message, nil)
	case spoilt != nil && spoilt.after(n, w, h):
	default:
		answer(w, 0, "OK", data)
	}
}

// OperationOf returns the call that a request is: "POST campaign/create".
func OperationOf(h *http.Request) string {
	return h.Method + " " + strings.Trim(strings.TrimPrefix(h.URL.Path, Prefix), "/")
}

// answer writes an answer as TikTok does.
func answer(w http.ResponseWriter, code int, message string, data any) {
	if data == nil {
		data = Object{}
	}
	text, err := json.Marshal(Object{"code": code, "message": message, "request_id": "20261121120000ABCDEF", "data": data})
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text)
}

// refusal is why a request is refused: TikTok's code, and the rule that it broke, if that is one.
type refusal struct {
	code    int
	rule    string
	message string
}

// TikTok's codes.
const (
	codeNoPermission = 40001
	codeParameter    = 40002
	codeTooFast      = 40100
	codeAppRefused   = 40101
	codeNoToken      = 40104
	codeBadToken     = 40105
	codeBadAuthCode  = 40110
	codeFault        = 50000
)

func invalid(format string, args ...any) *refusal {
	return &refusal{code: codeParameter, message: fmt.Sprintf(format, args...)}
}

// broken is the refusal of what breaks a rule.
func broken(rule, format string, args ...any) *refusal {
	r := invalid(format, args...)
	r.rule = rule
	return r
}

// open reads a request, and refuses what is not in the table.
func (n *Network) open(r *request, h *http.Request) *refusal {
	fields, known := n.table.calls[r.operation]
	if !known || !strings.HasPrefix(h.URL.Path, Prefix+"/") || !strings.HasSuffix(h.URL.Path, "/") {
		return &refusal{code: 40000, message: "No such path: " + h.Method + " " + h.URL.Path}
	}
	var err error
	switch {
	case h.Method == http.MethodGet:
		if h.ContentLength > 0 {
			return invalid("A GET has no body.")
		}
		r.params, err = n.table.fromQuery(fields, h.URL.Query())
	case h.URL.RawQuery != "":
		return invalid("A POST has its parameters in the body.")
	case r.operation == "POST dmp/custom_audience/file/upload":
		err = r.readForm(h)
	default:
		err = r.readBody(h)
	}
	if err == nil {
		err = n.table.checkObject(fields, r.params)
	}
	if err != nil {
		return invalid("%s", err.Error())
	}
	return n.authorize(r, h)
}

func (r *request) readBody(h *http.Request) error {
	if h.Header.Get("Content-Type") != "application/json" {
		return errors.New("the body must be JSON")
	}
	text, err := io.ReadAll(h.Body)
	if err != nil {
		return err
	}
	value, err := decode(text)
	object, is := value.(map[string]any)
	if err != nil || !is {
		return errors.New("the body must be a JSON object")
	}
	r.params = object
	return nil
}

func (r *request) readForm(h *http.Request) error {
	kind, params, err := mime.ParseMediaType(h.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return errors.New("the body must be a form with a file")
	}
	r.params = Object{}
	for form := multipart.NewReader(h.Body, params["boundary"]); ; {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		r.params[part.FormName()] = string(text)
		if name := part.FileName(); name != "" {
			if r.file = text; !strings.HasSuffix(name, ".txt") && !strings.HasSuffix(name, ".csv") {
				return errors.New("file: only .csv and .txt")
			}
		}
	}
}

// authorize checks the token, and that it reaches the ad account. An app's own calls have none.
func (n *Network) authorize(r *request, h *http.Request) *refusal {
	if r.operation == "POST oauth2/access_token" {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	r.token = h.Header.Get("Access-Token")
	reached, known := n.tokens[r.token]
	switch {
	case r.token == "":
		return &refusal{code: codeNoToken, message: "Access token is empty."}
	case !known: // which repeats the token, as careless software does
		return &refusal{code: codeBadToken, message: "Access token is incorrect or has been revoked: " + r.token}
	}
	id := r.params.Text("advertiser_id")
	if id == "" {
		return nil
	}
	if r.account = n.accounts[id]; r.account == nil || !slices.Contains(reached, id) {
		return &refusal{code: codeNoPermission, message: "No permission to operate advertiser " + id}
	}
	return nil
}

// RoundTrip serves a request from this process, so that a client needs no server.
func (n *Network) RoundTrip(r *http.Request) (res *http.Response, err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case error:
			if !errors.Is(cause, http.ErrAbortHandler) {
				panic(cause)
			}
			res, err = nil, cmp.Or(r.Context().Err(), io.ErrUnexpectedEOF)
		default:
			panic(cause)
		}
	}()
	served := r.Clone(r.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	n.ServeHTTP(recorder, served)
	return recorder.Result(), nil
}

// Calls returns the calls that were made so far.
func (n *Network) Calls() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.calls)
}

// Refused returns what was refused, in order, each with the rule that it broke, if that is one.
func (n *Network) Refused() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.refused)
}

// id returns a new id.
func (n *Network) id() string {
	n.last += 1009
	return strconv.FormatInt(n.last, 10)
}

func (n *Network) stamp() string { return n.now().UTC().Format(time.DateTime) }
