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

// fake is what the fake server of sdk/sdktest knows of the API.
type fake struct {
	Operations, Parameters, Schemas []fakePart
	Events                          []event
}

// fakePart is a part of the document by its name, as JSON. It has no backquote.
type fakePart struct{ Name, Text string }

// writeFake writes what the fake server knows of the API: parameters, bodies and answers of the operations with fakedTags. Each part is a text of its
// own, so that a test reads those alone that it uses. It is Go code, so that `make verify` sees when it is stale.
func writeFake(file, templateFile string, doc *yaml.Node, types []event) error {
	doc = flatten(doc)
	operationsByID, schemas, answers := parse("{}"), parse("{}"), parse("{}")
	for _, op := range operations(doc) {
		if strings.HasSuffix(op.path, "/export") || !slices.ContainsFunc(items(get(op.node, "tags")), func(tag string) bool { return slices.Contains(fakedTags, tag) }) {
			continue
		}
		set(operationsByID, scalarAt(op.node, "operationId"), fakedOperation(op, answers))
	}
	keepSchemas(doc, operationsByID, schemas, true)
	for _, part := range []string{"LineItem", "Payment"} { // which answers have expanded alone
		set(answers, part, ref("schemas", part))
	}
	keepSchemas(doc, answers, schemas, false)
	walk(operationsByID, func(n *yaml.Node) {
		dropUnquoted(n)
		for _, key := range []string{"x-scopes", "explode", "allowEmptyValue"} {
			drop(n, key)
		}
	})
	parts := fake{Events: types}
	for from, to := range map[*yaml.Node]*[]fakePart{operationsByID: &parts.Operations, usedParameters(doc, operationsByID): &parts.Parameters, schemas: &parts.Schemas} {
		var err error
		if *to, err = fakeParts(from); err != nil {
			return err
		}
	}
	return execute(file, templateFile, parts)
}

// fakeParts returns the members of a mapping.
func fakeParts(n *yaml.Node) (parts []fakePart, err error) {
	each(n, func(name string, value *yaml.Node) {
		var b bytes.Buffer
		if failed := encode(&b, value, brokenLevels); failed != nil {
			err = failed
		}
		parts = append(parts, fakePart{name, strings.ReplaceAll(b.String(), "`", `\u0060`)})
	})
	return parts, err
}

// usedParameters returns the shared parameters that operations refer to.
func usedParameters(doc, operations *yaml.Node) *yaml.Node {
	used := parse("{}")
	walk(operations, func(n *yaml.Node) {
		if name, found := strings.CutPrefix(scalarAt(n, "$ref"), "#/components/parameters/"); found {
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
		set(faked, "bodyRequired", parse("%t", scalarAt(body, "required") == "true"))
	}
	if wrapper := get(op.node, "x-unwrap"); wrapper != nil {
		set(faked, "unwrap", wrapper)
	}
	each(get(op.node, "responses"), func(status string, response *yaml.Node) {
		if answer := get(response, "content", "application/json", "schema"); status[0] == '2' {
			set(faked, "status", parse("%s", status))
			set(faked, "answer", parse("%q", strings.TrimPrefix(scalarAt(answer, "$ref"), schemaPath)))
			set(answers, scalarAt(op.node, "operationId"), answer)
		}
	})
	return faked
}

// keepSchemas puts copies of all schemas that n leads to into kept. Those of requests keep what a refusal quotes; those of answers keep the
// names and types of their fields.
func keepSchemas(doc, n, kept *yaml.Node, requests bool) {
	walk(n, func(n *yaml.Node) {
		name, found := strings.CutPrefix(scalarAt(n, "$ref"), schemaPath)
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
	if last := len(alternatives) - 1; last > 0 && scalarAt(alternatives[last], "$ref") == schemaPath+"Deleted" {
		*n = *flatten(alternatives[0])
	}
	if scalarAt(n, "type") != "" || scalarAt(n, "$ref") != "" || get(n, "allOf") != nil || get(n, "oneOf") != nil { // not a list of fields, one of which is `type`
		for _, key := range []string{"description", "example", "x-example", "x-expects", "x-type-scopes", "maxLength", "minLength"} {
			drop(n, key)
		}
	}
}
