package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/conformance"
	"github.com/tillwright/tillwright/tests/harness"
)

// dear makes the dearest values that a schema takes: texts as long, arrays as full and objects as rich as they may be.
type dear struct {
	left int // bytes that the body may still grow by
	made int
}

const (
	mostWords = 8  // of a q
	mostDeep  = 6  // objects and arrays in each other
	enough    = 40 // of what must differ in ways that the document does not say
)

// text is many words, of which each is another one: what is searched keeps an entry for each.
func (d *dear) text(length int) string {
	var b strings.Builder
	b.WriteString(unique())
	for ; b.Len() < length; d.made++ {
		fmt.Fprintf(&b, " w%d", d.made)
	}
	return b.String()[:length]
}

// value returns a dear value of a schema like the example, which is nil if there is none. It returns nil if the document does not say enough.
func (d *dear) value(s *openapi3.Schema, example any, depth int) any {
	if len(s.AllOf) == 1 && len(s.Properties) == 0 && s.Type == nil {
		return d.value(s.AllOf[0].Value, example, depth)
	}
	if len(s.OneOf) == 2 && s.OneOf[1].Value.Nullable { // a reference that may be null
		return d.value(s.OneOf[0].Value, example, depth)
	}
	switch {
	case depth > mostDeep || d.left <= 0:
		return example
	case s.Type.Is(openapi3.TypeString):
		return d.string(s, example)
	case s.Type.Is(openapi3.TypeArray):
		return d.array(s, example, depth)
	case s.Type.Is(openapi3.TypeObject) || len(s.Properties) > 0:
		return d.object(s, example, depth)
	}
	return example
}

func (d *dear) string(s *openapi3.Schema, example any) any {
	text, _ := example.(string)
	switch {
	case s.Format == "email" && text != "":
		return unique() + "@example.com"
	case s.Format != "" || s.Pattern != "" || len(s.Enum) > 0 || s.MaxLength == nil || conformance.AnID.MatchString(text) || strings.HasPrefix(text, "http"):
		return example
	}
	long := d.text(min(int(*s.MaxLength), d.left))
	d.left -= len(long)
	if len(long) < int(s.MinLength) {
		return example
	}
	return long
}

func (d *dear) array(s *openapi3.Schema, example any, depth int) any {
	few, _ := example.([]any)
	most := enough
	if s.MaxItems != nil {
		most = int(*s.MaxItems)
	}
	if item := s.Items.Value; s.UniqueItems || len(item.Enum) > 0 || item.Pattern != "" && len(few) > 0 {
		return example
	}
	var all []any
	for i := range most {
		var like any
		if len(few) > 0 {
			like = few[i%len(few)]
		}
		v := d.value(s.Items.Value, like, depth+1)
		if v == nil || d.left <= 0 {
			break
		}
		d.left -= 20
		all = append(all, v)
	}
	if all == nil {
		return example
	}
	return all
}

func (d *dear) object(s *openapi3.Schema, example any, depth int) any {
	known, isObject := example.(map[string]any)
	if example != nil && !isObject {
		return example
	}
	made := maps.Clone(known)
	if made == nil {
		made = map[string]any{}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if known[name] == nil && names(name) {
			continue
		}
		if v := d.value(s.Properties[name].Value, known[name], depth+1); v != nil {
			made[name] = v
		}
	}
	if values := s.AdditionalProperties.Schema; values != nil && len(s.Properties) == 0 && values.Value.Type.Is(openapi3.TypeString) {
		most := enough
		if s.MaxProps != nil {
			most = int(*s.MaxProps)
		}
		for i := range most {
			if v := d.value(values.Value, nil, depth+1); v != nil {
				made[fmt.Sprint("key", i)] = v
			}
		}
	}
	if len(made) == 0 {
		return example
	}
	return made
}

// names reports whether a field says by its id, or by a code, what a request is about. No value of such a field is dear.
func names(field string) bool {
	return fields[field] != "" || strings.HasSuffix(field, "_id") || strings.HasSuffix(field, "_code")
}

// dearest returns the dearest body of an operation as far as the document says it, and what the document cannot know.
func (w *world) dearest(op *harness.Operation) map[string]any {
	example, has := w.body(op).(map[string]any)
	if !has {
		return nil
	}
	d := &dear{left: op.MaxBody * 3 / 4}
	body, _ := d.value(op.BodySchema(), example, 0).(map[string]any)
	if most := mostOf[op.ID]; most.items != 0 {
		items := make([]any, most.items)
		for i := range items {
			items[i] = most.item(w, i)
		}
		body[most.field] = items
	}
	return body
}

