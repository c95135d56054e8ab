package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/core"
)

// parameterRefusal returns the error of a wrong parameter, which is always a 400. For a filter such as metadata[key] it names
// the key.
func parameterRefusal(p *parameter, err error) error {
	if errors.Is(err, openapi3filter.ErrInvalidRequired) {
		return &core.Error{Code: core.CodeParameterMissing, Param: p.Name, Message: "Missing required parameter: " + p.Name + "."}
	}
	name, schema := p.Name, p.Schema.Value
	var inner *openapi3.SchemaError
	if errors.As(err, &inner) && p.prefix != "" && len(inner.JSONPointer()) == 1 {
		name, schema = p.prefix+shorten(inner.JSONPointer()[0], maxQuoted)+"]", inner.Schema
	}
	if inner != nil && inner.SchemaField == "maxProperties" {
		return &core.Error{Code: core.CodeBadRequest, Param: name, Message: name + " " + requirement(inner) + "."}
	}
	return &core.Error{Code: core.CodeBadRequest, Param: name, Message: name + " must be " + describe(schema) + "."}
}

// CheckBody returns an error that says what is wrong with a body of a schema, in the words of an answer. It is for one item of a
// request, and for bodies that come otherwise than by a request.
func CheckBody(schema *openapi3.Schema, body map[string]any) error {
	if err := schema.VisitJSON(body, slices.Concat(schemaOptions(), []openapi3.SchemaValidationOption{openapi3.MultiErrors()})...); err != nil {
		return bodyRefusal(err)
	}
	return nil
}

// CheckJSON returns an error that says why data is not the strict JSON that a body is, by the field at fault. It is for bodies
// that come otherwise than by a request.
func CheckJSON(data []byte) *core.Error {
	fault := checkJSON(data, jsonLimits{})
	if fault == nil {
		return nil
	}
	return core.Invalid(cmp.Or(fault.param(), "base"), fault.message)
}

// bodyRefusal turns everything that is wrong with a body into one error. First comes what makes it unreadable, as a 400: a
// missing field, then an unknown one, then one of a wrong type. If only values are unacceptable, they are reported together in
// a 422, for at most a hundred fields. A body may have an error for each of its values, so little is done for each.
func bodyRefusal(err error) error {
	var r refusals
	r.addErrors(err)
	switch {
	case r.missing != nil:
		return r.missing
	case r.unknown != nil:
		return r.unknown
	case r.mistyped != nil:
		return r.mistyped
	case r.problems != nil:
		return r.unacceptable()
	}
	return &core.Error{Code: core.CodeBadRequest, Message: "The body does not match what this operation takes."}
}

// refusals collects the errors of a body: the first of each kind of 400, and the first fields of a 422.
type refusals struct {
	missing, unknown, mistyped *core.Error
	problems                   core.Problems
}

// addErrors visits an error of the validator, and adds every schema error in it.
func (r *refusals) addErrors(err error) {
	switch e := err.(type) { //nolint:errorlint // a tree of the validator that is walked node by node
	case openapi3.MultiError:
		for _, inner := range e {
			r.addErrors(inner)
		}
	case *openapi3.SchemaError:
		switch meant := meantAlternative(e); {
		case e.SchemaField == "allOf" && e.Origin != nil:
			r.addErrors(e.Origin)
		case meant != nil:
			r.addErrors(meant)
		default:
			r.add(e)
		}
	default:
		if inner := errors.Unwrap(err); inner != nil {
			r.addErrors(inner)
		}
	}
}

// meantAlternative returns what is wrong with the one alternative of a oneOf that takes values of this type. It is nil if there
// is no such alternative, or several.
func meantAlternative(e *openapi3.SchemaError) error {
	if e.SchemaField != "oneOf" || e.Origin == nil {
		return nil
	}
	var alternatives openapi3.MultiError
	if nested, ok := errors.Unwrap(e.Origin).(interface{ Unwrap() error }); !ok || !errors.As(nested.Unwrap(), &alternatives) {
		return nil
	}
	depth := len(e.JSONPointer())
	var meant error
	for _, alternative := range alternatives {
		var inner *openapi3.SchemaError
		if errors.As(alternative, &inner) && inner.SchemaField == "type" && len(inner.JSONPointer()) == depth {
			continue // another type
		}
		if meant != nil {
			return nil
		}
		meant = alternative
	}
	return meant
}

