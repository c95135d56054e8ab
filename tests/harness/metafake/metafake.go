// Package metafake is Meta's Graph API as far as an ads driver sees it: stateful, in memory, and strict. It refuses a
// request unless Meta's own descriptions (facts.txt) name the call, each parameter, its type and each field asked for.
// Where Meta forgives, it does not: a misspelt parameter is an error here and silence there.
package metafake

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Version is the only version of the Graph API that is served.
const Version = "v26.0"

// Fake is the API. Its methods may be called while it serves.
type Fake struct {
	Now    func() time.Time    // the clock of everything it writes down
	OnHang func(*http.Request) // called when it stops answering one, so that a test need not wait for a timeout
	Secret string              // of the app, if every call has to be signed with it
	Slow   int                 // how many reads of a video find it still processing
	Used   int                 // percent of the ad account's limit that is used, as every answer says
	Usage  map[string]string   // what every answer says besides about limits, by header

	App App // that people consent to; none by default

	Unsigned    bool // nobody has signed the terms of custom audiences
	Development bool // the app is not public yet

	mu       sync.Mutex
	table    *table
	nodes    map[string]*object
	order    []string // the ids in the order of their creation
	next     int64
	tokens   map[string]string // token -> id of the user or page
	edges    map[string][]string
	states   map[string]string // id -> what Meta decided about it
	faults   []*Fault
	calls    []Call
	delivery map[string]map[string]Delivery // ad -> day
	members  map[string]map[string]bool     // audience -> row
	sessions map[string]*upload
	bounds   *[2]int64      // of every guess how many people a targeting reaches; nil = none is made yet
	pending  map[string]int // video -> reads until it is ready
	codes    map[string]*consented
	ends     map[string]time.Time // of the tokens that were given for consents
	minted   []string
	events   map[string][]*Event // of each pixel, in the order in which they came first
}

// Call is a request that was made, whether it was accepted or refused.
type Call struct {
	Method, Path, Node, Edge string
	Params                   url.Values
	Refused                  *Error
}

// New returns a network with nothing but one user, who has the token.
func New(token string) *Fake {
	f := &Fake{Now: time.Now, table: loaded(), next: 120_200_000_000_000_000,
		nodes: map[string]*object{}, tokens: map[string]string{}, edges: map[string][]string{}, states: map[string]string{},
		delivery: map[string]map[string]Delivery{}, members: map[string]map[string]bool{}, sessions: map[string]*upload{}, pending: map[string]int{},
		codes: map[string]*consented{}, ends: map[string]time.Time{}, events: map[string][]*Event{}}
	f.nodes["search"] = &object{"TargetingSearch", map[string]any{}}
	f.nodes["me"] = &object{"User", map[string]any{"id": "10150000000000001"}}
	f.tokens[token] = "me"
	return f
}

// Serve starts a server for the time of the test and returns its address.
func (f *Fake) Serve(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// Calls returns the requests that were made so far.
func (f *Fake) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Refused returns what was refused, in order, each with the rule that it broke, if that is one, and Meta's words.
func (f *Fake) Refused() []string {
	var refused []string
	for _, c := range f.Calls() {
		if c.Refused != nil {
			refused = append(refused, strings.Join([]string{c.Method, c.Path, c.Refused.Rule, c.Refused.Message, c.Refused.User}, " "))
		}
	}
	return refused
}

// Forget empties the list of calls.
func (f *Fake) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = nil
}

// request is a call that was read, with its parts.
type request struct {
	method, id, edge string
	node             *object
	params           url.Values
	fields           selection
	returns          string
	caller           string // the node whose token it is
	token            string
}

// ServeHTTP implements http.Handler.
func (f *Fake) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	if f.consents(w, h) {
		return
	}
	form, err := io.ReadAll(h.Body)
	if err != nil {
		return // the caller is gone
	}
	f.mu.Lock()
	r, e := f.open(h, string(form))
	var fault *Fault
	if e == nil {
		fault = f.fault(r)
	}
	f.mu.Unlock()
	if fault != nil && fault.before(f, w, h, r.account()) {
		return
	}
	body, e := f.serve(r, e)
	switch {
	case e != nil:
		e.write(w, r.account())
	case fault != nil && fault.after(f, w, h):
	default:
		for name, usage := range f.Usage {
			w.Header().Set(name, usage)
		}
		if f.Used > 0 {
			w.Header().Set("X-Ad-Account-Usage", fmt.Sprintf(`{"acc_id_util_pct":%d,"reset_time_duration":30,"ads_api_access_tier":"standard_access"}`, f.Used))
		}
		answer(w, http.StatusOK, body)
	}
}

