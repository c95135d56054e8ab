package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// minimumNotice is how long a deprecated operation has to keep answering.
const minimumNotice = 183 * 24 * time.Hour

var (
	snakeCase  = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	lowerCamel = regexp.MustCompile(`^[a-z][A-Za-z]*$`)
)

// selfExplaining are the properties that mean the same everywhere and need no description.
var selfExplaining = []string{"id", "object", "name", "email", "description", "created_at", "updated_at"}

// lint returns every break of our own rules in the completed document.
func lint(doc *yaml.Node) []error {
	var l linter
	tags := l.tags(doc)
	seen := map[string]string{}
	for _, op := range operations(doc) {
		l.at = strings.ToUpper(op.method) + " " + op.path
		l.operation(op)
		l.filters(doc, op)
		if tag := items(get(op.node, "tags")); len(tag) != 1 || !slices.Contains(tags, tag[0]) {
			l.fail("needs exactly one tag, which stands in openapi.yaml")
		}
		if id := scalarAt(op.node, "operationId"); seen[id] != "" {
			l.fail("operationId %s is also that of %s", id, seen[id])
		} else {
			seen[id] = l.at
		}
	}
	each(get(doc, "components", "schemas"), func(name string, schema *yaml.Node) {
		l.at = "schema " + name
		l.schema(schema)
	})
	l.at = "nullable"
	l.nullable(doc)
	return l.errs
}

type linter struct {
	at   string
	errs []error
}

func (l *linter) fail(format string, args ...any) {
	l.errs = append(l.errs, fmt.Errorf("%s: %s", l.at, fmt.Sprintf(format, args...)))
}

// tags returns the names of the document's tags. It checks that each is described, for readers and for the SDK.
func (l *linter) tags(doc *yaml.Node) []string {
	var names []string
	for _, tag := range nodes(get(doc, "tags")) {
		l.at = "tag " + scalarAt(tag, "name")
		for _, key := range []string{"description", "x-sdk-doc"} {
			if scalarAt(tag, key) == "" {
				l.fail("needs %s", key)
			}
		}
		names = append(names, scalarAt(tag, "name"))
	}
	return names
}

// operation checks that an operation is described and says what the conventions need to know of it.
func (l *linter) operation(op operation) {
	for _, key := range []string{"operationId", "summary", "description"} {
		if scalarAt(op.node, key) == "" {
			l.fail("needs %s", key)
		}
	}
	if !lowerCamel.MatchString(scalarAt(op.node, "operationId")) {
		l.fail("operationId must be verb and noun, like listProducts")
	}
	if a := scalarAt(op.node, "x-approval"); a != "allow" && a != "ask" {
		l.fail("x-approval must be allow or ask")
	}
	if scalarAt(op.node, "x-sdk") == "" {
		l.fail("needs x-sdk, its method name in the SDK")
	}
	if public := scalarAt(op.node, "x-public") == "true"; public != strings.HasPrefix(op.path, "/public/") {
		l.fail("x-public goes with a path under /public/")
	} else if scope := scalarAt(op.node, "x-scope"); !public && scope != "none" && !strings.Contains(scope, ":") {
		l.fail("needs x-scope, like products:read, or none")
	}
	if (scalarAt(op.node, "x-development") == "true") != strings.HasPrefix(op.path, "/test_helpers/") {
		l.fail("x-development goes with a path under /test_helpers/")
	}
	l.names(op)
	l.body(op)
	l.responses(op)
	l.deprecation(op)
}

// names checks that the path and the parameters of an operation are in snake_case.
func (l *linter) names(op operation) {
	for part := range strings.SplitSeq(op.path, "/") {
		part = strings.Trim(part, "{}")
		if part != "" && !snakeCase.MatchString(part) && !strings.HasPrefix(op.path, "/ads/") {
			l.fail("%s must be snake_case", part)
		}
	}
	for _, holder := range []*yaml.Node{op.node, op.item} {
		parameters := get(holder, "parameters")
		if parameters == nil {
			continue
		}
		for _, p := range parameters.Content {
			if name := scalarAt(p, "name"); name != "" && !snakeCase.MatchString(name) {
				l.fail("parameter %s must be snake_case", name)
			}
		}
	}
}

