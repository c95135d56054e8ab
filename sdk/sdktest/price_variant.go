package sdktest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"github.com/tillwright/tillwright/sdk"
)

var priceVariants = &kind{
	schema:   "PriceVariant",
	defaults: object{"type": "one_time", "amount_type": "fixed", "currency": "usd", "quantity_min": int64(1), "status": "active"},
	given:    []string{"product"},
	create:   createPriceVariant,
	update:   updatePriceVariant,
	remove:   removePriceVariant,
}

func same(a, b any) bool { return reflect.DeepEqual(a, b) }

func createPriceVariant(c *call, o object) error {
	product, err := c.referred("product", textOf(c.body, "product"), "product")
	if err != nil {
		return err
	}
	o["product"] = product["id"]
	p := problems{}
	completePriceVariant(o)
	checkPriceVariant(o, "", p)
	c.checkExternalID(o, "", p)
	if err := p.err(); err != nil {
		return err
	}
	c.put(o)
	c.priceVariantsChanged(product)
	return nil
}

func updatePriceVariant(c *call, before, o object) error {
	p := problems{}
	completePriceVariant(o)
	checkPriceVariant(o, "", p)
	if numberOf(before, "sold_count") > 0 {
		checkSold(before, o, p)
	}
	c.checkExternalID(o, "", p)
	product := c.objects[textOf(o, "product")]
	p.check(o["status"] == "active" || before["status"] != "active" || !c.isLastActive(product, o), "status",
		"This is the last active price variant of an active product. Unpublish the product first, or add another variant.")
	if err := p.err(); err != nil {
		return err
	}
	if !maps.EqualFunc(before, o, same) {
		o["updated_at"] = c.now
		c.put(o)
		c.priceVariantsChanged(product)
	}
	return nil
}

func removePriceVariant(c *call, o object) error {
	product := c.objects[textOf(o, "product")]
	switch {
	case c.isOrdered("price_variant", textOf(o, "id")):
		return refuse(http.StatusUnprocessableEntity, "base", "This price variant has been sold and cannot be deleted. Archive it instead.")
	case c.isLastActive(product, o):
		return refuse(http.StatusUnprocessableEntity, "base", "This is the last active price variant of an active product. Unpublish the product first, or add another variant.")
	}
	c.drop(o)
	c.priceVariantsChanged(product)
	return nil
}

// isLastActive reports whether an active product has no other active price variant.
func (s *state) isLastActive(product, variant object) bool {
	return product["status"] == "active" && !slices.ContainsFunc(s.variantsOf(product), func(v object) bool {
		return v["id"] != variant["id"] && v["status"] == "active"
	})
}

// variantsOf returns the price variants of a product by position.
func (s *state) variantsOf(product object) []object {
	own := slices.DeleteFunc(s.all("price_variant"), func(v object) bool { return v["product"] != product["id"] })
	slices.SortStableFunc(own, func(a, b object) int { return cmp.Compare(numberOf(a, "position"), numberOf(b, "position")) })
	return own
}

// priceVariantsChanged writes into a product what its price variants say now.
func (c *call) priceVariantsChanged(product object) {
	o := maps.Clone(product)
	summarize(o, c.variantsOf(product))
	o = c.change(o, nil)
	c.emit(sdk.EventProductUpdated, o, "price_variants")
}

// completePriceVariant sets what follows from the other fields.
func completePriceVariant(o object) {
	if o["type"] == "recurring" && !has(o, "interval_count") {
		o["interval_count"] = int64(1)
	}
}

// checkPriceVariant checks what the document cannot say. Field names in the problems begin with at.
func checkPriceVariant(o object, at string, p problems) {
	const onlyRecurring, onlyCustom = "Only a recurring price variant has this. Send type recurring.", "Only a price variant with amount_type custom has this."
	if o["type"] == "recurring" {
		p.check(has(o, "interval"), at+"interval", "A recurring price variant needs an interval: day, week, month or year.")
	} else {
		for _, name := range []string{"interval", "interval_count", "billing_cycles"} {
			p.check(!has(o, name), at+name, onlyRecurring)
		}
		for _, name := range []string{"trial_days", "setup_fee_amount"} {
			p.check(numberOf(o, name) == 0, at+name, onlyRecurring)
		}
	}
	if o["amount_type"] != "custom" {
		for _, name := range []string{"min_amount", "suggested_amount", "max_amount"} {
			p.check(!has(o, name), at+name, onlyCustom)
		}
	}
	p.check(o["amount_type"] == "fixed" || numberOf(o, "amount") == 0, at+"amount", fmt.Sprintf("A price variant with amount_type %s has the amount 0.", o["amount_type"]))
	p.check(o["amount_type"] != "fixed" || numberOf(o, "amount") > 0, at+"amount", "A fixed amount is above 0. Send amount_type free to give it away.")
	p.check(!has(o, "quantity_max") || numberOf(o, "quantity_max") >= numberOf(o, "quantity_min"), at+"quantity_max", "The greatest quantity is at least quantity_min.")
	p.check(!has(o, "stock") || numberOf(o, "stock") >= numberOf(o, "sold_count"), at+"stock", "The stock is at least what was sold or is being paid for.")
}

// checkExternalID refuses the external id of another price variant.
func (s *state) checkExternalID(o object, at string, p problems) {
	p.check(!has(o, "external_id") || s.other("price_variant", o, "external_id") == nil, at+"external_id", "Another price variant has this external_id.")
}

// checkSold refuses another price for what was sold.
func checkSold(before, o object, p problems) {
	for _, name := range []string{
		"type", "amount_type", "amount", "currency", "currency_amounts", "min_amount", "suggested_amount", "max_amount", "interval", "interval_count",
		"setup_fee_amount", "billing_cycles", "tax_behavior",
	} {
		p.check(same(before[name], o[name]), name,
			"This price variant has been sold or is being paid for: its price cannot change. Create a new variant and archive this one.")
	}
}

// amountIn returns the amount of a unit in a currency, and whether there is one.
func amountIn(v object, currency string) (int64, bool) {
	if v["currency"] == currency || v["amount_type"] == "free" && currency != "" {
		return numberOf(v, "amount"), true
	}
	amount, ok := inner(v, "currency_amounts")[currency].(int64)
	return amount, ok
}
