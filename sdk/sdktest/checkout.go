package sdktest

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/sdk/moment"
)

// checkoutLasts is how long a checkout is open unless it says otherwise.
const checkoutLasts = 24 * time.Hour

var lineItems = &kind{schema: "LineItem", defaults: object{"kind": "price"}}

var checkouts = &kind{
	schema:   "Checkout",
	defaults: object{"allow_discount_codes": true, "status": "open", "payment_status": "unpaid"},
	given:    []string{"line_items", "customer", "discount", "discount_code", "customer_email_verified", "currency"},
	create:   createCheckout,
	update:   updateCheckout,
}

var checkoutHandlers = map[string]handler{
	"expireCheckout":        expireCheckout,
	"confirmCheckout":       confirmCheckout,
	"getPublicCheckout":     onPublicCheckout(func(_ *call, o object) (object, error) { return o, nil }),
	"updatePublicCheckout":  onPublicCheckout(func(c *call, o object) (object, error) { return c.update(checkouts) }),
	"confirmPublicCheckout": onPublicCheckout(func(c *call, o object) (object, error) { return c.confirm(o) }),
}

func createCheckout(c *call, o object) error {
	if !has(c.body, "expires_at") {
		o["expires_at"] = timestamp(time.Now().Add(checkoutLasts))
	}
	o["client_secret"] = text(o, "id") + "_secret_" + newToken()
	o["url"] = c.root + "/checkout/" + text(o, "client_secret")
	if err := c.setBuyer(o); err != nil {
		return err
	}
	if err := c.setLines(o); err != nil {
		return err
	}
	c.put(o)
	shown := maps.Clone(o)
	shown["url"], shown["client_secret"] = nil, nil
	c.emit(sdk.EventCheckoutCreated, shown, "line_items")
	return nil
}

func updateCheckout(c *call, before, o object) error {
	if before["status"] != "open" {
		return refuse(http.StatusUnprocessableEntity, "status", fmt.Sprintf("The checkout is %s. Only an open one can be changed.", before["status"]))
	}
	if err := c.setBuyer(o); err != nil {
		return err
	}
	return c.setLines(o)
}

// setBuyer keeps the customer of the body, and what follows from the customer or the address.
func (c *call) setBuyer(o object) error {
	if expires := text(c.body, "expires_at"); expires != "" {
		at, _ := moment.Parse(expires) // was checked
		if in := time.Until(at); in < 30*time.Minute || in > 30*24*time.Hour {
			return refuse(http.StatusUnprocessableEntity, "expires_at", "A checkout expires in 30 minutes to 30 days.")
		}
	}
	ref, sent := c.body["customer"]
	if sent && ref != nil {
		if has(c.body, "customer_email") {
			return refuse(http.StatusUnprocessableEntity, "customer_email", "Send customer or customer_email, not both.")
		}
		customer, err := c.referred("customer", ref.(string), "customer")
		if err != nil {
			return err
		}
		o["customer"], o["customer_email"] = customer["id"], customer["email"]
		for field, own := range map[string]string{"customer_name": "name", "billing_address": "billing_address", "tax_id": "tax_id"} {
			if _, said := c.body[field]; !said {
				o[field] = customer[own]
			}
		}
	} else if sent {
		o["customer"] = nil
	}
	if _, changes := c.body["customer_email"]; changes {
		o["customer_email_verified"] = false
	}
	if verified, ok := c.body["customer_email_verified"].(bool); ok {
		o["customer_email_verified"] = verified && has(o, "customer_email")
	}
	return nil
}

// setLines makes the lines of the body, or keeps those that are there, and prices the checkout.
func (c *call) setLines(o object) error {
	var lines []object
	currency := text(c.body, "currency")
	wanted, replaced := c.body["line_items"].([]any)
	p := problems{}
	if replaced {
		for i, w := range wanted {
			line, err := c.line(w.(object), fmt.Sprintf("line_items.%d.price_variant", i), &currency, p)
			if err != nil {
				return err
			}
			lines = append(lines, line)
		}
	} else {
		if currency != "" && currency != o["currency"] {
			return unfaked("change the currency of a checkout without its line_items")
		}
		currency = text(o, "currency")
		for _, id := range list(o, "line_items") {
			line := maps.Clone(c.objects[id.(string)])
			line["discount_amount"] = int64(0)
			lines = append(lines, line)
		}
	}
	if err := p.err(); err != nil {
		return err
	}
	o["currency"] = currency
	if err := c.setDiscount(o, lines); err != nil {
		return err
	}
	ids := make([]any, len(lines))
	for i, line := range lines {
		net := number(line, "subtotal_amount") - number(line, "discount_amount")
		line["net_amount"], line["total_amount"] = net, net
		ids[i] = line["id"]
		c.put(line)
	}
	o["line_items"] = ids
	for _, name := range []string{"subtotal_amount", "discount_amount", "net_amount", "total_amount"} {
		o[name] = total(lines, name)
	}
	o["tax_amount"], o["amount_due_now"], o["payment_method_required"] = int64(0), o["total_amount"], number(o, "total_amount") > 0
	return nil
}

func total(lines []object, name string) (sum int64) {
	for _, line := range lines {
		sum += number(line, name)
	}
	return sum
}

