package sdktest

import (
	"cmp"
	"fmt"
	"math/bits"
	"net/http"
	"slices"
	"strings"
)

var discounts = &kind{
	schema:   "Discount",
	defaults: object{"duration": "once", "status": "active", "applies_to": object{"products": []any{}, "price_variants": []any{}}},
	given:    []string{"applies_to"},
	create:   func(c *call, o object) error { return c.checkDiscount(o) },
	update:   func(c *call, _, o object) error { return c.checkDiscount(o) },
	remove:   func(*call, object) error { return nil },
}

var discountHandlers = map[string]handler{
	"disableDiscount": func(c *call) (object, error) { return c.switchDiscount("disabled") },
	"enableDiscount":  func(c *call) (object, error) { return c.switchDiscount("active") },
	"lookupDiscount": func(c *call) (object, error) {
		if d := c.discountOf(queryText(c, "code")); d != nil {
			return d, nil
		}
		return nil, missing("discount", queryText(c, "code"), "code")
	},
}

func (c *call) switchDiscount(status string) (object, error) {
	d, err := c.named(discounts)
	if err != nil || d["status"] == status {
		return d, err
	}
	return c.change(d, object{"status": status}), nil
}

func (c *call) checkDiscount(o object) error {
	for _, name := range []string{"starts_at", "ends_at", "max_redemptions_per_customer", "first_purchase_only", "min_subtotal_amounts"} {
		if !slices.Contains([]any{nil, false}, c.body[name]) {
			return unfaked("limit discounts by " + name)
		}
	}
	if len(list(o, "rules")) > 0 {
		return unfaked("know rules of discounts")
	}
	if wanted := inner(c.body, "applies_to"); wanted != nil {
		kept := object{}
		for _, kind := range []string{"product", "price_variant"} {
			kept[kind+"s"] = []any{}
			for i, ref := range list(wanted, kind+"s") {
				found, err := c.referred(kind, ref.(string), fmt.Sprintf("applies_to.%ss.%d", kind, i))
				if err != nil {
					return err
				}
				kept[kind+"s"] = appended(list(kept, kind+"s"), found["id"])
			}
		}
		o["applies_to"] = kept
	}
	if textOf(o, "name") == "" {
		o["name"] = textOf(o, "code")
	}
	hasAmount := has(o, "amount") || len(inner(o, "amounts")) > 0
	p := problems{}
	p.check(textOf(o, "name") != "", "name", "Send a name of 1 to 255 characters, or a code.")
	if o["type"] == "percent" {
		p.check(has(o, "percent_bps"), "percent_bps", "A percent discount has percent_bps from 1 to 10000, which is all of it.")
		p.check(!hasAmount, "amount", "Only a discount of type fixed has amounts. Send percent_bps.")
	} else {
		p.check(!has(o, "percent_bps"), "percent_bps", "Only a discount of type percent has this. Send amount and currency.")
		p.check(hasAmount, "amount", "A fixed discount has amount and currency, or amounts by currency.")
	}
	if o["duration"] == "repeating" {
		p.check(has(o, "duration_in_months"), "duration_in_months", "A repeating discount has duration_in_months from 1 to 999.")
	} else {
		p.check(!has(o, "duration_in_months"), "duration_in_months", "Only a repeating discount has this. Send duration repeating.")
	}
	if has(o, "code") {
		other := c.discountOf(textOf(o, "code"))
		p.check(other == nil || other["id"] == o["id"], "code", "Another discount has this code.")
	}
	if (has(o, "amount") || has(o, "min_subtotal_amount")) && !has(o, "currency") {
		o["currency"] = c.account["default_currency"]
	}
	return p.err()
}

// discountOf returns the discount with a code, nil if there is none.
func (s *state) discountOf(code string) object {
	for _, d := range s.all("discount") {
		if has(d, "code") && strings.EqualFold(textOf(d, "code"), code) {
			return d
		}
	}
	return nil
}

