package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/openapi/wire"
	"github.com/tillwright/tillwright/store"
)

// Invoice renders an invoice.
func Invoice(i *store.Invoice) api.Invoice {
	return api.Invoice{
		ID:                    i.ID,
		Object:                "invoice",
		Number:                i.Number,
		Status:                api.InvoiceStatus(i.Status),
		CollectionMethod:      api.CollectionMethod(i.CollectionMethod),
		BillingReason:         api.BillingReason(i.BillingReason),
		Customer:              wire.RefTo(i.CustomerID),
		CustomerEmail:         i.CustomerEmail,
		CustomerName:          i.CustomerName,
		CustomerAddress:       address(i.CustomerAddress.V),
		CustomerTaxID:         (*api.TaxID)(i.CustomerTaxID.V),
		Lines:                 wire.RefTos(i.LineItemIDs.V),
		Currency:              i.Currency,
		SubtotalAmount:        i.SubtotalAmount,
		DiscountAmount:        i.DiscountAmount,
		NetAmount:             i.NetAmount,
		TaxAmount:             i.TaxAmount,
		TotalAmount:           i.TotalAmount,
		AmountPaid:            i.AmountPaid,
		AmountDue:             i.AmountDue(),
		BalanceApplied:        i.BalanceApplied,
		TaxBreakdown:          mapped(i.TaxBreakdown.V, taxBreakdown),
		AttemptCount:          i.AttemptCount,
		NextPaymentAttemptAt:  atOrNull(i.NextAttemptAt),
		DueAt:                 atOrNull(i.DueAt),
		FinalizedAt:           atOrNull(i.FinalizedAt),
		PaidAt:                atOrNull(i.PaidAt),
		PastDueAt:             atOrNull(i.PastDueAt),
		MarkedUncollectibleAt: atOrNull(i.UncollectibleAt),
		VoidedAt:              atOrNull(i.VoidedAt),
		VoidReason:            i.VoidReason,
		PaidOutOfBand:         i.PaidOutOfBand,
		PeriodStart:           atOrNull(i.PeriodStart),
		PeriodEnd:             atOrNull(i.PeriodEnd),
		Order:                 ref(i.OrderID),
		Subscription:          i.SubscriptionID,
		Memo:                  i.Memo,
		Footer:                i.Footer,
		Metadata:              i.Metadata.Map(),
		CreatedAt:             at(i.CreatedAt),
		UpdatedAt:             at(i.UpdatedAt),
	}
}

// InvoiceRefs yields what an invoice points at.
func InvoiceRefs(i *api.Invoice, field string, yield func(*wire.Reference)) {
	switch field {
	case "customer":
		yield(&i.Customer)
	case "order":
		yield(&i.Order)
	case "lines":
		for n := range i.Lines {
			yield(&i.Lines[n])
		}
	}
}
