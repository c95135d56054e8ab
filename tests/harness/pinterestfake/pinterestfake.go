// Package pinterestfake is the ads API of Pinterest in memory. It is strict: it refuses every request that the vendor's
// description does not allow. It is stateful: what was created is listed, counted and refused as the network would.
package pinterestfake

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Prefix is the path under which the API is served, as at https://api.pinterest.com/v5.
const Prefix = "/v5"

// Object is one entity as it goes over the wire. Identifiers are strings of digits, numbers json.Number.
type Object map[string]any

// Text returns a string property, "" when it is absent or null.
func (o Object) Text(name string) string {
	text, _ := o[name].(string)
	return text
}

// Number returns an integer property, 0 when it is absent or null.
func (o Object) Number(name string) int64 {
	switch n := o[name].(type) {
	case json.Number:
		value, _ := n.Int64()
		return value
	case int64:
		return n
	}
	return 0
}

// Is reports whether a boolean property is true.
func (o Object) Is(name string) bool {
	is, _ := o[name].(bool)
	return is
}

// Network is one Pinterest. It serves any number of tokens, each of which can use its own ad accounts.
type Network struct {
	OnHang   func(*http.Request) // called when it stops answering one, so that a test need not wait for a timeout
	mu       sync.Mutex
	now      func() time.Time
	mux      *http.ServeMux
	last     int64 // the identifier that was given last
	accounts []*Account
	users    map[string]*user // by token
	faults   []*fault
	calls    []string
	refused  []string
	mostRows int // on a page, whatever was asked for; 0 = no such limit
	media    []*media

	app        App
	consenting *user // whose consent the app is given
	codes      map[string]*consented
	refreshes  map[string]*consented // by refresh token
	ends       map[string]time.Time  // of access tokens that were given for consents
	minted     []string

	uploads string // where videos are sent to
	slow    int    // how many looks at a video find it still processing

	reports     []*report
	reportHost  string // where the files of reports are
	slowReports int    // how many looks at a report find it still in progress
	lateReport  string // what reports become instead of FINISHED
}

// user is the person a token acts for, who owns boards and Pins.
type user struct {
	id       string
	name     string
	accounts []*Account
	boards   []Object
	pins     []Object
}

// Account is one ad account and all that is in it. Slices are in the order of creation.
type Account struct {
	ID        string
	Disabled  bool
	owner     *user // whose boards and Pins its ads show
	object    Object
	campaigns []Object
	groups    []Object
	ads       []Object
	audiences []Object
	lists     []*customerList
	tags      []string
	figures   []figure
	events    []*Event
	eventKeys []string // the conversion tokens that it was given in the ads manager
}

// New returns a network without accounts. The argument now is its time. It must not be a day behind the time in the ids of its callers, who look for
// what they have made by its age.
func New(now func() time.Time) *Network {
	n := &Network{now: now, uploads: "https://upload.example", reportHost: "https://reports.example", mux: http.NewServeMux(), last: 549_755_885_174, users: map[string]*user{},
		codes: map[string]*consented{}, refreshes: map[string]*consented{}, ends: map[string]time.Time{}}
	for _, op := range Operations() {
		n.mux.HandleFunc(op.Method+" "+Prefix+op.Path, func(w http.ResponseWriter, r *http.Request) { n.serve(w, r, op) })
	}
	n.mux.HandleFunc("GET /oauth/", n.ask)
	n.mux.HandleFunc("POST "+Prefix+"/oauth/token", n.grant)
	n.mux.HandleFunc("POST "+uploadPath+"{media_id}", n.receive)
	n.mux.HandleFunc("GET "+reportPath+"{number}", n.handOut)
	n.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusNotFound, refusal{Code: codeNotFound, Message: "No such endpoint."})
	})
	return n
}

// ServeHTTP serves the API under Prefix.
func (n *Network) ServeHTTP(w http.ResponseWriter, r *http.Request) { n.mux.ServeHTTP(w, r) }

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

// Calls returns the operations that were called, in order, also those that were refused.
func (n *Network) Calls() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.calls)
}

// LimitPages makes every page have at most that many rows, as a network may.
func (n *Network) LimitPages(rows int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mostRows = rows
}

// Forget empties the list of calls.
func (n *Network) Forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = nil
}

// refusal is the body of every error.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	status  int
}

const (
	codeInvalid      = 1
	codeUnauthorized = 2
	codeForbidden    = 3
	codeNotFound     = 4
	codeRateLimited  = 8
	codeInternal     = 12
)

func invalid(format string, args ...any) *refusal {
	return &refusal{Code: codeInvalid, Message: fmt.Sprintf(format, args...), status: http.StatusBadRequest}
}

func missing(noun string) *refusal {
	return &refusal{Code: codeNotFound, Message: noun + " not found.", status: http.StatusNotFound}
}

// call is a request that the description allows.
type call struct {
	n       *Network
	user    *user
	account *Account // nil where the path has none
	op      *Operation
	r       *http.Request
	body    []byte
}

// answer is a status and a body. The body is a refusal if the status is no success.
type answer struct {
	status int
	body   any
}

func ok(body any) answer             { return answer{http.StatusOK, body} }
func refuse(r *refusal) answer       { return answer{r.status, *r} }
func (c *call) path(n string) string { return c.r.PathValue(n) }