// apply takes a discount off lines, each of which has its subtotal. It says in a sentence why it cannot.
func apply(d object, lines []object, currency string) (problem string) {
	var subtotal, sum int64
	var eligible []object
	for _, line := range lines {
		subtotal += numberOf(line, "subtotal_amount")
		if isFor(d, line) {
			eligible = append(eligible, line)
			sum += numberOf(line, "subtotal_amount")
		}
	}
	total := min(numberOf(d, "amount"), sum)
	switch {
	case d["status"] == "disabled":
		return "This discount is disabled."
	case has(d, "max_redemptions") && numberOf(d, "redemptions_count") >= numberOf(d, "max_redemptions"):
		return "This discount has been used as often as it can be."
	case has(d, "min_subtotal_amount") && d["currency"] != currency:
		return fmt.Sprintf("This discount cannot be used in %s.", currency)
	case subtotal < numberOf(d, "min_subtotal_amount"):
		return fmt.Sprintf("This discount needs a subtotal of at least %d.", numberOf(d, "min_subtotal_amount"))
	case d["type"] == "percent":
		total = percentOf(sum, numberOf(d, "percent_bps"))
	case d["currency"] != currency:
		amount, known := inner(d, "amounts")[currency].(int64)
		if !known {
			return fmt.Sprintf("This discount has no amount in %s.", currency)
		}
		total = min(amount, sum)
	}
	if len(eligible) == 0 {
		return "This discount is for none of the lines."
	}
	share(total, sum, eligible)
	return ""
}

// percentOf returns so many basis points of a sum, rounded half up.
func percentOf(sum, bps int64) int64 {
	hi, lo := bits.Mul64(uint64(sum), uint64(bps))
	lo, carry := bits.Add64(lo, 5000, 0)
	part, _ := bits.Div64(hi+carry, lo, 10_000)
	return int64(part)
}

// isFor reports whether a discount may take something off a line.
func isFor(d, line object) bool {
	ids := appended(list(inner(d, "applies_to"), "products"), list(inner(d, "applies_to"), "price_variants")...)
	return len(ids) == 0 || slices.Contains(ids, line["product"]) || slices.Contains(ids, line["price_variant"])
}

// share divides total among lines by their subtotals. What is left over by rounding goes, one unit each, to those that lost most by it.
func share(total, sum int64, lines []object) {
	type part struct {
		line      object
		remainder uint64
	}
	parts := make([]part, len(lines))
	rest := total
	for i, line := range lines {
		var off, remainder uint64
		if sum > 0 {
			hi, lo := bits.Mul64(uint64(total), uint64(numberOf(line, "subtotal_amount")))
			off, remainder = bits.Div64(hi, lo, uint64(sum))
		}
		line["discount_amount"] = int64(off)
		rest -= int64(off)
		parts[i] = part{line, remainder}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.remainder, a.remainder) })
	for _, p := range parts[:rest] {
		p.line["discount_amount"] = numberOf(p.line, "discount_amount") + 1
	}
}

var checkoutLinks = &kind{
	schema:   "CheckoutLink",
	defaults: object{"allow_discount_codes": true, "active": true},
	create: func(c *call, o object) error {
		o["url"] = c.root + "/buy/" + textOf(o, "id")
		return c.checkCheckoutLink(o)
	},
	update: func(c *call, _, o object) error { return c.checkCheckoutLink(o) },
	remove: func(*call, object) error { return nil },
}

func (c *call) checkCheckoutLink(o object) error {
	for i, ref := range list(o, "price_variants") {
		at := fmt.Sprintf("price_variants.%d", i)
		v, err := c.referred("price_variant", ref.(string), at)
		if err != nil {
			return err
		}
		if v["amount_type"] == "custom" && !has(v, "suggested_amount") {
			return refuse(http.StatusUnprocessableEntity, at, fmt.Sprintf("Price variant %s is sold for its suggested amount by a link: give it one.", v["id"]))
		}
	}
	if has(o, "discount") && c.lookup("discount", textOf(o, "discount")) == nil {
		return refuse(http.StatusNotFound, "discount", fmt.Sprintf("No such discount: '%s'.", o["discount"]))
	}
	return nil
}
