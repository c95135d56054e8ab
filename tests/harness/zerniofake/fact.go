package zerniofake

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed facts.txt
var facts string

// Call is one call of the table.
type Call struct {
	Method, Path string
	status       int
	facts        map[string]map[string]*fact // by part, which is path, query, header, body or answer, and by name
}

// fact is a parameter or a property.
type fact struct {
	kind     string // of JSON; open for an object with any keys, any for a value of any kind
	required bool
	least    *float64
	most     *float64
	length   int
	values   []string
}

// String names the call.
func (c *Call) String() string { return c.Method + " " + c.Path }

// Calls returns the table.
var Calls = sync.OnceValue(func() []*Call {
	var all []*Call
	for line := range strings.Lines(facts) {
		cell := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if cell[0] == "call" {
			status, _ := strconv.Atoi(cell[3])
			all = append(all, &Call{Method: cell[1], Path: cell[2], status: status, facts: map[string]map[string]*fact{}})
			continue
		}
		cell = append(cell, make([]string, 8-len(cell))...)
		f := &fact{kind: cell[2], required: cell[3] == "required", least: figure(cell[4]), most: figure(cell[5])}
		f.length, _ = strconv.Atoi(cell[6])
		if cell[7] != "" {
			f.values = strings.Split(cell[7], ",")
		}
		part := all[len(all)-1].facts
		if part[cell[0]] == nil {
			part[cell[0]] = map[string]*fact{}
		}
		part[cell[0]][cell[1]] = f
	}
	// The days of an ad are in the words about the ads of an ad set alone, not in their properties. They are like those of an ad set.
	for _, c := range all {
		for name, f := range maps.Clone(c.facts["answer"]) {
			if rest, is := strings.CutPrefix(name, "campaigns[].adSets[].daily"); is {
				c.facts["answer"]["campaigns[].adSets[].ads[].daily"+rest] = f
			}
		}
	}
	return all
})

func figure(text string) *float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &n
}

// CallOf returns the call that a request is, nil if there is none.
func CallOf(r *http.Request) *Call {
	segments := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), Prefix), "/")
	var found *Call
	for _, c := range Calls() {
		template := strings.Split(c.Path, "/")
		same := func(a, b string) bool { return a == b || strings.HasPrefix(a, "{") && b != "" }
		if c.Method == r.Method && slices.EqualFunc(template, segments, same) && (found == nil || strings.Count(c.Path, "{") < strings.Count(found.Path, "{")) {
			found = c
		}
	}
	return found
}

// Names returns every name of a part of the call.
func (c *Call) Names(part string) []string {
	var names []string
	for name := range c.facts[part] {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// HasValues reports whether the table lists the values of a name.
func (c *Call) HasValues(part, name string) bool {
	f := c.facts[part][name]
	return f != nil && len(f.values) > 0
}

// checkRequest returns what the table does not allow in a request.
func (c *Call) checkRequest(r *http.Request, body []byte) *refusal {
	for name, values := range r.URL.Query() {
		f := c.facts["query"][name]
		switch {
		case f == nil:
			return invalid(name, "Unknown parameter %q.", name)
		case len(values) > 1:
			return invalid(name, "%q comes %d times.", name, len(values))
		}
		if err := f.checkText(name, values[0]); err != nil {
			return err
		}
	}
	for name, f := range c.facts["query"] {
		if f.required && r.URL.Query().Get(name) == "" {
			return invalid(name, "%s is required.", name)
		}
	}
	if r.Header.Get("Idempotency-Key") != "" && c.facts["header"]["Idempotency-Key"] == nil {
		return invalid("Idempotency-Key", "There is no key here.")
	}
	if len(body) == 0 {
		if len(c.facts["body"]) > 0 {
			return invalid("", "The body is required.")
		}
		return nil
	}
	if len(c.facts["body"]) == 0 {
		return invalid("", "There is no body here.")
	}
	if r.Header.Get("Content-Type") != "application/json" {
		return invalid("", "The body must be JSON.")
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return invalid("", "The body is no JSON.")
	}
	return c.check("body", "", value)
}

// checkText checks a parameter.
func (f *fact) checkText(name, text string) *refusal {
	switch f.kind {
	case "integer", "number":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return invalid(name, "%s must be a number.", name)
		}
		return f.checkValue(name, n)
	case "boolean":
		if text != "true" && text != "false" {
			return invalid(name, "%s must be true or false.", name)
		}
		return nil
	}
	return f.checkValue(name, text)
}

// checkValue checks the bounds and the values of something.
func (f *fact) checkValue(name string, value any) *refusal {
	n, isNumber := value.(float64)
	text, isText := value.(string)
	list, _ := value.([]any)
	switch {
	case isNumber && (f.least != nil && n < *f.least || f.most != nil && n > *f.most):
		return invalid(name, "%s is out of range.", name)
	case isText && f.length > 0 && utf8.RuneCountInString(text) > f.length, f.length > 0 && len(list) > f.length:
		return invalid(name, "%s is too long.", name)
	case len(f.values) > 0 && (isText || isNumber) && !slices.Contains(f.values, strings.TrimSuffix(fmt.Sprint(value), ".0")):
		return invalid(name, "%s must be one of %s.", name, strings.Join(f.values, ", "))
	}
	return nil
}

// check checks a value with all that is in it. The names in a body and in an answer are all in the table.
func (c *Call) check(part, name string, value any) *refusal {
	if f := c.facts[part][name]; f != nil {
		if !f.is(value) {
			return invalid(name, "%s must be %s, not %T.", name, f.kind, value)
		}
		if err := f.checkValue(name, value); err != nil || f.kind == "open" || value == nil {
			return err
		}
	}
	switch value := value.(type) {
	case map[string]any:
		prefix := strings.TrimPrefix(name+".", ".")
		for key, inner := range value {
			if c.facts[part][prefix+key] == nil {
				return invalid(prefix+key, "Unknown field %q.", prefix+key)
			}
			if err := c.check(part, prefix+key, inner); err != nil {
				return err
			}
		}
		for key, f := range c.facts[part] {
			if inner, below := strings.CutPrefix(key, prefix); below && f.required && !strings.ContainsAny(inner, ".[") && value[inner] == nil {
				return invalid(key, "%s is required.", key)
			}
		}
	case []any:
		for _, item := range value {
			if err := c.check(part, name+"[]", item); err != nil {
				return err
			}
		}
	}
	return nil
}

// is reports whether a value is of the kind.
func (f *fact) is(value any) bool {
	kind := "null"
	switch n := value.(type) {
	case string:
		kind = "string"
	case bool:
		kind = "boolean"
	case []any:
		kind = "array"
	case map[string]any:
		kind = "object"
	case float64:
		if kind = "number"; n == float64(int64(n)) {
			kind = "integer"
		}
	}
	return kind == "null" || f.kind == "any" || f.kind == kind || f.kind == "open" && kind == "object" || f.kind == "number" && kind == "integer"
}
