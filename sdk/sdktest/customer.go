package sdktest

import (
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/sdk"
)

var customers = &kind{
	schema:   "Customer",
	defaults: object{"type": "lead"},
	create:   func(c *call, o object) error { return c.checkCustomer(o) },
	update:   updateCustomer,
	remove:   removeCustomer,
}

func updateCustomer(c *call, _, o object) error {
	err := c.checkCustomer(o)
	if err == nil && has(c.body, "email") {
		delete(c.typed, textOf(o, "id"))
	}
	return err
}

// removeCustomer takes what a customer was given, and deletes their leads.
func removeCustomer(c *call, o object) error {
	for _, g := range c.all("grant") {
		if g["customer"] == o["id"] {
			c.change(g, object{"status": "revoked", "reason": "customer_deleted", "suspended_at": nil, "revoked_at": c.now})
		}
	}
	for _, lead := range c.all("lead") {
		if lead["customer"] == o["id"] {
			c.drop(lead)
		}
	}
	return nil
}

var customerHandlers = map[string]handler{
	"getCustomerByExternalID": func(c *call) (object, error) {
		for _, o := range c.all("customer") {
			if o["external_id"] == c.values["external_id"] {
				return o, nil
			}
		}
		return nil, missing("customer", c.values["external_id"], "")
	},
}

func (c *call) checkCustomer(o object) error {
	p := problems{}
	other := c.customerOf(textOf(o, "email"))
	p.check(other == nil || other["id"] == o["id"], "email", "Another customer has this e-mail address.")
	p.check(!has(o, "external_id") || c.other("customer", o, "external_id") == nil, "external_id", "Another customer has this external_id.")
	return p.err()
}

// customerOf returns the customer who owns an address, nil if there is none.
func (s *state) customerOf(email string) object {
	for _, o := range s.all("customer") {
		if strings.EqualFold(textOf(o, "email"), email) && !s.typed[textOf(o, "id")] {
			return o
		}
	}
	return nil
}

var leads = &kind{
	schema:   "Lead",
	defaults: object{"source": "api", "status": "new", "consent": object{"marketing": false}},
	given:    []string{"product", "ai_site"},
	create:   createLead,
	update:   func(*call, object, object) error { return nil },
	remove:   func(*call, object) error { return nil },
}

func createLead(c *call, o object) error {
	if has(c.body, "ai_site") {
		return unfaked("know sites")
	}
	if has(c.body, "product") {
		product, err := c.referred("product", textOf(c.body, "product"), "product")
		if err != nil {
			return err
		}
		o["product"] = product["id"]
	}
	for _, other := range c.all("lead") {
		if strings.EqualFold(textOf(other, "email"), textOf(o, "email")) && other["product"] == o["product"] {
			if isTrue(c.body, "upsert") {
				return unfaked("change a lead by upsert: true")
			}
			return refuse(http.StatusUnprocessableEntity, "email", "This address has a lead for this product already. Change that one, or send upsert: true.")
		}
	}
	c.status = http.StatusCreated
	customer := c.customerOf(textOf(o, "email"))
	if customer == nil {
		customer = c.blank(customers)
		customer["email"], customer["name"] = o["email"], o["name"]
		c.put(customer)
	}
	o["customer"] = customer["id"]
	c.put(o)
	data := c.expanded(customer)
	data["lead"] = o
	c.emit(sdk.EventLeadCreated, data)
	return nil
}
