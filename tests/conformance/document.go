package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"github.com/tillwright/tillwright/gen/spec"
)

// Shared are the statuses that the conventions give to every operation. One table over all operations tests them, so that the
// tests of a resource only have to cover its own.
var Shared = []int{401, 413, 415, 429, 500}

// Operation is one operation of the specification, read independently of the server.
type Operation struct {
	ID         string
	Method     string
	Path       string   // as a client calls it: /v1/products/{id}
	Public     bool     // needs no API key
	Scope      string   // what the key must be allowed, "" without a key
	MoreScopes []string // and these
	Approval   string   // "allow" or "ask", and ", locked" if it is
	Statuses   []int    // every documented status
	Limit      int64    // requests a minute, of a key or an address
	MaxBody    int      // bytes; a write refuses more even if it needs no body

	document *Document
	route    *routers.Route
}

// IsWrite reports whether the operation takes an Idempotency-Key.
func (o *Operation) IsWrite() bool { return o.Method != http.MethodGet }

// Documents reports whether the specification lists the status for the operation.
func (o *Operation) Documents(status int) bool { return slices.Contains(o.Statuses, status) }

// PathParameters returns the names of the path's variable segments.
func (o *Operation) PathParameters() []string {
	var names []string
	for segment := range strings.SplitSeq(o.Path, "/") {
		if strings.HasPrefix(segment, "{") {
			names = append(names, strings.Trim(segment, "{}"))
		}
	}
	return names
}

// QueryParameters returns the operation's query parameters.
func (o *Operation) QueryParameters() []*openapi3.Parameter {
	var query []*openapi3.Parameter
	for _, list := range []openapi3.Parameters{o.route.PathItem.Parameters, o.route.Operation.Parameters} {
		for _, p := range list {
			if p.Value.In == openapi3.ParameterInQuery {
				query = append(query, p.Value)
			}
		}
	}
	return query
}

// Example returns the example of the request body as the specification prints it, nil without a body.
func (o *Operation) Example() map[string]any {
	media := o.body()
	if media == nil {
		return nil
	}
	data, err := json.Marshal(media.Example)
	if err != nil {
		panic(err)
	}
	example := map[string]any{}
	if err := json.Unmarshal(data, &example); err != nil {
		panic(fmt.Sprintf("%s: the example is not an object: %v", o.ID, err))
	}
	return example
}

// BodySchema returns the schema of the request body, nil without a body.
func (o *Operation) BodySchema() *openapi3.Schema {
	if media := o.body(); media != nil {
		return media.Schema.Value
	}
	return nil
}

// NeedsBody reports whether a request without a body is refused.
func (o *Operation) NeedsBody() bool {
	body := o.route.Operation.RequestBody
	return body != nil && body.Value.Required
}

// AnsweredPrefix returns the prefix, without the underscore, of the ids of the objects that a GET returns, of a list or of one
// object. It is "" if the document does not say it by the pattern of the id.
func (o *Operation) AnsweredPrefix() string {
	response := o.route.Operation.Responses.Value("200")
	if o.Method != http.MethodGet || response == nil {
		return ""
	}
	object := response.Value.Content.Get("application/json").Schema.Value
	if !strings.HasSuffix(o.Path, "/{id}") {
		if !o.AnswersList() || object.Properties["data"].Value.Items == nil {
			return ""
		}
		object = object.Properties["data"].Value.Items.Value
	}
	id := object.Properties["id"]
	if id == nil {
		return ""
	}
	return strings.Trim(id.Value.Pattern, "^_")
}

// AnswersList reports whether the operation answers with a list.
func (o *Operation) AnswersList() bool {
	response := o.route.Operation.Responses.Value("200")
	if o.Method != http.MethodGet || response == nil {
		return false
	}
	object := response.Value.Content.Get("application/json").Schema.Value
	return object.Properties["data"] != nil && object.Properties["has_more"] != nil
}

func (o *Operation) body() *openapi3.MediaType {
	if o.route.Operation.RequestBody == nil {
		return nil
	}
	return o.route.Operation.RequestBody.Value.Content.Get("application/json")
}

// Document is a specification.
type Document struct {
	Operations []*Operation      // in the order of their paths
	Prefixes   map[string]string // of ids, by the segment of the path before them

	templates map[int][]*template
	strict    func() *strictDocument
}

// Promised returns the specification that this program was made from.
var Promised = sync.OnceValue(func() *Document {
	d, err := Read(spec.JSON)
	if err != nil {
		panic(err)
	}
	return d
})

// Read reads a specification.
func Read(text []byte) (*Document, error) {
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	doc.Servers = nil
	d := &Document{strict: sync.OnceValue(func() *strictDocument { return readStrictly(text) })}
	for _, path := range doc.Paths.InMatchingOrder() {
		item := doc.Paths.Value(path)
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
			if op := item.GetOperation(method); op != nil {
				o := operation(doc, path, method, item, op)
				o.document = d
				d.Operations = append(d.Operations, o)
			}
		}
	}
	d.templates, d.Prefixes = templates(d.Operations), prefixes(d.Operations)
	return d, nil
}

// operation reads one operation with its x- fields.
func operation(doc *openapi3.T, path, method string, item *openapi3.PathItem, op *openapi3.Operation) *Operation {
	o := &Operation{
		ID: op.OperationID, Method: method, Path: path,
		route: &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op},
	}
	o.Public, _ = op.Extensions["x-public"].(bool)
	o.Scope, _ = op.Extensions["x-scope"].(string)
	more, _ := op.Extensions["x-more-scopes"].([]any)
	for _, scope := range more {
		o.MoreScopes = append(o.MoreScopes, scope.(string))
	}
	o.Approval, _ = op.Extensions["x-approval"].(string)
	if locked, _ := op.Extensions["x-locked"].(bool); locked {
		o.Approval += ", locked"
	}
	if !o.Public {
		o.Path = "/v1" + path
	}
	for status := range op.Responses.Map() {
		if code, err := strconv.Atoi(status); err == nil {
			o.Statuses = append(o.Statuses, code)
		}
	}
	slices.Sort(o.Statuses)
	o.Limit = usualLimit
	if limit, ok := op.Extensions["x-address-limit"].(float64); ok {
		o.Limit = int64(limit)
	}
	o.MaxBody = 1 << 20
	if limit, ok := op.Extensions["x-max-body"].(float64); ok {
		o.MaxBody = int(limit)
	}
	return o
}

// ByID returns the operation with this operationId and panics when there is none.
func (d *Document) ByID(id string) *Operation {
	for _, o := range d.Operations {
		if o.ID == id {
			return o
		}
	}
	panic("the specification has no operation " + id)
}
