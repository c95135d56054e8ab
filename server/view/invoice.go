package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/sdk/wire"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/order"
)

// Invoice renders an invoice.
func Invoice(i *invoice.Invoice) api.Invoice {
	hosted, pdf := invoicePages(i)
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
		CreditNotes:           i.CreditNotes + i.RefundedBalance,
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
		Subscription:          ref(i.SubscriptionID),
		Discount:              ref(i.DiscountID),
		Payments:              wire.RefTos(i.PaymentIDs.V),
		Refunds:               wire.RefTos(i.RefundIDs.V),
		Memo:                  i.Memo,
		Footer:                i.Footer,
		HostedURL:             hosted,
		PDFURL:                pdf,
		Metadata:              api.Metadata(i.Metadata.Text()),
		CreatedAt:             at(i.CreatedAt),
		UpdatedAt:             at(i.UpdatedAt),
	}
}

// invoicePages returns the addresses at which the customer finds an invoice. A draft has none: nobody but the seller may see it
// yet.
func invoicePages(i *invoice.Invoice) (hosted, pdf *string) {
	if i.Status == invoice.StatusDraft {
		return nil, nil
	}
	return new(i.HostedURL), new(i.HostedURL + "/pdf")
}

// ListInvoices reads the query of a list.
func ListInvoices(q api.ListInvoicesParams) invoice.List {
	return invoice.List{
		Page:             SortedPage(q.Limit, q.StartingAfter, q.EndingBefore, q.Sort),
		ListFilter:       Filter(q.CreatedAfter, q.CreatedBefore, q.Q, q.Metadata),
		Status:           invoice.Status(value(q.Status)),
		CollectionMethod: invoice.CollectionMethod(value(q.CollectionMethod)),
		BillingReason:    order.BillingReason(value(q.BillingReason)),
		Customer:         value(q.Customer),
		Order:            value(q.Order),
		Subscription:     value(q.Subscription),
		Number:           value(q.Number),
		DueAfter:         stored(q.DueAfter),
		DueBefore:        stored(q.DueBefore),
	}
}

// NewInvoice reads the body of a create.
func NewInvoice(b *api.InvoiceCreate) invoice.Draft {
	i := &invoice.Invoice{
		CollectionMethod: invoice.CollectionMethodSendInvoice, Currency: value(b.Currency), DueAt: stored(b.DueAt), DiscountID: b.Discount,
		Memo: b.Memo, Footer: b.Footer, Metadata: metadata(b.Metadata),
	}
	setAs(&i.CollectionMethod, b.CollectionMethod)
	return invoice.Draft{Invoice: i, Customer: b.Customer, Lines: mapped(b.Lines, newInvoiceLine)}
}

// InvoiceChange reads the body of a PATCH.
func InvoiceChange(b *api.InvoiceUpdate) func(*invoice.Draft) {
	return func(d *invoice.Draft) {
		set(&d.Customer, b.Customer)
		if b.Lines != nil {
			d.Lines = mapped(b.Lines, newInvoiceLine)
		}
		set(&d.Currency, b.Currency)
		setAs(&d.CollectionMethod, b.CollectionMethod)
		if b.DueAt.IsSpecified() {
			d.DueAt = stored(sent(b.DueAt))
		}
		setOrClear(&d.DiscountID, b.Discount)
		setOrClear(&d.Memo, b.Memo)
		setOrClear(&d.Footer, b.Footer)
		setMetadata(&d.Metadata, b.Metadata)
	}
}

func newInvoiceLine(l api.InvoiceLineCreate) invoice.NewLine {
	line := invoice.NewLine{
		PriceVariant: value(l.PriceVariant), CustomAmount: l.CustomAmount, Description: l.Description, UnitAmount: l.UnitAmount,
		Quantity: 1, TaxRateBps: l.TaxRateBps, TaxName: l.TaxName, TaxInclusive: value(l.TaxInclusive),
	}
	set(&line.Quantity, l.Quantity)
	return line
}
