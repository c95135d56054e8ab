package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tillwright/tillwright/gen/spec"
	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// document is the specification as plain JSON.
var document = sync.OnceValue(func() map[string]any {
	var doc map[string]any
	if err := json.Unmarshal(spec.JSON, &doc); err != nil {
		panic(err)
	}
	return doc
})

// schemas are those of the specification by name.
func schemas() map[string]any {
	return document()["components"].(map[string]any)["schemas"].(map[string]any)
}

// visit calls f for every object in a JSON value.
func visit(value any, f func(map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		f(v)
		for _, child := range v {
			visit(child, f)
		}
	case []any:
		for _, child := range v {
			visit(child, f)
		}
	}
}

// texts returns the strings of a JSON array.
func texts(value any) []string {
	var all []string
	list, _ := value.([]any)
	for _, v := range list {
		all = append(all, v.(string))
	}
	return all
}

// Scopes that guard nothing yet wait for the resources of later releases, metrics:write for its end. No other one may join
// them: a key with it would have been given something that means nothing.
func TestScopes_GuardSomething(t *testing.T) {
	t.Parallel()
	waiting := []string{
		"metrics:write",
	}
	guarding := map[string]bool{}
	note := func(value any) {
		if scope, ok := value.(string); ok && scope != "none" {
			guarding[scope] = true
		}
		for _, scope := range texts(value) {
			guarding[scope] = true
		}
	}
	visit(document(), func(o map[string]any) {
		note(o["x-scope"])
		note(o["x-more-scopes"])
		for _, key := range []string{"x-scopes", "x-type-scopes"} {
			named, _ := o[key].(map[string]any)
			for _, scopes := range named {
				note(scopes)
			}
		}
	})
	var idle []string
	for _, scope := range texts(schemas()["APIKeyScope"].(map[string]any)["enum"]) {
		if !guarding[scope] {
			idle = append(idle, scope)
		}
		delete(guarding, scope)
	}
	slices.Sort(idle)
	if !slices.Equal(idle, waiting) {
		t.Errorf("these scopes guard nothing: %v\nand these are known to: %v", idle, waiting)
	}
	for scope := range guarding {
		t.Errorf("%s is needed for something, and no key can be given it", scope)
	}
}

// What is about to go is still accepted, and says so to whoever sends it.
func TestCreateAPIKey_TellsOfADeprecatedScope(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		send := func(method, path, scope string, headers ...string) *harness.Response {
			return owner.Do(t, method, path, map[string]any{"name": "figures", "scopes": []string{"metrics:read", scope}}, headers...)
		}
		told := func(r *harness.Response, status int, want bool) {
			t.Helper()
			if r.Status != status {
				t.Errorf("it is answered %d: %s", r.Status, r.Body)
			}
			for header, value := range map[string]string{
				"Deprecation": "@1795305600", "Sunset": "Tue, 01 Jun 2027 00:00:00 GMT",
				"Link": `<https://github.com/tillwright/tillwright#deprecated>; rel="deprecation"; type="text/html"`,
			} {
				if !want {
					value = ""
				}
				if got := r.Header.Get(header); got != value {
					t.Errorf("%s is %q, %q is expected", header, got, value)
				}
			}
		}
		told(send(http.MethodPost, "/v1/auth/keys", "orders:read"), 201, false)
		told(send(http.MethodPost, "/v1/auth/keys", "metrics:write", "Idempotency-Key", "once"), 201, true)
		told(send(http.MethodPost, "/v1/auth/keys", "metrics:write", "Idempotency-Key", "once"), 201, true)
		id := owner.Must(t, http.MethodGet, "/v1/auth/keys", nil)["data"].([]any)[0].(map[string]any)["id"].(string)
		told(send(http.MethodPatch, "/v1/auth/keys/"+id, "metrics:write"), 200, true)
		owner = owner.As(s.Key(t, owner.Account, "keys:write"))
		told(send(http.MethodPost, "/v1/auth/keys", "metrics:write"), 403, true)
	})
}

