package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"syscall"
)

// keepsFields tells the operations whose body may have any field.
func keepsFields(op *Operation) bool { return op.ID == "createAd" || op.ID == "previewNewAd" }

// object returns the example body of an operation and its path; false if there is nothing to ask for.
func (s *Subject) object(t T, op *Operation) (path string, body map[string]any, ok bool) {
	t.Helper()
	path, sent, ok := s.request(t, op, "")
	if !ok {
		return "", nil, false
	}
	return path, sent.(map[string]any), true
}

// RefusesAnUnknownField sends fields that a body does not have.
func RefusesAnUnknownField(t T, s *Subject) {
	closed := func(op *Operation) bool { return WithBody(op) && !keepsFields(op) }
	s.Every(t, closed, func(t T, op *Operation, turn int) {
		client := s.Fresh(t)
		var unknown []string
		for _, field := range []string{"surprise", "account_id", "object", "id", "created_at", "secret"} {
			if op.BodySchema().Properties[field] == nil {
				unknown = append(unknown, field)
			}
		}
		for _, field := range turns(s, turn, 1, unknown) {
			path, body, ok := s.object(t, op)
			if !ok {
				return
			}
			body[field] = "x"
			resp := client.Do(t, op.Method, path, body)
			if f := resp.Fault(t, http.StatusBadRequest, "bad_request"); f.Param != field {
				t.Errorf("param is %q, the unknown field is %q", f.Param, field)
			}
		}
	})
}

// notStrict are bodies that are no object of JSON, or not one alone.
var notStrict = [][2]string{
	{"nothing", ""},
	{"white space", " \r\n\t"},
	{"null", "null"},
	{"an array", "[]"},
	{"a text", `"name"`},
	{"half an object", `{"name":`},
	{"trailing data", `{}{}`},
	{"a comment", `{/**/}`},
	{"a duplicate key", `{"name":"a","name":"b"}`},
	{"invalid UTF-8", "{\"name\":\"\xff\"}"},
	{"NUL", `{"name":"a\u0000b"}`},
	{"a byte order", "\ufeff{}"},
	{"not a number", `{"name":NaN}`},
	{"depth", strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)},
}

// TakesStrictJSON sends bodies that are none.
func TakesStrictJSON(t T, s *Subject) {
	s.Every(t, WithBody, func(t T, op *Operation, turn int) {
		client := s.Fresh(t)
		path, _, ok := s.request(t, op, "")
		if !ok {
			return
		}
		for _, it := range turns(s, turn, 1, notStrict) {
			name, body := it[0], it[1]
			if strings.TrimSpace(body) == "" && !op.NeedsBody() {
				if !s.Thorough { // it would be done
					continue
				}
				for _, contentType := range []string{"application/json", ""} {
					resp := client.Do(t, op.Method, path, body, "Content-Type", contentType)
					if resp.Status >= http.StatusBadRequest && resp.Status != http.StatusUnprocessableEntity { // which is about the world's state
						t.Errorf("%s is answered %d %s, as if there had to be something", name, resp.Status, resp.Body)
					}
				}
				continue
			}
			resp := client.Do(t, op.Method, path, body, "Content-Type", "application/json")
			if f, err := ParseFault(resp.Body); err != nil || resp.Status != http.StatusBadRequest || f.Code != "bad_request" && name != "nothing" && name != "white space" {
				t.Errorf("%s is answered %d %s, 400 bad_request is expected", name, resp.Status, resp.Body)
			}
		}
	})
}

// ReportsWhatIsMissingFirst leaves required fields out, and sends them in a wrapper.
func ReportsWhatIsMissingFirst(t T, s *Subject) {
	required := func(op *Operation) bool { return WithBody(op) && len(op.BodySchema().Required) > 0 }
	s.Every(t, required, func(t T, op *Operation, turn int) {
		client := s.Fresh(t)
		for _, field := range turns(s, turn, 1, op.BodySchema().Required) {
			path, body, ok := s.object(t, op)
			if !ok {
				return
			}
			delete(body, field)
			resp := client.Do(t, op.Method, path, body)
			if f := resp.Fault(t, http.StatusBadRequest, "parameter_missing"); f.Param != field {
				t.Errorf("param is %q, the missing field is %q", f.Param, field)
			}
		}
		path, body, ok := s.object(t, op)
		if !ok {
			return
		}
		f := client.Do(t, op.Method, path, map[string]any{"wrapper": body}).Fault(t, http.StatusBadRequest, "parameter_missing")
		if s.Thorough && !strings.Contains(f.Message, "top level") { // messages may change
			t.Errorf("the message does not say where the fields go: %s", f.Message)
		}
	})
}

