package pages

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/tenant"
)

// invoiceOf returns an invoice as a document for its customer: the lines, what was paid and refunded, and what is due. Refunds
// are by id.
func invoiceOf(seller *tenant.Account, d *store.InvoiceDetail, refunds map[string]*store.Refund) *invoicepdf.Document {
	i := d.Invoice
	document := &invoicepdf.Document{
		Title: "Invoice", Number: text(i.Number), Status: invoiceStatus(i.Status), IssuedAt: i.CreatedAt.Time(),
		Seller: sellerOf(seller), Buyer: buyerOf(i.CustomerName, i.CustomerEmail, i.CustomerAddress.V, i.CustomerTaxID.V),
		Currency: i.Currency, Memo: text(i.Memo), Lines: linesOf(d.Items),
		Subtotal: i.SubtotalAmount, Discount: i.DiscountAmount, Net: i.NetAmount, Taxes: taxesOf(i.TaxBreakdown.V), Tax: i.TaxAmount, Total: i.TotalAmount,
	}
	if i.FinalizedAt != nil {
		document.IssuedAt = i.FinalizedAt.Time()
	}
	dated := func(name string, at *core.Time) {
		if at != nil {
			document.Facts = append(document.Facts, invoicepdf.Fact{Name: name, Value: invoicepdf.Date(at.Time())})
		}
	}
	dated("Due date", i.DueAt)
	dated("Paid on", i.PaidAt)
	dated("Void since", i.VoidedAt)
	if i.PeriodStart != nil && i.PeriodEnd != nil {
		document.Facts = append(document.Facts, invoicepdf.Fact{
			Name: "Period", Value: invoicepdf.Date(i.PeriodStart.Time()) + " – " + invoicepdf.Date(i.PeriodEnd.Time()),
		})
	}
	document.Balances = paidOf(i.BalanceApplied, i.AmountPaid, i.Status == store.InvoiceStatusVoid)
	given := refundsOf(i.RefundIDs.V, refunds)
	given.on(document, i.AmountPaid)
	if given.amount > 0 {
		document.Status = refundedStatus(given.amount, i.AmountPaid)
	}
	document.Balances = append(document.Balances, invoicepdf.Balance{Name: "Amount due", Amount: i.AmountDue()})
	if i.Footer != nil {
		document.Notes = append(document.Notes, *i.Footer)
	}
	return document
}

// paidOf returns the lines that say how a total was paid: with the customer's credit, if any was used, and with money. A void
// document does not mention credit, because the customer got it back.
func paidOf(credit, paid int64, isVoid bool) []invoicepdf.Balance {
	balances := []invoicepdf.Balance{{Name: "Paid", Amount: paid}}
	if credit != 0 && !isVoid {
		balances = append([]invoicepdf.Balance{{Name: "Paid from credit", Amount: credit}}, balances...)
	}
	return balances
}

// invoiceStatus returns the status of an invoice in words.
func invoiceStatus(s store.InvoiceStatus) string {
	return map[store.InvoiceStatus]string{
		store.InvoiceStatusDraft: "Draft", store.InvoiceStatusOpen: "Due", store.InvoiceStatusPastDue: "Past due", store.InvoiceStatusPaid: "Paid",
		store.InvoiceStatusVoid: "Void", store.InvoiceStatusUncollectible: "Uncollectible",
	}[s]
}

