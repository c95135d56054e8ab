package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
)

func TestEveryExpand_NeedsTheScopeOfWhatItShows(t *testing.T) {
	t.Parallel()
	// What an expanded name shows is read with this scope; line items, payments and their methods come with what has them.
	reading := map[string]string{
		"customer": "customers:read", "checkout": "checkouts:read", "order": "orders:read", "invoice": "invoices:read", "lines": "",
		"product": "products:read", "products": "products:read", "price_variant": "products:read", "price_variants": "products:read", "default_price_variant": "products:read",
		"discount": "discounts:read", "subscription": "subscriptions:read", "latest_invoice": "invoices:read",
		"event": "webhooks:read", "refunds": "refunds:read", "grants": "customers:read", "line_items": "", "payments": "", "payment": "",
		"payment_method": "customers:read", "default_payment_method": "",
		"file": "files:read",
	}
	expands := func(op *harness.Operation) bool { return hasQuery(op, "expand") }
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorld(t, s)
		every(t, expands, func(t *testing.T, op *harness.Operation) {
			own := append([]string{op.Scope}, op.MoreScopes...)
			limited := w.with(s.Key(t, w.Account, own...))
			for _, name := range expandable(op) {
				scope, known := reading[name[strings.LastIndex(name, ".")+1:]]
				if !known {
					t.Errorf("expand=%s: the test does not know what that shows", name)
				}
				if scope == "" || scope == op.Scope {
					continue
				}
				f := limited.Do(t, op.Method, w.at(op, "expand="+name), w.body(op)).Fault(t, http.StatusForbidden, "forbidden")
				if f.Param != scope {
					t.Errorf("expand=%s: param is %q, %q is expected", name, f.Param, scope)
				}
				both := w.with(s.Key(t, w.Account, append(own, scope)...))
				if resp := both.Do(t, op.Method, w.at(op, "expand="+name), w.body(op)); resp.Status >= 300 && op.Method == http.MethodGet {
					t.Errorf("expand=%s with %s is answered %d: %s", name, scope, resp.Status, resp.Body)
				}
			}
		})
		order := w.Must(t, http.MethodGet, "/v1/orders/"+w.IDs["order"], nil)
		limited := w.with(s.Key(t, w.Account, "orders:read"))
		shown := limited.Must(t, http.MethodGet, "/v1/orders/"+w.IDs["order"]+"?expand=line_items,payments", nil)
		if shown["line_items"].([]any)[0].(map[string]any)["id"] != order["line_items"].([]any)[0] {
			t.Errorf("the line items are %v", shown["line_items"])
		}
	})
}

// TestEveryExpand_ShowsWhatIsRead asks each GET for what it can inline, and for no name, as the document writes an empty list.
func TestEveryExpand_ShowsWhatIsRead(t *testing.T) {
	t.Parallel()
	keeps(t, conformance.ExpandsWhatItNames)
}

func TestEveryExpand_KnowsItsNames(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		on := newStage(t, s)
		check := func(t *testing.T, op *harness.Operation) {
			names := expandable(op)
			if len(names) == 0 {
				t.Fatal("the specification lists no names")
			}
			var unknown, all *harness.Response
			on.perform(t, op, func(w *world) (done bool) {
				unknown = w.Do(t, op.Method, w.at(op, "expand=surprise"), w.body(op))
				// All of them at once; the transport checks the inlined objects against their schemas.
				all = w.Do(t, op.Method, w.at(op, "expand="+strings.Join(names, ",")), w.body(op))
				return all.Status < 300
			})
			if f := unknown.Fault(t, http.StatusBadRequest, "bad_request"); f.Param != "expand" {
				t.Errorf("param is %q", f.Param)
			}
			if all.Status >= 300 {
				t.Errorf("expand=%s is answered %d: %s", names, all.Status, all.Body)
			}
		}
		every(t, func(op *harness.Operation) bool { return writes(op) && hasQuery(op, "expand") }, check)
	})
}

// expandable returns the names that the operation's expand parameter allows.
func expandable(op *harness.Operation) []string { return op.Expandable() }
