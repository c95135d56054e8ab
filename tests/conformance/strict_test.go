package conformance

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// TestStrict_NullableNeedsATypeBesideIt holds the validator to OpenAPI 3.0.3: a nullable beside an allOf adds nothing.
func TestStrict_NullableNeedsATypeBesideIt(t *testing.T) {
	t.Parallel()
	reference := map[string]any{"$ref": "#/definitions/address"}
	document := newStrictDocument(map[string]any{"definitions": map[string]any{
		"address": map[string]any{"type": "object", "required": []any{"city"}},
		"old":     map[string]any{"type": "object", "nullable": true, "allOf": []any{reference}},
		"new": map[string]any{"oneOf": []any{reference,
			map[string]any{"type": "object", "nullable": true, "enum": []any{nil}}}},
		"plain": map[string]any{"type": "string", "nullable": true},
		"enum":  map[string]any{"type": "string", "nullable": true, "enum": []any{"a"}},
		"any":   map[string]any{"properties": map[string]any{"value": map[string]any{"description": "whatever it is"}}},
		"count": map[string]any{"type": "integer", "format": "int64", "nullable": true},
	}})
	for name, want := range map[string]map[string]bool{
		"old":   {`null`: false, `{"city": "Berlin"}`: true, `{}`: false},
		"new":   {`null`: true, `{"city": "Berlin"}`: true, `{}`: false, `"Berlin"`: false},
		"plain": {`null`: true, `"Berlin"`: true, `7`: false},
		"enum":  {`null`: false, `"a"`: true},
		"any":   {`{"value": null}`: false, `{"value": 7}`: true, `{"value": [null]}`: true},
		"count": {`9223372036854775807`: true, `-9223372036854775808`: true, `9223372036854775808`: false, `1e30`: false, `1.5`: false, `7 8`: false, `null`: true},
	} {
		for body, valid := range want {
			err := document.validate([]byte(body), "definitions", name)
			require.Equal(t, valid, err == nil, "%s: %s: %v", name, body, err)
		}
	}
}

// TestStrict_CompilesEverySchemaOfTheDocument finds what the contract tests would meet one by one.
func TestStrict_CompilesEverySchemaOfTheDocument(t *testing.T) {
	t.Parallel()
	for _, op := range Promised().Operations {
		for _, status := range op.Statuses {
			var invalid *jsonschema.ValidationError
			err := op.checkStrictly(nil, status, []byte(`7`))
			require.ErrorAs(t, err, &invalid, "%s answers %d with a number", op.ID, status)
		}
	}
}

// TestDocument_ShowsAValidExampleOfEveryAnswer holds the examples to both validators.
func TestDocument_ShowsAValidExampleOfEveryAnswer(t *testing.T) {
	t.Parallel()
	for _, op := range Promised().Operations {
		for _, status := range op.Statuses {
			if status >= http.StatusMultipleChoices {
				continue
			}
			media := op.route.Operation.Responses.Status(status).Value.Content.Get("application/json")
			require.NotNil(t, media.Example, "%s has no example of its %d", op.ID, status)
			require.NoError(t, media.Schema.Value.VisitJSON(media.Example, openapi3.EnableFormatValidation()), "%s %d", op.ID, status)
			body, err := json.Marshal(media.Example)
			require.NoError(t, err)
			require.NoError(t, op.checkStrictly(nil, status, body), "%s %d", op.ID, status)
		}
	}
}
