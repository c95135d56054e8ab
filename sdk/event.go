package sdk

import (
	"encoding/json"
	"fmt"
)

// Event is the content of a webhook: its type, and the resource as it was at that time.
type Event struct {
	// ID is unique (`whev_...`). A repeated delivery has the same one.
	ID        string `json:"id"`
	CreatedAt Time   `json:"created_at"`
	// Type is one of the Event constants, or one that is newer than this package.
	Type       string `json:"type"`
	APIVersion string `json:"api_version"`
	// Test marks an example that was sent on demand. Nothing has happened.
	Test bool `json:"test"`
	// Data is the resource. Customer, Lead, Product, Checkout, Order, Refund and Invoice read it.
	Data json.RawMessage `json:"data"`
}

// Customer returns the customer of lead.created.
func (e *Event) Customer() (*Customer, error) { return dataOf[Customer](e, "customer") }

// Lead returns the lead of lead.created. Customer returns its customer.
func (e *Event) Lead() (*Lead, error) {
	var data struct {
		Lead *Lead `json:"lead"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return nil, fmt.Errorf("sdk: read the lead of %s: %w", e.Type, err)
	}
	if data.Lead == nil {
		return nil, fmt.Errorf("sdk: %s carries no lead", e.Type)
	}
	return data.Lead, nil
}

// Product returns the product of product.created and product.updated, its price variants expanded.
func (e *Event) Product() (*Product, error) { return dataOf[Product](e, "product") }

// Checkout returns the checkout of checkout.created, its line items expanded.
func (e *Event) Checkout() (*Checkout, error) { return dataOf[Checkout](e, "checkout") }

// Order returns the order of order.created, order.paid and the events of its refunds, its line items and customer expanded.
func (e *Event) Order() (*Order, error) { return dataOf[Order](e, "order") }

// Refund returns the refund of refund.created and refund.updated. Order returns its order, with line items, customer and
// refunds expanded.
func (e *Event) Refund() (*Refund, error) {
	var data struct {
		Refund *Refund `json:"refund"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return nil, fmt.Errorf("sdk: read the refund of %s: %w", e.Type, err)
	}
	if data.Refund == nil {
		return nil, fmt.Errorf("sdk: %s carries no refund", e.Type)
	}
	return data.Refund, nil
}

// Invoice returns the invoice of an invoice event, its lines and customer expanded.
func (e *Event) Invoice() (*Invoice, error) { return dataOf[Invoice](e, "invoice") }

// dataOf decodes the resource of an event. Another type of object is an error: decoding it would give a resource full of zero
// values.
func dataOf[T any](e *Event, object string) (*T, error) {
	var named struct {
		Object string `json:"object"`
	}
	if err := json.Unmarshal(e.Data, &named); err != nil {
		return nil, fmt.Errorf("sdk: read the data of %s: %w", e.Type, err)
	}
	if named.Object != object {
		return nil, fmt.Errorf("sdk: %s carries the object %q, not %q", e.Type, named.Object, object)
	}
	data := new(T)
	if err := json.Unmarshal(e.Data, data); err != nil {
		return nil, fmt.Errorf("sdk: read the %s of %s: %w", object, e.Type, err)
	}
	return data, nil
}