// add sorts one error of the validator into its kind.
func (r *refusals) add(e *openapi3.SchemaError) {
	_, isText := e.Value.(string)
	switch field, lacks := e.SchemaField, missing(e); {
	case field == "required" || lacks != "":
		keepFirst(&r.missing, func() *core.Error {
			path := join(pathOf(e), lacks)
			return &core.Error{Code: core.CodeParameterMissing, Param: path, Message: "Missing required parameter: " + path + "." + wrapperHint(e)}
		})
	case field == "properties":
		keepFirst(&r.unknown, func() *core.Error {
			path := join(pathOf(e), unknownField(e))
			return &core.Error{Code: core.CodeBadRequest, Param: path, Message: "Unknown field " + quote(path) + "." + wrapperHint(e)}
		})
	case field == "readOnly":
		keepFirst(&r.unknown, func() *core.Error {
			path := pathOf(e)
			return &core.Error{Code: core.CodeBadRequest, Param: path, Message: path + " cannot be set. Leave it out."}
		})
	case slices.Contains([]string{"type", "nullable", "oneOf", "anyOf", "not", "discriminator"}, field),
		field == "enum" && (e.Value == nil || e.Schema.Type.Is(openapi3.TypeString) && !isText):
		keepFirst(&r.mistyped, func() *core.Error {
			path := pathOf(e)
			return &core.Error{Code: core.CodeBadRequest, Param: path, Message: subject(path) + " must be " + describe(e.Schema) + "."}
		})
	case len(r.problems) < maxFields:
		if path := pathOf(e); len(r.problems[path]) < maxMessages {
			r.problems.Add(path, requirement(e))
		}
	}
}

// maxMessages is how many messages an error has about one field. Long names that begin alike count as one field.
const maxMessages = 10

// pathOf returns the path of the value at fault. Names that the client made up are shortened.
func pathOf(e *openapi3.SchemaError) string {
	parts := e.JSONPointer()
	for i, part := range parts {
		parts[i] = shorten(part, maxQuoted)
	}
	return shorten(strings.Join(parts, "."), maxQuoted)
}

// missing returns the first field that an object lacks although `required` does not name it. There is an anyOf whose alternatives
// only name fields, or an object of optional fields that must not be empty. It is "" if something else is wrong.
func missing(e *openapi3.SchemaError) string {
	object, ok := e.Value.(map[string]any)
	if expected, _ := e.Schema.Extensions["x-expects"].(string); ok && expected != "" && e.SchemaField == "minProperties" {
		return expected
	}
	if !ok || e.SchemaField != "anyOf" {
		return ""
	}
	for _, field := range append(slices.Clone(e.Schema.Required), e.Schema.AnyOf[0].Value.Required...) {
		if _, sent := object[field]; !sent {
			return field
		}
	}
	return ""
}

// unacceptable returns the 422 about all the fields. Its param is the first of them.
func (r *refusals) unacceptable() error {
	fields := make([]string, 0, len(r.problems))
	for field := range r.problems {
		fields = append(fields, field)
	}
	sort.Strings(fields)
	first := fields[0]
	return &core.Error{Code: core.CodeInvalid, Param: first, Message: first + " " + r.problems[first][0] + ".", Fields: r.problems}
}

// keepFirst makes an error only if it is the first of its kind. Making one takes as long as reading the object that it is about.
func keepFirst(kept **core.Error, e func() *core.Error) {
	if *kept == nil {
		*kept = e()
	}
}

// unknownField returns the first field of the value that its schema does not have.
func unknownField(e *openapi3.SchemaError) string {
	object, _ := e.Value.(map[string]any)
	first, found := "", false
	for name := range object {
		if e.Schema.Properties[name] == nil && (!found || name < first) {
			first, found = name, true
		}
	}
	return first
}

// wrapperHint recognises {"product": {...}}, the most common cause of a missing field: the object is inside another one that is
// not expected. It returns a sentence about that, empty if that is not it.
func wrapperHint(e *openapi3.SchemaError) string {
	object, _ := e.Value.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		inner, _ := object[name].(map[string]any)
		for field := range inner {
			if e.Schema.Properties[name] == nil && e.Schema.Properties[field] != nil {
				return " Send the fields at the top level of the body, not inside of " + quote(name) + "."
			}
		}
	}
	return ""
}

