package main

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// forGo turns the completed document into the input of the Go generator. Only successful responses are left: errors and headers are
// handled in one place for all operations. Every schema is bound to the Go type that is easiest to use.
func forGo(doc *yaml.Node) {
	for _, op := range operations(doc) {
		each(get(op.node, "responses"), func(status string, _ *yaml.Node) {
			if status[0] != '2' {
				drop(get(op.node, "responses"), status)
			}
		})
	}
	drop(get(doc, "components"), "responses")
	each(get(doc, "components", "schemas"), func(name string, schema *yaml.Node) {
		if strings.HasSuffix(name, "Update") || strings.HasSuffix(name, "Upsert") {
			each(get(schema, "properties"), func(_ string, p *yaml.Node) {
				bindNullable(p)
				bindArray(p)
			})
		}
	})
	walk(doc, func(n *yaml.Node) {
		bindWire(n)
		bindConcealed(n)
		if scalarAt(n, "additionalProperties") == "true" {
			drop(n, "additionalProperties") // what we send may grow: that is for readers, and no field of ours
		}
		if object := get(n, "properties", "object"); object != nil {
			set(object, "x-go-type", parse("string"))
		}
		order(get(n, "properties"))
	})
}

// forServer turns the input of the Go generator into that for the server. There a reference is a plain value, and a schema may have
// a Go type of its own.
func forServer(doc *yaml.Node) {
	walk(doc, func(n *yaml.Node) {
		if strings.HasPrefix(scalarAt(n, "x-go-type"), "wire.Expandable[") {
			set(n, "x-go-type", parse("wire.Reference"))
		}
		if own := scalarAt(n, "x-server-go-type"); own != "" {
			set(n, "x-go-type", parse("%s", own))
		}
		if isConcealed(n) {
			drop(n, "x-go-type")
			drop(n, "x-go-type-skip-optional-pointer")
		}
	})
}

// bindWire adds the import of a wire type. A reference needs no pointer, because its zero value means none.
func bindWire(n *yaml.Node) {
	name := scalarAt(n, "x-go-type")
	if !strings.HasPrefix(name, "wire.") {
		return
	}
	set(n, "x-go-type-import", parse("path: %s", wirePackage))
	if strings.HasPrefix(name, "wire.Expandable") {
		set(n, "x-go-type-skip-optional-pointer", parse("true"))
	}
	drop(n, "oneOf")
}

// isConcealed reports whether n is a text that is null for keys without a scope.
func isConcealed(n *yaml.Node) bool {
	return scalarAt(n, "x-scope") != "" && scalarAt(n, "type") == "string"
}

// bindConcealed makes a plain text of one that is null for some keys, so that the SDK's users need no pointer for it. It is
// empty where it is not shown.
func bindConcealed(n *yaml.Node) {
	if isConcealed(n) {
		set(n, "x-go-type", parse("string"))
		set(n, "x-go-type-skip-optional-pointer", parse("true"))
	}
}

// bindNullable gives a nullable field of a PATCH, or of what may be one, a type with three states: absent, null and a value.
func bindNullable(p *yaml.Node) {
	if scalarAt(p, "nullable") != "true" {
		return
	}
	set(p, "x-go-type", parse("nullable.Nullable[%s]", goType(p)))
	set(p, "x-go-type-import", parse("path: github.com/oapi-codegen/nullable"))
	set(p, "x-go-type-skip-optional-pointer", parse("true"))
}

// bindArray lets a PATCH empty a list: a nil slice is not sent, an empty one is.
func bindArray(p *yaml.Node) {
	if scalarAt(p, "type") == "array" {
		set(p, "x-omitempty", parse("false"))
		set(p, "x-omitzero", parse("true"))
	}
}

// goType returns the Go type of a nullable field.
func goType(p *yaml.Node) string {
	if bound := scalarAt(p, "x-go-type"); bound != "" {
		return bound
	}
	if all := get(p, "allOf"); all != nil {
		return strings.TrimPrefix(scalarAt(all.Content[0], "$ref"), "#/components/schemas/")
	}
	switch scalarAt(p, "type") + " " + scalarAt(p, "format") {
	case "string ":
		return "string"
	case "string date-time":
		return "wire.Time"
	case "integer ", "integer int64":
		return "int64"
	}
	panic("no Go type for a nullable " + scalarAt(p, "type") + " in a PATCH; add it to goType")
}

// order makes the fields of a Go struct, and so the keys of its JSON, come in the order of the specification.
func order(properties *yaml.Node) {
	i := 0
	each(properties, func(_ string, p *yaml.Node) {
		if p.Kind == yaml.MappingNode {
			set(p, "x-order", parse("%s", strconv.Itoa(i)))
		}
		i++
	})
}
