package sdktest

import (
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/tillwright/tillwright/sdk"
)

// recorded is a refusal that changed something. It is kept under the Idempotency-Key.
type recorded struct{ *refusal }

// Unwrap returns the refusal.
func (r *recorded) Unwrap() error { return r.refusal }

// card is a test card.
type card struct {
	number, brand string
	decline       string // why it is declined, empty if it pays
	message       string
}

// cards are the test cards by their tokens.
var cards = map[string]card{
	"pm_card_visa":                            {number: "4242424242424242", brand: "visa"},
	"pm_card_mastercard":                      {number: "5555555555554444", brand: "mastercard"},
	"pm_card_amex":                            {number: "378282246310005", brand: "amex"},
	"pm_card_discover":                        {number: "6011111111111117", brand: "discover"},
	"pm_card_chargeDeclined":                  {"4000000000000002", "visa", "generic_decline", "The card was declined."},
	"pm_card_chargeDeclinedInsufficientFunds": {"4000000000009995", "visa", "insufficient_funds", "The card has insufficient funds."},
}

func confirmCheckout(c *call) (object, error) {
	o, err := c.named(checkouts)
	if err != nil {
		return nil, err
	}
	return c.confirm(o)
}

// confirm pays a checkout and makes its order. A completed one is returned as it is.
func (c *call) confirm(o object) (object, error) {
	switch {
	case o["status"] == "completed":
		return o, nil
	case o["status"] != "open":
		return nil, refuse(http.StatusUnprocessableEntity, "status", fmt.Sprintf("The checkout is %s. Only an open one can be confirmed.", o["status"]))
	}
	due := numberOf(o, "amount_due_now")
	method, sent := c.body["payment_method"]
	p := problems{}
	p.check(has(o, "customer_email"), "customer_email", "The checkout needs the buyer's e-mail address.")
	p.check(due == 0 || sent, "payment_method", "Send a payment method, such as pm_card_visa.")
	for _, id := range list(o, "line_items") {
		line := c.objects[id.(string)]
		v := c.objects[textOf(line, "price_variant")]
		if v == nil {
			return nil, refuse(http.StatusUnprocessableEntity, "line_items", fmt.Sprintf("No such price_variant: '%s'.", line["price_variant"]))
		}
		problem := c.unsellable(v, numberOf(line, "quantity"))
		p.check(problem == "", "line_items", problem)
	}
	var paid card
	if sent {
		var err error
		if paid, err = chosen(method); err != nil {
			return nil, err
		}
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	if err := c.checkAnswers(inner(o, "custom_field_data"), c.linesOf(o), true); err != nil {
		return nil, err
	}
	if err := c.requote(o); err != nil {
		return nil, err
	}
	if err := c.hold(c.linesOf(o)); err != nil {
		return nil, err
	}
	if consent, ok := c.body["ads_consent"].(bool); ok {
		o = c.change(o, object{"ads_consent": consent})
	}
	if isTrue(c.body, "withdrawal_waived") {
		o = c.change(o, object{"withdrawal_waived_at": c.now})
	}
	if due > 0 && paid.decline != "" {
		c.change(o, object{"last_payment_error": object{"code": "card_declined", "decline_code": paid.decline, "message": paid.message}})
		return nil, &recorded{refuse(http.StatusUnprocessableEntity, "payment_method", paid.message)}
	}
	return c.complete(o, paid), nil
}

// chosen returns the test card of a payment method.
func chosen(method any) (card, error) {
	given, token := "", ""
	switch m := method.(type) {
	case string:
		token = m
	case object:
		given = strings.ReplaceAll(textOf(inner(m, "card"), "number"), " ", "")
	}
	for name, known := range cards {
		if name == token || known.number == given {
			return known, nil
		}
	}
	if strings.HasPrefix(token, "pm_card_") || strings.HasPrefix(token, "tok_") || given != "" {
		return card{}, unfaked("know this test card: it has pm_card_visa, pm_card_chargeDeclined and pm_card_chargeDeclinedInsufficientFunds")
	}
	return card{}, refuse(http.StatusUnprocessableEntity, "payment_method", fmt.Sprintf("No such payment method: '%s'. Send pm_card_visa, another test token, or a card.", token))
}

// complete makes what a paid checkout leads to: customer, order, invoice, payment and grants.
func (c *call) complete(o object, paid card) object {
	amount, currency := numberOf(o, "total_amount"), textOf(o, "currency")
	customer, isKnown := c.buyerOf(o)
	c.orders++
	order, invoice := c.blank(orders), c.blank(invoices)
	ids := []any{}
	for _, id := range list(o, "line_items") {
		line := maps.Clone(c.objects[id.(string)])
		line["id"] = lineItems.prefix() + newULID()
		c.put(line)
		ids = append(ids, line["id"])
		c.sold(line)
	}
	for _, name := range []string{"subtotal_amount", "discount_amount", "net_amount", "total_amount", "tax_amount", "currency", "discount", "metadata"} {
		order[name], invoice[name] = o[name], o[name]
	}
	maps.Copy(order, object{
		"number": c.orders, "status": "pending", "billing_reason": "purchase", "customer": customer["id"], "customer_verified": isKnown,
		"line_items": ids, "due_amount": amount, "checkout": o["id"], "invoice": invoice["id"], "billing_name": o["customer_name"],
		"billing_address": o["billing_address"], "tax_id": o["tax_id"], "custom_field_data": o["custom_field_data"], "withdrawal_waived_at": o["withdrawal_waived_at"], "receipt_url": c.root + "/receipt/" + textOf(order, "id"),
	})
	hosted := c.root + "/invoice/" + textOf(invoice, "id")
	maps.Copy(invoice, object{
		"number": fmt.Sprintf("%s-%06d", c.account["invoice_prefix"], c.orders), "status": "open", "collection_method": "charge_automatically",
		"billing_reason": "purchase", "customer": customer["id"], "customer_email": o["customer_email"], "customer_name": o["customer_name"],
		"customer_address": o["billing_address"], "customer_tax_id": o["tax_id"], "lines": ids, "amount_due": amount, "due_at": c.now, "finalized_at": c.now,
		"order": order["id"], "hosted_url": hosted, "pdf_url": hosted + "/pdf",
	})
	c.put(order)
	c.put(invoice)
	c.bought(customer, amount, currency)
	if d := c.objects[textOf(o, "discount")]; d != nil {
		d = maps.Clone(d)
		d["redemptions_count"] = numberOf(d, "redemptions_count") + 1
		c.put(d)
	}
	c.emit(sdk.EventOrderCreated, order, "customer", "line_items")
	c.emit(sdk.EventInvoiceCreated, invoice, "customer", "lines")
	payments := []any{}
	if amount > 0 {
		payments = append(payments, c.payment(o, order, paid)["id"])
	}
	order = c.change(order, object{
		"status": "paid", "paid_amount": amount, "refundable_amount": amount, "due_amount": int64(0), "payments": payments, "grants": c.give(order), "paid_at": c.now,
	})
	invoice = c.change(invoice, object{
		"status": "paid", "amount_paid": amount, "amount_due": int64(0), "attempt_count": int64(len(payments)), "payments": payments, "paid_at": c.now,
	})
	c.emit(sdk.EventOrderPaid, order, "customer", "line_items")
	c.emit(sdk.EventInvoicePaid, invoice, "customer", "lines")
	status := "paid"
	if amount == 0 {
		status = "no_payment_required"
	}
	return c.change(o, object{
		"status": "completed", "payment_status": status, "customer": customer["id"], "order": order["id"], "invoice": invoice["id"],
		"completed_at": c.now, "last_payment_error": nil,
	})
}

// buyerOf returns the customer of a checkout, or makes one. It also says whether the buyer is known to be them: the seller named them, or vouches
// for the address. Who only typed an address changes nothing of its owner. Beside the seller's own id, such an address finds nobody.
func (c *call) buyerOf(o object) (customer object, isKnown bool) {
	external, isVerified := o["external_customer_id"], isTrue(o, "customer_email_verified")
	customer = c.objects[textOf(o, "customer")]
	isKnown = customer != nil || external != nil || isVerified
	if customer == nil && external != nil {
		customer = c.other("customer", object{"external_id": external}, "external_id")
	}
	if customer == nil && (external == nil || isVerified) {
		customer = c.customerOf(textOf(o, "customer_email"))
	}
	if customer == nil {
		customer = c.blank(customers)
		maps.Copy(customer, object{"email": o["customer_email"], "name": o["customer_name"], "external_id": external, "preferred_locale": o["locale"]})
		if isKnown {
			customer["tax_id"] = o["tax_id"]
		}
		c.typed[textOf(customer, "id")] = external != nil && !isVerified
	}
	customer = maps.Clone(customer)
	if isKnown {
		learn := object{"name": o["customer_name"], "billing_address": o["billing_address"]}
		if external != nil && c.other("customer", object{"external_id": external}, "external_id") == nil {
			learn["external_id"] = external
		}
		for name, value := range learn {
			if !has(customer, name) {
				customer[name] = value
			}
		}
	}
	c.put(customer)
	return customer, isKnown
}

// bought counts a purchase of a customer.
func (c *call) bought(customer object, amount int64, currency string) {
	spent := maps.Clone(inner(customer, "total_spent"))
	if amount > 0 {
		before, _ := spent[currency].(int64)
		spent[currency] = before + amount
	}
	first := customer["first_paid_at"]
	if first == nil {
		first = c.now
	}
	c.change(customer, object{
		"type": "customer", "orders_count": numberOf(customer, "orders_count") + 1, "total_spent": spent, "first_paid_at": first, "last_order_at": c.now,
	})
}

// sold counts a line that was sold. That changes nothing else of product and price variant.
func (c *call) sold(line object) {
	for field, counter := range map[string]string{"product": "sales_count", "price_variant": "sold_count"} {
		counted := maps.Clone(c.objects[textOf(line, field)])
		counted[counter] = numberOf(counted, counter) + numberOf(line, "quantity")
		c.put(counted)
	}
}
