package contract

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestEveryOperation_RefusesAnUnknownQueryParameter(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, all, func(t *testing.T, op *harness.Operation) {
			resp := w.Do(t, op.Method, w.at(op, "surprise=1"), w.body(op))
			if f := resp.Fault(t, http.StatusBadRequest, "bad_request"); f.Param != "surprise" {
				t.Errorf("param is %q", f.Param)
			}
		})
	})
}

func TestEveryBody_RefusesAnUnknownField(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		closed := func(op *harness.Operation) bool { return withBody(op) && !keepsFields(op) }
		every(t, closed, func(t *testing.T, op *harness.Operation) {
			w.Client = w.fresh(t, s)
			for _, field := range []string{"surprise", "account_id", "object", "id", "created_at", "secret"} {
				if op.BodySchema().Properties[field] != nil {
					continue
				}
				body := w.body(op).(map[string]any)
				body[field] = "x"
				resp := w.Do(t, op.Method, w.path(op), body)
				if f := resp.Fault(t, http.StatusBadRequest, "bad_request"); f.Param != field {
					t.Errorf("param is %q, the unknown field is %q", f.Param, field)
				}
			}
		})
	})
}

// keepsFields tells the operations whose body may have any field.
func keepsFields(op *harness.Operation) bool { return op.ID == "createAd" || op.ID == "previewNewAd" }

func TestEveryBody_IsStrictJSON(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{
		"nothing":         "",
		"white space":     " \r\n\t",
		"null":            "null",
		"an array":        "[]",
		"a text":          `"name"`,
		"half an object":  `{"name":`,
		"trailing data":   `{}{}`,
		"a comment":       `{/**/}`,
		"a duplicate key": `{"name":"a","name":"b"}`,
		"invalid UTF-8":   "{\"name\":\"\xff\"}",
		"NUL":             `{"name":"a\u0000b"}`,
		"a byte order":    "\ufeff{}",
		"not a number":    `{"name":NaN}`,
		"depth":           strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100),
	}
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		every(t, withBody, func(t *testing.T, op *harness.Operation) {
			w.Client = w.fresh(t, s)
			for name, body := range bodies {
				resp := w.Do(t, op.Method, w.path(op), body, "Content-Type", "application/json")
				if strings.TrimSpace(body) == "" && !op.NeedsBody() {
					for _, resp := range []*harness.Response{resp, w.Do(t, op.Method, w.path(op), body, "Content-Type", "")} {
						if resp.Status >= http.StatusBadRequest && resp.Status != http.StatusUnprocessableEntity { // which is about the world's state
							t.Errorf("%s is answered %d %s, as if there had to be something", name, resp.Status, resp.Body)
						}
					}
					continue
				}
				if f, err := harness.ParseFault(resp.Body); err != nil || resp.Status != http.StatusBadRequest {
					t.Errorf("%s is answered %d %s, 400 is expected (%v, %+v)", name, resp.Status, resp.Body, err, f)
				}
			}
		})
	})
}

// fresh returns a client of the same account with a quota of its own.
func (w *world) fresh(t *testing.T, s *harness.Server) *harness.Client {
	t.Helper()
	return w.As(s.Key(t, w.Account))
}

func TestEveryRequiredField_IsReportedBeforeAnUnknownOne(t *testing.T) {
	t.Parallel()
	required := func(op *harness.Operation) bool { return withBody(op) && len(op.BodySchema().Required) > 0 }
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, required, func(t *testing.T, op *harness.Operation) {
			for _, field := range op.BodySchema().Required {
				body := w.body(op).(map[string]any)
				delete(body, field)
				resp := w.Do(t, op.Method, w.path(op), body)
				if f := resp.Fault(t, http.StatusBadRequest, "parameter_missing"); f.Param != field {
					t.Errorf("param is %q, the missing field is %q", f.Param, field)
				}
			}
			wrapped := map[string]any{"wrapper": w.body(op)}
			f := w.Do(t, op.Method, w.path(op), wrapped).Fault(t, http.StatusBadRequest, "parameter_missing")
			if !strings.Contains(f.Message, "top level") {
				t.Errorf("the message does not say where the fields go: %s", f.Message)
			}
		})
	})
}

