package pages

import (
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/server/mail"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/customer"
	"github.com/tillwright/tillwright/store/invoice"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/payment"
	"github.com/tillwright/tillwright/store/tenant"
)

// invoiceOf returns an invoice as a document for its customer, in a language: the lines, what was paid and refunded, and what is due. Refunds
// are by id. Its status is a code, of which badgeOf knows the words.
func invoiceOf(l *locale.Locale, seller *tenant.Account, d *invoice.Detail, refunds map[string]*store.Refund) *invoicepdf.Document {
	i := d.Invoice
	document := &invoicepdf.Document{
		Title: l.T("document.invoice"), Number: text(i.Number), Status: invoiceStatus(i.Status), IssuedAt: seller.Local(i.CreatedAt),
		Seller: sellerOf(l, seller), Buyer: buyerOf(l, i.CustomerName, i.CustomerEmail, i.CustomerAddress.V, i.CustomerTaxID.V),
		Currency: i.Currency, Memo: text(i.Memo), Lines: linesOf(l, d.Items),
		Subtotal: i.SubtotalAmount, Discount: i.DiscountAmount, Net: i.NetAmount, Taxes: taxesOf(i.TaxBreakdown.V), Tax: i.TaxAmount, Total: i.TotalAmount,
	}
	if i.FinalizedAt != nil {
		document.IssuedAt = seller.Local(*i.FinalizedAt)
	}
	dated := func(name string, at *core.Time) {
		if at != nil {
			document.Facts = append(document.Facts, invoicepdf.Fact{Name: name, Value: l.Day(seller.Local(*at))})
		}
	}
	dated(l.T("document.due_date"), i.DueAt)
	dated(l.T("document.paid_on"), i.PaidAt)
	dated(l.T("document.void_since"), i.VoidedAt)
	if i.PeriodStart != nil && i.PeriodEnd != nil {
		document.Facts = append(document.Facts, invoicepdf.Fact{
			Name: l.T("document.period"), Value: l.Day(seller.Local(*i.PeriodStart)) + " – " + l.Day(seller.Local(*i.PeriodEnd)),
		})
	}
	document.Balances = paidOf(l, i.BalanceApplied, i.AmountPaid, i.Status == invoice.StatusVoid)
	given := refundsOf(l, seller, i.RefundIDs.V, refunds)
	given.on(l, document, i.AmountPaid+i.BalanceApplied)
	if given.amount > 0 {
		document.Status = refundedStatus(given.amount, i.AmountPaid+i.BalanceApplied)
	}
	document.Balances = append(document.Balances, invoicepdf.Balance{Name: l.T("document.amount_due"), Amount: i.AmountDue()})
	if i.Footer != nil {
		document.Notes = append(document.Notes, *i.Footer)
	}
	return document
}

// paidOf returns the lines that say how a total was paid: with the customer's credit, if any was used, and with money. A void
// document does not mention credit, because the customer got it back.
func paidOf(l *locale.Locale, credit, paid int64, isVoid bool) []invoicepdf.Balance {
	balances := []invoicepdf.Balance{{Name: l.T("document.paid"), Amount: paid}}
	if credit != 0 && !isVoid {
		balances = append([]invoicepdf.Balance{{Name: l.T("document.paid_credit"), Amount: credit}}, balances...)
	}
	return balances
}

// invoiceStatus returns the status of an invoice as badgeOf knows it.
func invoiceStatus(s invoice.Status) string {
	return map[invoice.Status]string{
		invoice.StatusDraft: "status.draft", invoice.StatusOpen: "status.due", invoice.StatusPastDue: "status.past_due", invoice.StatusPaid: "status.paid",
		invoice.StatusVoid: "status.void", invoice.StatusUncollectible: "status.uncollectible",
	}[s]
}

