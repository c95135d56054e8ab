package main

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Times of examples: something happens, and something ends a month later.
const (
	exampleMoment = "2026-11-22T09:30:00.000Z"
	exampleLater  = "2026-12-22T09:30:00.000Z"
)

// addExamples gives every successful response an example, made of the examples of its properties, so that a new field is in it
// at once. An `x-example` on a schema says what its example shows instead of the properties' own examples. On an operation it
// says what the example of its own answer shows. Everything else stays.
func addExamples(doc *yaml.Node) {
	for _, op := range operations(doc) {
		each(get(op.node, "responses"), func(status string, response *yaml.Node) {
			media := get(response, "content", "application/json")
			if status[0] != '2' || media == nil || get(media, "example") != nil {
				return
			}
			example := exampler{doc}.of("", get(media, "schema"))
			if url := get(example, "url"); url != nil && scalarAt(example, "object") == "list" {
				*url = *quoted(examplePath(doc, op))
			}
			if answer(op) != "" { // not the plan that may come instead
				show(example, get(op.node, "x-example"))
			}
			set(media, "example", example)
		})
	}
	walk(doc, func(n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			drop(n, "x-example")
		}
	})
}

// examplePath returns the path of an operation with the examples of its parameters in it.
func examplePath(doc *yaml.Node, op operation) string {
	path := "/v1" + op.path
	for _, p := range append(nodes(get(op.item, "parameters")), nodes(get(op.node, "parameters"))...) {
		if p = resolve(doc, p); scalarAt(p, "in") == "path" {
			path = strings.ReplaceAll(path, "{"+scalarAt(p, "name")+"}", scalarAt(p, "example"))
		}
	}
	return path
}

// show puts the fields of an x-example into an example.
func show(example, shown *yaml.Node) {
	each(shown, func(field string, value *yaml.Node) {
		if inner := get(example, field); inner != nil && inner.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode && len(value.Content) > 0 {
			show(inner, value)
			return
		}
		set(example, field, flatten(value))
	})
}

type exampler struct{ doc *yaml.Node }

// of returns an example of a schema, for a property of this name. A property that may be null and has no example is null.
func (e exampler) of(name string, schema *yaml.Node) *yaml.Node {
	if example := get(schema, "example"); example != nil {
		return flatten(example)
	}
	if scalarAt(schema, "nullable") == "true" {
		return parse("null")
	}
	if ref := get(schema, "$ref"); ref != nil {
		return e.of(name, resolve(e.doc, schema))
	}
	if all := nodes(get(schema, "allOf")); len(all) > 0 {
		return e.of(name, all[0])
	}
	if either := nodes(get(schema, "oneOf")); len(either) > 0 {
		return e.either(name, either)
	}
	if values := nodes(get(schema, "enum")); len(values) > 0 {
		return flatten(values[0])
	}
	if value := get(schema, "default"); value != nil {
		return flatten(value)
	}
	switch scalarAt(schema, "type") {
	case "object":
		return e.object(schema)
	case "array":
		return e.array(name, get(schema, "items"))
	case "boolean":
		return parse("false")
	case "integer", "number":
		if least := get(schema, "minimum"); least != nil {
			return flatten(least)
		}
		return parse("0")
	}
	return quoted(exampleText(name, scalarAt(schema, "format")))
}

// either returns an example of a schema with several forms: that of the first form. For a reference it is the id of an object,
// or null.
func (e exampler) either(name string, forms []*yaml.Node) *yaml.Node {
	if len(forms) > 1 && scalarAt(forms[0], "type") == "string" && scalarAt(forms[0], "nullable") != "true" {
		if id := get(resolve(e.doc, forms[1]), "properties", "id", "example"); id != nil {
			return flatten(id)
		}
	}
	return e.of(name, forms[0])
}

// array returns a list with one item, or an empty list if its items are texts without an example.
func (e exampler) array(name string, of *yaml.Node) *yaml.Node {
	list := parse("[]")
	if scalarAt(of, "type") != "string" || get(of, "enum") != nil || get(of, "example") != nil {
		list.Content, list.Style = []*yaml.Node{e.of(name, of)}, 0
	}
	return list
}

// object returns an object with its required properties, or with all of them if none is required.
func (e exampler) object(schema *yaml.Node) *yaml.Node {
	example := parse("{}")
	example.Style = 0
	required := map[string]bool{}
	for _, name := range items(get(schema, "required")) {
		required[name] = true
	}
	each(get(schema, "properties"), func(name string, property *yaml.Node) {
		if required[name] || len(required) == 0 {
			set(example, name, e.of(name, property))
		}
	})
	show(example, get(schema, "x-example"))
	return example
}

// exampleText returns an example of a text, by its format or by the name of the property.
func exampleText(name, format string) string {
	switch {
	case format == "date-time" && (strings.HasSuffix(name, "_end") || name == "expires_at" || name == "effective_at"):
		return exampleLater
	case format == "date-time":
		return exampleMoment
	case format == "date":
		return exampleMoment[:len("2026-11-22")]
	case format == "uri" || strings.HasSuffix(name, "url"):
		return "https://example.com/" + strings.TrimSuffix(strings.TrimSuffix(name, "url"), "_")
	case strings.HasSuffix(name, "email"):
		return "ada@example.com"
	}
	return strings.ReplaceAll(name, "_", " ")
}

func quoted(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.SingleQuotedStyle}
}
