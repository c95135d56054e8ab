package main

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fakedTags are the tags whose operations sdk/sdktest may answer. It says of every other operation that it does not.
var fakedTags = []string{
	"Account", "Products", "PriceVariants", "Customers", "Discounts", "CheckoutLinks", "Checkouts", "PublicCheckouts",
	"Orders", "Refunds", "Invoices", "Leads", "Grants", "WebhookEndpoints", "WebhookEvents",
}

// writeFake writes what the fake server of sdk/sdktest knows of the API: parameters, bodies and answers of the operations with
// fakedTags. It is a constant, so that a test that does not need it costs nothing, and `make verify` sees when it is stale.
func writeFake(file, templateFile string, doc *yaml.Node, types []event) error {
	var b bytes.Buffer
	if err := encode(&b, forFake(doc, types), 1); err != nil {
		return err
	}
	return execute(file, templateFile, strings.ReplaceAll(b.String(), "`", `\u0060`))
}

// forFake returns the part of the published document that the fake server needs, in a form of its own.
func forFake(doc *yaml.Node, types []event) *yaml.Node {
	doc = flatten(doc)
	operationsByID, schemas := parse("{}"), parse("{}")
	answers := parse("{}")
	for _, op := range operations(doc) {
		if strings.HasSuffix(op.path, "/export") || !slices.ContainsFunc(items(get(op.node, "tags")), func(tag string) bool { return slices.Contains(fakedTags, tag) }) {
			continue
		}
		set(operationsByID, text(op.node, "operationId"), fakedOperation(op, answers))
	}
	keepSchemas(doc, operationsByID, schemas, true)
	for _, part := range []string{"LineItem", "Payment"} { // which answers have expanded alone
		set(answers, part, ref("schemas", part))
	}
	keepSchemas(doc, answers, schemas, false)
	fake := parse("{}")
	set(fake, "operations", operationsByID)
	set(fake, "parameters", usedParameters(doc, operationsByID))
	set(fake, "schemas", schemas)
	names := parse("[]")
	for _, e := range types {
		names.Content = append(names.Content, parse("%q", e.Type))
	}
	set(fake, "events", names)
	walk(operationsByID, func(n *yaml.Node) {
		dropUnquoted(n)
		for _, key := range []string{"x-scopes", "explode", "allowEmptyValue"} {
			drop(n, key)
		}
	})
	return fake
}

// usedParameters returns the shared parameters that operations refer to.
func usedParameters(doc, operations *yaml.Node) *yaml.Node {
	used := parse("{}")
	walk(operations, func(n *yaml.Node) {
		if name, found := strings.CutPrefix(text(n, "$ref"), "#/components/parameters/"); found {
			set(used, name, get(doc, "components", "parameters", name))
		}
	})
	walk(used, dropUnquoted)
	return used
}

// fakedOperation returns the parameters, body and answer of an operation. The schema of the answer is put into answers, too.
func fakedOperation(op operation, answers *yaml.Node) *yaml.Node {
	faked := parse("{}")
	parameters := parse("[]")
	parameters.Content = append(parameters.Content, nodes(get(op.item, "parameters"))...)
	parameters.Content = append(parameters.Content, nodes(get(op.node, "parameters"))...)
	set(faked, "parameters", parameters)
	if body := get(op.node, "requestBody"); body != nil {
		set(faked, "body", get(body, "content", "application/json", "schema"))
		set(faked, "bodyRequired", parse("%t", text(body, "required") == "true"))
	}
	if wrapper := get(op.node, "x-unwrap"); wrapper != nil {
		set(faked, "unwrap", wrapper)
	}
	each(get(op.node, "responses"), func(status string, response *yaml.Node) {
		if answer := get(response, "content", "application/json", "schema"); status[0] == '2' {
			set(faked, "status", parse("%s", status))
			set(faked, "answer", parse("%q", strings.TrimPrefix(text(answer, "$ref"), schemaPath)))
			set(answers, text(op.node, "operationId"), answer)
		}
	})
	return faked
}

// keepSchemas puts copies of all schemas that n leads to into kept. Those of requests keep what a refusal quotes; those of answers keep the
// names and types of their fields.
func keepSchemas(doc, n, kept *yaml.Node, requests bool) {
	walk(n, func(n *yaml.Node) {
		name, found := strings.CutPrefix(text(n, "$ref"), schemaPath)
		if !found || get(kept, name) != nil {
			return
		}
		schema := flatten(get(doc, "components", "schemas", name))
		if requests {
			walk(schema, dropUnquoted)
		} else {
			walk(schema, plainAnswer)
		}
		set(kept, name, schema)
		keepSchemas(doc, schema, kept, requests)
	})
}

// plainAnswer drops from a schema of an answer what says nothing about the names and types of its fields. A reference that can be expanded
// becomes an id, because it is one until somebody asks for more.
func plainAnswer(n *yaml.Node) {
	alternatives := nodes(get(n, "oneOf"))
	if last := len(alternatives) - 1; last > 0 && text(alternatives[last], "$ref") == schemaPath+"Deleted" {
		*n = *flatten(alternatives[0])
	}
	if text(n, "type") != "" || text(n, "$ref") != "" || get(n, "allOf") != nil || get(n, "oneOf") != nil { // not a list of fields, one of which is `type`
		for _, key := range []string{"description", "example", "x-example", "x-expects", "x-type-scopes", "maxLength", "minLength"} {
			drop(n, key)
		}
	}
}
