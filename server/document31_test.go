package server

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAs31_MakesNullAType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, want string }{
		{`{"type": "string", "nullable": true, "maxLength": 3}`, `{"type": ["string", "null"], "maxLength": 3}`},
		{`{"type": "string", "nullable": false}`, `{"type": "string"}`},
		{`{"type": "string", "nullable": true, "enum": ["a"]}`, `{"type": ["string", "null"], "enum": ["a", null]}`},
		{`{"type": "string", "nullable": true, "enum": ["a", null]}`, `{"type": ["string", "null"], "enum": ["a", null]}`},
		{
			`{"description": "What it is.", "oneOf": [{"$ref": "#/a"}, {"type": "object", "nullable": true, "enum": [null]}]}`,
			`{"description": "What it is.", "oneOf": [{"$ref": "#/a"}, {"type": "null"}]}`,
		},
		{`{"type": "array", "items": {"type": "integer", "nullable": true}}`, `{"type": "array", "items": {"type": ["integer", "null"]}}`},
		{`{"type": "object", "properties": {"nullable": {"type": "boolean"}}}`, `{"type": "object", "properties": {"nullable": {"type": "boolean"}}}`},
		{
			`{"type": "object", "properties": {"example": {"type": "string", "nullable": true}}}`,
			`{"type": "object", "properties": {"example": {"type": ["string", "null"]}}}`,
		},
		{`{"type": "object", "example": {"nullable": true, "type": "a"}}`, `{"type": "object", "example": {"nullable": true, "type": "a"}}`},
		{`{"type": "integer", "maximum": 9223372036854775807}`, `{"type": "integer", "maximum": 9223372036854775807}`},
	} {
		made, err := as31([]byte(`{"openapi": "3.0.3", "schema": ` + c.schema + `}`))
		require.NoError(t, err)
		assert.Equal(t, plainly(t, `{"openapi": "3.1.0", "schema": `+c.want+`}`), plainly(t, string(made)))
	}
	_, err := as31([]byte("no JSON"))
	assert.ErrorContains(t, err, "read the API document")
}

// plainly writes JSON on one line, its numbers as they are.
func plainly(t *testing.T, text string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	require.NoError(t, decoder.Decode(&value))
	plain, err := json.Marshal(value)
	require.NoError(t, err)
	return string(plain)
}

// TestAs31_SaysWhatTheOtherDocumentSays holds every schema against null and a number, and every answer against its example.
func TestAs31_SaysWhatTheOtherDocumentSays(t *testing.T) {
	t.Parallel()
	d := Deps{Development: true}
	asIs, err := d.describedAs(asJSON)()
	require.NoError(t, err)
	text, err := d.describedAs(asJSON31)()
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(text, &doc))
	before := plainly(t, string(asIs))
	assert.Equal(t, strings.Count(before, `"$ref":`), strings.Count(plainly(t, string(text)), `"$ref":`))
	assert.NotContains(t, string(text), `"nullable"`)

	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler() // of 2020-12, which is that of 3.1
	require.NoError(t, compiler.AddResource("openapi.json", read))
	schema := func(path ...string) *jsonschema.Schema {
		for i, part := range path {
			path[i] = strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(part)
		}
		compiled, err := compiler.Compile("openapi.json#/" + strings.Join(path, "/"))
		require.NoError(t, err, path)
		return compiled
	}
	references, examples := 0, 0
	for name, made := range in(doc, "components", "schemas") {
		for property, p := range in(made, "properties") {
			either, _ := p.(map[string]any)["oneOf"].([]any)
			if len(either) != 2 || either[1].(map[string]any)["type"] != "null" {
				continue
			}
			references++
			compiled := schema("components", "schemas", name, "properties", property)
			assert.NoError(t, compiled.Validate(nil), "%s.%s is null", name, property)
			assert.Error(t, compiled.Validate(json.Number("7")), "%s.%s is 7", name, property)
		}
	}
	for path, item := range in(doc, "paths") {
		for _, method := range verbs {
			for status, answer := range in(item, method, "responses") {
				for media, body := range in(answer, "content") {
					example, found := body.(map[string]any)["example"]
					if !found || media != "application/json" {
						continue
					}
					examples++
					assert.NoError(t, schema("paths", path, method, "responses", status, "content", media, "schema").Validate(example), "%s %s %s", method, path, status)
				}
			}
		}
	}
	assert.Greater(t, references, 100)
	assert.Greater(t, examples, 200)
}

// in returns the object at a path, nil if there is none.
func in(node any, path ...string) map[string]any {
	for _, key := range path {
		object, _ := node.(map[string]any)
		node = object[key]
	}
	object, _ := node.(map[string]any)
	return object
}