// mostOf are arrays of which the document does not say how their items differ.
var mostOf = map[string]struct {
	field string
	items int
	item  func(w *world, i int) any
}{
	"importLicenseKeys": {"keys", 1000, func(*world, int) any { return map[string]any{"key": "KEY-" + strings.ToUpper(unique())} }},
	"importLeads": {"leads", 1000, func(*world, int) any {
		return map[string]any{"email": unique() + "@example.com", "name": "Ada " + unique()}
	}},
	"bulkUpsertProducts": {"items", 100, func(*world, int) any { return map[string]any{"external_id": unique(), "name": "Item " + unique()} }},
	"bulkUpsertCustomers": {"items", 100, func(*world, int) any {
		return map[string]any{"external_id": unique(), "email": unique() + "@example.com", "name": "Ada " + unique()}
	}},
	"bulkUpsertPriceVariants": {"items", 100, func(w *world, i int) any {
		return map[string]any{"external_id": unique(), "product": w.oneOfMany(i), "amount": 1900}
	}},
	"createProduct": {"price_variants", 100, func(_ *world, i int) any {
		return map[string]any{"amount": 1900 + i, "currency": "usd"}
	}},
	"uploadAdAudienceUsers": {"users", 10_000, func(*world, int) any { return map[string]any{"email": unique() + "@example.com"} }},
	"removeAdAudienceUsers": {"users", 10_000, func(*world, int) any { return map[string]any{"email": unique() + "@example.com"} }},
	"createCheckout":        {"line_items", 50, func(w *world, _ int) any { return map[string]any{"price_variant": w.IDs["sold price"]} }},
	"updateCheckout":        {"line_items", 50, func(w *world, _ int) any { return map[string]any{"price_variant": w.IDs["sold price"]} }},
}

// oneOfMany returns the id of another product for each number below 100. They are made for the first.
func (w *world) oneOfMany(number int) string {
	name := func(i int) string { return fmt.Sprint("prod of many ", i) }
	if number == 0 {
		items := make([]any, 100)
		for i := range items {
			items[i] = map[string]any{"external_id": unique(), "name": "One of many"}
		}
		var made sdk.BulkUpsert
		answer, err := w.Try(http.MethodPost, "/v1/products/bulk_upsert", map[string]any{"items": items})
		if err = errors.Join(err, json.Unmarshal(answer.Body, &made)); err != nil {
			panic(err)
		}
		for i, result := range made.Results {
			w.IDs[name(i)] = *result.ID
		}
	}
	return w.IDs[name(number)]
}

// queries are the dearest queries of an operation. The first is for the largest page with all expansions. The next has a q of eight words, too, and
// the last every filter that the document has.
func (w *world) queries(op *harness.Operation) []url.Values {
	large := url.Values{}
	filters := url.Values{}
	searches := false
	for _, p := range op.QueryParameters() {
		schema := p.Schema.Value
		switch {
		case p.Name == "limit":
			large.Set("limit", "100")
		case p.Name == "expand":
			large.Set("expand", strings.Join(expandable(op), ","))
		case p.Name == "q":
			searches = true
		case slices.Contains([]string{"starting_after", "ending_before", "cursor", "page", "sort"}, p.Name), p.Required:
		case p.Style == "deepObject":
			filters.Set(p.Name+"[shelf]", "2")
		case fields[p.Name] != "" && w.IDs[fields[p.Name]] != "":
			filters.Set(p.Name, w.IDs[fields[p.Name]])
		case len(schema.Enum) > 0:
			filters.Set(p.Name, fmt.Sprint(schema.Enum[0]))
		case schema.Format == "date-time" && strings.HasSuffix(p.Name, "_before"):
			filters.Set(p.Name, "2098-01-01T00:00:00Z")
		case schema.Format == "date-time":
			filters.Set(p.Name, "2020-01-01T00:00:00Z")
		case schema.Type.Is(openapi3.TypeBoolean):
			filters.Set(p.Name, "true")
		case schema.Type.Is(openapi3.TypeInteger):
			filters.Set(p.Name, "1")
		case schema.Type.Is(openapi3.TypeString) && schema.Format == "" && schema.Pattern == "":
			filters.Set(p.Name, "x")
		}
	}
	all := []url.Values{large}
	with := func(more url.Values) {
		both := maps.Clone(large)
		maps.Copy(both, more)
		all = append(all, both)
	}
	if searches {
		words := make([]string, mostWords)
		for i := range words {
			words[i] = fmt.Sprint("w", i) // which dear texts have
		}
		with(url.Values{"q": {strings.Join(words, " ")}})
	}
	if len(filters) > 0 && op.Method == http.MethodGet {
		with(filters)
	}
	return all
}
