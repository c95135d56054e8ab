package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// addExpand gives every operation with x-expand its expand parameter. X-scopes of the parameter says which scopes a name needs
// besides the operation's own. Reading an object through a reference needs what reading it directly needs.
func addExpand(doc *yaml.Node) {
	reading := readScopes(doc)
	for _, op := range operations(doc) {
		if names := items(get(op.node, "x-expand")); len(names) > 0 {
			addParameter(op.node, expandParameter(doc, op, names, reading))
		}
	}
}

// expandParameter returns the expand parameter of an operation that can expand these names.
func expandParameter(doc *yaml.Node, op operation, names []string, reading map[string]string) *yaml.Node {
	parameter := parse(`
name: expand
in: query
style: form
explode: false
allowEmptyValue: true
schema: {type: array, maxItems: 20, items: {type: string, enum: ['%s'], x-go-type: string}}
example: ['%s']
`, strings.Join(names, "', '"), names[0])
	scopes := parse("{}")
	described := make([]string, len(names))
	for i, name := range names {
		described[i] = name
		if needed := pathScopes(doc, op, name, reading); len(needed) > 0 {
			set(scopes, name, parse("['%s']", strings.Join(needed, "', '")))
			described[i] += fmt.Sprintf(" (%s)", strings.Join(needed, ", "))
		}
	}
	description := "References to return as objects, separated by commas: " + strings.Join(described, ", ") + "."
	if len(scopes.Content) > 0 {
		description += " In brackets is what the API key must hold for it besides the scope of the operation."
		set(parameter, "x-scopes", scopes)
	}
	set(parameter, "description", parse("'%s'", description))
	return parameter
}

// readScopes maps schemas to the scope that is needed to read one such object, which is that of the GET that returns it. Line
// items and payments have none, because they are part of other objects. If objects can only be listed, the reference itself
// names the scope, in x-read-scope.
func readScopes(doc *yaml.Node) map[string]string {
	scopes := map[string]string{}
	for _, op := range operations(doc) {
		if scope := scalarAt(op.node, "x-scope"); scope != "" && !op.write() {
			scopes[answer(op)] = scope
		}
	}
	return scopes
}

// pathScopes returns the scopes that a path such as line_items.product needs besides the operation's own.
func pathScopes(doc *yaml.Node, op operation, path string, reading map[string]string) []string {
	schemas := get(doc, "components", "schemas")
	schema := answer(op)
	if item := scalarAt(schemas, schema, "x-list"); item != "" {
		schema = item
	}
	var scopes []string
	for field := range strings.SplitSeq(path, ".") {
		property := get(schemas, schema, "properties", field)
		if items := get(property, "items"); items != nil {
			property = items
		}
		schema = scalarAt(property, "x-expandable")
		for _, scope := range append(typeScopes(get(schemas, schema)), cmp.Or(scalarAt(property, "x-read-scope"), reading[schema])) {
			if scope != "" && scope != scalarAt(op.node, "x-scope") && !slices.Contains(scopes, scope) {
				scopes = append(scopes, scope)
			}
		}
	}
	return scopes
}

// typeScopes returns all scopes that are needed to read an object of any type, if that depends on the object's type.
func typeScopes(schema *yaml.Node) []string {
	var scopes []string
	each(get(schema, "x-type-scopes"), func(_ string, needed *yaml.Node) { scopes = append(scopes, items(needed)...) })
	return scopes
}

// answer returns the name of the schema of an operation's successful response.
func answer(op operation) string {
	name := ""
	each(get(op.node, "responses"), func(status string, response *yaml.Node) {
		if status[0] == '2' {
			name = strings.TrimPrefix(scalarAt(response, "content", "application/json", "schema", "$ref"), "#/components/schemas/")
		}
	})
	return name
}
