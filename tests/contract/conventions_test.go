package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// The tests of this file and its neighbours walk the operations of the specification: a new operation is in them by
// existing. What it needs is an example of its body and, if an object that is made of that is not enough, one in newWorld.

// every runs a check for each operation that it concerns.
func every(t *testing.T, concerns func(*harness.Operation) bool, check func(t *testing.T, op *harness.Operation)) {
	t.Helper()
	n := 0
	for _, op := range harness.Operations() {
		if concerns(op) {
			n++
			t.Run(op.ID, func(t *testing.T) { check(t, op) })
		}
	}
	if n == 0 {
		t.Error("no operation is concerned: the check proves nothing")
	}
}

func all(*harness.Operation) bool         { return true }
func private(op *harness.Operation) bool  { return !op.Public }
func gets(op *harness.Operation) bool     { return !op.IsWrite() }
func writes(op *harness.Operation) bool   { return op.IsWrite() }
func withBody(op *harness.Operation) bool { return op.BodySchema() != nil }

func TestEveryOperation_NeedsAKey(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		credentials := map[string]string{
			"missing": "", "malformed": "Bearer nonsense", "other scheme": "Basic " + w.Key, "revoked": "Bearer " + w.revokedKey(t),
		}
		clients := map[string]*harness.Client{} // of an address each: from one, only so many requests a minute are taken
		for name := range credentials {
			clients[name] = s.From(t, fmt.Sprintf("127.0.0.%d", 2+len(clients)))
		}
		every(t, private, func(t *testing.T, op *harness.Operation) {
			for name, credential := range credentials {
				resp := clients[name].Do(t, op.Method, w.path(op), w.body(op), "Authorization", credential)
				resp.Fault(t, http.StatusUnauthorized, "authentication_required")
				if t.Failed() {
					t.Fatalf("the credential was %s", name)
				}
			}
		})
	})
}

// revokedKey returns a key that worked and was deleted.
func (w *world) revokedKey(t *testing.T) string {
	t.Helper()
	key := w.Must(t, http.MethodPost, "/v1/auth/keys", map[string]any{"name": "revoked"})
	token := key["token"].(string)
	w.As(token).Must(t, http.MethodGet, "/v1/account", nil)
	w.Must(t, http.MethodDelete, "/v1/auth/keys/"+key["id"].(string), nil)
	return token
}

func TestEveryOperation_NeedsItsScope(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		every(t, private, func(t *testing.T, op *harness.Operation) {
			if op.Scope == "" {
				t.Fatal("the specification names no scope")
			}
			if op.Scope == "none" { // what it shows needs scopes of its own
				return
			}
			fault := w.with(s.Key(t, w.Account, otherScope(op.Scope))).send(t, op).Fault(t, http.StatusForbidden, "forbidden")
			if fault.Param != op.Scope {
				t.Errorf("param is %q, the missing scope is %q", fault.Param, op.Scope)
			}
			all := append([]string{op.Scope}, op.MoreScopes...)
			for n, scope := range op.MoreScopes {
				fault := w.with(s.Key(t, w.Account, slices.Delete(slices.Clone(all), n+1, n+2)...)).send(t, op).Fault(t, http.StatusForbidden, "forbidden")
				if fault.Param != scope {
					t.Errorf("param is %q, the missing scope is %q", fault.Param, scope)
				}
			}
			switch op.ID { // of what they show: see TestWebhookEvents_NeedTheScopesOfWhatTheyShow
			case "getWebhookEvent":
				all = append(all, "orders:read", "customers:read")
			case "listWebhookEvents":
				all = append(all, "orders:read", "customers:read", "products:read", "checkouts:read", "refunds:read", "invoices:read", "leads:read")
			}
			if op.Method == http.MethodGet {
				if resp := w.with(s.Key(t, w.Account, all...)).send(t, op); resp.Status != http.StatusOK {
					t.Errorf("a key with the scope %s is answered %d: %s", op.Scope, resp.Status, resp.Body)
				}
			}
		})
	})
}

// otherScope returns a scope of the same resource where it can: reading does not include writing, nor the reverse.
func otherScope(scope string) string {
	if resource, ok := strings.CutSuffix(scope, ":write"); ok && scope != "ad_limits:write" {
		return resource + ":read"
	}
	if scope == "ad_limits:write" {
		return "ads:write"
	}
	return strings.TrimSuffix(scope, ":read") + ":write"
}

func TestEveryPath_RefusesOtherMethods(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		methods := map[string][]string{}
		for _, op := range harness.Operations() {
			methods[w.path(op)] = append(methods[w.path(op)], op.Method)
		}
		asked := 0
		for path, allowed := range methods {
			if asked++; asked%50 == 0 {
				w.Client = w.fresh(t, s)
			}
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
				if slices.Contains(allowed, method) {
					continue
				}
				resp := w.Do(t, method, path, nil)
				resp.Fault(t, http.StatusMethodNotAllowed, "method_not_allowed")
				if got := strings.Split(strings.ReplaceAll(resp.Header.Get("Allow"), " ", ""), ","); !sameSet(got, allowed) {
					t.Errorf("%s %s: Allow is %v, the operations are %v", method, path, got, allowed)
				}
			}
		}
	})
}

// sameSet compares without order; HEAD and OPTIONS are the server's own affair.
func sameSet(got, want []string) bool {
	for _, m := range want {
		if !slices.Contains(got, m) {
			return false
		}
	}
	for _, m := range got {
		if m != http.MethodHead && m != http.MethodOptions && !slices.Contains(want, m) {
			return false
		}
	}
	return true
}

func TestUnknownRoute_AnswersInTheEnvelope(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		c := s.Account(t)
		for _, path := range []string{"/v1/nothing", "/v1/products/prod_x/nothing", "/v1/products/", "/v1//products", "/v1/Products", "/public/nothing"} {
			c.Do(t, http.MethodGet, path, nil).Fault(t, http.StatusNotFound, "resource_missing")
		}
		c.As("").Do(t, http.MethodGet, "/v1/nothing", nil).Fault(t, http.StatusUnauthorized, "authentication_required")
	})
}