// TakesNullOnlyWhereItIsNullable sends null in fields that may not have it.
func TakesNullOnlyWhereItIsNullable(t T, s *Subject) {
	s.Every(t, WithBody, func(t T, op *Operation, turn int) {
		client := s.Fresh(t)
		var never []string
		for field, property := range op.BodySchema().Properties {
			if property.Value.VisitJSON(nil) != nil {
				never = append(never, field)
			}
		}
		slices.Sort(never)
		for _, field := range turns(s, turn, 1, never) {
			path, body, ok := s.object(t, op)
			if !ok {
				return
			}
			body[field] = nil
			resp := client.Do(t, op.Method, path, body)
			if f := resp.Fault(t, http.StatusBadRequest, "bad_request"); f.Param != field {
				t.Errorf("param is %q, %s is null", f.Param, field)
			}
		}
	})
}

// LimitsMetadata sends metadata that are too long, too many, or have names that are none.
func LimitsMetadata(t T, s *Subject) {
	long, many := strings.Repeat("k", 41), map[string]any{}
	for n := range 51 {
		many[fmt.Sprint("key", n)] = "x"
	}
	wrong := map[string]map[string]any{
		"metadata." + long: {long: "x"}, "metadata.": {"": "x"}, "metadata.a[b]": {"a[b]": "x"},
		"metadata.a": {"a": strings.Repeat("x", 501)}, "metadata": many,
	}
	withMetadata := func(op *Operation) bool { return WithBody(op) && op.BodySchema().Properties["metadata"] != nil }
	s.Every(t, withMetadata, func(t T, op *Operation, turn int) {
		client := s.Fresh(t)
		for _, param := range turns(s, turn, 1, slices.Sorted(maps.Keys(wrong))) {
			path, body, ok := s.object(t, op)
			if !ok {
				return
			}
			body["metadata"] = wrong[param]
			resp := client.Do(t, op.Method, path, body)
			if f := resp.Fault(t, http.StatusUnprocessableEntity, "validation_failed"); f.Param != param {
				t.Errorf("param is %q, wrong is %s", f.Param, param)
			}
		}
	})
}

// LimitsTheSize sends bodies that are too large. Without thoroughness one will do, since each is a megabyte.
func LimitsTheSize(t T, s *Subject) {
	s.Every(t, WithBody, func(t T, op *Operation, turn int) {
		if !s.Thorough && turn > 0 {
			return
		}
		client := s.Fresh(t)
		path, _, ok := s.request(t, op, "")
		if !ok {
			return
		}
		big := bytes.Repeat([]byte(" "), op.MaxBody+1)
		for _, body := range []func() any{
			func() any { return big },
			func() any { return struct{ io.Reader }{bytes.NewReader(big)} }, // without a length, so that the limit shows only while the body is being read
		} {
			resp, err := client.Try(op.Method, path, body(), "Content-Type", "application/json")
			for tries := 1; errors.Is(err, syscall.ECONNRESET) && tries < 5; tries++ { // who is still sending half a second after the answer may lose it
				resp, err = client.Try(op.Method, path, body(), "Content-Type", "application/json")
			}
			if err != nil {
				t.Fatal(err)
			}
			resp.Fault(t, http.StatusRequestEntityTooLarge, "request_too_large")
		}
	})
}

// TakesJSONAlone sends other types of content.
func TakesJSONAlone(t T, s *Subject) {
	wrong := [][3]string{
		{"name=x", "text/plain", ""}, {"name=x", "application/x-www-form-urlencoded", ""}, {"name=x", "application/xml", ""},
		{"{}", "application/json", "gzip"},
	}
	s.Every(t, WithBody, func(t T, op *Operation, turn int) {
		client := s.Fresh(t)
		path, _, ok := s.request(t, op, "")
		if !ok {
			return
		}
		for _, it := range turns(s, turn, 1, wrong) {
			resp := client.Do(t, op.Method, path, it[0], "Content-Type", it[1], "Content-Encoding", it[2])
			resp.Fault(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
		}
	})
}
