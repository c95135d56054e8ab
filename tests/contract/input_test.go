package contract

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

func TestEveryOperation_RefusesAnUnknownQueryParameter(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, all, func(t *testing.T, op *harness.Operation) {
			resp := w.Do(t, op.Method, w.path(op)+"?surprise=1", w.body(op))
			if f := resp.Fault(t, http.StatusBadRequest, "bad_request"); f.Param != "surprise" {
				t.Errorf("param is %q", f.Param)
			}
		})
	})
}

func TestEveryBody_RefusesAnUnknownField(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, withBody, func(t *testing.T, op *harness.Operation) {
			for _, field := range []string{"surprise", "account_id", "object", "id"} {
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

func TestEveryBody_IsStrictJSON(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{
		"nothing":         "",
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

func TestEveryBody_HasASizeLimit(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, writes, func(t *testing.T, op *harness.Operation) {
			big := bytes.Repeat([]byte(" "), op.MaxBody+1)
			resp := w.Do(t, op.Method, w.path(op), big)
			resp.Fault(t, http.StatusRequestEntityTooLarge, "request_too_large")
			// Without a length, so that the limit shows only while the body is being read.
			chunked := struct{ io.Reader }{bytes.NewReader(big)}
			resp = w.Do(t, op.Method, w.path(op), chunked, "Content-Type", "application/json")
			resp.Fault(t, http.StatusRequestEntityTooLarge, "request_too_large")
		})
	})
}

func TestEveryBody_MustBeJSON(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, writes, func(t *testing.T, op *harness.Operation) {
			for _, contentType := range []string{"text/plain", "application/x-www-form-urlencoded", "application/xml"} {
				resp := w.Do(t, op.Method, w.path(op), "name=x", "Content-Type", contentType)
				resp.Fault(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
			}
			resp := w.Do(t, op.Method, w.path(op), "{}", "Content-Type", "application/json", "Content-Encoding", "gzip")
			resp.Fault(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
		})
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

func TestEveryList_ChecksItsPosition(t *testing.T) {
	t.Parallel()
	paged := func(op *harness.Operation) bool { return hasQuery(op, "limit") }
	database.Each(t, func(t *testing.T, url string) {
		w := newWorld(t, boot(t, url))
		every(t, paged, func(t *testing.T, op *harness.Operation) {
			path := w.path(op)
			for query, param := range map[string]string{
				"limit=0": "limit", "limit=-1": "limit", "limit=101": "limit", "limit=abc": "limit", "limit=": "limit", "limit=1000000000000000000000": "limit",
				"starting_after=nonsense":                                                     "starting_after",
				"starting_after=" + randomID("other"):                                         "starting_after",
				"ending_before=" + w.ids[listed(op)][5:]:                                      "ending_before",
				"starting_after=" + w.ids[listed(op)] + "&ending_before=" + w.ids[listed(op)]: "ending_before",
			} {
				f := w.Do(t, op.Method, path+"?"+query, nil).Fault(t, http.StatusBadRequest, "bad_request")
				if f.Param != param {
					t.Errorf("?%s: param is %q", query, f.Param)
				}
			}
			page := w.Must(t, op.Method, path+"?limit=1", nil)
			if page["object"] != "list" || page["url"] != path || len(page["data"].([]any)) != 1 {
				t.Errorf("the envelope is %v", page)
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
	expands := func(op *harness.Operation) bool { return hasQuery(op, "expand") }
	database.Each(t, func(t *testing.T, url string) {
		s := boot(t, url)
		every(t, expands, func(t *testing.T, op *harness.Operation) {
			w := newWorld(t, s)
			f := w.Do(t, op.Method, w.path(op)+"?expand=surprise", w.body(op)).Fault(t, http.StatusBadRequest, "bad_request")
			if f.Param != "expand" {
				t.Errorf("param is %q", f.Param)
			}
			names := expandable(op)
			if len(names) == 0 {
				t.Fatal("the specification lists no names")
			}
			// All of them at once; the transport checks the inlined objects against their schemas.
			resp := w.Do(t, op.Method, w.path(op)+"?expand="+strings.Join(names, ","), w.body(op))
			if resp.Status >= 300 {
				t.Errorf("expand=%s is answered %d: %s", names, resp.Status, resp.Body)
			}
		})
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
