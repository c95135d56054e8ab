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
	o["client_secret"] = textOf(o, "id") + "_secret_" + newToken()
	o["url"] = c.root + "/checkout/" + textOf(o, "client_secret")
	if err := c.setBuyer(o); err != nil {
		return err
	}
	if err := c.setDiscount(object{}, o); err != nil {
		return err
	}
	lines, err := c.newLines(o)
	if err != nil {
		return err
	}
	if err := c.checkAnswers(inner(o, "custom_field_data"), lines, false); err != nil {
		return err
	}
	if err := c.price(o, lines); err != nil {
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
	if c.op.Public && has(c.body, "discount_code") && !isTrue(o, "allow_discount_codes") {
		return refuse(http.StatusUnprocessableEntity, "discount_code", "This checkout takes no discount codes.")
	}
	if err := c.setBuyer(o); err != nil {
		return err
	}
	if err := c.setDiscount(before, o); err != nil {
		return err
	}
	lines, err := c.newLines(o)
	if err != nil {
		return err
	}
	isNew := lines != nil
	if !isNew {
		lines = c.linesOf(o)
	}
	if isNew || !same(before["custom_field_data"], o["custom_field_data"]) {
		if err := c.checkAnswers(inner(o, "custom_field_data"), lines, false); err != nil {
			return err
		}
	}
	if !isNew && isPricedAs(before, o) {
		return nil
	}
	return c.price(o, lines)
}

// setBuyer keeps the customer of the body, and what follows from the customer or the address.
func (c *call) setBuyer(o object) error {
	if expires := textOf(c.body, "expires_at"); expires != "" {
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
		shown["seller_name"], shown["terms_required"], shown["withdrawal_waiver_needed"], shown["deliveries"] = c.account["name"], false, false, []any{}
		questions := []any{}
		for _, line := range list(whole, "line_items") {
			if product := c.objects[textOf(line.(object), "product")]; product != nil {
				questions = append(questions, list(product, "custom_fields")...)
			}
		}
		shown["custom_fields"] = questions
		return shown, nil
	}
}
