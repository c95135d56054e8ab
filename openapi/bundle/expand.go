package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// addExpand gives every operation with x-expand its expand parameter. Its x-scopes says what the key must hold for a
// name beyond the operation's own scope: reading an object through a reference takes what reading it directly takes.
func addExpand(doc *yaml.Node) {
	reading := readScopes(doc)
	for _, op := range operations(doc) {
		if names := items(get(op.node, "x-expand")); len(names) > 0 {
			addParameter(op.node, expandParameter(doc, op, names, reading))
		}
	}
}

func expandParameter(doc *yaml.Node, op operation, names []string, reading map[string]string) *yaml.Node {
	parameter := parse(`
name: expand
in: query
style: form
explode: false
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

// readScopes maps schemas to the scope of the GET that answers with one object of them. Line items and payments have
// none: they are part of what shows them. A reference to something that is only listed says its scope itself, in x-read-scope.
func readScopes(doc *yaml.Node) map[string]string {
	scopes := map[string]string{}
	for _, op := range operations(doc) {
		if scope := text(op.node, "x-scope"); scope != "" && !op.write() {
			scopes[answer(op)] = scope
		}
	}
	return scopes
}

// pathScopes returns the scopes that a path such as line_items.product needs beyond the operation's own.
func pathScopes(doc *yaml.Node, op operation, path string, reading map[string]string) []string {
	schemas := get(doc, "components", "schemas")
	schema := answer(op)
	if item := text(schemas, schema, "x-list"); item != "" {
		schema = item
	}
	var scopes []string
	for field := range strings.SplitSeq(path, ".") {
		property := get(schemas, schema, "properties", field)
		if items := get(property, "items"); items != nil {
			property = items
		}
		schema = text(property, "x-expandable")
		for _, scope := range append(typeScopes(get(schemas, schema)), cmp.Or(text(property, "x-read-scope"), reading[schema])) {
			if scope != "" && scope != text(op.node, "x-scope") && !slices.Contains(scopes, scope) {
				scopes = append(scopes, scope)
			}
		}
	}
	return scopes
}

// typeScopes returns what reading an object of any type takes, where that depends on its type.
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
			name = strings.TrimPrefix(text(response, "content", "application/json", "schema", "$ref"), "#/components/schemas/")
		}
	})
	return name
}