// receiptOf returns the receipt of an order for its buyer, who has paid it or is to pay it. Payments and refunds are by id.
func receiptOf(seller *tenant.Account, d *store.OrderDetail, payments map[string]*store.Payment, refunds map[string]*store.Refund) *invoicepdf.Document {
	o := d.Order
	document := &invoicepdf.Document{
		Title: "Receipt", Number: strconv.FormatInt(o.Number, 10), Status: orderStatus(o.Status), IssuedAt: o.CreatedAt.Time(),
		Seller: sellerOf(seller), Buyer: buyerOf(o.BillingName, o.CustomerEmail, o.BillingAddress.V, o.TaxID.V),
		Currency: o.Currency, Lines: linesOf(d.Items),
		Subtotal: o.SubtotalAmount, Discount: o.DiscountAmount, Net: o.NetAmount, Taxes: taxesOf(o.TaxBreakdown.V), Tax: o.TaxAmount, Total: o.TotalAmount,
		Balances: paidOf(o.BalanceApplied, o.PaidAmount, o.Status == store.OrderStatusVoid),
	}
	if o.PaidAt != nil {
		document.Facts = append(document.Facts, invoicepdf.Fact{Name: "Paid on", Value: invoicepdf.Date(o.PaidAt.Time())})
	}
	if o.Status == store.OrderStatusPending {
		document.Balances = append(document.Balances, invoicepdf.Balance{Name: "Amount due", Amount: o.DueAmount()})
	}
	for _, id := range o.PaymentIDs.V {
		if payment := payments[id]; payment != nil && payment.Status == store.PaymentStatusSucceeded {
			document.Notes = append(document.Notes, paidWith(payment))
		}
	}
	refundsOf(o.RefundIDs.V, refunds).on(document, o.PaidAmount)
	return document
}

// paidWith returns the sentence that says how much was paid with which card.
func paidWith(p *store.Payment) string {
	amount := core.FormatAmount(p.Amount, p.Currency)
	if p.PaymentMethod.V.Last4 == "" {
		return amount + " paid."
	}
	return fmt.Sprintf("%s paid with %s ending in %s.", amount, p.PaymentMethod.V.Brand, p.PaymentMethod.V.Last4)
}

// orderStatus returns the status of an order in words.
func orderStatus(s store.OrderStatus) string {
	return map[store.OrderStatus]string{
		store.OrderStatusPending: "Not paid yet", store.OrderStatusPaid: "Paid", store.OrderStatusPartiallyRefunded: "Partly refunded",
		store.OrderStatusRefunded: "Refunded", store.OrderStatusVoid: "Void",
	}[s]
}

// sellerOf returns who sells: the account's business name and support address if it has them, otherwise its own.
func sellerOf(a *tenant.Account) invoicepdf.Party {
	party := invoicepdf.Party{Name: a.Name, Email: a.Email, Address: addressOf(a.BusinessAddress.V)}
	if a.BusinessName != nil {
		party.Name = *a.BusinessName
	}
	if a.SupportEmail != nil {
		party.Email = *a.SupportEmail
	}
	if a.TaxID != nil {
		party.TaxID = *a.TaxID
	}
	return party
}

// buyerOf returns who buys. Whatever is not known stays empty.
func buyerOf(name, email *string, a *core.Address, id *store.TaxID) invoicepdf.Party {
	party := invoicepdf.Party{Name: text(name), Email: text(email), Address: addressOf(a)}
	if id != nil {
		party.TaxID = id.Value
	}
	return party
}

// addressOf returns the lines of an address, in the order most countries use. Empty lines are left out.
func addressOf(a *core.Address) []string {
	if a == nil {
		return nil
	}
	var lines []string
	for _, line := range []string{text(a.Line1), text(a.Line2), text(a.PostalCode) + " " + text(a.City), text(a.State), countryName(text(a.Country))} {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// linesOf returns line items as the lines of a document. A line without tax shows no rate.
func linesOf(items []store.LineItem) []invoicepdf.Line {
	lines := make([]invoicepdf.Line, len(items))
	for i, item := range items {
		lines[i] = invoicepdf.Line{
			Description: item.Describe(), Quantity: item.Quantity, Unit: item.UnitAmount, Discount: item.DiscountAmount,
			Net: item.NetAmount, Tax: item.TaxAmount, Total: item.TotalAmount,
		}
		if item.TaxRateBps != 0 {
			lines[i].RateBps = &item.TaxRateBps
		}
	}
	return lines
}

func taxesOf(all []store.TaxBreakdown) []invoicepdf.Tax {
	taxes := make([]invoicepdf.Tax, len(all))
	for i, t := range all {
		taxes[i] = invoicepdf.Tax{Name: t.Name, RateBps: t.RateBps, Taxable: t.TaxableAmount, Tax: t.TaxAmount, Inclusive: t.Inclusive}
	}
	return taxes
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
