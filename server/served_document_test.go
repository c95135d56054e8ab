package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/gen/spec"
)

// served returns the document that a server of the bundled API serves, in both of its forms.
func served(t *testing.T, d Deps) (asJSON, asYAML *openapi3.T) {
	t.Helper()
	d.Store, d.Handlers, d.Log = openStore(t), struct{ api.StrictServerInterface }{}, NewLogger(io.Discard, LogText)
	server, err := New(d)
	require.NoError(t, err)
	read := func(path string) *openapi3.T {
		w := httptest.NewRecorder()
		server.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		require.Equal(t, 200, w.Code)
		require.Equal(t, strings.HasSuffix(path, "json"), json.Valid(w.Body.Bytes()), path)
		doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
		require.NoError(t, err, path)
		require.NoError(t, doc.Validate(t.Context(), openapi3.DisableExamplesValidation()), path)
		return doc
	}
	return read("/openapi.json"), read("/openapi.yaml")
}

func TestDocument_NamesItsServerAndRelease(t *testing.T) {
	t.Parallel()
	asJSON, asYAML := served(t, Deps{PublicURL: "https://shop.example", Release: "v1.2.3", Development: true})
	for _, doc := range []*openapi3.T{asJSON, asYAML} {
		require.Len(t, doc.Servers, 1)
		assert.Equal(t, "https://shop.example/v1", doc.Servers[0].URL)
		assert.Empty(t, doc.Servers[0].Variables)
		assert.Equal(t, "v1", doc.Info.Version, "the version is that of the contract")
		assert.Equal(t, "v1.2.3", doc.Info.Extensions["x-release"])
		public := doc.Paths.Find("/public/checkouts/{client_secret}")
		require.Len(t, public.Servers, 1)
		assert.Equal(t, "https://shop.example", public.Servers[0].URL)
	}
}

func TestDocument_OfProductionLeavesOutWhatItRefuses(t *testing.T) {
	t.Parallel()
	for _, develops := range []bool{true, false} {
		asJSON, asYAML := served(t, Deps{Development: develops})
		for _, doc := range []*openapi3.T{asJSON, asYAML} {
			operations, helpers := 0, 0
			for _, item := range doc.Paths.Map() {
				for _, op := range item.Operations() {
					operations++
					if op.Extensions["x-development"] == true {
						helpers++
					}
				}
			}
			table, err := bundled()
			require.NoError(t, err)
			have := 0
			for _, op := range table.All() {
				if develops || !op.Development {
					have++
				}
			}
			assert.Equal(t, have, operations)
			assert.Equal(t, develops, helpers > 0)
			assert.Equal(t, develops, doc.Tags.Get("TestHelpers") != nil)
			assert.NotNil(t, doc.Tags.Get("Products"))
			assert.Equal(t, develops, doc.Components.Schemas["TestClock"] != nil, "what only helpers refer to")
			assert.NotNil(t, doc.Components.Schemas["Product"])
		}
	}
}

func TestDocument_IsOtherwiseTheBundledOne(t *testing.T) {
	t.Parallel()
	text := func(document []byte) string {
		doc, err := openapi3.NewLoader().LoadFromData(document)
		require.NoError(t, err)
		text, err := json.Marshal(doc)
		require.NoError(t, err)
		return string(text)
	}
	bundle, d := text(spec.JSON), Deps{Development: true}
	for name, form := range map[string]func(*yaml.Node) ([]byte, error){"JSON": asJSON, "YAML": asYAML} {
		written, err := d.describedAs(form)()
		require.NoError(t, err)
		assert.True(t, bundle == text(written), "as "+name)
	}
}

func TestDocument_IsSentOnceToWhoKeepsIt(t *testing.T) {
	t.Parallel()
	server, err := New(Deps{Store: openStore(t), Handlers: struct{ api.StrictServerInterface }{}, Log: NewLogger(io.Discard, LogText), PublicURL: "https://shop.example"})
	require.NoError(t, err)
	for _, path := range []string{"/openapi.json", "/openapi.yaml", "/openapi-3.1.json"} {
		ask := func(method, kept string) *httptest.ResponseRecorder {
			r, w := httptest.NewRequest(method, path, nil), httptest.NewRecorder()
			r.Header.Set("If-None-Match", kept)
			server.ServeHTTP(w, r)
			return w
		}
		first := ask("GET", `"of another release"`)
		require.Equal(t, 200, first.Code)
		tag := first.Header().Get("ETag")
		require.NotEmpty(t, tag)
		assert.Equal(t, fmt.Sprint(first.Body.Len()), first.Header().Get("Content-Length"))
		for _, kept := range []string{tag, strings.TrimPrefix(tag, "W/"), `"of another release", ` + tag, "*"} {
			for _, method := range []string{"GET", "HEAD"} {
				again := ask(method, kept)
				assert.Equal(t, 304, again.Code, "%s %s", method, kept)
				assert.Empty(t, again.Body.String())
				assert.Equal(t, tag, again.Header().Get("ETag"))
			}
		}
		assert.Equal(t, 200, ask("HEAD", "").Code)
		assert.NotEmpty(t, first.Header().Get("RateLimit"), "it is counted")

		r, w := httptest.NewRequest("GET", path, nil), httptest.NewRecorder()
		r.Header.Set("Accept-Encoding", "gzip")
		server.ServeHTTP(w, r)
		assert.Equal(t, "gzip", w.Header().Get("Content-Encoding"))
		assert.Less(t, w.Body.Len(), first.Body.Len()/4)
	}
}

// TestDocument_IsReadAlikeByOldReadersOfYAML writes what YAML 1.1 takes for a boolean or a number.
func TestDocument_IsReadAlikeByOldReadersOfYAML(t *testing.T) {
	t.Parallel()
	var root yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(`{"a": ["ON", "off", "y", "No", "1:30", "=", "0777", "2026-11-22", "1_000", "plain", true], "on": {"n": "yes"}}`), &root))
	made, err := asYAML(&root)
	require.NoError(t, err)
	for _, quoted := range []string{"ON", "off", "y", "No", "1:30", "=", "0777", "2026-11-22", "1_000", "on", "n", "yes"} {
		assert.Contains(t, string(made), `"`+quoted+`"`)
	}
	assert.Contains(t, string(made), "- plain\n")
	assert.Contains(t, string(made), "- true\n")

	made, err = Deps{}.describedAs(asYAML)()
	require.NoError(t, err)
	for line := range strings.Lines(string(made)) {
		_, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		assert.False(t, found && notText.MatchString(value), line)
	}
}
