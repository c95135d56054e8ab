package outbox

import (
	"fmt"
	"slices"
)

// The types of event, in the words of the API. Emit takes nothing else.
const (
	EventLeadCreated     = "lead.created"
	EventCheckoutCreated = "checkout.created"
	EventOrderCreated    = "order.created"
	EventOrderPaid       = "order.paid"
	EventRefundCreated   = "refund.created"
	EventRefundUpdated   = "refund.updated"
	EventInvoiceCreated  = "invoice.created"
	EventInvoicePaid     = "invoice.paid"
	EventInvoicePastDue  = "invoice.past_due"
	EventInvoiceVoided   = "invoice.voided"
	EventProductCreated  = "product.created"
	EventProductUpdated  = "product.updated"
)

// EventAll in enabled_events subscribes an endpoint to every type, those of later releases included.
const EventAll = "*"

// EventType is one entry of the catalogue that integrators read.
type EventType struct{ Type, Description string }

// EventTypes returns the whole catalogue in its published order.
func EventTypes() []EventType {
	return []EventType{
		{EventLeadCreated, "A new lead is captured."},
		{EventCheckoutCreated, "A checkout session is created."},
		{EventOrderCreated, "An order is created."},
		{EventOrderPaid, "An order is paid."},
		{EventRefundCreated, "A refund is issued for an order."},
		{EventRefundUpdated, "The status of a refund changes."},
		{EventInvoiceCreated, "An invoice is created."},
		{EventInvoicePaid, "An invoice is paid."},
		{EventInvoicePastDue, "An invoice is past its due date."},
		{EventInvoiceVoided, "An invoice is voided."},
		{EventProductCreated, "A product is created."},
		{EventProductUpdated, "A product, or one of its price variants, changes."},
	}
}

// isEventType reports whether an endpoint may subscribe to name.
func isEventType(name string) bool {
	return name == EventAll || slices.ContainsFunc(EventTypes(), func(t EventType) bool { return t.Type == name })
}

// notAnEventType returns the message for a name that is no event type.
func notAnEventType(name string) string {
	return fmt.Sprintf("'%s' is not an event type: GET /v1/webhook_endpoints/events lists them.", name)
}
