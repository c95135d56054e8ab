// Package stripefake is Stripe as far as a shop's server sees it: stateful, in memory and strict. What an object looks
// like comes from Stripe's own fixtures. These are in fixtures.json: six resources of those published with stripe-mock
// v0.203.0, MIT licence, copyright Stripe, Inc. Which parameters there are comes from its specification (param.go). It
// declines by test card, answers an Idempotency-Key once, signs notifications, and can do what it was asked and never say
// so.
package stripefake

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tillwright/tillwright/tests/harness/impatient"
)

//go:embed fixtures.json
var fixtures []byte

// Fake is one Stripe account. Its methods may be called while it serves.
type Fake struct {
	URL, Key, PublishableKey, WebhookSecret string

	mu      sync.Mutex
	next    int
	objects map[string]object
	order   []string // ids in the order of their creation
	methods map[string]*method
	answers map[string]answer // by Idempotency-Key
	faults  []Fault
	events  []Event
	calls   []string
	headers []http.Header
	lacks   []string // permissions that the key does not have

	patience impatient.Transport
}

// object is a resource as it is sent in JSON.
type object = map[string]any

// answer is what a request was answered, and what it had asked for. It is kept for the request's Idempotency-Key.
type answer struct {
	asked  string
	status int
	body   []byte
}

// Fault spoils the next request to a path that ends in Path. With a Status, the request is answered with it and
// nothing is done. Without one, it is done and never answered.
type Fault struct {
	Path   string
	Status int
}

// New serves an account until the test ends.
func New(t testing.TB) *Fake {
	t.Helper()
	f := &Fake{
		Key: "sk_test_51FakeOfStripe", PublishableKey: "pk_test_51FakeOfStripe", WebhookSecret: "whsec_FakeOfStripe",
		objects: map[string]object{}, methods: map[string]*method{}, answers: map[string]answer{},
	}
	server := httptest.NewServer(f.routes())
	t.Cleanup(server.Close)
	f.URL = server.URL
	return f
}

// Client returns a client for this process that waits long for every answer, but for one that gets lost not at all.
func (f *Fake) Client() *http.Client {
	return &http.Client{Transport: &f.patience, Timeout: 5 * time.Minute}
}

// routes returns the handler of all calls of the API that the fake knows.
func (f *Fake) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range map[string]func(*request) reply{
		"POST /v1/customers":                    f.createCustomer,
		"GET /v1/payment_methods/{id}":          f.retrieve,
		"POST /v1/payment_methods/{id}/attach":  f.attach,
		"POST /v1/payment_methods/{id}/detach":  f.detach,
		"POST /v1/payment_intents":              f.createIntent,
		"GET /v1/payment_intents/{id}":          f.retrieve,
		"POST /v1/payment_intents/{id}/confirm": f.confirm,
		"POST /v1/payment_intents/{id}/cancel":  f.cancelIntent,
		"POST /v1/setup_intents":                f.createSetup,
		"GET /v1/setup_intents/{id}":            f.retrieve,
		"POST /v1/setup_intents/{id}/confirm":   f.confirmSetup,
		"POST /v1/setup_intents/{id}/cancel":    f.cancelIntent,
		"POST /v1/refunds":                      f.createRefund,
		"GET /v1/refunds":                       f.listRefunds,
		"GET /v1/refunds/{id}":                  f.retrieve,
		"POST /v1/refunds/{id}/cancel":          f.cancelRefund,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, pattern, serve) })
	}
	return mux
}

// request is a call that was read and is allowed.
type request struct {
	id   string // of the path
	form url.Values
}

// reply is a status and the object that is sent with it.
type reply struct {
	status int
	body   object
}

func ok(o object) reply { return reply{http.StatusOK, o} }

// Spoil adds a fault.
func (f *Fake) Spoil(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, fault)
}

// Calls returns what was asked, as method and path, including what was refused or repeated.
func (f *Fake) Calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.calls...)
}

// Headers returns the headers of the requests in Calls.
func (f *Fake) Headers() []http.Header {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]http.Header(nil), f.headers...)
}

// Object returns an object as it is now.
func (f *Fake) Object(id string) map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return copyOf(f.objects[id])
}

// Alter changes an object without any event, as its owner can in Stripe's dashboard.
func (f *Fake) Alter(id string, set map[string]any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.Copy(f.objects[id], set)
}

// Forget makes the fake another account, or the other mode of the same one, which knows none of the objects.
func (f *Fake) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects, f.order, f.methods, f.answers = map[string]object{}, nil, map[string]*method{}, map[string]answer{}
}

// Count returns how many objects of a kind there are.
func (f *Fake) Count(kind string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		if o["object"] == kind {
			n++
		}
	}
	return n
}

// Attached returns how many methods are saved for customers.
func (f *Fake) Attached() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.methods {
		if m.customer != nil {
			n++
		}
	}
	return n
}

// Taken returns how much money the seller has got and not given back, of all currencies together.
func (f *Fake) Taken() (sum int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		switch {
		case o["object"] == "payment_intent" && o["status"] == "succeeded":
			sum += o["amount"].(int64)
		case o["object"] == "refund" && (o["status"] == "succeeded" || o["status"] == "pending"):
			sum -= o["amount"].(int64)
		}
	}
	return sum
}