// requirement returns what a value of the right type should have been, as the end of a sentence that begins with the field's
// name.
func requirement(e *openapi3.SchemaError) string {
	s := e.Schema
	switch e.SchemaField {
	case "minLength":
		return fmt.Sprintf("must have at least %s", count(s.MinLength, "character"))
	case "maxLength":
		return fmt.Sprintf("must have at most %s", count(*s.MaxLength, "character"))
	case "minItems":
		return fmt.Sprintf("must have at least %s", count(s.MinItems, "item"))
	case "maxItems":
		return fmt.Sprintf("must have at most %s", count(*s.MaxItems, "item"))
	case "minProperties":
		return fmt.Sprintf("must have at least %s", count(s.MinProps, "key"))
	case "maxProperties":
		return fmt.Sprintf("must have at most %s", count(*s.MaxProps, "key"))
	case "uniqueItems":
		return "must not have the same item twice"
	}
	return "must be " + describe(s)
}

func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// describe says in words what a schema takes, with an example if it has one.
func describe(s *openapi3.Schema) string {
	text := describeType(s)
	if example, err := json.Marshal(s.Example); s.Example != nil && err == nil {
		text += ", e.g. " + string(example)
	}
	if s.Description != "" && len(s.Description) <= 60 {
		text += ": " + strings.TrimSuffix(uncapitalized(s.Description), ".")
	}
	return text
}

// uncapitalized returns a sentence as the end of another one, with a small first letter. A name such as ISO 3166 stays as it
// is.
func uncapitalized(text string) string {
	if len(text) < 2 || text[1] >= 'A' && text[1] <= 'Z' {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// describeType is describe without the example.
func describeType(s *openapi3.Schema) string {
	allowed := strings.Join(enumTexts(s), ", ")
	switch {
	case len(s.OneOf) > 0:
		var texts []string
		for _, alternative := range s.OneOf {
			texts = append(texts, describeType(alternative.Value))
		}
		return strings.Join(texts, " or ")
	case s.Type.Is(openapi3.TypeArray) && allowed != "":
		return "a list of: " + allowed
	case allowed != "":
		return "one of: " + allowed
	case len(s.AllOf) == 1:
		return describeType(s.AllOf[0].Value)
	case s.Type.Is(openapi3.TypeInteger):
		return "an integer" + bounds(s)
	case s.Type.Is(openapi3.TypeNumber):
		return "a number" + bounds(s)
	case s.Type.Is(openapi3.TypeBoolean):
		return "true or false"
	case s.Type.Is(openapi3.TypeArray):
		return "an array"
	case s.Type.Is(openapi3.TypeObject):
		return "an object"
	}
	return describeText(s)
}

// describeText describes a schema of texts: its pattern, format or length.
func describeText(s *openapi3.Schema) string {
	switch {
	case s.Format == "date-time":
		return "an RFC 3339 timestamp such as 2026-01-31T12:00:00Z"
	case s.Format == "date":
		return "a date, YYYY-MM-DD"
	case s.Format != "":
		return "a valid " + s.Format
	case s.Pattern != "":
		return wire.PatternWords(s.Pattern)
	case s.MinLength > 0 && s.MaxLength != nil:
		return fmt.Sprintf("text of %d to %s", s.MinLength, count(*s.MaxLength, "character"))
	case s.MaxLength != nil:
		return "text of at most " + count(*s.MaxLength, "character")
	case s.Type.Is(openapi3.TypeString):
		return "text"
	}
	return "what the API reference says"
}

func bounds(s *openapi3.Schema) string {
	switch {
	case s.Min != nil && s.Max != nil:
		return fmt.Sprintf(" from %.15g to %.15g", *s.Min, *s.Max)
	case s.Min != nil:
		return fmt.Sprintf(" of at least %.15g", *s.Min)
	case s.Max != nil:
		return fmt.Sprintf(" of at most %.15g", *s.Max)
	}
	return ""
}

// subject returns the beginning of a sentence about the value at a path.
func subject(path string) string {
	if path == "" {
		return "The body"
	}
	return path
}

func join(prefix, path string) string {
	if prefix == "" || path == "" {
		return prefix + path
	}
	return prefix + "." + path
}

// maxQuoted is how many characters of a client's own word an error repeats.
const maxQuoted = 100

// quote returns a client's own word in quotes, shortened if it is long.
func quote(s string) string { return `"` + shorten(s, maxQuoted) + `"` }

// shorten cuts a text after limit characters, and puts an ellipsis in the place of the rest.
func shorten(s string, limit int) string {
	characters := 0
	for i := range s {
		if characters == limit {
			return s[:i] + "…"
		}
		characters++
	}
	return s
}
