package pages

import (
	"fmt"

	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// givenBack adds up what was refunded of a document. Amounts are in minor units; tax is the part of amount that is tax. Each
// refund has a note.
type givenBack struct {
	amount, tax int64
	notes       []string
}

// refundsOf adds up the refunds with these ids, in their order. Failed and canceled ones do not count; pending ones do.
func refundsOf(ids []string, refunds map[string]*store.Refund) givenBack {
	var g givenBack
	for _, id := range ids {
		r := refunds[id]
		if r == nil || r.Status != store.RefundStatusSucceeded && r.Status != store.RefundStatusPending {
			continue
		}
		g.amount += r.Amount
		g.tax += r.TaxAmount
		g.notes = append(g.notes, gaveBack(r))
	}
	return g
}

// on adds the refunds to a document on which paid was paid. If nothing was refunded, it adds nothing.
func (g givenBack) on(d *invoicepdf.Document, paid int64) {
	if g.amount == 0 {
		return
	}
	d.Balances = append(d.Balances, invoicepdf.Balance{Name: "Refunded", Amount: -g.amount})
	if g.tax != 0 {
		d.Balances = append(d.Balances, invoicepdf.Balance{Name: "Tax in the refund", Amount: -g.tax})
	}
	d.Balances = append(d.Balances, invoicepdf.Balance{Name: "Paid after refund", Amount: paid - g.amount})
	d.Notes = append(d.Notes, g.notes...)
}

// gaveBack returns the sentence that says how much was refunded, and when.
func gaveBack(r *store.Refund) string {
	note := core.FormatAmount(r.Amount, r.Currency)
	if r.SucceededAt != nil {
		note += " refunded on " + invoicepdf.Date(r.SucceededAt.Time())
	} else {
		note += " is being refunded since " + invoicepdf.Date(r.CreatedAt.Time())
	}
	if r.TaxAmount != 0 {
		note += fmt.Sprintf(", of which tax %s", core.FormatAmount(r.TaxAmount, r.Currency))
	}
	return note + "."
}

// refundedStatus returns the status of a document, in words, of which refunded was given back.
func refundedStatus(refunded, paid int64) string {
	if refunded == paid {
		return orderStatus(store.OrderStatusRefunded)
	}
	return orderStatus(store.OrderStatusPartiallyRefunded)
}