// line makes the line that is asked for. The first one without a currency says it for all.
func (c *call) line(wanted object, param string, currency *string, p problems) (object, error) {
	v, err := c.referred("price_variant", text(wanted, "price_variant"), param)
	if err != nil {
		return nil, err
	}
	if v["type"] == "recurring" {
		return nil, unfaked("sell recurring price variants")
	}
	inCurrency := "line_items"
	if has(c.body, "currency") {
		inCurrency = "currency"
	}
	if *currency == "" {
		*currency = text(v, "currency")
	}
	product, quantity := c.objects[text(v, "product")], max(number(wanted, "quantity"), 1)
	unit, sold := amountIn(v, *currency)
	if custom, isCustom := wanted["custom_amount"].(int64); v["amount_type"] == "custom" {
		unit = number(v, "suggested_amount")
		if isCustom {
			unit = custom
		}
		p.check(isCustom || has(v, "suggested_amount"), "line_items", fmt.Sprintf("Price variant %s needs a custom_amount.", v["id"]))
		p.check(unit >= number(v, "min_amount") && (!has(v, "max_amount") || unit <= number(v, "max_amount")), "line_items",
			fmt.Sprintf("The custom_amount of price variant %s is out of its bounds.", v["id"]))
	} else {
		p.check(!isCustom, "line_items", fmt.Sprintf("Price variant %s has a fixed price: leave custom_amount out.", v["id"]))
	}
	p.check(sold, inCurrency, fmt.Sprintf("Price variant %s has no price in %s.", v["id"], *currency))
	problem := c.unsellable(v, quantity)
	p.check(problem == "", "line_items", problem)
	p.check(quantity >= number(v, "quantity_min"), "line_items", fmt.Sprintf("Price variant %s is sold from %d pieces on.", v["id"], number(v, "quantity_min")))
	p.check(!has(v, "quantity_max") || quantity <= number(v, "quantity_max"), "line_items", fmt.Sprintf("Price variant %s is sold up to %d pieces.", v["id"], number(v, "quantity_max")))
	line := c.blank(lineItems)
	maps.Copy(line, object{
		"product": product["id"], "price_variant": v["id"], "product_name": product["name"], "price_variant_name": v["name"],
		"description": product["name"], "quantity": quantity, "unit_amount": unit, "custom_amount": wanted["custom_amount"],
		"subtotal_amount": unit * quantity, "currency": *currency,
	})
	if has(v, "name") {
		line["description"] = fmt.Sprintf("%s (%s)", product["name"], v["name"])
	}
	return line, nil
}

// unsellable says in a sentence why a quantity of a price variant cannot be sold, and returns nothing if it can.
func (s *state) unsellable(v object, quantity int64) string {
	switch product := s.objects[text(v, "product")]; {
	case product["status"] != "active":
		return fmt.Sprintf("Product %s is not active.", product["id"])
	case v["status"] != "active":
		return fmt.Sprintf("Price variant %s is archived.", v["id"])
	case has(v, "stock") && number(v, "sold_count")+quantity > number(v, "stock"):
		return fmt.Sprintf("Price variant %s is out of stock.", v["id"])
	}
	return ""
}

// setDiscount finds the discount of the body, or the one that is there, and takes it off the lines.
func (c *call) setDiscount(o object, lines []object) error {
	ref, byID := c.body["discount"]
	code, byCode := c.body["discount_code"]
	field := "discount_code"
	switch {
	case ref != nil && code != nil:
		return refuse(http.StatusUnprocessableEntity, "discount_code", "Send discount or discount_code, not both.")
	case ref != nil:
		d, err := c.referred("discount", ref.(string), "discount")
		if err != nil {
			return err
		}
		field, o["discount"], o["discount_code"] = "discount", d["id"], nil
	case code != nil:
		d := c.discountOf(code.(string))
		if d == nil {
			return refuse(http.StatusUnprocessableEntity, field, "There is no discount with this code.")
		}
		o["discount"], o["discount_code"] = d["id"], d["code"]
	case byID || byCode:
		o["discount"], o["discount_code"] = nil, nil
	}
	if !has(o, "discount") {
		return nil
	}
	d := c.objects[text(o, "discount")]
	problem := "This discount does not exist any more."
	if d != nil {
		problem = apply(d, lines, text(o, "currency"))
	}
	if problem != "" {
		return refuse(http.StatusUnprocessableEntity, field, problem)
	}
	return nil
}

func expireCheckout(c *call) (object, error) {
	o, err := c.named(checkouts)
	if err != nil || o["status"] == "expired" {
		return o, err
	}
	if o["status"] != "open" {
		return nil, refuse(http.StatusUnprocessableEntity, "status", fmt.Sprintf("This checkout is %s and cannot become expired.", o["status"]))
	}
	return c.change(o, object{"status": "expired"}), nil
}

// onPublicCheckout answers an operation of the buyer with the checkout as its buyer sees it.
func onPublicCheckout(do func(c *call, o object) (object, error)) handler {
	return func(c *call) (object, error) {
		id, _, _ := strings.Cut(c.values["client_secret"], "_secret_")
		o := c.lookup("checkout", id)
		if o == nil || o["client_secret"] != c.values["client_secret"] {
			return nil, refuse(http.StatusNotFound, "", "There is no checkout with this client secret.")
		}
		c.values = map[string]string{"id": id, "client_secret": c.values["client_secret"]}
		o, err := do(c, o)
		if err != nil {
			return nil, err
		}
		whole := c.expanded(o, "line_items")
		shown := object{}
		for _, name := range described().schema("PublicCheckout").Required {
			shown[name] = whole[name]
		}
		shown["seller_name"], shown["terms_required"], shown["deliveries"] = c.account["name"], false, []any{}
		questions := []any{}
		for _, line := range list(whole, "line_items") {
			if product := c.objects[text(line.(object), "product")]; product != nil {
				questions = append(questions, list(product, "custom_fields")...)
			}
		}
		shown["custom_fields"] = questions
		return shown, nil
	}
}
