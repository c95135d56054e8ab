package sdktest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/tillwright/tillwright/sdk/moment"
)

// maxMetadata is how many keys the metadata of an object have at most.
const maxMetadata = 50

// handlers are the operations that are answered. Those of a kind are there if the kind has them.
var handlers = allHandlers()

type handler func(c *call) (object, error)

func allHandlers() map[string]handler {
	all := map[string]handler{}
	for _, k := range []*kind{
		products, priceVariants, customers, discounts, checkouts, checkoutLinks, orders, invoices, refunds, leads, grants, webhookEndpoints, webhookEvents,
	} {
		all["get"+k.schema] = func(c *call) (object, error) { return c.named(k) }
		all["list"+k.schema+"s"] = func(c *call) (object, error) { return c.page(k) }
		if k.create != nil {
			all["create"+k.schema] = func(c *call) (object, error) { return c.create(k) }
		}
		if k.update != nil {
			all["update"+k.schema] = func(c *call) (object, error) { return c.update(k) }
		}
		if k.remove != nil {
			all["delete"+k.schema] = func(c *call) (object, error) { return c.delete(k) }
		}
	}
	for _, more := range []map[string]handler{accountHandlers, productHandlers, customerHandlers, discountHandlers, checkoutHandlers, webhookHandlers} {
		maps.Copy(all, more)
	}
	return all
}

func (c *call) create(k *kind) (object, error) {
	o := c.blank(k)
	c.fill(k, o)
	if err := k.create(c, o); err != nil {
		return nil, err
	}
	c.put(o)
	return o, nil
}

func (c *call) update(k *kind) (object, error) {
	before, err := c.named(k)
	if err != nil {
		return nil, err
	}
	o := maps.Clone(before)
	c.fill(k, o)
	if len(inner(o, "metadata")) > maxMetadata {
		return nil, refuse(http.StatusUnprocessableEntity, "metadata", fmt.Sprintf("Send at most %d metadata keys.", maxMetadata))
	}
	if err := k.update(c, before, o); err != nil {
		return nil, err
	}
	if reflect.DeepEqual(before, o) {
		return before, nil
	}
	o["updated_at"] = c.now
	c.put(o)
	return o, nil
}

func (c *call) delete(k *kind) (object, error) {
	o, err := c.named(k)
	if err != nil {
		return nil, err
	}
	if err := k.remove(c, o); err != nil {
		return nil, err
	}
	c.drop(o)
	return object{"id": o["id"], "object": o["object"], "deleted": true}, nil
}

// fill puts the fields of the body into an object. Null clears a field, and metadata are merged by key.
func (c *call) fill(k *kind, o object) {
	fields := described().schema(k.schema).Properties
	for name, value := range c.body {
		switch {
		case fields[name] == nil || slices.Contains(k.given, name):
		case name == "metadata":
			o[name] = merged(inner(o, name), value)
		case value == nil:
			o[name] = zero(fields[name])
		case fields[name].Format == "date-time":
			at, _ := moment.Parse(value.(string)) // was checked
			o[name] = timestamp(at)
		default:
			o[name] = value
		}
	}
}

func merged(metadata object, with any) object {
	changes, _ := with.(object)
	if changes == nil {
		return object{}
	}
	all := maps.Clone(metadata)
	for key, value := range changes {
		if all[key] = value; value == nil {
			delete(all, key)
		}
	}
	return all
}

// page answers a list: a page of the objects of a kind that the filters leave.
func (c *call) page(k *kind) (object, error) {
	after, before := queryText(c, "starting_after"), queryText(c, "ending_before")
	if after != "" && before != "" {
		return nil, refuse(http.StatusBadRequest, "ending_before", "Send starting_after or ending_before, not both.")
	}
	for param, id := range map[string]string{"starting_after": after, "ending_before": before} {
		if id != "" && !isID(k.prefix(), id) {
			return nil, refuse(http.StatusBadRequest, param, param+" must be the id of an item of this list, like "+k.prefix()+"01k0000000000000000000000a.")
		}
	}
	if err := c.checkFilters(k); err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(c.all(k.object()), func(o object) bool { return !c.keeps(o) })
	isAscending := c.query["sort"] == "created_at"
	if !isAscending {
		slices.Reverse(found)
	}
	limit, ok := c.query["limit"].(int64)
	if !ok {
		limit = 20
	}
	found, hasMore := cut(found, after, before, isAscending, int(limit))
	data := make([]any, len(found))
	for i, o := range found {
		data[i] = o
	}
	return object{"object": "list", "data": data, "has_more": hasMore, "url": c.request.URL.Path}, nil
}

