package pages

import (
	"fmt"

	"github.com/tillwright/tillwright/server/invoicepdf"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// givenBack is what was given back of what a document says was paid.
type givenBack struct {
	amount, tax int64
	notes       []string
}

// refundsOf adds up the refunds that count, in the order of their ids.
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

// on writes it on a document, by which so much was paid.
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

// refundedStatus is what people read about a document of which something was given back.
func refundedStatus(refunded, paid int64) string {
	if refunded == paid {
		return orderStatus(store.OrderStatusRefunded)
	}
	return orderStatus(store.OrderStatusPartiallyRefunded)
}