// serve carries out a request and records it.
func (f *Fake) serve(r *request, e *Error) (body any, _ *Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e == nil {
		body, e = f.do(r)
	}
	f.calls = append(f.calls, Call{Method: r.method, Path: r.id + "/" + r.edge, Node: nodeOf(r.node), Edge: r.edge, Params: r.params, Refused: e})
	return body, e
}

func nodeOf(o *object) string {
	if o == nil {
		return ""
	}
	return o.node
}

// account returns the number of the ad account under which usage is counted.
func (r *request) account() string {
	return strings.TrimPrefix(r.id, "act_")
}

// open reads a request, and refuses everything that is not in the table.
func (f *Fake) open(h *http.Request, form string) (*request, *Error) {
	r := &request{method: h.Method, edge: "."}
	segments := strings.Split(strings.Trim(h.URL.EscapedPath(), "/"), "/")
	if len(segments) < 2 || len(segments) > 3 || segments[0] != Version {
		return r, oauth(http.StatusBadRequest, 2500, "Unknown path components: "+h.URL.Path)
	}
	r.id = segments[1]
	if len(segments) == 3 {
		r.edge = segments[2]
	}
	if e := f.readParams(r, h, form); e != nil {
		return r, e
	}
	if e := f.authorize(r, h); e != nil {
		return r, e
	}
	if r.node = f.nodes[r.id]; r.node == nil {
		return r, missing(r.method, r.id)
	}
	return r, f.check(r)
}

// readParams takes the parameters of a GET or DELETE from the address and those of a POST from a form, never both.
func (f *Fake) readParams(r *request, h *http.Request, form string) *Error {
	query, err := url.ParseQuery(h.URL.RawQuery)
	if err != nil {
		return invalid("the query cannot be read")
	}
	r.params = query
	if h.Method == http.MethodPost || r.edge == "users" { // the removal of people has a form, too: they fit into no address
		if len(query) > 0 || h.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
			return invalid("a POST sends its parameters as a form")
		}
		if r.params, err = url.ParseQuery(form); err != nil {
			return invalid("the form cannot be read")
		}
	} else if h.ContentLength > 0 {
		return invalid("a %s has no body", h.Method)
	}
	for name, values := range r.params {
		if len(values) != 1 {
			return invalid("param %s is sent twice", name)
		}
	}
	return nil
}

func (f *Fake) authorize(r *request, h *http.Request) *Error {
	token, ok := strings.CutPrefix(h.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return oauth(http.StatusBadRequest, 2500, "An active access token must be used to query information about the current user.")
	}
	r.token = token
	if r.caller = f.tokens[token]; r.caller == "" {
		return unauthorized(token)
	}
	if f.hasEnded(token) {
		return expired(token)
	}
	return f.checkProof(r)
}

// check checks a request against the table.
func (f *Fake) check(r *request) *Error {
	c := f.table.calls[r.node.node+" "+r.method+" "+r.edge]
	if c == nil {
		return invalid("Unsupported %s request: %s has no %s", r.method, r.node.node, r.edge)
	}
	r.returns = c.returns
	common := f.table.common[r.method]
	for name := range r.params {
		kind := c.params[name].kind
		if kind == "" {
			kind = common[name]
		}
		if kind == "" {
			return invalid("Param %s is not one of %s %s %s", name, r.method, r.node.node, r.edge)
		}
		if name == "fields" {
			continue
		}
		if err := f.table.checkText(kind, r.params.Get(name)); err != nil {
			return invalid("Param %s %v", name, err)
		}
	}
	for name, p := range c.params {
		if p.required && !r.params.Has(name) {
			return invalid("The parameter %s is required", name)
		}
	}
	return f.checkSelection(r)
}

func (f *Fake) checkSelection(r *request) *Error {
	if !r.params.Has("fields") {
		return nil
	}
	s, err := parseFields(r.params.Get("fields"))
	if err == nil {
		err = f.table.checkFields(r.returns, s)
	}
	if err != nil {
		return oauth(http.StatusBadRequest, 100, err.Error())
	}
	r.fields = s
	return nil
}

// add creates a node with a new id, or with the id among the fields.
func (f *Fake) add(node string, fields map[string]any) *object {
	o := &object{node, map[string]any{}}
	if fields["id"] == nil {
		f.next += 10_000_007
		fields["id"] = fmt.Sprint(f.next)
	}
	for name, v := range fields {
		if v != nil {
			o.set(f.table, name, v)
		}
	}
	f.nodes[o.id()] = o
	f.order = append(f.order, o.id())
	return o
}

// link puts a node on an edge of another.
func (f *Fake) link(from, edge string, o *object) {
	f.edges[from+"/"+edge] = append(f.edges[from+"/"+edge], o.id())
}

func (f *Fake) stamp() string { return f.Now().UTC().Format(timeLayout) }
