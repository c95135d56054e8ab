package pages

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/store"
)

// receiptOf is what a buyer gets who has paid, or is to pay.
func receiptOf(seller *store.Account, d *store.OrderDetail, payments map[string]*store.Payment) *invoicepdf.Document {
	o := d.Order
	document := &invoicepdf.Document{
		Title: "Receipt", Number: strconv.FormatInt(o.Number, 10), Status: orderStatus(o.Status), IssuedAt: o.CreatedAt.Time(),
		Seller: sellerOf(seller), Buyer: buyerOf(o.BillingName, o.CustomerEmail, o.BillingAddress.V, o.TaxID.V),
		Currency: o.Currency, Lines: linesOf(d.Items),
		Subtotal: o.SubtotalAmount, Discount: o.DiscountAmount, Net: o.NetAmount, Taxes: taxesOf(o.TaxBreakdown.V), Tax: o.TaxAmount, Total: o.TotalAmount,
		Balances: []invoicepdf.Balance{{Name: "Paid", Amount: o.PaidAmount}},
	}
	if o.PaidAt != nil {
		document.Facts = append(document.Facts, invoicepdf.Fact{Name: "Paid on", Value: invoicepdf.Date(o.PaidAt.Time())})
	}
	if o.RefundedAmount > 0 {
		document.Balances = append(document.Balances, invoicepdf.Balance{Name: "Refunded", Amount: -o.RefundedAmount})
	}
	if o.DueAmount() > 0 && o.Status == store.OrderStatusPending {
		document.Balances = append(document.Balances, invoicepdf.Balance{Name: "Amount due", Amount: o.DueAmount()})
	}
	for _, id := range o.PaymentIDs.V {
		if payment := payments[id]; payment != nil && payment.Status == store.PaymentStatusSucceeded {
			document.Notes = append(document.Notes, paidWith(payment))
		}
	}
	return document
}

func paidWith(p *store.Payment) string {
	amount := store.FormatAmount(p.Amount, p.Currency)
	if p.PaymentMethod.V.Last4 == "" {
		return amount + " paid."
	}
	return fmt.Sprintf("%s paid with %s ending in %s.", amount, p.PaymentMethod.V.Brand, p.PaymentMethod.V.Last4)
}

func orderStatus(s store.OrderStatus) string {
	return map[store.OrderStatus]string{
		store.OrderStatusPending: "Not paid yet", store.OrderStatusPaid: "Paid", store.OrderStatusPartiallyRefunded: "Partly refunded",
		store.OrderStatusRefunded: "Refunded", store.OrderStatusVoid: "Void",
	}[s]
}

func sellerOf(a *store.Account) invoicepdf.Party {
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

func buyerOf(name, email *string, a *store.Address, id *store.TaxID) invoicepdf.Party {
	party := invoicepdf.Party{Name: text(name), Email: text(email), Address: addressOf(a)}
	if id != nil {
		party.TaxID = id.Value
	}
	return party
}

// addressOf are the lines of an address, as most countries write them.
func addressOf(a *store.Address) []string {
	if a == nil {
		return nil
	}
	var lines []string
	for _, line := range []string{text(a.Line1), text(a.Line2), text(a.PostalCode) + " " + text(a.City), text(a.State), text(a.Country)} {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

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
