package sdktest

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"strings"
)

// maxAmount is the most that an order can come to.
const maxAmount = 1_000_000_000_000

// newLines makes the lines that the body asks for, and sets the currency of the checkout. It returns nil if the lines stay.
func (c *call) newLines(o object) ([]object, error) {
	currency := textOf(c.body, "currency")
	wanted, replaced := c.body["line_items"].([]any)
	if !replaced {
		if currency != "" && currency != o["currency"] {
			return nil, unfaked("change the currency of a checkout without its line_items")
		}
		return nil, nil
	}
	variants, pieces := make([]object, len(wanted)), map[any]int64{}
	for i, w := range wanted {
		v, err := c.referred("price_variant", textOf(w.(object), "price_variant"), fmt.Sprintf("line_items.%d.price_variant", i))
		if err != nil {
			return nil, err
		}
		if v["type"] == "recurring" {
			return nil, unfaked("sell recurring price variants")
		}
		variants[i] = v
		pieces[v["id"]] += quantityOf(w.(object))
	}
	if currency == "" {
		currency = textOf(variants[0], "currency")
	}
	o["currency"] = currency
	lines, p := make([]object, len(wanted)), problems{}
	for i, v := range variants {
		lines[i] = c.line(wanted[i].(object), v, currency, pieces[v["id"]], p)
	}
	return lines, p.err()
}

func quantityOf(wanted object) int64 { return max(numberOf(wanted, "quantity"), 1) }

// line makes the line that is asked for. Pieces are all of its price variant in the checkout.
func (c *call) line(wanted, v object, currency string, pieces int64, p problems) object {
	product, quantity := c.objects[textOf(v, "product")], quantityOf(wanted)
	unit, problem := unitAmount(v, currency, wanted["custom_amount"])
	if _, sold := amountIn(v, currency); !sold {
		field := "line_items"
		if has(c.body, "currency") {
			field = "currency"
		}
		p.check(false, field, fmt.Sprintf("Price variant %s has no price in %s.", v["id"], currency))
		problem = ""
	}
	switch unsellable := c.unsellable(v, pieces); {
	case unsellable != "":
		problem = unsellable
	case pieces < numberOf(v, "quantity_min"):
		problem = fmt.Sprintf("Price variant %s is sold from %d pieces on.", v["id"], numberOf(v, "quantity_min"))
	case has(v, "quantity_max") && pieces > numberOf(v, "quantity_max"):
		problem = fmt.Sprintf("Price variant %s is sold up to %d pieces.", v["id"], numberOf(v, "quantity_max"))
	}
	p.check(problem == "", "line_items", problem)
	line := c.blank(lineItems)
	maps.Copy(line, object{
		"product": product["id"], "price_variant": v["id"], "product_name": product["name"], "price_variant_name": v["name"],
		"description": product["name"], "quantity": quantity, "unit_amount": unit, "custom_amount": wanted["custom_amount"],
		"subtotal_amount": unit * quantity, "currency": currency,
	})
	if has(v, "name") {
		line["description"] = fmt.Sprintf("%s (%s)", product["name"], v["name"])
	}
	return line
}

// unitAmount returns what a piece costs. Problem says why it has no price, and is empty if it has one.
func unitAmount(v object, currency string, chosen any) (unit int64, problem string) {
	if v["amount_type"] != "custom" {
		if chosen != nil {
			problem = fmt.Sprintf("Price variant %s has a fixed price: leave custom_amount out.", v["id"])
		}
		unit, _ = amountIn(v, currency)
		return unit, problem
	}
	if chosen == nil {
		chosen = v["suggested_amount"]
	}
	unit, _ = chosen.(int64)
	switch {
	case chosen == nil:
		problem = fmt.Sprintf("Price variant %s lets the buyer choose: send custom_amount.", v["id"])
	case unit < numberOf(v, "min_amount"):
		problem = fmt.Sprintf("Price variant %s costs at least %d.", v["id"], numberOf(v, "min_amount"))
	case has(v, "max_amount") && unit > numberOf(v, "max_amount"):
		problem = fmt.Sprintf("Price variant %s costs at most %d.", v["id"], numberOf(v, "max_amount"))
	}
	return unit, problem
}

// unsellable says in a sentence why a quantity of a price variant cannot be sold, and returns nothing if it can.
func (s *state) unsellable(v object, quantity int64) string {
	switch product := s.objects[textOf(v, "product")]; {
	case product["status"] != "active":
		return fmt.Sprintf("Product %s is not active.", product["id"])
	case v["status"] != "active":
		return fmt.Sprintf("Price variant %s is archived.", v["id"])
	case has(v, "stock") && numberOf(v, "sold_count")+quantity > numberOf(v, "stock"):
		return fmt.Sprintf("Price variant %s is out of stock.", v["id"])
	}
	return ""
}

// linesOf returns copies of the lines of a checkout, whose unit amounts stay, to be priced.
func (s *state) linesOf(o object) []object {
	var lines []object
	for _, id := range list(o, "line_items") {
		lines = append(lines, maps.Clone(s.objects[id.(string)]))
	}
	return lines
}

// isPricedAs reports whether nothing of a checkout has changed that the discount may depend on.
func isPricedAs(before, o object) bool {
	for _, name := range []string{"customer", "external_customer_id", "customer_email", "customer_email_verified", "billing_address", "tax_id", "discount"} {
		if !same(before[name], o[name]) {
			return false
		}
	}
	return true
}

