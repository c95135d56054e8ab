package main

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// wirePackage is the package of the Go types that schemas are bound to.
const wirePackage = "github.com/tillwright/tillwright/sdk/wire"

// schemaPath is the beginning of every reference to a schema.
const schemaPath = "#/components/schemas/"

// complete adds to the document what the resource files leave to conventions: exports, the schemas of lists, references, and expand
// parameters. Both the published document and the Go code are made from the result.
func complete(doc *yaml.Node) {
	addTypeScopes(doc)
	addExports(doc)
	addExpand(doc) // while references still name what they point at
	for _, op := range operations(doc) {
		if op.dryRun() {
			addParameter(op.node, ref("parameters", "DryRun"))
		}
	}
	walk(get(doc, "components", "schemas"), completeSchema)
}

// completeSchema writes out the short forms of one schema: x-list, x-cursor-list and x-expandable.
func completeSchema(n *yaml.Node) {
	if item := scalarAt(n, "x-list"); item != "" {
		*n = *listSchema(item)
		set(n, "x-go-type", parse("wire.List[%s]", item))
	}
	if item := scalarAt(n, "x-cursor-list"); item != "" {
		*n = *listSchema(item)
		get(n, "required").Content = append(get(n, "required").Content, parse("next_cursor"))
		set(get(n, "properties"), "next_cursor", parse("{type: string, nullable: true, description: 'The `cursor` of the next page. Null at the end.'}"))
		set(n, "x-go-type", parse("wire.CursorList[%s]", item))
	}
	if to := scalarAt(n, "x-expandable"); to != "" {
		nullable := scalarAt(n, "nullable") == "true" // 3.0 allows it only beside a type
		drop(n, "x-expandable")
		drop(n, "x-read-scope")
		drop(n, "nullable")
		each(parse(`
oneOf:
  - {type: string, description: Its id., nullable: %[2]t}
  - {$ref: '#/components/schemas/%[1]s'}
  - {$ref: '#/components/schemas/Deleted'}
x-go-type: wire.Expandable[%[1]s]
`, to, nullable), func(key string, value *yaml.Node) { set(n, key, value) })
	}
}

func listSchema(item string) *yaml.Node {
	return parse(`
description: A page of results.
type: object
required: [object, data, has_more, url]
properties:
  object: {type: string, enum: [list]}
  data: {type: array, items: {$ref: '#/components/schemas/%[1]s'}, description: 'The items of the page, in the order of the list.'}
  has_more: {type: boolean, description: Whether another page follows the last item.}
  url: {type: string, description: The path of the list.}
`, item)
}

func addParameter(op, parameter *yaml.Node) {
	if get(op, "parameters") == nil {
		set(op, "parameters", parse("[]"))
	}
	list := get(op, "parameters")
	list.Style = 0
	list.Content = append(list.Content, parameter)
}

// publish turns the completed document into the one that is served, and that requests are validated against. It adds the shared
// error responses, response headers and the Idempotency-Key header. It refuses unknown fields in requests. It drops the extensions
// that only the Go generator reads.
func publish(doc *yaml.Node) {
	for _, op := range operations(doc) {
		addErrors(op)
		addPlan(op)
		addHeaders(op)
		if op.write() {
			addParameter(op.node, ref("parameters", "IdempotencyKey"))
		}
		closeSchema(doc, get(op.node, "requestBody"), map[string]bool{})
	}
	walk(get(doc, "components", "schemas"), func(n *yaml.Node) {
		typeNullable(doc, n)
		requireSome(n)
	})
	each(get(doc, "components", "responses"), func(name string, response *yaml.Node) {
		headers := responseHeaders(scalarAt(response, "x-status"))
		set(response, "headers", headers)
		drop(response, "x-status")
	})
	walk(doc, func(n *yaml.Node) {
		for _, key := range []string{"x-go-type", "x-server-go-type", "x-go-type-import", "x-go-type-skip-optional-pointer", "x-go-name", "x-enum-varnames", "x-no-object", "x-errors", "x-expand", "x-dry-run", "x-sdk-doc", "x-events"} {
			if n.Kind == yaml.MappingNode {
				drop(n, key)
			}
		}
	})
	walk(doc, openAny)
}

// openAny writes additionalProperties: true where a schema takes fields of any name and value. An empty schema there means the
// same, but some validators let it refuse null.
func openAny(n *yaml.Node) {
	if fields := get(n, "additionalProperties"); fields != nil && fields.Kind == yaml.MappingNode && len(fields.Content) == 0 {
		set(n, "additionalProperties", parse("true"))
	}
}