// readingScopes maps each value of `object` to the scope of the GET that answers with one.
func readingScopes() map[string]string {
	reading := map[string]string{}
	for _, item := range document()["paths"].(map[string]any) {
		get, _ := item.(map[string]any)["get"].(map[string]any)
		scope, _ := get["x-scope"].(string)
		if scope == "" {
			continue
		}
		answer, _ := json.Marshal(get["responses"].(map[string]any)["200"])
		_, name, _ := strings.Cut(string(answer), `"$ref":"#/components/schemas/`)
		name, _, _ = strings.Cut(name, `"`)
		schema, _ := schemas()[name].(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		object, _ := properties["object"].(map[string]any)
		for _, kind := range texts(object["enum"]) {
			reading[kind] = scope
		}
	}
	return reading
}

// What an event shows is found in its example, which is rendered as real ones are. Each object in it is read with the
// scope of its own GET.
func TestWebhookEvents_SayWhatReadingThemTakes(t *testing.T) {
	t.Parallel()
	needed := schemas()["WebhookEvent"].(map[string]any)["x-type-scopes"].(map[string]any)
	reading := readingScopes()
	onShared(t, func(t *testing.T, s *harness.Server) {
		for _, event := range s.Account(t).Must(t, http.MethodGet, "/v1/webhook_endpoints/events", nil)["data"].([]any) {
			kind := event.(map[string]any)["type"].(string)
			objects := 0
			visit(event.(map[string]any)["example"].(map[string]any)["data"], func(o map[string]any) {
				object, _ := o["object"].(string)
				if scope := reading[object]; scope != "" {
					objects++
					if !slices.Contains(texts(needed[kind]), scope) {
						t.Errorf("%s shows a %s, which takes %s", kind, object, scope)
					}
				}
			})
			if objects == 0 {
				t.Errorf("the example of %s shows nothing that is known", kind)
			}
		}
	})
}

func TestWebhookEvents_NeedTheScopesOfWhatTheyShow(t *testing.T) {
	t.Parallel()
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorldOfSales(t, s)
		event := w.Must(t, http.MethodGet, "/v1/webhook_endpoints/"+w.IDs["we"]+"/deliveries", nil)["data"].([]any)[0].(map[string]any)["event"].(string)
		with := func(scopes ...string) *harness.Client {
			return w.As(s.Key(t, w.Account, append(scopes, "webhooks:read", "webhooks:write")...))
		}
		every := []string{"orders:read", "customers:read", "products:read", "checkouts:read", "refunds:read", "invoices:read", "leads:read"}
		forbidden := func(c *harness.Client, scope, method, path string, body map[string]any) {
			t.Helper()
			if f := c.Do(t, method, path, body).Fault(t, http.StatusForbidden, "forbidden"); f.Param != scope {
				t.Errorf("%s %s: param is %q, the missing scope is %q", method, path, f.Param, scope)
			}
		}
		for _, it := range []struct {
			method, path string
			body         map[string]any
			scopes       []string
		}{
			{http.MethodGet, "/v1/webhook_events/" + event, nil, []string{"orders:read", "customers:read"}},
			{http.MethodGet, "/v1/webhook_events", nil, every},
			{http.MethodGet, "/v1/webhook_events?type=order.paid", nil, []string{"orders:read", "customers:read"}},
			{http.MethodPost, "/v1/webhook_events/" + event + "/redeliver", map[string]any{"webhook_endpoint": w.IDs["we"]}, []string{"orders:read", "customers:read"}},
			{http.MethodGet, "/v1/webhook_endpoints/" + w.IDs["we"] + "/deliveries?expand=event", nil, every},
			{http.MethodPost, "/v1/webhook_endpoints/" + w.IDs["we"] + "/redeliver", map[string]any{"created_after": "2020-01-01T00:00:00Z", "created_before": "2020-01-02T00:00:00Z"}, every},
			{http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": w.Hooks, "enabled_events": []string{"order.paid"}}, []string{"orders:read", "customers:read"}},
			{http.MethodPost, "/v1/webhook_endpoints", map[string]any{"url": w.Hooks}, every},
			{http.MethodPatch, "/v1/webhook_endpoints/" + w.IDs["we"], map[string]any{"url": w.Hooks + "/other"}, []string{"orders:read", "customers:read"}},
			{http.MethodPatch, "/v1/webhook_endpoints/" + w.IDs["we"], map[string]any{"enabled_events": []string{"product.created"}}, []string{"orders:read", "customers:read", "products:read"}},
		} {
			for i, scope := range it.scopes {
				forbidden(with(slices.Delete(slices.Clone(it.scopes), i, i+1)...), scope, it.method, it.path, it.body)
			}
			with(it.scopes...).Must(t, it.method, it.path, it.body)
		}
		// What shows nothing takes nothing.
		with().Must(t, http.MethodPatch, "/v1/webhook_endpoints/"+w.IDs["we"], map[string]any{"description": "mine"})
		with().Must(t, http.MethodGet, "/v1/webhook_endpoints/"+w.IDs["we"]+"/deliveries", nil)
	})
}

