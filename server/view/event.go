package view

import (
	"encoding/json"
	"fmt"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
)

// Event renders the `data` of an event. It is the resource as it is in this transaction, with the objects that belong to it in
// the place of their ids. The store calls it while it writes the event. A value of a type that it does not know is an error,
// which rolls back the change that the event is about.
func Event(kind string, v any) ([]byte, error) {
	switch d := v.(type) {
	case *catalog.ProductDetail:
		return json.Marshal(productDetail(d))
	case *checkout.Detail:
		return json.Marshal(checkoutDetail(d))
	case *order.Detail:
		return json.Marshal(orderDetail(d))
	case *invoice.Detail:
		return json.Marshal(invoiceDetail(d))
	case *store.RefundDetail:
		return json.Marshal(refundDetail(d))
	case *lead.Detail:
		return json.Marshal(leadCustomer{Customer: Customer(d.Customer), Lead: Lead(d.Lead)})
	}
	return nil, fmt.Errorf("view: no payload of %s from %T", kind, v)
}

func productDetail(d *catalog.ProductDetail) api.Product {
	out := Product(d.Product)
	inline(out.PriceVariants, d.PriceVariants, PriceVariant, func(v *catalog.PriceVariant) string { return v.ID })
	return out
}

// checkoutDetail renders a checkout without its URL and client secret, with which anybody could pay it. A delivery is stored,
// and travels further than an answer does. The seller finds both with GET /v1/checkouts/{id}.
func checkoutDetail(d *checkout.Detail) api.Checkout {
	out := Checkout(d.Checkout)
	out.ClientSecret, out.URL = nil, nil
	inline(out.LineItems, d.Items, LineItem, func(l *lineitem.Item) string { return l.ID })
	return out
}

func orderDetail(d *order.Detail) api.Order {
	out := Order(d.Order)
	inline(out.LineItems, d.Items, LineItem, func(l *lineitem.Item) string { return l.ID })
	if d.Customer != nil {
		out.Customer = new(Customer(d.Customer))
	}
	return out
}

func invoiceDetail(d *invoice.Detail) api.Invoice {
	out := Invoice(d.Invoice)
	inline(out.Lines, d.Items, LineItem, func(l *lineitem.Item) string { return l.ID })
	if d.Customer != nil {
		out.Customer = new(Customer(d.Customer))
	}
	return out
}

// refundedOrder is an order with the refund that an event is about.
type refundedOrder struct {
	api.Order
	Refund api.Refund `json:"refund"`
}

func refundDetail(d *store.RefundDetail) refundedOrder {
	out := refundedOrder{Order: orderDetail(&d.Detail), Refund: Refund(d.Refund)}
	inline(out.Refunds, d.Refunds, Refund, func(r *store.Refund) string { return r.ID })
	return out
}

// leadCustomer is a customer with the lead that an event is about.
type leadCustomer struct {
	api.Customer
	Lead api.Lead `json:"lead"`
}

// inline replaces the references to rows by the rows themselves, rendered. A reference without a row stays an id.
func inline[R, W any](refs []wire.Reference, rows []R, render func(*R) W, id func(*R) string) {
	for i := range refs {
		for j := range rows {
			if refs[i] == id(&rows[j]) {
				refs[i] = new(render(&rows[j]))
				break
			}
		}
	}
}
