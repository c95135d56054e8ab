package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

// The tests of this file and its neighbours walk the operations of the specification: a new operation is in them by
// existing. What it needs is an example of its body and, if an object that is made of that is not enough, one in newWorld.

// keeps holds a server with a world to a rule of conformance.
func keeps(t *testing.T, rule func(conformance.T, *conformance.Subject)) {
	t.Helper()
	onShared(t, func(t *testing.T, s *harness.Server) { rule(harness.Tested(t), newWorld(t, s).subject(t, s)) })
}

// subject is the world as the rules of conformance ask for it. Each part of a rule has a key of its own, and so a quota.
func (w *world) subject(t *testing.T, s *harness.Server) *conformance.Subject {
	strangers := map[int]*harness.Client{} // of an address each: from one, only so many requests a minute are taken
	return &conformance.Subject{
		World: w.World, Thorough: true,
		Fresh: func(part conformance.TB) *harness.Client { return w.fresh(t, s).For(part) },
		Stranger: func(part conformance.TB, number int) *harness.Client {
			if strangers[number] == nil {
				strangers[number] = s.From(t, fmt.Sprintf("127.0.0.%d", 2+number))
			}
			return strangers[number].For(part)
		},
	}
}

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
		subject := w.subject(t, s)
		subject.Revoked = w.revokedKey(t)
		conformance.NeedsAKey(harness.Tested(t), subject)
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
	onShared(t, func(t *testing.T, s *harness.Server) {
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
	keeps(t, conformance.RefusesOtherMethods)
}

func TestUnknownRoute_AnswersInTheEnvelope(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.HasNoUnknownRoute)
}
