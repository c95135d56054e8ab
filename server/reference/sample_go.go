package reference

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"reflect"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/sdk"
)

// client is the SDK's, of which nothing is called: its methods say what they take.
var client = reflect.ValueOf(sdk.New("")).Elem()

// goSample returns the operation through the SDK. It is written from the types of the method that the document names, so it compiles.
func (r *Reference) goSample(op *operation) (string, error) {
	service := client.FieldByName(op.Tags[0])
	if !service.IsValid() {
		return "", errors.New("the SDK has no service " + op.Tags[0])
	}
	method := service.MethodByName(op.SDK)
	if !method.IsValid() {
		return "", errors.New("the SDK has no method " + op.SDK)
	}
	arguments, err := op.arguments(method.Type())
	if err != nil {
		return "", err
	}
	key := `os.Getenv("TILLWRIGHT_API_KEY")`
	if op.Public && op.Tags[0] == "PublicCheckouts" {
		key = `""`
	}
	code := "client := sdk.New(" + key + ", sdk.WithBaseURL(" + quoted(r.address+"/v1") + "))\n" +
		"answer, err := client." + op.Tags[0] + "." + op.SDK + "(" + strings.Join(append([]string{"ctx"}, arguments...), ", ") + ")\n" +
		"if err != nil {\nlog.Fatal(err)\n}\nfmt.Println(answer)"
	formatted, err := format.Source([]byte(code))
	return string(formatted), err
}

// arguments returns what a method takes besides its context and options: ids, and a struct of the body or the query.
func (o *operation) arguments(method reflect.Type) ([]string, error) {
	var ids []any
	for _, p := range o.inPath() {
		ids = append(ids, p.Example)
	}
	var all []string
	for i := 1; i < method.NumIn()-1; i++ {
		in := method.In(i)
		if in.Kind() == reflect.String && len(ids) > 0 {
			all = append(all, quoted(fmt.Sprint(ids[0])))
			ids = ids[1:]
			continue
		}
		if in.Kind() != reflect.Pointer {
			return nil, fmt.Errorf("an argument is %s", in)
		}
		example := o.body()
		if example == nil {
			example = o.query()
		}
		value := reflect.New(in.Elem())
		if err := json.Unmarshal(example, value.Interface()); err != nil {
			return nil, err
		}
		all = append(all, literal(value, true))
	}
	return all, nil
}

// inPath returns the parameters of the path in their order.
func (o *operation) inPath() []parameter {
	var all []parameter
	for _, p := range o.Parameters {
		if p.In == "path" {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b parameter) int {
		return strings.Index(o.Path, "{"+a.Name+"}") - strings.Index(o.Path, "{"+b.Name+"}")
	})
	return all
}

// query returns examples of the parameters that the query must have.
func (o *operation) query() json.RawMessage {
	values := map[string]any{}
	for _, p := range o.Parameters {
		if p.In == "query" && p.Required {
			values[p.Name] = p.Example
		}
	}
	written, _ := json.Marshal(values) // of what was read from JSON
	return written
}

// literal writes a value in Go. If typed is false, the place where it stands says of which type it is.
func literal(v reflect.Value, typed bool) string {
	name := typeName(v.Type())
	switch v.Kind() {
	case reflect.Pointer:
		if v.Elem().Kind() == reflect.Struct {
			return "&" + literal(v.Elem(), true)
		}
		return "new(" + literal(v.Elem(), true) + ")"
	case reflect.Struct:
		return fields(v, name)
	case reflect.Slice:
		return items(v, name)
	case reflect.Map:
		return pairs(v, name)
	case reflect.String:
		if typed && name != "string" {
			return name + "(" + quoted(v.String()) + ")"
		}
		return quoted(v.String())
	case reflect.Bool:
		return fmt.Sprint(v.Bool())
	}
	if typed && name != "int" {
		return fmt.Sprintf("%s(%v)", name, v.Interface())
	}
	return fmt.Sprint(v.Interface())
}

func fields(v reflect.Value, name string) string {
	s := name + "{"
	for i := range v.NumField() {
		if field := v.Field(i); !field.IsZero() {
			s += "\n" + v.Type().Field(i).Name + ": " + literal(field, false) + ","
		}
	}
	if s == name+"{" {
		return s + "}"
	}
	return s + "\n}"
}

func items(v reflect.Value, name string) string {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return name + "(`" + string(v.Bytes()) + "`)"
	}
	var all []string
	apart := false
	for i := range v.Len() {
		item := literal(v.Index(i), false)
		apart = apart || strings.Contains(item, "\n")
		all = append(all, item)
	}
	if apart {
		return name + "{\n" + strings.Join(all, ",\n") + ",\n}"
	}
	return name + "{" + strings.Join(all, ", ") + "}"
}

// pairs writes a map, and what may be null by the SDK's functions for that.
func pairs(v reflect.Value, name string) string {
	if strings.HasPrefix(name, "nullable.") {
		if value := v.MapIndex(reflect.ValueOf(true)); value.IsValid() {
			return "sdk.Set(" + literal(value, true) + ")"
		}
		return "sdk.Null[" + typeName(v.Type().Elem()) + "]()"
	}
	var all []string
	for _, key := range v.MapKeys() {
		all = append(all, "\n"+literal(key, false)+": "+literal(v.MapIndex(key), false)+",")
	}
	slices.Sort(all)
	if all == nil {
		return name + "{}"
	}
	return name + "{" + strings.Join(all, "") + "\n}"
}

// typeName returns a type as a program that imports the SDK writes it.
func typeName(t reflect.Type) string {
	return strings.NewReplacer("wire.", "sdk.", "interface {}", "any").Replace(t.String())
}
