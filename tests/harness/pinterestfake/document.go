package pinterestfake

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

//go:embed pinterest.yaml
var description []byte

// Operation is one operation of the description.
type Operation struct {
	ID     string
	Method string
	Path   string

	route *routers.Route
	query map[string]*openapi3.Parameter
}

// Operations returns the operations of the description, in the order of their paths.
var Operations = sync.OnceValue(func() []*Operation {
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		panic(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		panic(err)
	}
	var all []*Operation
	for _, path := range doc.Paths.InMatchingOrder() {
		item := doc.Paths.Value(path)
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
			if op := item.GetOperation(method); op != nil {
				route := &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op}
				all = append(all, newOperation(route))
			}
		}
	}
	return all
})

// OperationOf returns the operation of a request, nil if there is none.
func OperationOf(r *http.Request) *Operation {
	segments := strings.Split(strings.TrimPrefix(r.URL.Path, Prefix), "/")
	for _, o := range Operations() {
		template := strings.Split(o.Path, "/")
		same := func(a, b string) bool { return a == b || strings.HasPrefix(a, "{") }
		if o.Method == r.Method && slices.EqualFunc(template, segments, same) {
			return o
		}
	}
	return nil
}

// Names are the names of the query parameters and of the properties of body and answer. A property inside another one has dots
// before it. Those of a list's items are named as if they were the list's.
type Names struct{ Query, Body, Answer []string }

// Names returns every name in the description of the operation.
func (o *Operation) Names() Names {
	var n Names
	for name := range o.query {
		n.Query = append(n.Query, name)
	}
	if body := o.route.Operation.RequestBody; body != nil {
		n.Body = properties(body.Value.Content.Get("application/json").Schema.Value, "")
	}
	for status, response := range o.route.Operation.Responses.Map() {
		if content := response.Value.Content.Get("application/json"); strings.HasPrefix(status, "2") && content != nil {
			n.Answer = properties(content.Schema.Value, "")
		}
	}
	return n
}

// HasEnum reports whether the description lists the values of a query parameter or a property of the body.
func (o *Operation) HasEnum(name string) bool {
	var schema *openapi3.Schema
	if p := o.query[name]; p != nil {
		schema = p.Schema.Value
	}
	if body := o.route.Operation.RequestBody; schema == nil && body != nil {
		schema = body.Value.Content.Get("application/json").Schema.Value
		for part := range strings.SplitSeq(name, ".") {
			schema = itemOf(schema).Properties[part].Value
		}
	}
	return len(itemOf(schema).Enum) > 0
}

// itemOf returns the schema of a list's items, and any other one as it is.
func itemOf(s *openapi3.Schema) *openapi3.Schema {
	if s.Items != nil {
		return s.Items.Value
	}
	return s
}

func properties(s *openapi3.Schema, prefix string) []string {
	var names []string
	for name, property := range itemOf(s).Properties {
		names = append(names, prefix+name)
		names = append(names, properties(property.Value, prefix+name+".")...)
	}
	return names
}

func newOperation(route *routers.Route) *Operation {
	o := &Operation{ID: route.Operation.OperationID, Method: route.Method, Path: route.Path, route: route,
		query: map[string]*openapi3.Parameter{}}
	for _, p := range route.Operation.Parameters {
		if p.Value.In == openapi3.ParameterInQuery {
			o.query[p.Value.Name] = p.Value
		}
	}
	return o
}

// pathValues returns the values of the variable segments in the path of r.
func (o *Operation) pathValues(r *http.Request) map[string]string {
	values := map[string]string{}
	for _, p := range o.route.Operation.Parameters {
		if p.Value.In == openapi3.ParameterInPath {
			values[p.Value.Name] = r.PathValue(p.Value.Name)
		}
	}
	return values
}

// checkRequest returns what the description does not allow in r. That includes a query parameter that it does not name, and one
// that is sent twice although it is no list; openapi3filter checks neither.
func (o *Operation) checkRequest(r *http.Request, body []byte) (*openapi3filter.RequestValidationInput, error) {
	input := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: o.pathValues(r), QueryParams: r.URL.Query(), Route: o.route,
		Options: &openapi3filter.Options{SkipSettingDefaults: true},
	}
	for name, values := range input.QueryParams {
		p := o.query[name]
		if p == nil {
			return input, fmt.Errorf("unknown query parameter %q", name)
		}
		exploded := p.Schema.Value.Type.Is("array") && (p.Explode == nil || *p.Explode)
		if len(values) > 1 && !exploded {
			return input, fmt.Errorf("query parameter %q comes %d times", name, len(values))
		}
	}
	if len(body) > 0 && o.route.Operation.RequestBody == nil {
		return input, fmt.Errorf("a body where none is described")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return input, openapi3filter.ValidateRequest(r.Context(), input)
}

// checkResponse returns what the description does not allow in an answer, which the fake itself has made.
func (o *Operation) checkResponse(input *openapi3filter.RequestValidationInput, status int, body []byte) error {
	return openapi3filter.ValidateResponse(input.Request.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)),
	})
}
