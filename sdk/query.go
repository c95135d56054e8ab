package sdk

import (
	"cmp"
	"fmt"
	"net/url"
	"reflect"
	"strings"
)

// encodeQuery turns a pointer to a struct of parameters into a query. Parameters that are nil or zero are left out. A list
// becomes one value with commas, and a map becomes name[key]=value.
func encodeQuery(params any) url.Values {
	query := url.Values{}
	v := reflect.ValueOf(params)
	if !v.IsValid() || v.IsNil() {
		return query
	}
	for field, value := range v.Elem().Fields() {
		if !value.IsZero() {
			addParam(query, paramName(field.Tag), reflect.Indirect(value))
		}
	}
	return query
}

// addParam adds one parameter to a query.
func addParam(query url.Values, name string, value reflect.Value) {
	switch value.Kind() {
	case reflect.Map:
		for key, item := range value.Seq2() {
			query.Set(name+"["+key.String()+"]", item.String())
		}
	case reflect.Slice:
		items := make([]string, value.Len())
		for i := range items {
			items[i] = fmt.Sprint(value.Index(i).Interface())
		}
		query.Set(name, strings.Join(items, ","))
	default:
		query.Set(name, fmt.Sprint(value.Interface()))
	}
}

// paramName returns the name of a parameter: that of the form tag, or else of the json tag. The generator gives deepObject
// parameters no form tag.
func paramName(tag reflect.StructTag) string {
	name, _, _ := strings.Cut(cmp.Or(tag.Get("form"), tag.Get("json")), ",")
	return name
}
