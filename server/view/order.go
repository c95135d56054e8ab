package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/checkout"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
)

// Order renders an order.
func Order(o *order.Order) api.Order {
	return api.Order{
		ID:                    o.ID,
		Object:                "order",
		Number:                o.Number,
		Status:                api.OrderStatus(o.Status),
		BillingReason:         api.BillingReason(o.BillingReason),
		Customer:              wire.RefTo(o.CustomerID),
		LineItems:             wire.RefTos(o.LineItemIDs.V),
		SubtotalAmount:        o.SubtotalAmount,
		DiscountAmount:        o.DiscountAmount,
		NetAmount:             o.NetAmount,
		TaxAmount:             o.TaxAmount,
		TotalAmount:           o.TotalAmount,
		PaidAmount:            o.PaidAmount,
		RefundedAmount:        o.GivenBack(),
		RefundedTaxAmount:     o.RefundedTaxAmount,
		CreditedAmount:        o.CreditedAmount,
		RefundedBalanceAmount: o.RefundedBalance,
		RefundableAmount:      o.RefundableAmount(),
		DueAmount:             o.DueAmount(),
		Currency:              o.Currency,
		TaxBreakdown:          mapped(o.TaxBreakdown.V, taxBreakdown),
		BalanceApplied:        o.BalanceApplied,
		CustomerVerified:      o.CustomerVerified,
		Checkout:              ref(o.CheckoutID),
		Subscription:          ref(o.SubscriptionID),
		Invoice:               ref(o.InvoiceID),
		Discount:              ref(o.DiscountID),
		Payments:              wire.RefTos(o.PaymentIDs.V),
		Refunds:               wire.RefTos(o.RefundIDs.V),
		Grants:                wire.RefTos(o.GrantIDs.V),
		LegalAcceptances:      mapped(o.LegalAcceptances.V, legalAcceptance),
		WithdrawalWaivedAt:    atOrNull(o.WithdrawalWaivedAt),
		BillingName:           o.BillingName,
		BillingAddress:        address(o.BillingAddress.V),
		TaxID:                 (*api.TaxID)(o.TaxID.V),
		CustomFieldData:       object(o.CustomFieldData.V),
		PeriodStart:           atOrNull(o.PeriodStart),
		PeriodEnd:             atOrNull(o.PeriodEnd),
		NextPaymentAttemptAt:  atOrNull(o.NextAttemptAt),
		PaidAt:                atOrNull(o.PaidAt),
		VoidedAt:              atOrNull(o.VoidedAt),
		ReceiptURL:            o.ReceiptURL,
		Metadata:              api.Metadata(o.Metadata.Text()),
		CreatedAt:             at(o.CreatedAt),
		UpdatedAt:             at(o.UpdatedAt),
	}
}

func legalAcceptance(a checkout.LegalAcceptance) api.LegalAcceptance {
	return api.LegalAcceptance{LegalPage: a.LegalPage, Kind: api.LegalPageKind(a.Kind), Version: a.Version, AcceptedAt: at(a.AcceptedAt)}
}

// ListOrders reads the query of a list.
func ListOrders(q api.ListOrdersParams) order.List {
	return order.List{
		Page:          SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter:    Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Status:        order.Status(value(q.Status)),
		BillingReason: order.BillingReason(value(q.BillingReason)),
		Customer:      value(q.Customer),
		CustomerEmail: value(q.CustomerEmail),
		Product:       value(q.Product),
		PriceVariant:  value(q.PriceVariant),
		Checkout:      value(q.Checkout),
		Subscription:  value(q.Subscription),
		Discount:      value(q.Discount),
		Number:        q.Number,
		PaidAfter:     stored(q.PaidAfter),
		PaidBefore:    stored(q.PaidBefore),
		TotalMin:      q.TotalMin,
		TotalMax:      q.TotalMax,
	}
}

// OrderPatch reads the body of a PATCH.
func OrderPatch(b *api.OrderUpdate) store.OrderPatch {
	return store.OrderPatch{IsVerified: b.CustomerVerified, Change: func(o *order.Order) {
		setOrClear(&o.BillingName, b.BillingName)
		setAddress(&o.BillingAddress, b.BillingAddress)
		setTaxID(&o.TaxID, b.TaxID)
		setMetadata(&o.Metadata, b.Metadata)
	}}
}

func taxBreakdown(t lineitem.TaxBreakdown) api.TaxBreakdown { return api.TaxBreakdown(t) }
