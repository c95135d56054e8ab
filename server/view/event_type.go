package view

import (
	"time"

	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/catalog"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lead"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/outbox"
)

// EventTypes renders the catalogue of event types, each with the body of a delivery as an example.
func EventTypes() api.EventTypeList {
	out := wire.List[api.EventType]{Object: "list", URL: "/v1/webhook_endpoints/events"}
	for _, t := range outbox.EventTypes() {
		body := exampleBody(t.Type, EventExample(t.Type))
		out.Data = append(out.Data, api.EventType{Object: "event_type", Type: t.Type, Description: t.Description, Example: body})
	}
	return out
}

// EventExample returns the data of an example event, nil if there is no such event type. It is rendered like that of a real event, so that
// it cannot differ from it.
func EventExample(kind string) []byte {
	sample, isKnown := outbox.OfEvent(eventSamples{}, kind)
	if !isKnown {
		return nil
	}
	data, err := Event(kind, sample)
	if err != nil {
		panic(err) // see TestEventTypes_ListsTheWholeCatalogueWithExamples
	}
	return data
}

func exampleBody(kind string, data []byte) []byte {
	event := &outbox.Event{ID: core.KindEvent.Prefix() + sampleID, Type: kind, CreatedAt: sampleTime()}
	return []byte(outbox.EventBody(event, data))
}

const sampleID = "01k0000000000000000000000a"

func sampleTime() core.Time {
	return core.TimeOf(time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC))
}

// eventSamples are what the store would emit when one product is sold.
type eventSamples struct{}

func (eventSamples) ProductCreated() any  { return sampleProduct() }
func (eventSamples) ProductUpdated() any  { return sampleProduct() }
func (eventSamples) LeadCreated() any     { return sampleLead() }
func (eventSamples) CheckoutCreated() any { return sampleCheckout() }
func (eventSamples) OrderCreated() any    { return sampleOrder() }
func (eventSamples) OrderPaid() any       { return samplePaidOrder() }
func (eventSamples) RefundCreated() any   { return sampleRefund() }

func (eventSamples) RefundUpdated() any {
	refund := sampleRefund()
	refund.Refund.Status, refund.Refund.SucceededAt = store.RefundStatusSucceeded, new(sampleTime())
	refund.Refund.ProviderRef = new("tre_" + refund.Refund.ID)
	refund.Refunds = []store.Refund{*refund.Refund}
	refund.Customer.TotalSpent = core.JSONOf(map[string]int64{"usd": 0})
	return refund
}

func (eventSamples) InvoiceCreated() any { return sampleInvoice() }

func (eventSamples) InvoicePaid() any {
	i := sampleInvoice()
	i.Invoice.Status, i.Invoice.AmountPaid, i.Invoice.PaidAt = invoice.StatusPaid, i.Invoice.TotalAmount, new(sampleTime())
	i.Invoice.AttemptCount, i.Invoice.PaymentIDs = 1, core.JSONOf([]string{core.KindPayment.Prefix() + sampleID})
	return i
}

func (eventSamples) InvoicePastDue() any {
	i := sampleInvoice()
	i.Invoice.Status, i.Invoice.AttemptCount = invoice.StatusPastDue, 1
	i.Invoice.PastDueAt, i.Invoice.NextAttemptAt = new(sampleTime()), new(sampleTime().Add(48*time.Hour))
	return i
}

func (eventSamples) InvoiceVoided() any {
	i := sampleInvoice()
	i.Invoice.Status, i.Invoice.VoidedAt, i.Invoice.VoidReason = invoice.StatusVoid, new(sampleTime()), new("requested")
	return i
}

func samplePaidOrder() *order.Detail {
	o := sampleOrder()
	o.Order.Status, o.Order.PaidAmount, o.Order.PaidAt = order.StatusPaid, o.Order.TotalAmount, new(sampleTime())
	o.Order.PaymentIDs, o.Order.RefundProvider = core.JSONOf([]string{core.KindPayment.Prefix() + sampleID}), new("test")
	return o
}

// sampleRefund is a pending refund of all of a paid order.
func sampleRefund() *store.RefundDetail {
	now, d := sampleTime(), samplePaidOrder()
	refund := store.Refund{
		ID: core.KindRefund.Prefix() + sampleID, OrderID: d.Order.ID, PaymentID: d.Order.PaymentIDs.V[0], CustomerID: d.Customer.ID,
		Amount: d.Order.PaidAmount, Currency: d.Order.Currency, Status: store.RefundStatusPending,
		Reason: store.RefundReasonCustomerRequest, RevokeAccess: true, Provider: "test", CreatedAt: now, UpdatedAt: now,
	}
	d.Order.Status, d.Order.RefundedAmount, d.Order.RefundIDs = order.StatusRefunded, refund.Amount, core.JSONOf([]string{refund.ID})
	return &store.RefundDetail{Detail: *d, Refund: &refund, Refunds: []store.Refund{refund}}
}

// sampleProduct is a product that is for sale, with one price.
func sampleProduct() *catalog.ProductDetail {
	now, variant := sampleTime(), core.KindPriceVariant.Prefix()+sampleID
	return &catalog.ProductDetail{
		Product: &catalog.Product{
			ID: core.KindProduct.Prefix() + sampleID, Name: "Field Guide to Sourdough", Slug: "field-guide-to-sourdough",
			Status: catalog.ProductStatusActive, Type: catalog.ProductTypeDigital, Visibility: catalog.ProductVisibilityPublic,
			PriceVariantIDs: core.JSONOf([]string{variant}), DefaultPriceVariantID: &variant,
			PriceMinAmount: new(int64(1900)), PriceMaxAmount: new(int64(1900)), PriceCurrency: new("usd"),
			PublishedAt: &now, CreatedAt: now, UpdatedAt: now,
		},
		PriceVariants: []catalog.PriceVariant{{
			ID: variant, ProductID: core.KindProduct.Prefix() + sampleID, Type: catalog.PriceVariantTypeOneTime,
			AmountType: catalog.PriceVariantAmountTypeFixed, Amount: 1900, Currency: "usd", QuantityMin: 1,
			Status: catalog.PriceVariantStatusActive, CreatedAt: now, UpdatedAt: now,
		}},
	}
}