func TestEveryField_TakesNullOnlyWhereItIsNullable(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		every(t, withBody, func(t *testing.T, op *harness.Operation) {
			w.Client = w.fresh(t, s)
			for field, property := range op.BodySchema().Properties {
				if property.Value.VisitJSON(nil) == nil {
					continue
				}
				body := w.body(op).(map[string]any)
				body[field] = nil
				resp := w.Do(t, op.Method, w.path(op), body)
				if f := resp.Fault(t, http.StatusBadRequest, "bad_request"); f.Param != field {
					t.Errorf("param is %q, %s is null", f.Param, field)
				}
			}
		})
	})
}

func TestEveryMetadata_HasItsLimits(t *testing.T) {
	t.Parallel()
	long, many := strings.Repeat("k", 41), map[string]any{}
	for n := range 51 {
		many[fmt.Sprint("key", n)] = "x"
	}
	wrong := map[string]map[string]any{
		"metadata." + long: {long: "x"}, "metadata.": {"": "x"}, "metadata.a[b]": {"a[b]": "x"},
		"metadata.a": {"a": strings.Repeat("x", 501)}, "metadata": many,
	}
	withMetadata := func(op *harness.Operation) bool { return withBody(op) && op.BodySchema().Properties["metadata"] != nil }
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, withMetadata, func(t *testing.T, op *harness.Operation) {
			for param, metadata := range wrong {
				body := w.body(op).(map[string]any)
				body["metadata"] = metadata
				resp := w.Do(t, op.Method, w.path(op), body)
				if f := resp.Fault(t, http.StatusUnprocessableEntity, "validation_failed"); f.Param != param {
					t.Errorf("param is %q, wrong is %s", f.Param, param)
				}
			}
		})
	})
}

// TestEveryPatch_ClearsMetadataByNull keeps one value, and then none.
func TestEveryPatch_ClearsMetadataByNull(t *testing.T) {
	t.Parallel()
	patches := func(op *harness.Operation) bool {
		return op.Method == http.MethodPatch && op.BodySchema().Properties["metadata"] != nil
	}
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, patches, func(t *testing.T, op *harness.Operation) {
			path := w.path(op)
			for _, step := range []struct {
				sent any
				want string
			}{{map[string]any{"a": "1", "b": "2"}, "map[a:1 b:2]"}, {map[string]any{"a": nil}, "map[b:2]"}, {nil, "map[]"}, {nil, "map[]"}} {
				body := map[string]any{"metadata": step.sent}
				if got := w.Must(t, op.Method, path, body)["metadata"]; fmt.Sprint(got) != step.want {
					t.Errorf("after %v the metadata are %v, want %s", body, got, step.want)
				}
			}
		})
	})
}

// TestEveryExpand_MayBeEmpty sends expand without a name, as the document writes an empty list.
func TestEveryExpand_MayBeEmpty(t *testing.T) {
	t.Parallel()
	expands := func(op *harness.Operation) bool {
		return op.Method == http.MethodGet && slices.ContainsFunc(op.QueryParameters(), func(p *openapi3.Parameter) bool { return p.Name == "expand" })
	}
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, expands, func(t *testing.T, op *harness.Operation) {
			w.Must(t, op.Method, w.at(op, "expand="), nil)
		})
	})
}

