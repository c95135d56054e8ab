package main

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// notExported are the parameters of a list that its export has not: a file is whole, and in one order.
var notExported = []string{"Limit", "StartingAfter", "EndingBefore", "Sort", "Cursor", "Page"}

// addExports gives every list with x-export the operation that has its rows written to a file, with the list's own filters, scope and errors.
// What is there besides in place of true, such as a description, is the operation's own.
func addExports(doc *yaml.Node) {
	for _, list := range operations(doc) {
		own := get(list.node, "x-export")
		if own == nil {
			continue
		}
		drop(list.node, "x-export")
		op := exportOf(list)
		each(own, func(key string, value *yaml.Node) { set(op, key, value) })
		item := parse("{}")
		item.Style = 0
		set(item, "get", op)
		set(get(doc, "paths"), list.path+"/export", item)
	}
}

// exportOf returns the export of a list.
func exportOf(list operation) *yaml.Node {
	op := parse(`
operationId: %s
tags: [%s]
summary: %s
description: |
  Returns a URL of a CSV file with all items that match the list's filters, newest first. The file is written while it is fetched, and shows
  the items as they are then. The URL works for an hour, and no longer than the API key that asked for it.

  The columns are the fields of the API in their order. Fields of an object are named like `+"`billing_address.country`"+`. Money is in minor units, lists and
  metadata are JSON, and null is empty. Fields that only some keys may read are left out. A cell that a spreadsheet could run as a formula
  begins with an apostrophe, if somebody else wrote it.
x-approval: allow
x-scope: %s
x-sdk: %s
responses:
  '200':
    description: Where the file is.
    content: {application/json: {schema: {$ref: '#/components/schemas/SignedURL'}}}
`, exporting(scalarAt(list.node, "operationId")), items(get(list.node, "tags"))[0], exporting(scalarAt(list.node, "summary")), scalarAt(list.node, "x-scope"),
		exporting(scalarAt(list.node, "x-sdk")))
	if errors := get(list.node, "x-errors"); errors != nil {
		set(op, "x-errors", flatten(errors))
	}
	for _, p := range nodes(get(list.node, "parameters")) {
		if name := scalarAt(p, "$ref"); !slices.Contains(notExported, name[strings.LastIndex(name, "/")+1:]) {
			addParameter(op, flatten(p))
		}
	}
	return op
}

// exporting names an export as its list is named: exportRefunds of listRefunds.
func exporting(name string) string {
	return strings.NewReplacer("list", "export", "List", "Export").Replace(name)
}