// cut returns the part of a list that begins after an item, or ends before one. It also returns whether there is more of the list
// in that direction.
func cut(all []object, after, before string, isAscending bool, limit int) (page []object, hasMore bool) {
	follows := func(o object, id string) bool { // in the order of the list
		if isAscending {
			return cmp.Compare(textOf(o, "id"), id) > 0
		}
		return cmp.Compare(textOf(o, "id"), id) < 0
	}
	switch {
	case after != "":
		all = slices.DeleteFunc(all, func(o object) bool { return !follows(o, after) })
	case before != "":
		all = slices.DeleteFunc(all, func(o object) bool { return textOf(o, "id") == before || follows(o, before) })
		return all[max(0, len(all)-limit):], len(all) > limit
	}
	return all[:min(len(all), limit)], len(all) > limit
}

func queryText(c *call, name string) string { value, _ := c.query[name].(string); return value }

// notFilters are the parameters of a list that leave nothing out.
var notFilters = []string{"limit", "starting_after", "ending_before", "sort", "expand"}

// checkFilters refuses a filter that the objects of a kind have no field for.
func (c *call) checkFilters(k *kind) error {
	blank := c.blank(k)
	if k == orders {
		blank["customer_email"] = nil // see keeps
	}
	others := append(slices.Clone(notFilters), "created_after", "created_before", "metadata", "q")
	for _, name := range slices.Sorted(maps.Keys(c.query)) {
		field, value := name, blank[name]
		if name == "tag" {
			field, value = "tags", nil
		}
		if _, isField := blank[field]; !slices.Contains(others, name) && (!isField || isComposite(value)) {
			return unfaked(fmt.Sprintf("filter %ss by %s", k.name(), name))
		}
	}
	return nil
}

// keeps reports whether the filters of a list keep an object.
func (c *call) keeps(o object) bool {
	for name, want := range c.query {
		ok := true
		switch {
		case slices.Contains(notFilters, name):
		case name == "created_after":
			ok = textOf(o, "created_at") >= instant(want)
		case name == "created_before":
			ok = textOf(o, "created_at") < instant(want)
		case name == "metadata":
			for key, wanted := range want.(map[string]string) {
				ok = ok && inner(o, name)[key] == wanted
			}
		case name == "q":
			ok = hasWords(o, want.(string))
		case name == "tag":
			ok = slices.Contains(list(o, "tags"), want)
		case name == "customer_email" && o["object"] == "order":
			ok = strings.EqualFold(textOf(c.objects[textOf(o, "invoice")], name), want.(string)) // an order does not show it
		case name == "email" || name == "customer_email" || name == "code":
			ok = strings.EqualFold(textOf(o, name), want.(string))
		default:
			ok = o[name] == want
			if ref, isText := want.(string); isText && !ok {
				named := c.lookup(name, ref) // by slug
				ok = named != nil && named["id"] == o[name]
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

func isComposite(value any) bool {
	switch value.(type) {
	case []any, object:
		return true
	}
	return false
}

func instant(value any) string {
	at, _ := moment.Parse(value.(string)) // was checked
	return timestamp(at)
}

// hasWords reports whether each word of a search begins a word of the object.
func hasWords(o object, search string) bool {
	var words []string
	for _, name := range []string{"id", "name", "slug", "headline", "email", "title", "code", "number"} {
		whole := strings.ToLower(fmt.Sprint(o[name]))
		if o[name] != nil {
			words = append(append(words, whole), notSlugWords(whole)...)
		}
	}
	for _, want := range strings.Fields(strings.ToLower(search)) {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, want) }) {
			return false
		}
	}
	return true
}

func notSlugWords(s string) []string { return strings.Fields(notSlug.ReplaceAllString(s, " ")) }