func TestEveryBody_HasASizeLimit(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, withBody, func(t *testing.T, op *harness.Operation) {
			big := bytes.Repeat([]byte(" "), op.MaxBody+1)
			for _, body := range []func() any{
				func() any { return big },
				func() any { return struct{ io.Reader }{bytes.NewReader(big)} }, // without a length, so that the limit shows only while the body is being read
			} {
				resp, err := w.Try(op.Method, w.path(op), body(), "Content-Type", "application/json")
				for tries := 1; errors.Is(err, syscall.ECONNRESET) && tries < 5; tries++ { // who is still sending half a second after the answer may lose it
					resp, err = w.Try(op.Method, w.path(op), body(), "Content-Type", "application/json")
				}
				if err != nil {
					t.Fatal(err)
				}
				resp.Fault(t, http.StatusRequestEntityTooLarge, "request_too_large")
			}
		})
	})
}

func TestEveryBody_MustBeJSON(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, withBody, func(t *testing.T, op *harness.Operation) {
			for _, contentType := range []string{"text/plain", "application/x-www-form-urlencoded", "application/xml"} {
				resp := w.Do(t, op.Method, w.path(op), "name=x", "Content-Type", contentType)
				resp.Fault(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
			}
			resp := w.Do(t, op.Method, w.path(op), "{}", "Content-Type", "application/json", "Content-Encoding", "gzip")
			resp.Fault(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
		})
	})
}

func TestEveryOperationWithoutABody_IgnoresOne(t *testing.T) {
	t.Parallel()
	withoutBody := func(op *harness.Operation) bool { return !withBody(op) }
	database.Each(t, func(t *testing.T, url string) {
		on := newStage(t, boot(t, url))
		every(t, withoutBody, func(t *testing.T, op *harness.Operation) {
			var plain *harness.Response
			w := on.perform(t, op, func(w *world) (done bool) {
				plain = w.Do(t, op.Method, w.at(op, ""), "a=1", "Content-Type", "text/plain")
				return plain.Status < 300
			})
			answered(t, op, plain)
			resp := w.Do(t, op.Method, w.at(op, ""), "{", "Content-Type", "application/json")
			if op.Method == http.MethodGet && resp.Status != plain.Status || refusesABody(resp) {
				t.Errorf("half an object is answered %d, a text %d: %s", resp.Status, plain.Status, resp.Body)
			}
		})
	})
}

// refusesABody reports whether an answer is about the bytes of a body, and not about what is there.
func refusesABody(answer *harness.Response) bool {
	return answer.Status == http.StatusBadRequest || answer.Status == http.StatusUnsupportedMediaType
}

func TestEveryFilter_RefusesWhatIsEmptyOrNoText(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		every(t, func(op *harness.Operation) bool { return len(op.QueryParameters()) > 0 }, func(t *testing.T, op *harness.Operation) {
			w.Client = w.fresh(t, s)
			queries := map[string]string{}
			for _, p := range op.QueryParameters() {
				switch {
				case p.Style == "deepObject":
					for _, key := range []string{"a%00", "%ff"} {
						queries[p.Name+"["+key+"]=1"] = ""
					}
					queries[p.Name+"[a]="+strings.Repeat("x", 501)] = p.Name + "[a]"
					queries[p.Name+"[a]=%00"] = p.Name + "[a]"
				case p.Schema.Value.Format == "date-time":
					for _, never := range []string{"2026-02-30T00:00:00Z", "2026-01-31T23:58:60Z", "2026-01-31T12:00:00%2B99:99"} {
						queries[p.Name+"="+never] = p.Name
					}
					fallthrough
				default:
					if !p.AllowEmptyValue {
						queries[p.Name+"="] = p.Name
					}
					queries[p.Name+"=%00"] = p.Name
				}
			}
			for query, param := range queries {
				f := w.Do(t, op.Method, w.at(op, query), w.body(op)).Fault(t, http.StatusBadRequest, "bad_request")
				if f.Param != param && param != "" || f.Param == "" {
					t.Errorf("?%s: param is %q", query, f.Param)
				}
			}
		})
	})
}

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
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		every(t, expands, func(t *testing.T, op *harness.Operation) {
			limited := w.with(s.Key(t, w.Account, op.Scope))
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
				both := w.with(s.Key(t, w.Account, op.Scope, scope))
				if resp := both.Do(t, op.Method, w.at(op, "expand="+name), w.body(op)); resp.Status >= 300 && op.Method == http.MethodGet {
					t.Errorf("expand=%s with %s is answered %d: %s", name, scope, resp.Status, resp.Body)
				}
			}
		})
		order := w.Must(t, http.MethodGet, "/v1/orders/"+w.ids["order"], nil)
		limited := w.with(s.Key(t, w.Account, "orders:read"))
		shown := limited.Must(t, http.MethodGet, "/v1/orders/"+w.ids["order"]+"?expand=line_items,payments", nil)
		if shown["line_items"].([]any)[0].(map[string]any)["id"] != order["line_items"].([]any)[0] {
			t.Errorf("the line items are %v", shown["line_items"])
		}
	})
}

