package sdktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/sdk/moment"
)

// findings are what is wrong with a body: the first of each kind of 400, and all that makes a 422.
type findings struct {
	missing, unknown, mistyped *refusal
	problems                   problems
}

// err returns what a body is refused with: what is missing first, then what is unknown, then what has a wrong type.
func (f *findings) err() error {
	for _, r := range []*refusal{f.missing, f.unknown, f.mistyped} {
		if r != nil {
			return r
		}
	}
	return f.problems.err()
}

// checkBody checks a decoded body against its schema. Its integers become int64.
func checkBody(s *schema, value any) (object, error) {
	f := &findings{problems: problems{}}
	checked := f.check(s, value, "")
	if err := f.err(); err != nil {
		return nil, err
	}
	body, _ := checked.(object)
	return body, nil
}

// check checks a value and returns it with its integers as int64.
func (f *findings) check(s *schema, value any, path string) any {
	if len(s.OneOf) > 0 {
		return f.checkAlternatives(s, value, path)
	}
	switch v := value.(type) {
	case nil:
		if !s.Nullable {
			f.wrongType(s, path)
		}
		return nil
	case string:
		if s.Type == "string" {
			f.checkText(s, v, path)
			return v
		}
	case bool:
		if s.Type == "boolean" {
			return v
		}
	case json.Number:
		n, err := strconv.ParseInt(v.String(), 10, 64)
		if s.Type == "integer" && err == nil {
			f.problems.check(s.holds(n), path, "must be "+describe(s))
			return n
		}
	case []any:
		if s.Type == "array" {
			return f.checkList(s, v, path)
		}
	case map[string]any:
		if s.Type == "object" || s.Properties != nil {
			return f.checkObject(s, v, path)
		}
	}
	if s.Type == "" {
		return value
	}
	f.wrongType(s, path)
	return nil
}

// holds reports whether an integer is within the bounds.
func (s *schema) holds(n int64) bool {
	return (s.Minimum == nil || n >= *s.Minimum) && (s.Maximum == nil || n <= *s.Maximum)
}

func (f *findings) wrongType(s *schema, path string) {
	if f.mistyped == nil {
		subject := path
		if path == "" {
			subject = "The body"
		}
		f.mistyped = refuse(http.StatusBadRequest, path, subject+" must be "+describe(s)+".")
	}
}

// checkAlternatives checks a value by the alternative that takes values of its type.
func (f *findings) checkAlternatives(s *schema, value any, path string) any {
	for _, alternative := range s.OneOf {
		try := &findings{problems: problems{}}
		checked := try.check(alternative, value, path)
		if try.mistyped != nil && try.mistyped.Param == path {
			continue // another type
		}
		if f.missing == nil {
			f.missing = try.missing
		}
		if f.unknown == nil {
			f.unknown = try.unknown
		}
		if f.mistyped == nil {
			f.mistyped = try.mistyped
		}
		maps.Copy(f.problems, try.problems)
		return checked
	}
	f.wrongType(s, path)
	return nil
}

func (f *findings) checkText(s *schema, text, path string) {
	length := utf8.RuneCountInString(text)
	f.problems.check(length >= s.MinLength, path, "must have at least "+count(s.MinLength, "character"))
	f.problems.check(s.MaxLength == nil || length <= *s.MaxLength, path, "must have at most "+countTo(s.MaxLength, "character"))
	f.problems.check(s.fits(text), path, "must be "+describe(s))
}

// fits reports whether a text has the pattern, the format and one of the values that the schema asks for.
func (s *schema) fits(text string) bool {
	var err error
	switch s.Format {
	case "date-time":
		_, err = moment.Parse(text)
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	}
	return err == nil && (s.matches == nil || s.matches.MatchString(text)) && (len(s.Enum) == 0 || slices.Contains(s.Enum, any(text)))
}

func (f *findings) checkList(s *schema, list []any, path string) any {
	f.problems.check(len(list) >= s.MinItems, path, "must have at least "+count(s.MinItems, "item"))
	f.problems.check(s.MaxItems == nil || len(list) <= *s.MaxItems, path, "must have at most "+countTo(s.MaxItems, "item"))
	checked := make([]any, len(list))
	for i, item := range list {
		checked[i] = f.check(s.Items, item, join(path, strconv.Itoa(i)))
	}
	return checked
}

func (f *findings) checkObject(s *schema, given map[string]any, path string) any {
	for _, name := range append(slices.Clone(s.Required), s.lacks(given)...) {
		if _, sent := given[name]; !sent && f.missing == nil {
			at := join(path, name)
			f.missing = refuse(http.StatusBadRequest, at, "Missing required parameter: "+at+"."+wrapperHint(s, given))
			f.missing.Code = sdk.CodeParameterMissing
		}
	}
	f.problems.check(s.MaxProperties == nil || len(given) <= *s.MaxProperties, path, "must have at most "+countTo(s.MaxProperties, "key"))
	checked := object{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		at, field := join(path, name), s.Properties[name]
		switch {
		case field != nil:
			checked[name] = f.check(field, given[name], at)
		case s.values != nil:
			checked[name] = f.check(s.values, given[name], at)
		case s.Additional != false:
			checked[name] = given[name]
		case f.unknown == nil:
			f.unknown = refuse(http.StatusBadRequest, at, fmt.Sprintf("Unknown field %q.%s", at, wrapperHint(s, given)))
		}
	}
	return checked
}

// lacks returns fields that an object needs although `required` does not name them. The object must not be empty, or needs one
// group of fields of several.
func (s *schema) lacks(given map[string]any) []string {
	if s.Expects != "" && len(given) < s.MinProperties {
		return []string{s.Expects}
	}
	if len(s.AnyOf) == 0 {
		return nil
	}
	for _, group := range s.AnyOf {
		if !slices.ContainsFunc(group.Required, func(name string) bool { _, sent := given[name]; return !sent }) {
			return nil
		}
	}
	return s.AnyOf[0].Required
}

// wrapperHint recognises {"product": {...}}, and says that the fields go to the top level.
func wrapperHint(s *schema, given map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		inner, _ := given[name].(map[string]any)
		for field := range inner {
			if s.Properties[name] == nil && s.Properties[field] != nil {
				return fmt.Sprintf(" Send the fields at the top level of the body, not inside of %q.", name)
			}
		}
	}
	return ""
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func countTo(n *int, what string) string {
	if n == nil {
		return ""
	}
	return count(*n, what)
}
