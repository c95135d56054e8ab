package core

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// JSON is a column of JSON text whose value is V. NULL reads as the zero value of T. A nil pointer is stored as NULL, a nil
// slice as [] and a nil map as {}.
type JSON[T any] struct{ V T }

// JSONOf wraps a value.
func JSONOf[T any](v T) JSON[T] { return JSON[T]{V: v} }

// MarshalJSON writes the value itself, as it is stored.
func (j JSON[T]) MarshalJSON() ([]byte, error) {
	if text := j.empty(); text != "" {
		return []byte(text), nil
	}
	return json.Marshal(j.V)
}

// empty returns the JSON text of a V that holds nothing (null, [] or {}), and "" for any other.
func (j *JSON[T]) empty() string {
	switch v := reflect.ValueOf(&j.V).Elem(); {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return "null"
	case v.Kind() == reflect.Slice && v.Len() == 0:
		return "[]"
	case v.Kind() == reflect.Map && v.Len() == 0:
		return "{}"
	}
	return ""
}

// Scan reads a text column.
func (j *JSON[T]) Scan(src any) error {
	var zero T
	j.V = zero
	switch text := src.(type) {
	case nil:
		return nil
	case string:
		return j.decode(text)
	case []byte:
		return j.decode(string(text))
	default:
		return fmt.Errorf("scan JSON column: unexpected %T", src)
	}
}

// decode reads JSON text into V, and takes a short cut for the texts that occur most.
func (j *JSON[T]) decode(text string) error {
	if isEmptyText(text) {
		return nil
	}
	if list, ok := any(&j.V).(*[]string); ok && plainList(text) { // ["a","b"] without the outer brackets and quotes
		*list = strings.Split(text[2:len(text)-2], `","`)
		return nil
	}
	return json.Unmarshal([]byte(text), &j.V)
}

// plainList reports whether text is a JSON array of plain strings such as ids, which can be read by splitting it. Most lists
// are, and a page has dozens of them. It knows only the form that json.Marshal writes.
func plainList(text string) bool {
	if !strings.HasPrefix(text, `["`) || !strings.HasSuffix(text, `"]`) || len(text) < 4 {
		return false
	}
	for i := range len(text) {
		if c := text[i]; c != '_' && c != '"' && c != ',' && c != '[' && c != ']' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return !strings.ContainsAny(text[1:len(text)-1], "[]")
}

// isEmptyText reports whether text is an empty array or object. Most are, and need no decoder.
func isEmptyText(text string) bool { return text == "[]" || text == "{}" }

// Value returns the text to be stored. It is never bytes: lib/pq would send those in a binary form that JSON columns refuse.
func (j JSON[T]) Value() (driver.Value, error) {
	switch text := j.empty(); text {
	case "":
		text, err := json.Marshal(j.V)
		return string(text), err
	case "null":
		return nil, nil
	default:
		return text, nil
	}
}

// JSONText returns the JSON text of a value. Two states of a row are compared by it.
func JSONText(v any) string {
	text, err := json.Marshal(v)
	if err != nil { // rows are made of values that have a text
		panic(err)
	}
	return string(text)
}

// SameJSON reports whether two values have the same JSON text.
func SameJSON(a, b any) bool { return JSONText(a) == JSONText(b) }

// Deref returns what p points at, the zero value for nil.
func Deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