func TestEveryWebhookEndpointBody_MayBeWrapped(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		for _, id := range []string{"createWebhookEndpoint", "updateWebhookEndpoint"} {
			op := harness.ByID(id)
			w.Must(t, op.Method, w.path(op), map[string]any{"webhook_endpoint": w.body(op)})
		}
		op := harness.ByID("createWebhookEndpoint")
		f := w.Do(t, op.Method, w.path(op), map[string]any{"webhook_endpoint": map[string]any{}}).Fault(t, http.StatusBadRequest, "parameter_missing")
		if f.Param != "url" {
			t.Errorf("param is %q", f.Param)
		}
	})
}

func TestEverySortedList_BeginsWithItsOldestWhenAsked(t *testing.T) {
	t.Parallel()
	sorted := func(op *harness.Operation) bool { return hasQuery(op, "sort") }
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		w := newWorld(t, s)
		for n := range 4 {
			name := fmt.Sprint("sorted ", n)
			w.Must(t, http.MethodPost, "/v1/products", map[string]any{"name": name, "price_variants": []any{map[string]any{"amount": 100}}})
			w.Must(t, http.MethodPost, "/v1/customers", map[string]any{"email": fmt.Sprintf("sorted%d@example.com", n)})
			w.Must(t, http.MethodPost, "/v1/leads", map[string]any{"email": fmt.Sprintf("sorted%d@example.com", n)})
			w.Must(t, http.MethodPost, "/v1/discounts", map[string]any{"name": name, "type": "percent", "percent_bps": 100})
			w.Must(t, http.MethodPost, "/v1/checkout_links", map[string]any{"price_variants": []any{w.ids["sold price"]}})
			w.Must(t, http.MethodPost, "/v1/refunds", map[string]any{"order": w.ids["order"], "amount": 1})
			w.Must(t, http.MethodPost, "/v1/blog_posts", map[string]any{"title": name})
			w.Must(t, http.MethodPost, "/v1/experiences", map[string]any{"name": name, "type": "link"})
			w.Must(t, http.MethodPost, "/v1/legal_pages", map[string]any{"kind": "custom", "title": name})
		}
		every(t, sorted, func(t *testing.T, op *harness.Operation) {
			w.Client = w.fresh(t, s)
			ids := func(query string) (found []string) {
				for _, item := range w.Must(t, op.Method, w.at(op, query), nil)["data"].([]any) {
					found = append(found, item.(map[string]any)["id"].(string))
				}
				return found
			}
			newest, oldest := ids("limit=100"), ids("limit=100&sort=created_at")
			if again := ids("limit=100&sort=-created_at"); !slices.Equal(again, newest) {
				t.Errorf("newest first is %v, and %v without saying so", again, newest)
			}
			if len(oldest) < 2 { // one is in order whatever is done with it
				t.Fatalf("there are only %v to be sorted", oldest)
			}
			if !slices.Equal(backwards(oldest), newest) {
				t.Errorf("oldest first is %v, newest first %v", oldest, newest)
			}
			for i, id := range oldest {
				if got, want := ids("limit=2&sort=created_at&starting_after="+id), oldest[i+1:min(i+3, len(oldest))]; !slices.Equal(got, want) {
					t.Errorf("behind %s is %v, %v is expected", id, got, want)
				}
				if got, want := ids("limit=2&sort=created_at&ending_before="+id), oldest[max(i-2, 0):i]; !slices.Equal(got, want) {
					t.Errorf("in front of %s is %v, %v is expected", id, got, want)
				}
			}
			for _, wrong := range []string{"name", "", "CREATED_AT", "created_at,name"} {
				if f := w.Do(t, op.Method, w.at(op, "sort="+wrong), nil).Fault(t, http.StatusBadRequest, "bad_request"); f.Param != "sort" {
					t.Errorf("sort=%s: param is %q", wrong, f.Param)
				}
			}
		})
	})
}

