package sdktest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tillwright/tillwright/sdk"
)

// api is what the fake server knows of the API. A part of it is read when it is first asked for.
type api struct {
	routes map[int][]*route // by their number of segments

	mu         sync.Mutex // of all below. What was returned is not changed any more
	operations map[string]*operation
	schemas    map[string]*schema
}

// operation is an operation as the document has it. One that the fake server never answers has nothing but its ID and path.
type operation struct {
	sdk.Operation

	Parameters   []*parameter `json:"parameters"`
	Body         *schema      `json:"body"`
	BodyRequired bool         `json:"bodyRequired"`
	Unwrap       string       `json:"unwrap"`
	Status       int          `json:"status"`
	Answer       string       `json:"answer"`
}

// parameter is a parameter of the query, the path or the headers.
type parameter struct {
	Ref      string  `json:"$ref"`
	Name     string  `json:"name"`
	In       string  `json:"in"`
	Style    string  `json:"style"`
	Required bool    `json:"required"`
	Schema   *schema `json:"schema"`
}

// isDeep reports whether the parameter is written as name[key].
func (p *parameter) isDeep() bool { return p.Style == "deepObject" }

// schema is the part of a JSON schema that the document uses.
type schema struct {
	Ref           string             `json:"$ref"`
	Type          string             `json:"type"`
	Format        string             `json:"format"`
	Pattern       string             `json:"pattern"`
	Description   string             `json:"description"`
	Expects       string             `json:"x-expects"`
	Nullable      bool               `json:"nullable"`
	Enum          []any              `json:"enum"`
	Required      []string           `json:"required"`
	Properties    map[string]*schema `json:"properties"`
	Additional    any                `json:"additionalProperties"`
	Items         *schema            `json:"items"`
	AllOf         []*schema          `json:"allOf"`
	AnyOf         []*schema          `json:"anyOf"`
	OneOf         []*schema          `json:"oneOf"`
	MinLength     int                `json:"minLength"`
	MaxLength     *int               `json:"maxLength"`
	MinItems      int                `json:"minItems"`
	MaxItems      *int               `json:"maxItems"`
	MinProperties int                `json:"minProperties"`
	MaxProperties *int               `json:"maxProperties"`
	Minimum       *int64             `json:"minimum"`
	Maximum       *int64             `json:"maximum"`
	Default       any                `json:"default"`
	Example       any                `json:"example"`

	values  *schema        // of additional properties; nil if there is no schema for them
	matches *regexp.Regexp // Pattern, if it is not empty
	linked  *schema        // what stands for this one, once that is known
}

// route is where an operation is, in segments. One that begins with { stands for any.
type route struct {
	segments  []string
	operation sdk.Operation
}

// described is the API of the document that this package was made with. All servers of a process share it.
var described = sync.OnceValue(func() *api {
	a := &api{routes: map[int][]*route{}, operations: map[string]*operation{}, schemas: map[string]*schema{}}
	for _, op := range sdk.Operations {
		path := op.Path
		if !op.Public {
			path = "/v1" + path
		}
		segments := strings.Split(path[1:], "/")
		a.routes[len(segments)] = append(a.routes[len(segments)], &route{segments, op})
	}
	return a
})

// operation returns an operation of the SDK with what the document says of it.
func (a *api) operation(known sdk.Operation) *operation {
	a.mu.Lock()
	defer a.mu.Unlock()
	op := a.operations[known.ID]
	if op != nil {
		return op
	}
	op = &operation{}
	if text := operationTexts[known.ID]; text != "" {
		read(text, op)
	}
	op.Operation, op.Body = known, a.link(op.Body)
	for i, p := range op.Parameters {
		if p.Ref != "" {
			read(parameterTexts[last(p.Ref)], p)
		}
		op.Parameters[i].Schema = a.link(p.Schema)
	}
	a.operations[known.ID] = op
	return op
}

// schema returns the schema with a name.
func (a *api) schema(name string) *schema {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.named(name)
}

// named is schema while the API is locked.
func (a *api) named(name string) *schema {
	s := a.schemas[name]
	if s == nil {
		s = &schema{}
		read(schemaTexts[name], s)
		a.schemas[name] = s
	}
	return a.link(s)
}

// read reads a part of the document. One that cannot be read is a mistake of the generator.
func read(text string, into any) {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		panic("sdktest: the document: " + err.Error())
	}
}

// link puts the schemas that s refers to in the places of the references, and returns the one that s stands for.
func (a *api) link(s *schema) *schema {
	switch {
	case s == nil:
		return nil
	case s.Ref != "":
		return a.named(last(s.Ref))
	case s.linked != nil:
		return s.linked
	}
	s.linked = s
	if s.Pattern != "" {
		s.matches = regexp.MustCompile(s.Pattern)
	}
	if values, ok := s.Additional.(map[string]any); ok {
		s.values = &schema{}
		read(string(encode(values)), s.values)
		s.values = a.link(s.values)
	}
	for name, field := range s.Properties {
		s.Properties[name] = a.link(field)
	}
	s.Items = a.link(s.Items)
	for i := range s.OneOf {
		s.OneOf[i] = a.link(s.OneOf[i])
	}
	if len(s.AllOf) == 1 { // a reference, with something of its own beside it
		whole := *a.link(s.AllOf[0])
		whole.Nullable = whole.Nullable || s.Nullable
		s.linked = &whole
	}
	return s.linked
}

func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// find returns the operation of a request with the values in its path. Without one it returns the methods that the path takes,
// none if there is nothing at the path.
func (a *api) find(r *http.Request) (found *operation, values map[string]string, methods []string) {
	segments := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		if err != nil {
			return nil, nil, nil
		}
		segments[i] = plain
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var best *route
	for _, candidate := range a.routes[len(segments)] {
		switch {
		case !candidate.fits(segments):
		case candidate.operation.Method != method:
			methods = append(methods, candidate.operation.Method)
		case best == nil || candidate.isPlainer(best):
			best = candidate
		}
	}
	if best == nil {
		if slices.Contains(methods, http.MethodGet) {
			methods = append(methods, http.MethodHead)
		}
		slices.Sort(methods)
		return nil, nil, methods
	}
	values = map[string]string{}
	for i, s := range best.segments {
		if isPlaceholder(s) {
			values[strings.Trim(s, "{}")] = segments[i]
		}
	}
	return a.operation(best.operation), values, nil
}

func isPlaceholder(segment string) bool { return strings.HasPrefix(segment, "{") }

func (r *route) fits(segments []string) bool {
	for i, s := range r.segments {
		if s != segments[i] && (!isPlaceholder(s) || segments[i] == "") {
			return false
		}
	}
	return true
}

// isPlainer reports whether r has a word where another route that fits has a placeholder.
func (r *route) isPlainer(other *route) bool {
	for i, s := range r.segments {
		if isPlaceholder(s) != isPlaceholder(other.segments[i]) {
			return isPlaceholder(other.segments[i])
		}
	}
	return false
}
