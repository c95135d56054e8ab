package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/tillwright/tillwright/tests/harness"
	"github.com/tillwright/tillwright/tests/harness/database"
)

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
