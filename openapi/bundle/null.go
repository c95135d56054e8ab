package main

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// A source file makes a reference nullable by `nullable: true` beside `allOf: [$ref]`, which the Go tools understand. By the
// letter of OpenAPI 3.0 nullable adds null to the type beside it, and the allOf then refuses it. So the published document
// has one of two forms, which are right by the letter. What tools make of them stands in .github/CONTRIBUTING.md, "What others read":
//   - a plain value is written out, `{type: integer, nullable: true}`;
//   - an object or an enum is `oneOf: [$ref, {enum: [null]}]`, which generators read as that type or null.

// wrapped returns the name of the schema that a nullable reference points at, "" if n is none.
func wrapped(n *yaml.Node) string {
	all := nodes(get(n, "allOf"))
	if len(all) != 1 || scalarAt(n, "nullable") != "true" {
		return ""
	}
	name, _ := strings.CutPrefix(scalarAt(all[0], "$ref"), schemaPath)
	return name
}

// typeNullable adds to a nullable reference the type of the schema that it points at. Messages about it need that.
func typeNullable(doc, n *yaml.Node) {
	if name := wrapped(n); name != "" && get(n, "type") == nil {
		set(n, "type", parse("%s", scalarAt(doc, "components", "schemas", name, "type")))
	}
}

// spellNull writes a nullable reference in its published form.
func spellNull(doc, n *yaml.Node) {
	name := wrapped(n)
	if name == "" {
		return
	}
	schema := get(doc, "components", "schemas", name)
	kind := scalarAt(schema, "type")
	drop(n, "allOf")
	if kind != "object" && get(schema, "enum") == nil {
		each(flatten(schema), func(key string, value *yaml.Node) {
			if get(n, key) == nil {
				set(n, key, value)
			}
		})
		return
	}
	drop(n, "type")
	drop(n, "nullable")
	set(n, "oneOf", parse("[{$ref: '%s%s'}, {type: %s, nullable: true, enum: [null]}]", schemaPath, name, kind))
}

// nullable checks that every nullable has an effect. A schema that others refer to must not be nullable itself: a reference to it
// could be null for two reasons.
func (l *linter) nullable(doc *yaml.Node) {
	walk(doc, func(n *yaml.Node) {
		if scalarAt(n, "nullable") != "true" || wrapped(n) != "" {
			return
		}
		switch values := get(n, "enum"); {
		case get(n, "type") == nil || get(n, "allOf") != nil || get(n, "oneOf") != nil || get(n, "anyOf") != nil:
			l.fail("on line %d of its file it has no effect: it belongs beside a type, or beside an allOf of one $ref", n.Line)
		case values != nil && !hasNull(values):
			l.fail("on line %d of its file it has no effect: add null to its enum", n.Line)
		}
	})
	each(get(doc, "components", "schemas"), func(name string, schema *yaml.Node) {
		if scalarAt(schema, "nullable") == "true" {
			l.fail("schema %s must not be nullable: say so where it is referred to", name)
		}
	})
}

func hasNull(values *yaml.Node) bool {
	for _, value := range values.Content {
		if value.Tag == "!!null" {
			return true
		}
	}
	return false
}