// requireSome writes out what a body must have besides its required fields. X-expects stays in the document: it names the field
// that the server calls missing, which minProperties cannot say.
func requireSome(n *yaml.Node) {
	if scalarAt(n, "x-expects") != "" {
		set(n, "minProperties", parse("1"))
	}
	each(get(n, "x-required-unless"), func(field string, names *yaml.Node) {
		set(n, "anyOf", parse("[{required: [%s]}, {required: [%s]}]", strings.Join(items(names), ", "), field))
	})
	if n.Kind == yaml.MappingNode {
		drop(n, "x-required-unless")
	}
}

func ref(kind, name string) *yaml.Node { return parse("$ref: '#/components/%s/%s'", kind, name) }

// sharedErrors returns the error responses that the conventions add to an operation, by the names of their components.
func sharedErrors(op operation) []string {
	names := []string{"BadRequest", "Unauthorized", "Forbidden"}
	if scalarAt(op.node, "x-public") == "true" {
		names = []string{"BadRequest"}
	}
	if strings.Contains(op.path, "{") {
		names = append(names, "NotFound")
	}
	if op.write() {
		names = append(names, "Conflict")
	}
	if get(op.node, "requestBody") != nil {
		names = append(names, "RequestTooLarge", "UnsupportedMediaType")
	}
	if op.write() {
		names = append(names, "Unprocessable")
	}
	return append(append(names, items(get(op.node, "x-errors"))...), "TooManyRequests", "InternalError", "Unavailable")
}

// statuses maps the response components to their status.
var statuses = map[string]string{
	"BadRequest": "400", "Unauthorized": "401", "PlanUpgradeRequired": "402", "Forbidden": "403", "NotFound": "404",
	"Conflict": "409", "NotActivated": "409", "RequestTooLarge": "413", "UnsupportedMediaType": "415", "Unprocessable": "422",
	"TooManyRequests": "429", "InternalError": "500", "Unavailable": "503",
}

func addErrors(op operation) {
	responses := get(op.node, "responses")
	for _, name := range sharedErrors(op) {
		set(responses, statuses[name], ref("responses", name))
	}
}

// addPlan lets an operation that supports a dry run answer 200 with a plan. If it has a 200 already, both are possible.
func addPlan(op operation) {
	if !op.dryRun() {
		return
	}
	plan := ref("schemas", "AdPlan")
	if done := get(op.node, "responses", "200", "content", "application/json"); done != nil {
		either := parse("oneOf: []")
		get(either, "oneOf").Content = []*yaml.Node{get(done, "schema"), plan}
		get(either, "oneOf").Style = 0
		set(done, "schema", either)
		return
	}
	dry := parse("{description: 'The plan, with `dry_run=true`.', content: {application/json: {}}}")
	set(get(dry, "content", "application/json"), "schema", plan)
	set(get(op.node, "responses"), "200", dry)
}

func addHeaders(op operation) {
	each(get(op.node, "responses"), func(status string, response *yaml.Node) {
		if status[0] == '2' {
			headers := responseHeaders(status)
			if op.write() {
				set(headers, "Idempotent-Replayed", ref("headers", "IdempotentReplayed"))
			}
			set(response, "headers", headers)
		}
	})
}

func responseHeaders(status string) *yaml.Node {
	headers := parse("{}")
	headers.Style = 0
	set(headers, "x-request-id", ref("headers", "RequestId"))
	set(headers, "RateLimit-Policy", ref("headers", "RateLimitPolicy"))
	set(headers, "RateLimit", ref("headers", "RateLimit"))
	set(headers, "X-RateLimit-Reset", ref("headers", "RateLimitReset"))
	if status == "409" || status == "429" || status == "503" {
		set(headers, "Retry-After", ref("headers", "RetryAfter"))
	}
	return headers
}

// closeSchema refuses unknown fields in every object that can be part of n, a request body.
func closeSchema(doc, n *yaml.Node, seen map[string]bool) {
	walk(n, func(n *yaml.Node) {
		if scalarAt(n, "type") == "object" && get(n, "additionalProperties") == nil && get(n, "properties") != nil {
			set(n, "additionalProperties", parse("false"))
		}
		name, found := strings.CutPrefix(scalarAt(n, "$ref"), schemaPath)
		if found && !seen[name] {
			seen[name] = true
			closeSchema(doc, get(doc, "components", "schemas", name), seen)
		}
	})
}
