package server

import (
	"fmt"
	"net/http"
	"sort"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/gen/spec"
)

// How large a body may be if its operation does not say it. Whoever sends one without a key is unknown, and providers sign theirs: Stripe's
// are some KiB, and no provider's more than 256 KiB.
const (
	defaultMaxBody = 1 << 20
	publicMaxBody  = 64 << 10
	hookMaxBody    = 256 << 10
)

// Operation is what the OpenAPI document says about one operation. It is read once, at the start, and never changed after that.
type Operation struct {
	ID      string
	Method  string
	Path    string // as in the document: /products/{id}
	Pattern string // as the router writes it, under its root: /v1/products/:id

	Public         bool     // x-public: no API key, outside of /v1
	CORS           bool     // x-cors: pages of every site may call it
	AddressLimit   int      // x-address-limit: requests a minute from one address, if not the usual number; those of one resource count together
	KeyScope       []string // x-key-scope: of a public one, the fields that name its account and what an Idempotency-Key belongs to
	Scope          string   // x-scope: what the key must hold; scopeNone if that depends on what is asked for
	Self           bool     // x-self: on the calling key itself it needs none
	MoreScopes     []string // x-more-scopes: and these, for other things that it shows or allows
	Approval       string   // x-approval: allow or ask
	Locked         bool     // x-locked
	ExternalEffect bool     // x-external-effect: calls a provider
	Unlogged       bool     // x-unlogged: what it changes is no news to anybody, so that the list of what was done leaves it out
	Unwrap         string   // x-unwrap: the body is also accepted under this key
	Each           string   // x-each: the array of the body whose items are judged and written one by one
	MaxBody        int64    // x-max-body, in bytes
	limits         jsonLimits
	Development    bool     // x-development: a production server does not have it
	Idempotent     bool     // declares the Idempotency-Key header
	Expand         []string // what the expand parameter may name

	deprecation *deprecation // nil while it is not deprecated
	outdated    outdated     // what its body may hold and should not
	parameters  []parameter  // in query and path
	body        *openapi3.RequestBody
	item        *openapi3.Schema // of the array that Each names, which has any objects in body
	route       *routers.Route
}

// parameter is one query or path parameter.
type parameter struct {
	*openapi3.Parameter
	prefix string // "metadata[" for a deepObject
}

// patterns returns the patterns under which the router finds the operation. A public operation is found below /v1 as well, and needs no key
// there either. Some generated clients do not know that a path may have a server of its own.
func (o *Operation) patterns() []string {
	if o.Public {
		return []string{"/v1" + o.Pattern, o.Pattern}
	}
	return []string{o.Pattern}
}

// resource returns what the operation is about: of /public/license_keys/validate it is license_keys.
func (o *Operation) resource() string {
	parts := strings.Split(o.Path, "/")
	return parts[min(2, len(parts)-1)]
}

// Write reports whether the operation may change something.
func (o *Operation) Write() bool { return o.Method != http.MethodGet }

// Operations is every operation of the document.
type Operations struct {
	list    []*Operation
	byRoute map[string]*Operation
}

// ReadOperations reads all operations of a document. It is an error if the document promises what the server could not keep. An example is
// an operation without an id, or one that would be removed too early.
func ReadOperations(document []byte) (*Operations, error) {
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("read the API document: %w", err)
	}
	doc.Servers = nil // paths are matched by our router, wherever it is reached
	table := &Operations{byRoute: map[string]*Operation{}}
	for path, item := range doc.Paths.Map() {
		item.Servers = nil
		for method, spec := range item.Operations() {
			op, err := readOperation(doc, path, item, method, spec)
			if err != nil {
				return nil, fmt.Errorf("operation %s %s: %w", method, path, err)
			}
			table.list = append(table.list, op)
			table.byRoute[method+" "+routerPattern(path)] = op
		}
	}
	sort.Slice(table.list, func(i, j int) bool { return table.list[i].ID < table.list[j].ID })
	return table, nil
}

// bundled returns the operations of the API. All servers of a process share them, because reading them is most of the time a
// start takes.
var bundled = sync.OnceValues(func() (*Operations, error) { return ReadOperations(spec.Requests) })

// All returns the operations in the order of their ids.
func (t *Operations) All() []*Operation { return t.list }

// Find returns the operation that the generated code registers as method and
// pattern, e.g. GET /products/:id, or nil.
func (t *Operations) Find(method, pattern string) *Operation {
	return t.byRoute[method+" "+pattern]
}