// receiptOf returns the receipt of an order for its buyer, who has paid it or is to pay it, as invoiceOf does. Payments and refunds are by id.
func receiptOf(l *locale.Locale, seller *tenant.Account, d *order.Detail, payments map[string]*payment.Payment, refunds map[string]*store.Refund) *invoicepdf.Document {
	o := d.Order
	document := &invoicepdf.Document{
		Title: l.T("document.receipt"), Number: strconv.FormatInt(o.Number, 10), Status: orderStatus(o.Status), IssuedAt: seller.Local(o.CreatedAt),
		Seller: sellerOf(l, seller), Buyer: buyerOf(l, o.BillingName, o.CustomerEmail, o.BillingAddress.V, o.TaxID.V),
		Currency: o.Currency, Lines: linesOf(l, d.Items),
		Subtotal: o.SubtotalAmount, Discount: o.DiscountAmount, Net: o.NetAmount, Taxes: taxesOf(o.TaxBreakdown.V), Tax: o.TaxAmount, Total: o.TotalAmount,
		Balances: paidOf(l, o.BalanceApplied, o.PaidAmount, o.Status == order.StatusVoid),
	}
	if o.PaidAt != nil {
		document.Facts = append(document.Facts, invoicepdf.Fact{Name: l.T("document.paid_on"), Value: l.Day(seller.Local(*o.PaidAt))})
	}
	if o.Status == order.StatusPending {
		document.Balances = append(document.Balances, invoicepdf.Balance{Name: l.T("document.amount_due"), Amount: o.DueAmount()})
	}
	for _, id := range o.PaymentIDs.V {
		if p := payments[id]; p != nil && p.Status == payment.StatusSucceeded {
			document.Notes = append(document.Notes, paidWith(l, p))
		}
	}
	refundsOf(l, seller, o.RefundIDs.V, refunds).on(l, document, o.PaidAmount+o.BalanceApplied)
	if o.CreditedAmount > 0 {
		document.Notes = append(document.Notes, l.T("document.credited", "amount", l.Money(o.CreditedAmount, o.Currency)))
	}
	if o.WithdrawalWaivedAt != nil {
		document.Notes = append(document.Notes, l.T("document.waived", "day", l.Day(seller.Local(*o.WithdrawalWaivedAt))))
	}
	return document
}

// paidWith returns the sentence that says how much was paid with which card.
func paidWith(l *locale.Locale, p *payment.Payment) string {
	amount := l.Money(p.Amount, p.Currency)
	if p.PaymentMethod.V.Last4 == "" {
		return l.T("document.paid_note", "amount", amount)
	}
	return l.T("document.paid_card", "amount", amount, "brand", brandOf(p.PaymentMethod.V), "last4", p.PaymentMethod.V.Last4)
}

// orderStatus returns the status of an order as badgeOf knows it.
func orderStatus(s order.Status) string {
	return map[order.Status]string{
		order.StatusPending: "status.unpaid", order.StatusPaid: "status.paid", order.StatusPartiallyRefunded: "status.partly_refunded",
		order.StatusRefunded: "status.refunded", order.StatusVoid: "status.void",
	}[s]
}

// sellerOf returns who sells: the account's business name and support address if it has them, otherwise its own.
func sellerOf(l *locale.Locale, a *tenant.Account) invoicepdf.Party {
	party := invoicepdf.Party{Name: a.Name, Email: a.Email, Address: addressOf(l, a.BusinessAddress.V)}
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
func buyerOf(l *locale.Locale, name, email *string, a *core.Address, id *customer.TaxID) invoicepdf.Party {
	party := invoicepdf.Party{Name: text(name), Email: text(email), Address: addressOf(l, a)}
	if id != nil {
		party.TaxID = id.Value
	}
	return party
}

// addressOf returns the lines of an address, in the order most countries use. Empty lines are left out, and that
// the buyer lives elsewhere.
func addressOf(l *locale.Locale, a *core.Address) []string {
	if a == nil {
		return nil
	}
	var lines []string
	for _, line := range []string{text(a.Company), text(a.Line1), text(a.Line2), text(a.PostalCode) + " " + text(a.City), text(a.State), l.Country(text(a.Country))} {
		if line = strings.TrimSpace(line); line != "" && line != tenant.Elsewhere {
			lines = append(lines, line)
		}
	}
	return lines
}

// linesOf returns line items as the lines of a document in a language. A line without tax shows no rate.
func linesOf(l *locale.Locale, items []lineitem.Item) []invoicepdf.Line {
	lines := make([]invoicepdf.Line, len(items))
	for i, item := range items {
		lines[i] = invoicepdf.Line{
			Description: mail.Describe(l, &item), Quantity: item.Quantity, Unit: item.UnitAmount, Discount: item.DiscountAmount,
			Net: item.NetAmount, Tax: item.TaxAmount, Total: item.TotalAmount,
		}
		if item.TaxRateBps != 0 {
			lines[i].RateBps = &item.TaxRateBps
		}
	}
	return lines
}

func taxesOf(all []lineitem.TaxBreakdown) []invoicepdf.Tax {
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
