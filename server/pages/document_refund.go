package pages

import (
	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
)

// givenBack adds up what was refunded of a document. Amounts are in minor units; tax is the part of amount that is tax. Each
// refund has a note.
type givenBack struct {
	amount, tax int64
	notes       []string
}

// refundsOf adds up the refunds with these ids, in their order. Failed and canceled ones do not count; pending ones do.
func refundsOf(l *locale.Locale, seller *tenant.Account, ids []string, refunds map[string]*store.Refund) givenBack {
	var g givenBack
	for _, id := range ids {
		r := refunds[id]
		if r == nil || r.Status != store.RefundStatusSucceeded && r.Status != store.RefundStatusPending {
			continue
		}
		g.amount += r.Amount
		g.tax += r.TaxAmount
		g.notes = append(g.notes, gaveBack(l, seller, r))
	}
	return g
}

// on adds the refunds to a document on which paid was paid. If nothing was refunded, it adds nothing.
func (g givenBack) on(l *locale.Locale, d *invoicepdf.Document, paid int64) {
	if g.amount == 0 {
		return
	}
	d.Balances = append(d.Balances, invoicepdf.Balance{Name: l.T("status.refunded"), Amount: -g.amount})
	if g.tax != 0 {
		d.Balances = append(d.Balances, invoicepdf.Balance{Name: l.T("document.refund_tax"), Amount: -g.tax})
	}
	d.Balances = append(d.Balances, invoicepdf.Balance{Name: l.T("document.paid_after"), Amount: paid - g.amount})
	d.Notes = append(d.Notes, g.notes...)
}

// gaveBack returns the sentence that says how much was refunded, and when.
func gaveBack(l *locale.Locale, seller *tenant.Account, r *store.Refund) string {
	key, at := "document.refunded_since", r.CreatedAt
	if r.SucceededAt != nil {
		key, at = "document.refunded_on", *r.SucceededAt
	}
	note := l.T(key, "amount", l.Money(r.Amount, r.Currency), "day", l.Day(seller.Local(at)))
	if r.TaxAmount != 0 {
		note += l.T("document.refund_of_which", "amount", l.Money(r.TaxAmount, r.Currency))
	}
	return note + l.T("format.full_stop")
}

// refundedStatus returns the status of a document, as badgeOf knows it, of which refunded was given back.
func refundedStatus(refunded, paid int64) string {
	if refunded == paid {
		return orderStatus(order.StatusRefunded)
	}
	return orderStatus(order.StatusPartiallyRefunded)
}