// price takes the discount of a checkout off lines whose unit amounts are fixed, stores them, and gives the checkout their sums.
func (c *call) price(o object, lines []object) error {
	tooMuch := refuse(http.StatusUnprocessableEntity, "line_items", fmt.Sprintf("The total, or the subtotal before discounts, exceeds %d, which is the most that an order can come to.", maxAmount))
	var subtotal int64
	for _, line := range lines {
		line["discount_amount"] = int64(0)
		if numberOf(line, "subtotal_amount") > math.MaxInt64-subtotal {
			return tooMuch
		}
		subtotal += numberOf(line, "subtotal_amount")
	}
	if subtotal > maxAmount {
		return tooMuch
	}
	if err := c.takeOff(o, lines); err != nil {
		return err
	}
	ids := make([]any, len(lines))
	for i, line := range lines {
		net := numberOf(line, "subtotal_amount") - numberOf(line, "discount_amount")
		line["net_amount"], line["total_amount"] = net, net
		ids[i] = line["id"]
	}
	for _, line := range lines {
		c.put(line)
	}
	o["line_items"] = ids
	for _, name := range []string{"subtotal_amount", "discount_amount", "net_amount", "total_amount"} {
		o[name] = total(lines, name)
	}
	o["tax_amount"], o["amount_due_now"], o["payment_method_required"] = int64(0), o["total_amount"], numberOf(o, "total_amount") > 0
	return nil
}

func total(lines []object, name string) (sum int64) {
	for _, line := range lines {
		sum += numberOf(line, name)
	}
	return sum
}

// setDiscount finds the discount that the body newly asks for. What is sent again as it is changes nothing.
func (c *call) setDiscount(before, o object) error {
	ref, code := before["discount"], before["discount_code"]
	if sent, ok := c.body["discount"]; ok {
		ref = sent
	}
	if sent, ok := c.body["discount_code"]; ok {
		code = sent
	}
	byID, byCode := ref != before["discount"], code != before["discount_code"]
	switch {
	case byID && byCode && ref != nil && code != nil:
		return refuse(http.StatusUnprocessableEntity, "discount_code", "Send discount or discount_code, not both.")
	case byCode && code != nil:
		d := c.discountOf(code.(string))
		if d == nil {
			return refuse(http.StatusUnprocessableEntity, "discount_code", "There is no discount with this code.")
		}
		o["discount"], o["discount_code"] = d["id"], d["code"]
	case byID && ref != nil:
		d, err := c.referred("discount", ref.(string), "discount")
		if err != nil {
			return err
		}
		o["discount"], o["discount_code"] = d["id"], nil
	case byID || byCode:
		o["discount"], o["discount_code"] = nil, nil
	}
	return nil
}

// takeOff takes the discount of a checkout off its lines.
func (c *call) takeOff(o object, lines []object) error {
	if !has(o, "discount") {
		return nil
	}
	problem := "This discount does not exist any more."
	if d := c.objects[textOf(o, "discount")]; d != nil {
		problem = apply(d, lines, textOf(o, "currency"))
	}
	field := "discount_code"
	if !has(o, "discount_code") {
		field = "discount"
	}
	if problem != "" {
		return refuse(http.StatusUnprocessableEntity, field, problem)
	}
	return nil
}

// requote prices a checkout once more, just before it is paid. If the total has changed, the new one is stored, and the payment is refused.
func (c *call) requote(shown object) error {
	o := maps.Clone(shown)
	if err := c.price(o, c.linesOf(o)); err != nil {
		return err
	}
	if o["total_amount"] == shown["total_amount"] {
		return nil
	}
	c.change(o, nil)
	currency := textOf(o, "currency")
	return &recorded{refuse(http.StatusUnprocessableEntity, "line_items", fmt.Sprintf("The total has changed from %s to %s. Show it to the buyer, and confirm again.",
		amountText(numberOf(shown, "total_amount"), currency), amountText(numberOf(o, "total_amount"), currency)))}
}

// decimals are how many decimals a currency has, if they are not two.
var decimals = map[string]int{"clp": 0, "isk": 0, "jpy": 0, "krw": 0, "vnd": 0, "bhd": 3, "jod": 3, "kwd": 3, "omr": 3, "tnd": 3}

// amountText writes an amount with its currency for people: USD 1,900.00.
func amountText(amount int64, currency string) string {
	exponent, known := decimals[currency]
	if !known {
		exponent = 2
	}
	digits := fmt.Sprintf("%0*d", exponent+1, amount)
	whole, minor := digits[:len(digits)-exponent], digits[len(digits)-exponent:]
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	return strings.ToUpper(currency) + "\u00a0" + strings.TrimSuffix(whole+"."+minor, ".")
}

// hold refuses lines that take more of a price variant than is in stock.
func (c *call) hold(lines []object) error {
	pieces := map[string]int64{}
	for _, line := range lines {
		id := textOf(line, "price_variant")
		pieces[id] += numberOf(line, "quantity")
		if problem := c.unsellable(c.objects[id], pieces[id]); problem != "" {
			return refuse(http.StatusUnprocessableEntity, "line_items", problem)
		}
	}
	return nil
}