// Fields with x-scope in the specification are null wherever a key without that scope finds their object, and are not for
// another one.
func TestEveryRead_ConcealsWhatTakesAnotherScope(t *testing.T) {
	t.Parallel()
	concealed := map[string]map[string]string{} // object -> field -> scope
	for _, schema := range schemas() {
		properties, _ := schema.(map[string]any)["properties"].(map[string]any)
		for field, property := range properties {
			scope, ok := property.(map[string]any)["x-scope"].(string)
			if !ok {
				continue
			}
			object := texts(properties["object"].(map[string]any)["enum"])[0]
			if concealed[object] == nil {
				concealed[object] = map[string]string{}
			}
			concealed[object][field] = scope
		}
	}
	if len(concealed["checkout"]) != 3 {
		t.Fatalf("concealed are %v", concealed)
	}
	onShared(t, func(t *testing.T, s *harness.Server) {
		w := newWorldOfSales(t, s)
		var reading []string
		for _, scope := range texts(schemas()["APIKeyScope"].(map[string]any)["enum"]) {
			if strings.HasSuffix(scope, ":read") {
				reading = append(reading, scope)
			}
		}
		reader := w.with(s.Key(t, w.Account, reading...))
		seen := map[string]int{}
		reads := func(op *harness.Operation) bool {
			return private(op) && !op.IsWrite() && !strings.HasPrefix(op.Scope, "ads:")
		}
		every(t, reads, func(t *testing.T, op *harness.Operation) {
			queries := []string{""}
			for _, name := range expandable(op) {
				queries = append(queries, "expand="+name)
			}
			for _, query := range queries {
				for caller, shown := range map[*world]bool{reader: false, w: true} {
					visit(caller.Must(t, op.Method, w.at(op, query), nil), func(o map[string]any) {
						object, _ := o["object"].(string)
						for field := range concealed[object] {
							value, present := o[field]
							if !present { // an event's data is not written anew
								continue
							}
							if value != nil && !shown {
								t.Errorf("%s?%s shows %s of a %s to a key that may only read", op.ID, query, field, object)
							}
							if value != nil {
								seen[object+"."+field]++
							}
						}
					})
				}
			}
		})
		for _, field := range []string{"checkout.url", "checkout.client_secret"} {
			if seen[field] < 5 {
				t.Errorf("who may see %s saw it %d times", field, seen[field])
			}
		}
	})
}

// Saying how much may be spent is not part of spending.
func TestUpdateAdLimits_TakesAScopeOfItsOwn(t *testing.T) {
	onEach(t, func(t *testing.T, _ *sdk.Client, s *harness.Server) {
		owner := s.Account(t)
		raise := &sdk.AdLimitsUpdate{BlockedOperations: []sdk.AdOperation{}}
		spends := owner.As(s.Key(t, owner.Account, "ads:read", "ads:write", "account:write")).SDK()
		_, err := spends.AdLimits.Update(background, raise)
		refused(t, err, http.StatusForbidden, sdk.CodeForbidden, "ad_limits:write")
		ok[*sdk.AdLimits](t)(owner.As(s.Key(t, owner.Account, "ad_limits:write")).SDK().AdLimits.Update(background, raise))
		_, err = owner.SDK().APIKeys.Create(background, &sdk.APIKeyCreate{Scopes: []sdk.APIKeyScope{"ad_limits:read"}})
		refused(t, err, http.StatusUnprocessableEntity, sdk.CodeValidationFailed, "scopes.0")
	})
}
