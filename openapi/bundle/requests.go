package main

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// forRequests turns the published document into the one that the server checks requests against. It has the same operations,
// parameters and bodies, without what only readers need, because the server reads it at every start.
func forRequests(doc *yaml.Node) {
	for _, op := range operations(doc) {
		for _, key := range []string{"tags", "summary", "x-sdk"} {
			drop(op.node, key)
		}
		set(op.node, "responses", parse("{'200': {description: ''}}"))
	}
	for _, key := range []string{"tags", "servers"} {
		drop(doc, key)
	}
	for _, key := range []string{"responses", "headers"} {
		drop(get(doc, "components"), key)
	}
	dropUnused(doc)
	walk(doc, dropUnquoted)
}

// mostQuoted is how long the description of a schema may be for a refusal to quote it.
const mostQuoted = 60

// dropUnquoted drops what no refusal quotes: the description of anything but a schema, a long one, and the example of a body.
func dropUnquoted(n *yaml.Node) {
	schema := get(n, "type") != nil || get(n, "allOf") != nil || get(n, "oneOf") != nil
	if description := scalarAt(n, "description"); len(description) > mostQuoted || description != "" && !schema {
		drop(n, "description")
	}
	if get(n, "schema") != nil {
		drop(n, "example")
	}
}

// dropUnused drops the schemas that nothing refers to: those of answers where there are none, and those that were written out
// wherever they were used.
func dropUnused(doc *yaml.Node) {
	used := map[string]bool{}
	for _, from := range []*yaml.Node{get(doc, "paths"), get(doc, "components", "parameters"), get(doc, "components", "responses"), get(doc, "components", "headers")} {
		useSchemas(doc, from, used)
	}
	schemas := get(doc, "components", "schemas")
	each(schemas, func(name string, _ *yaml.Node) {
		if !used[name] {
			drop(schemas, name)
		}
	})
}

// useSchemas marks every schema that can be reached from n.
func useSchemas(doc, n *yaml.Node, used map[string]bool) {
	walk(n, func(n *yaml.Node) {
		name, found := strings.CutPrefix(scalarAt(n, "$ref"), schemaPath)
		if found && !used[name] {
			used[name] = true
			useSchemas(doc, get(doc, "components", "schemas", name), used)
		}
	})
}