// sampleLead is somebody who left their address on a page about a product, and agreed to be written to.
func sampleLead() *lead.Detail {
	now, customerID := sampleTime(), core.KindCustomer.Prefix()+sampleID
	found := &lead.Lead{
		ID: core.KindLead.Prefix() + sampleID, Email: "ada@example.com", Name: new("Ada Byron"), ProductID: new(core.KindProduct.Prefix() + sampleID),
		Source: lead.SourceForm, Status: lead.StatusNew, CustomerID: customerID, CreatedAt: now, UpdatedAt: now,
		Consent: core.JSONOf(lead.Consent{Marketing: true, At: &now, IP: new("203.0.113.7")}),
	}
	return &lead.Detail{
		Customer: &customer.Customer{ID: customerID, Email: &found.Email, Type: customer.TypeLead, CreatedAt: now, UpdatedAt: now}, Lead: found,
	}
}

func sampleCheckout() *checkout.Detail {
	now := sampleTime()
	line := sampleLine()
	line.OrderID, line.InvoiceID = nil, nil
	return &checkout.Detail{
		Checkout: &checkout.Checkout{
			ID: core.KindCheckout.Prefix() + sampleID, LineItemIDs: core.JSONOf([]string{line.ID}), CustomerEmail: new("ada@example.com"), Currency: "usd",
			SubtotalAmount: 1900, NetAmount: 1900, TotalAmount: 1900, AmountDueNow: 1900,
			Status: checkout.StatusOpen, PaymentStatus: checkout.PaymentStatusUnpaid, PaymentMethodRequired: true,
			ExpiresAt: now.Add(24 * time.Hour), CreatedAt: now, UpdatedAt: now,
		},
		Items: []lineitem.Item{line},
	}
}

// sampleOrder is an order that is not paid yet.
func sampleOrder() *order.Detail {
	now := sampleTime()
	line := sampleLine()
	customer := sampleCustomer()
	return &order.Detail{
		Order: &order.Order{
			ID: *line.OrderID, Number: 1, Status: order.StatusPending, BillingReason: order.BillingReasonPurchase,
			CustomerID: customer.ID, CustomerEmail: customer.Email, LineItemIDs: core.JSONOf([]string{line.ID}),
			CheckoutID: new(core.KindCheckout.Prefix() + sampleID), InvoiceID: line.InvoiceID,
			Currency: "usd", SubtotalAmount: 1900, NetAmount: 1900, TotalAmount: 1900, BillingName: customer.Name, CreatedAt: now, UpdatedAt: now,
			ReceiptURL: "https://shop.example/receipt/" + *line.OrderID + "_7h3t0k3n",
		},
		Items:    []lineitem.Item{line},
		Customer: customer,
	}
}

// sampleInvoice is an invoice that is to be paid.
func sampleInvoice() *invoice.Detail {
	now := sampleTime()
	line, customer := sampleLine(), sampleCustomer()
	return &invoice.Detail{
		Invoice: &invoice.Invoice{
			ID: *line.InvoiceID, OrderID: line.OrderID, Number: new("ADA-000001"), Status: invoice.StatusOpen,
			CollectionMethod: invoice.CollectionMethodChargeAutomatically, BillingReason: order.BillingReasonPurchase,
			CustomerID: customer.ID, CustomerEmail: customer.Email, CustomerName: customer.Name, LineItemIDs: core.JSONOf([]string{line.ID}),
			Currency: "usd", SubtotalAmount: 1900, NetAmount: 1900, TotalAmount: 1900,
			DueAt: &now, FinalizedAt: &now, CreatedAt: now, UpdatedAt: now,
			HostedURL: "https://shop.example/invoice/" + *line.InvoiceID + "_7h3t0k3n",
		},
		Items:    []lineitem.Item{line},
		Customer: customer,
	}
}

// sampleCustomer is somebody who has bought once.
func sampleCustomer() *customer.Customer {
	now := sampleTime()
	return &customer.Customer{
		ID: core.KindCustomer.Prefix() + sampleID, Email: new("ada@example.com"), Name: new("Ada Byron"),
		Type: customer.TypeCustomer, OrdersCount: 1, TotalSpent: core.JSONOf(map[string]int64{"usd": 1900}),
		FirstPaidAt: &now, LastOrderAt: &now, CreatedAt: now, UpdatedAt: now,
	}
}

func sampleLine() lineitem.Item {
	now := sampleTime()
	return lineitem.Item{
		ID: core.KindLineItem.Prefix() + sampleID, OrderID: new(core.KindOrder.Prefix() + sampleID), InvoiceID: new(core.KindInvoice.Prefix() + sampleID),
		Kind: lineitem.KindPrice, ProductID: new(core.KindProduct.Prefix() + sampleID), PriceVariantID: new(core.KindPriceVariant.Prefix() + sampleID),
		ProductName: "Field Guide to Sourdough", Quantity: 1, UnitAmount: 1900, Currency: "usd",
		SubtotalAmount: 1900, NetAmount: 1900, TotalAmount: 1900, CreatedAt: now, UpdatedAt: now,
	}
}
