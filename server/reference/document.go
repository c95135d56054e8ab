package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// ordered is a JSON object whose fields keep their order.
type ordered[T any] []entry[T]

type entry[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON reads the object.
func (o *ordered[T]) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil { // its brace
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		e := entry[T]{Name: fmt.Sprint(name)}
		if err := decoder.Decode(&e.Value); err != nil {
			return err
		}
		*o = append(*o, e)
	}
	return nil
}

// document is what of the API's document the pages show. Schemas are read when they are shown.
type document struct {
	Info struct{ Title, Version, Description string }
	Tags []struct {
		Name, Description string
		DisplayName       string `json:"x-displayName"`
	}
	Paths      ordered[ordered[json.RawMessage]]
	Components struct {
		Parameters map[string]parameter
		Responses  map[string]response
		Schemas    map[string]json.RawMessage
	}

	operations []*operation      // in their order
	owners     map[string]string // the tag on whose page an object is shown, by schema
	schemas    map[string]*schema
}

// notice says until when something works that will be removed.
type notice struct {
	At     string `json:"x-deprecated-at"`
	Sunset string `json:"x-sunset-at"`
	Link   string `json:"x-deprecation-link"`
}

type operation struct {
	ID                   string `json:"operationId"`
	Summary, Description string
	Tags                 []string
	Deprecated           bool
	Approval             string   `json:"x-approval"`
	Scope                string   `json:"x-scope"`
	MoreScopes           []string `json:"x-more-scopes"`
	Locked               bool     `json:"x-locked"`
	External             bool     `json:"x-external-effect"`
	Public               bool     `json:"x-public"`
	Development          bool     `json:"x-development"`
	Method               string   `json:"-"`
	Path                 string   `json:"-"` // with /v1, if it has it
	SDK                  string   `json:"x-sdk"`
	Parameters           []parameter
	RequestBody          *struct{ Content content }
	Responses            ordered[response]
	notice
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Required    bool
	Deprecated  bool
	Schema      *schema
	Example     any
	notice
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Content     content
}

// content is a body: JSON, always.
type content struct {
	JSON *struct {
		Schema  *schema
		Example json.RawMessage
	} `json:"application/json"`
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 string
	Format               string
	Description          string
	Nullable             bool
	Enum                 []any
	Default              any
	Pattern              string
	Minimum, Maximum     *json.Number
	MinLength, MaxLength *int
	MinItems, MaxItems   *int
	Properties           ordered[*schema]
	Required             []string
	Items                *schema
	OneOf, AnyOf, AllOf  []*schema
	Additional           json.RawMessage `json:"additionalProperties"`
	Deprecated           bool
	Outdated             map[string]notice `json:"x-deprecated-values"`
	notice
}

// read reads the API's document. Operations that only a development server has are left out of another one's.
func read(text []byte, develops bool) (*document, error) {
	d := &document{owners: map[string]string{}, schemas: map[string]*schema{}}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("read the API document: %w", err)
	}
	for _, path := range d.Paths {
		if err := d.readPath(path.Name, path.Value, develops); err != nil {
			return nil, fmt.Errorf("read %s of the API document: %w", path.Name, err)
		}
	}
	for _, op := range d.operations {
		for _, r := range op.Responses {
			if !strings.HasPrefix(r.Name, "2") {
				continue
			}
			name, _ := d.object(r.Value.Content)
			if _, found := d.owners[name]; name != "" && !found {
				d.owners[name] = op.Tags[0]
			}
		}
	}
	return d, nil
}

// readPath reads the operations of a path. Parameters of the path are those of each, and a path with an address of its own is not below /v1.
func (d *document) readPath(path string, item ordered[json.RawMessage], develops bool) error {
	var common []parameter
	prefix := "/v1"
	for _, field := range item {
		switch field.Name {
		case "parameters":
			if err := json.Unmarshal(field.Value, &common); err != nil {
				return err
			}
		case "servers":
			prefix = ""
		}
	}
	for _, field := range item {
		if !slices.Contains([]string{"get", "put", "post", "delete", "patch"}, field.Name) {
			continue
		}
		op := &operation{Method: strings.ToUpper(field.Name), Path: prefix + path}
		if err := json.Unmarshal(field.Value, op); err != nil {
			return err
		}
		if op.Development && !develops {
			continue
		}
		op.Parameters = append(slices.Clone(common), op.Parameters...)
		for i, p := range op.Parameters {
			if p.Ref != "" {
				op.Parameters[i] = d.Components.Parameters[base(p.Ref)]
			}
		}
		for i, r := range op.Responses {
			if r.Value.Ref != "" {
				op.Responses[i].Value = d.Components.Responses[base(r.Value.Ref)]
			}
		}
		d.operations = append(d.operations, op)
	}
	return nil
}

// base returns the name at the end of a reference.
func base(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// named returns a schema of the document, nil if there is none of that name.
func (d *document) named(name string) *schema {
	if d.schemas[name] == nil {
		s := new(schema)
		if json.Unmarshal(d.Components.Schemas[name], s) != nil {
			return nil
		}
		d.schemas[name] = s
	}
	return d.schemas[name]
}

// small is how many fields an object may have to be shown wherever it is used.
const small = 4

// object returns the schema of the object that an answer is, or of which it is a list; empty if it is neither, or small.
func (d *document) object(c content) (name string, many bool) {
	if c.JSON == nil || c.JSON.Schema == nil || c.JSON.Schema.Ref == "" {
		return "", false
	}
	name = base(c.JSON.Schema.Ref)
	s := d.named(name)
	if s == nil {
		return "", false
	}
	for _, field := range s.Properties {
		if field.Name == "data" && field.Value.Items != nil && field.Value.Items.Ref != "" {
			return base(field.Value.Items.Ref), true
		}
	}
	if len(s.Properties) <= small {
		return "", false
	}
	return name, false
}

// writes reports whether the operation changes something.
func (o *operation) writes() bool { return o.Method != "GET" }

// body returns the example of the operation's body, nil if it takes none.
func (o *operation) body() json.RawMessage {
	if o.RequestBody == nil || o.RequestBody.Content.JSON == nil {
		return nil
	}
	return o.RequestBody.Content.JSON.Example
}

// address returns the operation's path with its parameters filled in, and with the parameters of the query that it needs.
func (o *operation) address() string {
	path, query := o.Path, ""
	for _, p := range o.Parameters {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", escape(p.Example))
		case p.In == "query" && p.Required:
			query += "&" + p.Name + "=" + escape(p.Example)
		}
	}
	if query != "" {
		query = "?" + query[1:]
	}
	return path + query
}
