package export

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// column is one of a file: where the fields of a type lead to it.
type column struct {
	name string
	path []int
}

func names(columns []column) []string {
	all := make([]string, len(columns))
	for i := range columns {
		all[i] = columns[i].name
	}
	return all
}

// columnsOf returns a column for each field of an object of the API, in their order. A field that is an object itself has a column for
// each of its fields. Hidden fields have no column. Nor has the field object: the file's name says the type.
func columnsOf[W any](hidden []string) []column {
	return fields(reflect.TypeFor[W](), "", nil, append(hidden, "object"))
}

func fields(of reflect.Type, prefix string, path []int, hidden []string) (columns []column) {
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if name == "-" || slices.Contains(hidden, name) {
			continue
		}
		at, kind := append(slices.Clone(path), i), of.Field(i).Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if kind.Kind() == reflect.Struct && !kind.Implements(reflect.TypeFor[json.Marshaler]()) {
			columns = append(columns, fields(kind, prefix+name+".", at, nil)...)
			continue
		}
		columns = append(columns, column{prefix + name, at})
	}
	return columns
}

// cells returns an object as a row.
func cells(columns []column, object any) []string {
	row := make([]string, len(columns))
	for i, c := range columns {
		row[i] = cell(value(reflect.ValueOf(object), c.path))
	}
	return row
}

// value returns what a path leads to, or an invalid value behind null.
func value(object reflect.Value, path []int) reflect.Value {
	for _, i := range path {
		if object.Kind() == reflect.Pointer {
			if object.IsNil() {
				return reflect.Value{}
			}
			object = object.Elem()
		}
		object = object.Field(i)
	}
	if object.Kind() == reflect.Pointer || object.Kind() == reflect.Interface {
		return object.Elem()
	}
	return object
}

// cell writes a value: null as nothing, texts and numbers as they are, and what has several parts as JSON.
func cell(v reflect.Value) string {
	if !v.IsValid() {
		return ""
	}
	switch one := v.Interface().(type) {
	case json.Number:
		return one.String()
	case json.RawMessage:
		return written(string(one))
	}
	switch v.Kind() {
	case reflect.String:
		return Harmless(v.String())
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Slice, reflect.Map, reflect.Struct:
		text, err := json.Marshal(v.Interface())
		if err != nil {
			panic(fmt.Sprintf("export: %s: %v", v.Type(), err)) // no field of the API is one that JSON cannot write
		}
		return written(string(text))
	}
	panic("export: no cell for a " + v.Type().String())
}

// written returns JSON as a cell. Null and what has no parts is nothing.
func written(text string) string {
	switch text {
	case "null", "[]", "{}":
		return ""
	}
	return text
}

// blankLetters count as letters or symbols but show nothing: the fillers of Hangul, and Braille without a dot.
const blankLetters = "\u115f\u1160\u3164\uffa0\u2800"

// Harmless puts an apostrophe in front of a cell that a spreadsheet program would run as a formula, which makes it text. Other
// people wrote these cells. White space, marks and invisible characters in front of the first sign do not count, because some
// programs drop them.
func Harmless(cell string) string {
	seen := strings.TrimLeftFunc(cell, func(r rune) bool {
		return r == ' ' || !unicode.IsPrint(r) || unicode.IsMark(r) || strings.ContainsRune(blankLetters, r)
	})
	for _, sign := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠"} {
		if strings.HasPrefix(seen, sign) {
			return "'" + cell
		}
	}
	if cell != "" && strings.Contains("\t\r\n", cell[:1]) { // which may end the cell, and begin another
		return "'" + cell
	}
	return cell
}
