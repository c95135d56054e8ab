package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// asJSON31 writes the document as JSON of OpenAPI 3.1.
func asJSON31(root *yaml.Node) ([]byte, error) {
	text, err := asJSON(root)
	if err != nil {
		return nil, err
	}
	return as31(text)
}

// as31 returns the document as OpenAPI 3.1, where null is a type. Of a reference that may be null many tools read only that form:
//   - `{type: string, nullable: true}` is `{type: [string, null]}`;
//   - null beside a reference, `{type: object, nullable: true, enum: [null]}`, is `{type: null}`.
func as31(text []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // a float would round large ones
	var doc map[string]any
	if err := decoder.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read the API document: %w", err)
	}
	doc["openapi"] = "3.1.0"
	typeNull(doc)
	made, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write the API document: %w", err)
	}
	return append(made, '\n'), nil
}

// typeNull makes null a type in every schema below node. Examples, which may hold any field, stay as they are. A property may be called
// as a keyword of a schema is.
func typeNull(node any) {
	switch node := node.(type) {
	case map[string]any:
		if nullable, said := node["nullable"].(bool); said {
			delete(node, "nullable")
			if nullable {
				addNull(node)
			}
		}
		for key, child := range node {
			properties, named := child.(map[string]any)
			switch {
			case key == "example":
			case key == "properties" && named:
				for _, property := range properties {
					typeNull(property)
				}
			default:
				typeNull(child)
			}
		}
	case []any:
		for _, child := range node {
			typeNull(child)
		}
	}
}

// addNull lets a schema be null.
func addNull(schema map[string]any) {
	values, _ := schema["enum"].([]any)
	switch {
	case len(values) == 1 && values[0] == nil:
		delete(schema, "enum")
		schema["type"] = "null"
		return
	case values != nil && !slices.Contains(values, nil):
		schema["enum"] = append(values, nil)
	}
	schema["type"] = []any{schema["type"], "null"}
}
