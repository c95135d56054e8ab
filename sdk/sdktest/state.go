package sdktest

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// object is an object of the API, or a body. Its numbers are int64, its lists []any.
type object = map[string]any

// state is what a server keeps. Stored objects are replaced and never changed, so that an answer stays as it was.
type state struct {
	root    string // of addresses
	account object
	objects map[string]object   // by id
	ids     map[string][]string // by kind, ascending
	deleted map[string]string   // kind by id
	typed   map[string]bool     // ids of customers who do not own their address, because they only typed it
	slugs   map[string]string   // id by kind and slug, former slugs included
	events  []*event            // of the call that is done
	orders  int64               // how many there are
}

func newState(root string) *state {
	s := &state{root: root, objects: map[string]object{}, ids: map[string][]string{}, deleted: map[string]string{}, typed: map[string]bool{}, slugs: map[string]string{}}
	s.account = accountOf(s)
	return s
}

// call is a request while it is done.
type call struct {
	*state

	op      *operation
	request *http.Request
	values  map[string]string // of the path
	query   map[string]any
	body    object
	now     string
	status  int // of the answer
}

// kind is a type of object.
type kind struct {
	// schema is the name of its schema in the document.
	schema string
	// defaults are the values of fields that are neither null nor empty nor 0 when nobody sets them.
	defaults object
	// given are fields of bodies that create and update read by themselves.
	given []string
	// create, update and remove check and complete what is about to be stored. Nil: the API does not have the operation.
	create func(c *call, o object) error
	update func(c *call, before, o object) error
	remove func(c *call, o object) error
}

// object is what `object` says of it.
func (k *kind) object() string {
	return described().schema(k.schema).Properties["object"].Enum[0].(string)
}

// prefix begins its ids.
func (k *kind) prefix() string {
	return strings.TrimPrefix(described().schema(k.schema).Properties["id"].Pattern, "^")
}

// name is how messages name the kind.
func (k *kind) name() string {
	if k.object() == "price_variant" { // there the real server says it like this
		return k.object()
	}
	return strings.ReplaceAll(k.object(), "_", " ")
}

// blank returns an object of a kind with its defaults, an id and the time.
func (c *call) blank(k *kind) object {
	o := object{}
	s := described().schema(k.schema)
	for _, name := range s.Required {
		o[name] = zero(s.Properties[name])
	}
	maps.Copy(o, k.defaults)
	o["id"], o["object"] = k.prefix()+newULID(), k.object()
	for _, name := range []string{"created_at", "updated_at"} {
		if s.Properties[name] != nil {
			o[name] = c.now
		}
	}
	return o
}

// zero returns the least value of a schema.
func zero(s *schema) any {
	switch {
	case s.Nullable:
		return nil
	case s.Type == "array":
		return []any{}
	case s.Type == "boolean":
		return false
	case s.Type == "integer":
		return int64(0)
	case s.Type == "object":
		return object{}
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	return ""
}

// put stores an object as it is now.
func (s *state) put(o object) {
	id, kind := textOf(o, "id"), textOf(o, "object")
	if s.objects[id] == nil {
		s.ids[kind] = append(s.ids[kind], id)
	}
	s.objects[id] = o
	if slug := textOf(o, "slug"); slug != "" {
		s.slugs[kind+" "+slug] = id
	}
}

// change stores a changed copy of an object and returns it.
func (c *call) change(o object, with object) object {
	changed := maps.Clone(o)
	maps.Copy(changed, with)
	if _, has := changed["updated_at"]; has {
		changed["updated_at"] = c.now
	}
	c.put(changed)
	return changed
}

// drop deletes an object.
func (s *state) drop(o object) {
	id, kind := textOf(o, "id"), textOf(o, "object")
	delete(s.objects, id)
	s.ids[kind] = slices.DeleteFunc(s.ids[kind], func(other string) bool { return other == id })
	s.deleted[id] = kind
	maps.DeleteFunc(s.slugs, func(_, named string) bool { return named == id })
}

// all returns the objects of a kind, the oldest first.
func (s *state) all(kind string) []object {
	all := make([]object, len(s.ids[kind]))
	for i, id := range s.ids[kind] {
		all[i] = s.objects[id]
	}
	return all
}

// lookup returns the object of a kind with an id or slug, nil if there is none.
func (s *state) lookup(kind, ref string) object {
	if rest, ok := strings.CutPrefix(ref, "cust_"); ok && kind == "customer" {
		ref = "cus_" + rest
	}
	o := s.objects[ref]
	if o == nil {
		o = s.objects[s.slugs[kind+" "+ref]]
	}
	if o == nil || o["object"] != kind {
		return nil
	}
	return o
}

// named returns the object of the path.
func (c *call) named(k *kind) (object, error) {
	if o := c.lookup(k.object(), c.values["id"]); o != nil {
		return o, nil
	}
	return nil, missing(k.name(), c.values["id"], "")
}

// referred returns the object that a field of the body refers to.
func (c *call) referred(kind, ref, param string) (object, error) {
	if o := c.lookup(kind, ref); o != nil {
		return o, nil
	}
	return nil, missing(kind, ref, param)
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slugFor returns a slug of a name that no other object of the kind has.
func (s *state) slugFor(kind, name string) string {
	base := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if base == "" {
		base = kind
	}
	slug := base
	for n := 2; s.lookup(kind, slug) != nil; n++ {
		slug = fmt.Sprintf("%s-%d", base, n)
	}
	return slug
}

// textOf, numberOf and list read a field. Null and a missing one are empty.
func textOf(o object, name string) string   { value, _ := o[name].(string); return value }
func numberOf(o object, name string) int64  { value, _ := o[name].(int64); return value }
func list(o object, name string) []any      { value, _ := o[name].([]any); return value }
func isTrue(o object, name string) bool     { value, _ := o[name].(bool); return value }
func inner(o object, name string) object    { value, _ := o[name].(object); return value }
func has(o object, name string) bool        { return o[name] != nil }
func appended(all []any, more ...any) []any { return append(slices.Clone(all), more...) }