// filters checks that an empty filter is refused. Otherwise a script with a variable that is not set would be answered with
// everything.
func (l *linter) filters(doc *yaml.Node, op operation) {
	for _, p := range append(nodes(get(op.item, "parameters")), nodes(get(op.node, "parameters"))...) {
		p = resolve(doc, p)
		schema := resolve(doc, get(p, "schema"))
		free := scalarAt(schema, "type") == "string" && get(schema, "enum") == nil && get(schema, "format") == nil
		if scalarAt(p, "in") == "query" && free && scalarAt(schema, "minLength") == "" {
			l.fail("query parameter %s needs minLength", scalarAt(p, "name"))
		}
	}
}

func (l *linter) body(op operation) {
	body := get(op.node, "requestBody", "content", "application/json")
	if get(op.node, "requestBody") != nil && get(body, "example") == nil {
		l.fail("its body needs an example")
	}
}

// responses checks that an operation has one successful response, and names its errors in x-errors. One that makes a thing, or changes the
// one that is there, answers the same with 201 and with 200.
func (l *linter) responses(op operation) {
	success := 0
	each(get(op.node, "responses"), func(status string, _ *yaml.Node) {
		switch {
		case status[0] == '2':
			success++
		default:
			l.fail("status %s comes from x-errors, not from responses", status)
		}
	})
	made, there := answerWith(op, "201"), answerWith(op, "200")
	if success != 1 && (success != 2 || made == "" || made != there) {
		l.fail("needs exactly one successful response, or a 201 and a 200 with the same schema")
	}
	for _, name := range items(get(op.node, "x-errors")) {
		if statuses[name] == "" {
			l.fail("x-errors names no response: %s", name)
		}
	}
}

// answerWith returns the reference to the schema of an operation's answer with a status, empty if there is none.
func answerWith(op operation, status string) string {
	return scalarAt(get(op.node, "responses", status, "content", "application/json", "schema"), "$ref")
}

// deprecation checks that a deprecated operation gives enough notice and a link.
func (l *linter) deprecation(op operation) {
	if scalarAt(op.node, "deprecated") != "true" {
		return
	}
	at, err1 := time.Parse(time.DateOnly, scalarAt(op.node, "x-deprecated-at"))
	sunset, err2 := time.Parse(time.DateOnly, scalarAt(op.node, "x-sunset-at"))
	switch {
	case err1 != nil || err2 != nil:
		l.fail("deprecated needs x-deprecated-at and x-sunset-at as YYYY-MM-DD")
	case sunset.Sub(at) < minimumNotice:
		l.fail("the sunset must be at least 183 days after the deprecation")
	}
	if !strings.HasPrefix(scalarAt(op.node, "x-deprecation-link"), "https://") {
		l.fail("deprecated needs x-deprecation-link, an https address")
	}
}

// schema checks that names are in snake_case, and that every schema and resource is described.
func (l *linter) schema(schema *yaml.Node) {
	if scalarAt(schema, "description") == "" {
		l.fail("needs a description: it is the type's documentation in the SDK")
	}
	if scalarAt(schema, "type") == "object" && get(schema, "properties", "object") == nil && scalarAt(schema, "x-no-object") != "true" {
		l.fail("needs a property object, or x-no-object if it is no resource")
	}
	walk(schema, func(n *yaml.Node) {
		each(get(n, "properties"), func(name string, property *yaml.Node) {
			if !snakeCase.MatchString(name) {
				l.fail("property %s must be snake_case", name)
			}
			if !describes(property) && !slices.Contains(selfExplaining, name) {
				l.fail("property %s needs a description: what it promises, its unit, what null means", name)
			}
		})
	})
}

// describes reports whether a property is described, by itself or by the schema that it refers to.
func describes(property *yaml.Node) bool {
	return scalarAt(property, "description") != "" || get(property, "$ref") != nil || len(nodes(get(property, "allOf"))) > 0
}