func (f *Fake) serve(w http.ResponseWriter, r *http.Request, pattern string, do func(*request) reply) {
	if err := r.ParseForm(); err != nil {
		send(w, answer{status: http.StatusBadRequest})
		return
	}
	done, lost := f.answer(r, pattern, do)
	if lost {
		f.patience.GiveUp(r)
		<-r.Context().Done() // the caller gives up first
		return
	}
	send(w, done)
}

// answer returns the answer to a request, and whether it gets lost on the way.
func (f *Fake) answer(r *http.Request, pattern string, do func(*request) reply) (answer, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.headers = append(f.calls, r.Method+" "+r.URL.Path), append(f.headers, r.Header)
	fault, spoilt := f.takeFault(r.URL.Path)
	if spoilt && fault.Status != 0 {
		return written(reply{fault.Status, object{"error": object{
			"type": "api_error", "message": "Something went wrong.", "payment_intent": f.example("payment_intent"),
		}}}), false
	}
	if refused, ok := f.refuse(r, pattern); ok {
		return written(refused), false
	}
	key, asked := r.Header.Get("Idempotency-Key"), r.Method+" "+r.URL.Path+"?"+r.Form.Encode()
	if before, used := f.answers[key]; used && key != "" {
		if before.asked != asked {
			return written(fail(400, "idempotency_error", "", "", "Keys for idempotent requests can only be used with the same parameters they were first used with.")), false
		}
		return before, spoilt
	}
	a := written(do(&request{r.PathValue("id"), r.Form}))
	if a.asked = asked; r.Method == http.MethodPost {
		f.answers[key] = a
	}
	return a, spoilt
}

func (f *Fake) takeFault(path string) (Fault, bool) {
	for i, fault := range f.faults {
		if strings.HasSuffix(path, fault.Path) {
			f.faults = append(f.faults[:i:i], f.faults[i+1:]...)
			return fault, true
		}
	}
	return Fault{}, false
}

// refuse checks what every request needs, and returns the refusal if something is wrong.
func (f *Fake) refuse(r *http.Request, pattern string) (reply, bool) {
	if r.Header.Get("Authorization") != "Bearer "+f.Key {
		return fail(401, "invalid_request_error", "", "", "Invalid API Key provided."), true
	}
	if refused, ok := f.forbid(r); ok {
		return refused, true
	}
	if r.Header.Get("Stripe-Version") == "" {
		return fail(400, "invalid_request_error", "", "", "Name the version of the API."), true
	}
	if r.Method == http.MethodPost && r.Header.Get("Idempotency-Key") == "" {
		return fail(400, "invalid_request_error", "", "", "A write without an Idempotency-Key cannot be repeated."), true
	}
	for name, values := range r.Form {
		top, _, _ := strings.Cut(name, "[")
		if !allowed(pattern, top) {
			return fail(400, "invalid_request_error", "parameter_unknown", name, "Received unknown parameter: "+name), true
		}
		if top == "metadata" && utf8.RuneCountInString(values[0]) > 500 {
			return fail(400, "invalid_request_error", "", name, "Metadata values can have up to 500 characters."), true
		}
	}
	return reply{}, false
}

func written(r reply) answer {
	body, err := json.Marshal(r.body)
	if err != nil {
		panic(err)
	}
	return answer{status: r.status, body: body}
}

func send(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_fake")
	w.WriteHeader(a.status)
	w.Write(a.body)
}

// fail returns an error of Stripe.
func fail(status int, kind, code, param, message string) reply {
	e := object{"type": kind, "message": message}
	for name, value := range map[string]string{"code": code, "param": param} {
		if value != "" {
			e[name] = value
		}
	}
	return reply{status, object{"error": e}}
}

func missing(kind, param, id string) reply {
	return fail(http.StatusNotFound, "invalid_request_error", "resource_missing", param, "No such "+kind+": '"+id+"'")
}

// example returns Stripe's own example of a kind of object.
func (*Fake) example(kind string) object {
	var all map[string]object
	if err := json.Unmarshal(fixtures, &all); err != nil {
		panic(err)
	}
	return all[kind]
}

// add makes an object out of Stripe's example of its kind.
func (f *Fake) add(kind, prefix string, set object) object {
	f.next++
	o := f.example(kind)
	o["id"], o["created"] = fmt.Sprintf("%s_1Fake%06d", prefix, f.next), time.Now().Unix()
	maps.Copy(o, set)
	f.objects[o["id"].(string)] = o
	f.order = append(f.order, o["id"].(string))
	return o
}

func (f *Fake) retrieve(r *request) reply {
	if o, found := f.objects[r.id]; found {
		return ok(o)
	}
	return missing("object", "id", r.id)
}

func (f *Fake) createCustomer(r *request) reply {
	if email := r.form.Get("email"); email != "" && !strings.Contains(email, "@") {
		return fail(400, "invalid_request_error", "email_invalid", "email", "Invalid email address: "+email)
	}
	return ok(f.add("customer", "cus", object{
		"email": orNull(r.form.Get("email")), "name": orNull(r.form.Get("name")), "metadata": metadata(r.form),
	}))
}

func metadata(form url.Values) object {
	m := object{}
	for name, values := range form {
		if key, found := strings.CutPrefix(name, "metadata["); found {
			m[strings.TrimSuffix(key, "]")] = values[0]
		}
	}
	return m
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// number reads an amount, 0 if it is none.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// copyOf returns a copy of an object, which later changes do not reach.
func copyOf(o object) object {
	var c object
	text, err := json.Marshal(o)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		err = d.Decode(&c)
	}
	if err != nil {
		panic(err)
	}
	return c
}