func backwards(ids []string) []string {
	turned := slices.Clone(ids)
	slices.Reverse(turned)
	return turned
}

func TestEveryList_ChecksItsPosition(t *testing.T) {
	t.Parallel()
	paged := func(op *harness.Operation) bool { return hasQuery(op, "limit") }
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, paged, func(t *testing.T, op *harness.Operation) {
			queries := map[string]string{
				"limit=0": "limit", "limit=-1": "limit", "limit=101": "limit", "limit=abc": "limit", "limit=": "limit", "limit=1000000000000000000000": "limit",
			}
			id := cmp.Or(w.ids[listed(op)], randomID("row")) // the rows of a series have none
			positions := map[string]string{
				"starting_after=nonsense":                       "starting_after",
				"starting_after=" + randomID("other"):           "starting_after",
				"ending_before=" + id[5:]:                       "ending_before",
				"starting_after=" + id + "&ending_before=" + id: "ending_before",
			}
			if hasQuery(op, "cursor") {
				if !hasQuery(op, "starting_after") { // its cursors are ids
					positions = map[string]string{"cursor=" + id: "cursor"}
				}
				maps.Copy(positions, map[string]string{"cursor=nonsense": "cursor", "cursor=": "cursor"})
			}
			if hasQuery(op, "page") {
				maps.Copy(positions, map[string]string{"page=0": "page", "page=-1": "page", "page=one": "page", "page=": "page"})
			}
			maps.Copy(queries, positions)
			for query, param := range queries {
				f := w.Do(t, op.Method, w.at(op, query), nil).Fault(t, http.StatusBadRequest, "bad_request")
				if f.Param != param {
					t.Errorf("?%s: param is %q", query, f.Param)
				}
			}
			page := w.Must(t, op.Method, w.at(op, "limit=1"), nil)
			next, walked := page["next_cursor"]
			if page["object"] != "list" || page["url"] != w.path(op) || len(page["data"].([]any)) != 1 || walked != hasQuery(op, "cursor") {
				t.Errorf("the envelope is %v", page)
			}
			if walked && (next != nil) != page["has_more"].(bool) {
				t.Errorf("has_more is %v, next_cursor is %v", page["has_more"], next)
			}
		})
	})
}

func hasQuery(op *harness.Operation, name string) bool {
	for _, p := range op.QueryParameters() {
		if p.Name == name {
			return true
		}
	}
	return false
}

func TestEveryExpand_KnowsItsNames(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		on := newStage(t, boot(t, url))
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
		every(t, func(op *harness.Operation) bool { return gets(op) && hasQuery(op, "expand") }, check) // while all that can be inlined is there
		every(t, func(op *harness.Operation) bool { return writes(op) && hasQuery(op, "expand") }, check)
	})
}

// expandable returns the names that the operation's expand parameter allows.
func expandable(op *harness.Operation) []string {
	var names []string
	for _, p := range op.QueryParameters() {
		if p.Name == "expand" {
			for _, v := range p.Schema.Value.Items.Value.Enum {
				names = append(names, fmt.Sprint(v))
			}
		}
	}
	return names
}
