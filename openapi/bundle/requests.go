package main

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// forRequests turns the published document into what the server holds requests against: the same operations, parameters
// and bodies, without what only readers need. The server reads it whenever it starts.
func forRequests(doc *yaml.Node) {
	for _, op := range operations(doc) {
		for _, key := range []string{"tags", "summary", "description"} {
			drop(op.node, key)
		}
		set(op.node, "responses", parse("{'200': {description: ''}}"))
	}
	for _, key := range []string{"tags", "servers"} {
		drop(doc, key)
	}
	drop(get(doc, "info"), "description")
	for _, key := range []string{"responses", "headers"} {
		drop(get(doc, "components"), key)
	}
	dropUnused(doc)
}

// dropUnused drops the schemas that nothing leads to: those of answers from what has none, and those that were written out
// wherever they were referred to.
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

// useSchemas marks every schema that n leads to.
func useSchemas(doc, n *yaml.Node, used map[string]bool) {
	walk(n, func(n *yaml.Node) {
		name, found := strings.CutPrefix(text(n, "$ref"), schemaPath)
		if found && !used[name] {
			used[name] = true
			useSchemas(doc, get(doc, "components", "schemas", name), used)
		}
	})
}
