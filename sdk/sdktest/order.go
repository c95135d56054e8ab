package sdktest

import (
	"fmt"
	"maps"

	"github.com/tillwright/tillwright/sdk"
)

var (
	orders = &kind{schema: "Order", update: func(c *call, _, _ object) error {
		for name := range c.body {
			if name != "metadata" {
				return unfaked("change the " + name + " of an order")
			}
		}
		return nil
	}}
	invoices = &kind{schema: "Invoice"}
	payments = &kind{schema: "Payment", defaults: object{"purpose": "checkout", "status": "succeeded", "provider": "test"}}
	grants   = &kind{schema: "Grant", defaults: object{"status": "active"}}
	refunds  = &kind{
		schema:   "Refund",
		defaults: object{"status": "pending", "reason": "customer_request", "provider": "test"},
		given:    []string{"order", "amount"},
		create:   createRefund,
		update:   func(*call, object, object) error { return nil },
	}
)

// payment makes the payment of a checkout.
func (c *call) payment(o, order object, paid card) object {
	p := c.blank(payments)
	maps.Copy(p, object{
		"checkout": o["id"], "order": order["id"], "invoice": order["invoice"], "customer": order["customer"], "amount": o["total_amount"], "currency": o["currency"],
		"payment_method": object{"type": "card", "brand": paid.brand, "last4": paid.number[len(paid.number)-4:], "exp_month": int64(12), "exp_year": int64(2099)},
	})
	c.put(p)
	return p
}

// give makes a grant for each line of an order, and returns their ids.
func (c *call) give(order object) []any {
	ids := []any{}
	for _, id := range list(order, "line_items") {
		line := c.objects[id.(string)]
		if product := c.objects[textOf(line, "product")]; product["type"] == "tip" {
			continue
		}
		g := c.blank(grants)
		maps.Copy(g, object{
			"customer": order["customer"], "product": line["product"], "price_variant": line["price_variant"], "quantity": line["quantity"],
			"source": object{"type": "order", "id": order["id"]},
		})
		c.put(g)
		ids = append(ids, g["id"])
	}
	return ids
}

func createRefund(c *call, o object) error {
	order, err := c.referred("order", textOf(c.body, "order"), "order")
	if err != nil {
		return err
	}
	rest := numberOf(order, "refundable_amount")
	amount, sent := c.body["amount"].(int64)
	if !sent {
		amount = rest
	}
	p := problems{}
	p.check(numberOf(order, "paid_amount") > 0, "order", "Nothing was paid for this order.")
	switch {
	case len(p) > 0:
	case rest == 0:
		p.check(false, "amount", "All of the order is refunded or credited to the customer's balance, or about to be.")
	default:
		p.check(amount <= rest, "amount", fmt.Sprintf("At most %d can be refunded of this order.", rest))
	}
	if err := p.err(); err != nil {
		return err
	}
	payment := list(order, "payments")[0]
	isWhole := amount == rest
	maps.Copy(o, object{"order": order["id"], "payment": payment, "customer": order["customer"], "amount": amount, "currency": order["currency"]})
	if !has(c.body, "revoke_access") {
		o["revoke_access"] = isWhole
	}
	c.put(o)
	status := "partially_refunded"
	if isWhole {
		status = "refunded"
	}
	order = c.change(order, object{
		"status": status, "refunded_amount": numberOf(order, "refunded_amount") + amount, "refundable_amount": rest - amount, "refunds": appended(list(order, "refunds"), o["id"]),
	})
	if invoice := c.objects[textOf(order, "invoice")]; invoice != nil {
		c.change(invoice, object{"credit_notes": numberOf(invoice, "credit_notes") + amount, "refunds": order["refunds"]})
	}
	c.emitRefund(sdk.EventRefundCreated, order, o)
	maps.Copy(o, object{"status": "succeeded", "succeeded_at": c.now, "provider_refund_id": "tre_" + textOf(o, "id")})
	c.put(maps.Clone(o))
	if customer := c.objects[textOf(order, "customer")]; customer != nil {
		spent := maps.Clone(inner(customer, "total_spent"))
		before, _ := spent[textOf(order, "currency")].(int64)
		spent[textOf(order, "currency")] = before - amount
		c.change(customer, object{"total_spent": spent})
	}
	if isTrue(o, "revoke_access") {
		for _, id := range list(order, "grants") {
			c.change(c.objects[id.(string)], object{"status": "revoked", "reason": "refund", "revoked_at": c.now})
		}
	}
	c.emitRefund(sdk.EventRefundUpdated, order, o)
	return nil
}

// emitRefund tells of a refund: the event has its order, and the refund beside it.
func (c *call) emitRefund(event string, order, refund object) {
	data := c.expanded(order, "line_items", "customer", "refunds")
	data["refund"] = maps.Clone(refund)
	c.emit(event, data)
}
