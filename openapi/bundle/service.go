package main

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// service is a group of methods on the SDK's client. Every tag of the document is one.
type service struct {
	Name string
	Doc  []string // the lines of the type's comment, which begins with its name
}

// services returns the SDK's services in the order of their names.
func services(doc *yaml.Node) []service {
	var all []service
	for _, tag := range nodes(get(doc, "tags")) {
		name := scalarAt(tag, "name")
		all = append(all, service{name, strings.Split(name+"Service "+scalarAt(tag, "x-sdk-doc"), "\n")})
	}
	slices.SortFunc(all, func(a, b service) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all
}

// writeServices writes the SDK's service types, and the client with a field for each of them. This program does that itself,
// because oapi-codegen's templates see operations but no tags.
func writeServices(file, templateFile string, doc *yaml.Node) error {
	return execute(file, templateFile, services(doc))
}
