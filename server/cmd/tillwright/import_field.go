package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/tillwright/tillwright/gen/spec"
	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/store/core"
)

// importFields are the fields that the API takes of what a file holds.
type importFields struct{ create, update *openapi3.Schema }

// requestDocument is the document of what requests may be.
var requestDocument = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(spec.Requests) })

func readImportFields(kind importKind) (*importFields, error) {
	document, err := requestDocument()
	if err != nil {
		return nil, fmt.Errorf("read the API document: %w", err)
	}
	return &importFields{document.Components.Schemas[kind.create].Value, document.Components.Schemas[kind.update].Value}, nil
}

// check returns an error for a column that the API does not have.
func (f *importFields) check(column string) error {
	if column == reasonColumn || f.leaf(column) != nil {
		return nil
	}
	return fmt.Errorf("there is no field %q: rename the column or take it out. The fields are %s", column, strings.Join(slices.Sorted(maps.Keys(f.create.Properties)), ", "))
}

// leaf returns the schema of what a column holds, such as billing_address.country or price_variants.0.amount, or nil.
func (f *importFields) leaf(column string) *openapi3.Schema {
	schema := f.create
	for step := range strings.SplitSeq(column, ".") {
		var next *openapi3.SchemaRef
		switch {
		case schema.Items != nil && isIndex(step):
			next = schema.Items
		case schema.Properties[step] != nil:
			next = schema.Properties[step]
		case schema.AdditionalProperties.Schema != nil && step != "":
			next = schema.AdditionalProperties.Schema
		default:
			return nil
		}
		schema = typed(next.Value)
	}
	return schema
}

// typed returns the schema that says what the values of another one are. A schema that adds something to another, or null, has its fields from
// there.
func typed(schema *openapi3.Schema) *openapi3.Schema {
	for _, ref := range slices.Concat(schema.AllOf, schema.AnyOf, schema.OneOf) {
		if one := typed(ref.Value); one.Type != nil {
			return one
		}
	}
	return schema
}

// isIndex reports whether a step of a column is a position in a list, of which there are a hundred.
func isIndex(step string) bool {
	n, err := strconv.Atoi(step)
	return err == nil && n >= 0 && n < 100 && strconv.Itoa(n) == step
}

// object makes an object of the cells of a row. An empty cell is not there.
func (f *importFields) object(header, cells []string) (map[string]any, error) {
	object := map[string]any{}
	var p core.Problems
	for i, column := range header {
		cell := strings.TrimSpace(cells[i])
		if cell == "" || column == reasonColumn {
			continue
		}
		value, problem := valueOf(f.leaf(column), cell)
		if problem != "" {
			p.Add(column, problem)
			continue
		}
		place(object, strings.Split(column, "."), value)
	}
	return listed(object).(map[string]any), p.Err()
}

// valueOf reads a cell as what its schema says that it is, or returns what to send instead.
func valueOf(schema *openapi3.Schema, cell string) (value any, problem string) {
	switch {
	case schema.Type.Is("integer"):
		n, err := strconv.ParseInt(cell, 10, 64)
		if err != nil {
			return nil, "Send a whole number."
		}
		return float64(n), ""
	case schema.Type.Is("boolean"):
		switch strings.ToLower(cell) {
		case "true":
			return true, ""
		case "false":
			return false, ""
		}
		return nil, "Send true or false."
	case schema.Type.Is("array") && !strings.HasPrefix(cell, "["):
		var list []any
		for one := range strings.SplitSeq(cell, ",") {
			if one = strings.TrimSpace(one); one != "" {
				list = append(list, one)
			}
		}
		return list, ""
	case schema.Type.Is("array"), schema.Type.Is("object"):
		if json.Unmarshal([]byte(cell), &value) != nil {
			return nil, "Send JSON."
		}
		if refusal := server.CheckJSON([]byte(cell)); refusal != nil {
			return nil, refusal.Message
		}
		return value, ""
	}
	return cell, ""
}

// place puts a value into an object, whose lists are objects by position until listed has seen them.
func place(object map[string]any, path []string, value any) {
	for _, step := range path[:len(path)-1] {
		inner, ok := object[step].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[step] = inner
		}
		object = inner
	}
	object[path[len(path)-1]] = value
}

// listed makes lists of objects whose names are positions.
func listed(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	positions := len(object) > 0
	for name, inner := range object {
		object[name] = listed(inner)
		positions = positions && isIndex(name)
	}
	if !positions {
		return object
	}
	names := slices.SortedFunc(maps.Keys(object), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	list := make([]any, 0, len(names))
	for _, name := range names {
		list = append(list, object[name])
	}
	return list
}

// bodiesOfLine is bodies of a line of JSON.
func (f *importFields) bodiesOfLine(line []byte) (b importBody, err error) {
	if !isObject(line) {
		return b, core.Invalid("base", `The line is not one object in JSON. Send an object in each line, with the fields by their names, such as {"name": "Ada"}.`)
	}
	if refusal := server.CheckJSON(line); refusal != nil {
		return b, refusal
	}
	var object map[string]any
	if err := json.Unmarshal(line, &object); err != nil {
		return b, fmt.Errorf("read a line: %w", err)
	}
	delete(object, reasonColumn)
	return f.bodies(object)
}

// bodies returns an object as the API takes it for a new one and for a change, or what the API says of it.
func (f *importFields) bodies(object map[string]any) (b importBody, err error) {
	if err := server.CheckBody(f.create, object); err != nil {
		return b, err
	}
	change := maps.Clone(object)
	maps.DeleteFunc(change, func(name string, _ any) bool { return f.update.Properties[name] == nil })
	if b.create, err = json.Marshal(object); err != nil {
		return b, err
	}
	if refusal := server.CheckJSON(b.create); refusal != nil { // a cell may hold what no request may
		return b, refusal
	}
	b.update, err = json.Marshal(change)
	return b, err
}
