package sdktest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/tillwright/tillwright/sdk"
)

var products = &kind{
	schema:   "Product",
	defaults: object{"status": "draft", "type": "digital", "visibility": "public", "delivery_updates": "all_buyers"},
	given:    []string{"price_variants"},
	create:   createProduct,
	update:   updateProduct,
	remove:   removeProduct,
}

var productHandlers = map[string]handler{
	"publishProduct":   func(c *call) (object, error) { return c.moveProduct("active", "draft") },
	"unpublishProduct": func(c *call) (object, error) { return c.moveProduct("draft", "active") },
	"archiveProduct":   func(c *call) (object, error) { return c.moveProduct("archived", "draft", "active") },
	"unarchiveProduct": func(c *call) (object, error) { return c.moveProduct("draft", "archived") },
	"duplicateProduct": duplicateProduct,
}

func createProduct(c *call, o object) error {
	if !has(o, "slug") || textOf(o, "slug") == "" {
		o["slug"] = c.slugFor("product", textOf(o, "name"))
	}
	var variants []object
	p := problems{}
	for i, given := range list(c.body, "price_variants") {
		v := c.blank(priceVariants)
		own := &call{state: c.state, body: given.(object), now: c.now}
		own.fill(priceVariants, v)
		v["product"] = o["id"]
		completePriceVariant(v)
		at := fmt.Sprintf("price_variants.%d.", i)
		checkPriceVariant(v, at, p)
		c.checkExternalID(v, at, p)
		p.check(!has(v, "external_id") || !slices.ContainsFunc(variants, func(other object) bool { return other["external_id"] == v["external_id"] }), at+"external_id",
			"Another price variant of this product has this external_id.")
		variants = append(variants, v)
	}
	if err := p.err(); err != nil {
		return err
	}
	summarize(o, variants)
	if err := c.checkProduct(o, "draft"); err != nil {
		return err
	}
	for _, v := range variants {
		c.put(v)
	}
	c.put(o)
	c.emit(sdk.EventProductCreated, o, "price_variants")
	return nil
}

func updateProduct(c *call, before, o object) error {
	if err := c.checkProduct(o, textOf(before, "status")); err != nil {
		return err
	}
	if !maps.EqualFunc(before, o, same) {
		o["updated_at"] = c.now
		c.emit(sdk.EventProductUpdated, o, "price_variants")
	}
	return nil
}

// checkProduct checks what the document cannot say of a product, and notes when it is first published.
func (c *call) checkProduct(o object, from string) error {
	p := problems{}
	for _, field := range []string{"slug", "external_id"} {
		message := "Another product has this " + field + "."
		p.check(!has(o, field) || c.other("product", o, field) == nil, field, message)
	}
	checkCustomFields(o, p)
	status := textOf(o, "status")
	p.check(status == from || slices.Contains(productMoves[from], status), "status", fmt.Sprintf("This product is %s and cannot become %s.", from, status))
	p.check(status != "active" || has(o, "default_price_variant"), "status",
		"A product needs an active price variant before it can be active. Create one with POST /price_variants.")
	if err := p.err(); err != nil {
		return err
	}
	if status == "active" && !has(o, "published_at") {
		o["published_at"] = c.now
	}
	return nil
}

// productMoves are the states that may follow each state.
var productMoves = map[string][]string{"draft": {"active", "archived"}, "active": {"draft", "archived"}, "archived": {"draft"}}

func (c *call) moveProduct(to string, from ...string) (object, error) {
	before, err := c.named(products)
	if err != nil || before["status"] == to {
		return before, err
	}
	if !slices.Contains(from, textOf(before, "status")) {
		return nil, refuse(http.StatusUnprocessableEntity, "status", fmt.Sprintf("A product that is %s cannot become %s this way.", before["status"], to))
	}
	o := maps.Clone(before)
	o["status"] = to
	if err := c.checkProduct(o, textOf(before, "status")); err != nil {
		return nil, err
	}
	o = c.change(o, nil)
	c.emit(sdk.EventProductUpdated, o, "price_variants")
	return o, nil
}

func duplicateProduct(c *call) (object, error) {
	original, err := c.named(products)
	if err != nil {
		return nil, err
	}
	o := maps.Clone(original)
	fresh := c.blank(products)
	for _, name := range []string{"id", "status", "sales_count", "published_at", "external_id", "created_at", "updated_at"} {
		o[name] = fresh[name]
	}
	o["slug"] = c.slugFor("product", textOf(o, "name"))
	var variants []object
	for _, id := range list(original, "price_variants") {
		v := maps.Clone(c.objects[id.(string)])
		fresh := c.blank(priceVariants)
		for _, name := range []string{"id", "sold_count", "external_id", "created_at", "updated_at"} {
			v[name] = fresh[name]
		}
		v["product"] = o["id"]
		variants = append(variants, v)
		c.put(v)
	}
	summarize(o, variants)
	c.put(o)
	c.emit(sdk.EventProductCreated, o, "price_variants")
	return o, nil
}

func removeProduct(c *call, o object) error {
	if c.isOrdered("product", textOf(o, "id")) {
		return refuse(http.StatusUnprocessableEntity, "base", "This product has been ordered or given and cannot be deleted. Archive it instead.")
	}
	for _, id := range list(o, "price_variants") {
		c.drop(c.objects[id.(string)])
	}
	return nil
}

// isOrdered reports whether a line of an order names a product or price variant.
func (s *state) isOrdered(field, id string) bool {
	for _, order := range s.all("order") {
		for _, line := range list(order, "line_items") {
			if s.objects[line.(string)][field] == id {
				return true
			}
		}
	}
	return false
}

// summarize sets the fields of a product that repeat what its price variants say. They are given by position.
func summarize(o object, variants []object) {
	ids := make([]any, len(variants))
	o["default_price_variant"], o["price_range"] = nil, nil
	var lowest, highest int64
	var currency string
	for i, v := range variants {
		ids[i] = v["id"]
		if v["status"] != "active" {
			continue
		}
		if !has(o, "default_price_variant") {
			o["default_price_variant"], currency = v["id"], textOf(v, "currency")
		}
		low, ok := amountIn(v, currency)
		high := low
		if v["amount_type"] == "custom" {
			low, high = numberOf(v, "min_amount"), max(numberOf(v, "min_amount"), numberOf(v, "suggested_amount"), numberOf(v, "max_amount"))
		}
		if !ok {
			continue
		}
		if !has(o, "price_range") {
			lowest, highest = low, high
		}
		lowest, highest = min(lowest, low), max(highest, high)
		o["price_range"] = object{"min_amount": lowest, "max_amount": highest, "currency": currency}
	}
	o["price_variants"] = ids
}

// other returns another object of the kind with the same text in a field, nil if there is none.
func (s *state) other(kind string, o object, field string) object {
	for _, other := range s.all(kind) {
		if other["id"] != o["id"] && other[field] == o[field] {
			return other
		}
	}
	return nil
}