var handlers = map[string]func(*call) answer{
	"ad_accounts/get":               (*call).getAccount,
	"ad_accounts/list":              (*call).listAccounts,
	"campaigns/list":                (*call).listCampaigns,
	"campaigns/create":              (*call).createCampaigns,
	"campaigns/update":              (*call).updateCampaigns,
	"campaigns/analytics":           (*call).reportCampaigns,
	"ad_groups/list":                (*call).listGroups,
	"ad_groups/create":              (*call).createGroups,
	"ad_groups/update":              (*call).updateGroups,
	"ad_groups/analytics":           (*call).reportGroups,
	"ads/list":                      (*call).listAds,
	"ads/create":                    (*call).createAds,
	"ads/update":                    (*call).updateAds,
	"ads/analytics":                 (*call).reportAds,
	"campaigns/targeting_analytics": (*call).divideCampaigns,
	"ad_groups/targeting_analytics": (*call).divideGroups,
	"ads/targeting_analytics":       (*call).divideAds,
	"analytics/create_report":       (*call).orderReport,
	"analytics/get_report":          (*call).getReport,
	"audiences/list":                (*call).listAudiences,
	"audiences/create":              (*call).createAudience,
	"audiences/get":                 (*call).getAudience,
	"audiences/update":              (*call).updateAudience,
	"customer_lists/create":         (*call).createList,
	"customer_lists/update":         (*call).updateList,
	"user_account/get":              (*call).getUser,
	"boards/list":                   (*call).listBoards,
	"boards/create":                 (*call).createBoard,
	"media/create":                  (*call).createMedia,
	"media/get":                     (*call).getMedia,
	"pins/list":                     (*call).listPins,
	"pins/get":                      (*call).getPin,
	"pins/create":                   (*call).createPin,
	"pins/delete":                   (*call).deletePin,
	"targeting_options/get":         (*call).listTargeting,

	"ad_groups/audience_sizing": (*call).sizeAudience,
	"ad_previews/create":        (*call).createPreview,
	"conversion_tags/list":      (*call).listTags,
	"events/create":             (*call).createEvents,
	"ad_groups_bid_floor/get":   (*call).bidFloor,
}

// serve answers a request of a known operation.
func (n *Network) serve(w http.ResponseWriter, r *http.Request, op *Operation) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	f := n.begin(op.ID)
	if f.before(n, w, r) {
		return
	}
	input, err := op.checkRequest(r, body)
	var a answer
	if err != nil {
		a = refuse(invalid("%s", firstLine(err)))
	} else {
		a = n.handle(&call{n: n, op: op, r: r, body: body})
	}
	if f.after(n, w, r) {
		return
	}
	data := encode(a)
	if err := op.checkResponse(input, a.status, data); err != nil {
		panic(fmt.Sprintf("pinterestfake answers %s against its description: %v\n%s", op.ID, err, data))
	}
	n.note(op.ID, a.status, data)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(data)
}

// note records an answer that refuses a request, or an item of one.
func (n *Network) note(op string, status int, answer []byte) {
	if status < http.StatusBadRequest && !bytes.Contains(answer, []byte(`"code":`)) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refused = append(n.refused, op+": "+string(answer))
}

// Refused returns what was refused, in order, each with the network's answer.
func (n *Network) Refused() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.refused)
}

// begin records the call, and returns the fault that waits for it, nil for none.
func (n *Network) begin(op string) *fault {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = append(n.calls, op)
	for i, f := range n.faults {
		if f.op != op && f.op != "" {
			continue
		}
		if f.skip > 0 {
			f.skip--
			continue
		}
		n.faults = slices.Delete(n.faults, i, i+1)
		return f
	}
	return &fault{}
}

// handle finds out who asks, and lets the operation change the state. It serves one request at a time.
func (n *Network) handle(c *call) answer {
	n.mu.Lock()
	defer n.mu.Unlock()
	token, bearer := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer ")
	if c.user = n.users[token]; c.op.ID == "events/create" {
		c.user = n.eventSender(token)
	}
	if !bearer || c.user == nil || n.hasEnded(token) {
		return refuse(&refusal{Code: codeUnauthorized, Message: "Authentication failed.", status: http.StatusUnauthorized})
	}
	for _, id := range []string{c.path("ad_account_id"), c.r.URL.Query().Get("ad_account_id")} {
		if id == "" {
			continue
		}
		if c.account = n.find(id); c.account == nil {
			return refuse(missing("AdAccount"))
		}
		if !slices.Contains(c.user.accounts, c.account) {
			message := "You are not permitted to access that resource."
			return refuse(&refusal{Code: codeForbidden, Message: message, status: http.StatusForbidden})
		}
	}
	if c.r.URL.Query().Get("ad_account_id") != "" { // Business Access
		c.user = c.account.owner
	}
	return handlers[c.op.ID](c)
}

// find returns the ad account with this id, or nil.
func (n *Network) find(id string) *Account {
	i := slices.IndexFunc(n.accounts, func(a *Account) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return n.accounts[i]
}

// mint returns a new id, which is larger than all before it.
func (n *Network) mint() string {
	n.last++
	return strconv.FormatInt(n.last, 10)
}

// read decodes the body. Numbers stay as they were written.
func (c *call) read(into any) {
	decoder := json.NewDecoder(bytes.NewReader(c.body))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		panic(err) // it was validated
	}
}

// firstLine returns an error of openapi3filter without the schema that it quotes in further lines.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
