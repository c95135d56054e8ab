package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// readStrictly returns what checks bodies against the letter of the document. It is a validator of JSON Schema that is told what OpenAPI 3.0 says a
// schema means. The validator that the server uses cannot show where it is too lenient.
func readStrictly(text []byte) *strictDocument {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	return newStrictDocument(document)
}

type strictDocument struct {
	compiler *jsonschema.Compiler
	mu       sync.Mutex
	schemas  map[string]*jsonschema.Schema
}

func newStrictDocument(document any) *strictDocument {
	typeNull(document)
	refuseNull(document)
	d := &strictDocument{compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	d.compiler.DefaultDraft(jsonschema.Draft4) // 3.0 is made of what became draft 5, which has the words of draft 4
	d.compiler.AssertFormat()
	d.compiler.RegisterFormat(&jsonschema.Format{Name: "int64", Validate: fitsInt64})
	if err := d.compiler.AddResource("openapi.json", document); err != nil {
		panic(err)
	}
	return d
}

// typeNull writes nullable as JSON Schema does. OpenAPI 3.0 lets it add null to the type beside it, and to nothing else.
func typeNull(node any) {
	switch node := node.(type) {
	case map[string]any:
		if kind, ok := node["type"].(string); ok && node["nullable"] == true {
			node["type"] = []any{kind, "null"}
		}
		for _, child := range node {
			typeNull(child)
		}
	case []any:
		for _, child := range node {
			typeNull(child)
		}
	}
}

// anything are the types of a property that has none and is not nullable: it may be whatever it likes but null.
var anything = []any{"boolean", "number", "string", "array", "object"}

// refuseNull gives a type to properties without one. Nothing else in them may say what they are.
func refuseNull(node any) {
	switch node := node.(type) {
	case map[string]any:
		properties, _ := node["properties"].(map[string]any)
		for _, property := range properties {
			if schema, ok := property.(map[string]any); ok && !slices.ContainsFunc(defining, func(word string) bool { return schema[word] != nil }) {
				schema["type"] = anything
			}
		}
		for _, child := range node {
			refuseNull(child)
		}
	case []any:
		for _, child := range node {
			refuseNull(child)
		}
	}
}

// defining are the words of a schema that say what may be null.
var defining = []string{"type", "$ref", "allOf", "anyOf", "oneOf", "not", "enum", "nullable"}

// escapes are what a key is written as in the address of a schema.
var escapes = strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")

// schema compiles a schema of the document when it is first used. The segments of path are the keys that lead to it.
func (d *strictDocument) schema(path ...string) (*jsonschema.Schema, error) {
	name := strings.Join(path, " ")
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.schemas[name]; found != nil {
		return found, nil
	}
	at := "openapi.json#"
	for _, segment := range path {
		at += "/" + escapes.Replace(segment)
	}
	compiled, err := d.compiler.Compile(at)
	d.schemas[name] = compiled
	return compiled, err
}

// checkStrictly validates an answer, and the body of the request if it was accepted.
func (o *Operation) checkStrictly(sent []byte, status int, received []byte) error {
	path, method := o.route.Path, strings.ToLower(o.Method)
	if o.body() != nil && status < 300 && len(sent) > 0 && !o.wrapped(sent) {
		if err := o.document.strict().validate(sent, "paths", path, method, "requestBody", "content", "application/json", "schema"); err != nil {
			return fmt.Errorf("%w: its body: %w", errAccepted, err)
		}
	}
	name := strconv.Itoa(status)
	if response := o.route.Operation.Responses.Value(name); response.Ref != "" {
		name, _ = strings.CutPrefix(response.Ref, "#/components/responses/")
		return o.document.strict().validate(received, "components", "responses", name, "content", "application/json", "schema")
	}
	return o.document.strict().validate(received, "paths", path, method, "responses", name, "content", "application/json", "schema")
}

func (d *strictDocument) validate(body []byte, path ...string) error {
	schema, err := d.schema(path...)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// fitsInt64 refuses a number that has no place in 64 bits. The library knows formats of texts alone.
func fitsInt64(value any) error {
	number, ok := value.(json.Number)
	if !ok {
		return nil
	}
	if exact, ok := new(big.Rat).SetString(number.String()); !ok || !exact.IsInt() || !exact.Num().IsInt64() {
		return fmt.Errorf("%s is no integer of 64 bits", number)
	}
	return nil
}
