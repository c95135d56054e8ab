package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/tillwright/tillwright/gen/spec"
)

// listed is how many times each list is asked for in each way.
const listed = 5

// compareReads asks both shops for an object, and for each list with each of its filters and orders that the document knows. It asks with values that
// much has, and with values that nothing has.
func compareReads(before, after *grower) ([]string, error) {
	document, err := openapi3.NewLoader().LoadFromData(spec.JSON)
	if err != nil {
		return nil, err
	}
	fmt.Printf("\n%-9s %-60s %9s %9s %7s\n", before.engine, "milliseconds", "new", "grown", "ratio")
	var missed []string
	one, other := askBoth(before, after, func(g *grower) string { return "/v1/orders/" + g.known["order"] })
	if err := errorsOf(one, other); err != nil {
		return nil, err
	}
	missed = append(missed, after.judge("get an order", one.took, other.took, "")...)
	for _, path := range document.Paths.InMatchingOrder() {
		get := document.Paths.Value(path).Get
		if get == nil || strings.Contains(path, "{") || get.Parameters.GetByInAndName("query", "starting_after") == nil {
			continue
		}
		for _, asked := range ways(get, after.known) {
			one, other := askBoth(before, after, func(g *grower) string { return "/v1" + path + "?limit=1" + asked(g.known) })
			if err := errorsOf(one, other); err != nil {
				return nil, err
			}
			missed = append(missed, after.judge("list "+path+" "+strings.TrimPrefix(asked(map[string]string{}), "&"), one.took, other.took, "")...)
		}
	}
	return missed, nil
}

// way is what is asked of a list: the query, when these values are known.
type way func(known map[string]string) string

// ways are all that an operation documents.
func ways(get *openapi3.Operation, known map[string]string) []way {
	all := []way{func(map[string]string) string { return "" }}
	add := func(name, value string) {
		all = append(all, func(map[string]string) string { return "&" + url.QueryEscape(name) + "=" + url.QueryEscape(value) })
	}
	for _, p := range get.Parameters {
		name, schema := p.Value.Name, p.Value.Schema.Value
		switch {
		case p.Value.In != "query", slices.Contains([]string{"limit", "starting_after", "ending_before", "expand", "cursor"}, name):
		case name == "metadata":
			add("metadata[shelf]", "1")
			add("metadata[shelf]", "of nobody")
		case name == "q":
			for _, words := range []string{"grown", "guide", "com", "of nobody"} {
				add(name, words)
			}
		case len(schema.Enum) > 0:
			for _, value := range schema.Enum {
				add(name, fmt.Sprint(value))
			}
		case schema.Type.Is("boolean"):
			add(name, "true")
			add(name, "false")
		case schema.Format == "date-time":
			for _, at := range []time.Time{time.Now().AddDate(-1, 0, 0), time.Now().AddDate(-10, 0, 0), time.Now().AddDate(10, 0, 0)} {
				add(name, at.UTC().Format(time.RFC3339))
			}
		case schema.Type.Is("integer"):
			add(name, "1")
			add(name, "1000000000")
		case schema.Type.Is("string"):
			if known[name] != "" {
				all = append(all, func(known map[string]string) string { return "&" + name + "=" + url.QueryEscape(known[name]) })
			}
			if !isReference(name) {
				add(name, "nobody")
				add(name, "INV-000001")
			}
		}
	}
	return all
}

// isReference reports whether a filter names another object: one that does not exist is 404.
func isReference(name string) bool {
	return slices.Contains([]string{"customer", "product", "price_variant", "checkout", "subscription", "discount", "order", "account_id"}, name)
}

// answered is how long an answer took.
type answered struct {
	took time.Duration
	err  error
}

func errorsOf(all ...answered) error {
	for _, a := range all {
		if a.err != nil {
			return a.err
		}
	}
	return nil
}

// askBoth asks both shops the same.
func askBoth(before, after *grower, path func(g *grower) string) (one, other answered) {
	ask := func(g *grower) (a answered) {
		a.took, a.err = few(listed, func() error {
			_, err := g.server.get(g.token(), path(g))
			return err
		})
		return a
	}
	return ask(before), ask(after)
}