// readOperation reads one operation with its x- fields.
func readOperation(doc *openapi3.T, path string, item *openapi3.PathItem, method string, spec *openapi3.Operation) (*Operation, error) {
	if spec.OperationID == "" {
		return nil, fmt.Errorf("it has no operationId")
	}
	spec.Servers = nil
	x := extensions(spec.Extensions)
	op := &Operation{
		ID: spec.OperationID, Method: method, Path: path,
		Public: x.flag("x-public"), CORS: x.flag("x-cors"), AddressLimit: int(x.numberOf("x-address-limit", 0)), KeyScope: x.texts("x-key-scope"),
		Scope: x.textOf("x-scope"), Self: x.flag("x-self"), MoreScopes: x.texts("x-more-scopes"), Approval: x.textOf("x-approval"), Locked: x.flag("x-locked"),
		ExternalEffect: x.flag("x-external-effect"), Unlogged: x.flag("x-unlogged"), Development: x.flag("x-development"), Unwrap: x.textOf("x-unwrap"), Each: x.textOf("x-each"), MaxBody: x.numberOf("x-max-body", maxBodyOf(x.flag("x-public"), path)),
		route: &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: spec},
	}
	if op.Pattern = routerPattern(path); !op.Public {
		op.Pattern = "/v1" + op.Pattern
	}
	if spec.RequestBody != nil {
		op.body = spec.RequestBody.Value
		if media := op.body.Content.Get(echo.MIMEApplicationJSON); media != nil {
			op.limits = op.limitsOf(media.Schema.Value)
			op.readItem(media.Schema.Value)
		}
	}
	op.readParameters(item.Parameters, spec.Parameters)
	var err error
	if op.deprecation, err = readDeprecation(spec.Deprecated, x); err != nil {
		return nil, err
	}
	op.outdated, err = op.readOutdated()
	return op, err
}

// maxBodyOf returns how large the body of an operation may be that does not say it. Whoever opens a checkout may fill in all of its fields.
func maxBodyOf(public bool, path string) int64 {
	if public && !strings.Contains(path, clientSecret) {
		return publicMaxBody
	}
	return defaultMaxBody
}

const clientSecret = "{client_secret}"

// takesSecret reports whether the path of the operation has a secret that opens a checkout.
func (o *Operation) takesSecret() bool {
	return o.Public && strings.Contains(o.Path, clientSecret)
}

// readParameters reads the parameters of an operation, and those of its path that the operation does not override.
func (o *Operation) readParameters(shared, own openapi3.Parameters) {
	for _, ref := range shared {
		if own.GetByInAndName(ref.Value.In, ref.Value.Name) == nil {
			own = append(own, ref)
		}
	}
	for _, ref := range own {
		p := parameter{Parameter: ref.Value}
		switch {
		case p.In == openapi3.ParameterInHeader:
			o.Idempotent = o.Idempotent || p.Name == headerIdempotencyKey
			continue
		case p.Style == openapi3.SerializationDeepObject:
			p.prefix = p.Name + "["
		case p.Name == "expand":
			o.Expand = enumTexts(p.Schema.Value)
		}
		o.parameters = append(o.parameters, p)
	}
}

// enumTexts returns the allowed values of a schema, or of its items.
func enumTexts(schema *openapi3.Schema) []string {
	if schema.Items != nil {
		return enumTexts(schema.Items.Value)
	}
	var texts []string
	for _, value := range schema.Enum {
		if value != nil {
			texts = append(texts, fmt.Sprint(value))
		}
	}
	return texts
}

// routerPattern returns a path in the router's notation: {id} becomes :id.
func routerPattern(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "{", ":"), "}", "")
}

// extensions are the x- fields of an operation.
type extensions map[string]any

func (x extensions) flag(name string) bool {
	v, _ := x[name].(bool)
	return v
}

func (x extensions) textOf(name string) string {
	v, _ := x[name].(string)
	return v
}

func (x extensions) texts(name string) []string {
	all, _ := x[name].([]any)
	var texts []string
	for _, one := range all {
		texts = append(texts, fmt.Sprint(one))
	}
	return texts
}

func (x extensions) numberOf(name string, absent int64) int64 {
	if v, ok := x[name].(float64); ok {
		return int64(v)
	}
	return absent
}
