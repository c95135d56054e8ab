// Package zerniofake is Zernio's API for ads in memory. It is strict: it refuses every name, value and combination that the vendor's description does
// not allow. It is stateful: what was made is listed, counted and changed. As at Zernio, one key reaches everything of everybody.
package zerniofake

import (
	"bytes"
	"cmp"
	"crypto/sha256"
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

// Prefix is the path under which the API is served, as at https://zernio.com/api.
const Prefix = "/api"

// Object is something as it goes over the wire.
type Object = map[string]any

// Network is one Zernio.
type Network struct {
	URL           string // where its pages are, without a slash at its end
	Few           int    // lists have so few rows on a page, and ad sets show so few of their ads; 0 = as many as Zernio
	IgnoreFilters bool   // lists return everything of everybody, whatever was asked for

	mu        sync.Mutex
	key       string
	now       func() time.Time
	last      int
	profiles  []*profile
	accounts  []*Account
	campaigns []*Campaign
	audiences []*audience
	answers   map[string]*stored // by key
	faults    []*fault
	calls     []string
	refused   []string
	writes    []string // changes that were made
	states    map[string]*asked
}

// stored is an answer that is repeated for its key.
type stored struct {
	sum    [32]byte
	at     time.Time
	status int
	body   []byte
}

// keyLife is for how long that is.
const keyLife = 24 * time.Hour

type profile struct{ id, name string }

// Account is an access to a network: one for ads, or the posting account that it belongs to.
type Account struct {
	ID         string
	Platform   string // metaads, facebook, ...
	profile    *profile
	parent     *Account
	Name       string
	AdAccounts []Object
	posts      []Object
}

// New returns a Zernio with a key, and nothing in it.
func New(key string, now func() time.Time) *Network {
	return &Network{URL: "https://zernio.example", key: key, now: now, answers: map[string]*stored{}, states: map[string]*asked{}}
}

// refusal is the body of every error.
type refusal struct {
	Error         string         `json:"error"`
	Type          string         `json:"type,omitempty"`
	Code          string         `json:"code,omitempty"`
	Param         string         `json:"param,omitempty"`
	Platform      string         `json:"platform,omitempty"`
	PlatformError map[string]any `json:"platformError,omitempty"`
	Details       map[string]any `json:"details,omitempty"`
	status        int
}

func invalid(param, format string, args ...any) *refusal {
	return &refusal{Error: fmt.Sprintf(format, args...), Type: "invalid_request_error", Code: "invalid_field_value", Param: param, status: http.StatusBadRequest}
}

func missing(what string) *refusal {
	return &refusal{Error: what + " not found", Type: "not_found", status: http.StatusNotFound}
}

func unsupported(what string) *refusal {
	return &refusal{Error: what + " is not supported on this platform", Code: "unsupported_platform_operation", status: http.StatusNotImplemented}
}

// request is a request that the table allows.
type request struct {
	n    *Network
	call *Call
	r    *http.Request
	body Object
	at   map[string]string // the values of the path
}

func (q *request) query(name string) string { return q.r.URL.Query().Get(name) }

func text(o Object, name string) string {
	s, _ := o[name].(string)
	return s
}

var handlers = map[string]func(*request) (Object, *refusal){
	"GET /v1/profiles":                                     (*request).listProfiles,
	"POST /v1/profiles":                                    (*request).createProfile,
	"GET /v1/accounts":                                     (*request).listAccounts,
	"GET /v1/connect/{platform}":                           (*request).connect,
	"GET /v1/connect/{platform}/ads":                       (*request).connect,
	"GET /v1/posts":                                        (*request).listPosts,
	"GET /v1/ads":                                          (*request).listAds,
	"GET /v1/ads/tree":                                     (*request).tree,
	"GET /v1/ads/accounts":                                 (*request).listAdAccounts,
	"GET /v1/ads/business-centers":                         (*request).listCenters,
	"GET /v1/ads/dsa-recommendations":                      (*request).recommend,
	"GET /v1/ads/targeting/search":                         (*request).search,
	"POST /v1/ads/targeting/reach-estimate":                (*request).estimate,
	"POST /v1/ads/create":                                  (*request).create,
	"POST /v1/ads/boost":                                   (*request).boost,
	"PUT /v1/ads/campaigns/{campaignId}/status":            (*request).switchCampaign,
	"PUT /v1/ads/campaigns/{campaignId}":                   (*request).updateCampaign,
	"DELETE /v1/ads/campaigns/{campaignId}":                (*request).deleteCampaign,
	"PUT /v1/ads/ad-sets/{adSetId}/status":                 (*request).switchAdSet,
	"PUT /v1/ads/ad-sets/{adSetId}":                        (*request).updateAdSet,
	"PUT /v1/ads/{adId}/status":                            (*request).switchAd,
	"PUT /v1/ads/{adId}":                                   (*request).updateAd,
	"DELETE /v1/ads/{adId}":                                (*request).deleteAd,
	"GET /v1/ads/audiences":                                (*request).listAudiences,
	"POST /v1/ads/audiences":                               (*request).createAudience,
	"DELETE /v1/ads/audiences/{audienceId}":                (*request).deleteAudience,
	"GET /v1/accounts/{accountId}/conversion-destinations": (*request).listDestinations,
}

// ServeHTTP serves the API under Prefix, and the pages that ask for consent.
func (n *Network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if strings.HasPrefix(r.URL.Path, "/consent/") {
		n.consent(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-RateLimit-Limit", "600")
	h.Set("X-RateLimit-Remaining", "599")
	h.Set("X-RateLimit-Reset", strconv.FormatInt(n.now().Add(time.Minute).Unix(), 10))
	call := CallOf(r)
	if call == nil {
		n.answer(w, "unknown", http.StatusNotFound, *missing(r.Method + " " + r.URL.Path))
		return
	}
	f := n.begin(call.String())
	if refused := f.before(w); refused != nil {
		n.answer(w, call.String(), refused.status, *refused)
		return
	}
	n.serve(w, r, call, f, body)
}

// serve answers a request of a known call.
func (n *Network) serve(w http.ResponseWriter, r *http.Request, call *Call, f *fault, body []byte) {
	if r.Header.Get("Authorization") != "Bearer "+n.key {
		n.answer(w, call.String(), http.StatusUnauthorized, refusal{Error: "Unauthorized"})
		return
	}
	key, sum := r.Header.Get("Idempotency-Key"), sha256.Sum256(append([]byte(call.String()), body...))
	if old := n.answers[key]; key != "" && old != nil && n.now().Sub(old.at) < keyLife {
		if old.sum != sum {
			n.answer(w, call.String(), http.StatusUnprocessableEntity, refusal{Error: "The key was used for another request.", Type: "invalid_request_error", Code: "idempotency_key_reused"})
			return
		}
		w.Header().Set("Idempotent-Replayed", "true")
		w.WriteHeader(old.status)
		_, _ = w.Write(old.body)
		return
	}
	q := &request{n: n, call: call, r: r, at: values(call, r)}
	refused := call.checkRequest(r, body)
	var answer Object
	if refused == nil {
		if len(body) > 0 {
			_ = json.Unmarshal(body, &q.body) // it was checked
		}
		answer, refused = handlers[call.String()](q)
	}
	if refused != nil {
		n.answer(w, call.String(), refused.status, *refused)
		return
	}
	status := call.status
	if f.kind == FaultBackfill {
		status, answer["backfillPending"] = http.StatusAccepted, true
	}
	data := n.checked(call, answer)
	if key != "" {
		n.answers[key] = &stored{sum, n.now(), status, data}
	}
	if r.Method != http.MethodGet {
		n.writes = append(n.writes, call.String())
	}
	if f.after(w) {
		return
	}
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

// checked encodes an answer, and panics if the table does not have it.
func (n *Network) checked(call *Call, answer Object) []byte {
	data, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	var value any
	_ = json.Unmarshal(data, &value) // it was just encoded
	if refused := call.check("answer", "", value); refused != nil {
		panic(fmt.Sprintf("zerniofake answers %s against its table: %s", call, refused.Error))
	}
	return data
}

// values returns the values of the variable segments of a path.
func values(call *Call, r *http.Request) map[string]string {
	segments := strings.Split(strings.TrimPrefix(r.URL.Path, Prefix), "/")
	found := map[string]string{}
	for i, name := range strings.Split(call.Path, "/") {
		if strings.HasPrefix(name, "{") {
			found[strings.Trim(name, "{}")] = segments[i]
		}
	}
	return found
}

// answer writes an error, and keeps it.
func (n *Network) answer(w http.ResponseWriter, call string, status int, body refusal) {
	data, _ := json.Marshal(body) // texts alone
	n.refused = append(n.refused, call+": "+string(data))
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

// begin records the call, and returns the fault that waits for it.
func (n *Network) begin(call string) *fault {
	n.calls = append(n.calls, call)
	for i, f := range n.faults {
		if f.call != call {
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
	recorder.Body = &bytes.Buffer{}
	n.ServeHTTP(recorder, served)
	return recorder.Result(), nil
}

// Refused returns what was refused, in order, each with the answer.
func (n *Network) Refused() []string { return n.list(&n.refused) }

// Calls returns the calls that came, in order.
func (n *Network) Calls() []string { return n.list(&n.calls) }

// Writes returns the changes that were made, in order.
func (n *Network) Writes() []string { return n.list(&n.writes) }

func (n *Network) list(of *[]string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(*of)
}

// id returns a new id of Zernio's own.
func (n *Network) id() string {
	n.last++
	return fmt.Sprintf("66a0%020x", n.last)
}

// platformID returns a new id of a network's.
func (n *Network) platformID() string {
	n.last++
	return strconv.Itoa(1_200_000_000 + n.last)
}
