package order

import (
	"slices"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/subscription"
)

// Own gives a line to the order. A line of a draft keeps its id. Any other line, such as one of a checkout, has been copied, and becomes a new
// line of the order and its invoice.
func (o *Order) Own(l *lineitem.Item, isDraft bool) {
	l.OrderID, l.UpdatedAt = &o.ID, o.CreatedAt
	if !isDraft {
		l.AccountID, l.ID, l.CheckoutID, l.InvoiceID, l.CreatedAt = o.AccountID, core.NewID(core.KindLineItem), nil, o.InvoiceID, o.CreatedAt
	}
}

// Sum sets the order's amounts and its tax breakdown to the sums of its lines. The lines were checked together, so the sums
// fit: see core.MaxAmount.
func (o *Order) Sum(items []lineitem.Item) error {
	ids := make([]string, len(items))
	o.SubtotalAmount, o.DiscountAmount, o.NetAmount, o.TaxAmount, o.TotalAmount = 0, 0, 0, 0, 0
	for i, item := range items {
		ids[i] = item.ID
		o.SubtotalAmount += item.SubtotalAmount
		o.DiscountAmount += item.DiscountAmount
		o.NetAmount += item.NetAmount
		o.TaxAmount += item.TaxAmount
		o.TotalAmount += item.TotalAmount
	}
	breakdown, err := lineitem.Breakdown(items)
	o.LineItemIDs, o.TaxBreakdown = core.JSONOf(ids), core.JSONOf(breakdown)
	return err
}

// Gave notes what the payment of the order gave, or its subscription. An empty id is nothing.
func (o *Order) Gave(id string) {
	if id != "" && !slices.Contains(o.GrantIDs.V, id) {
		o.GrantIDs.V = append(slices.Clone(o.GrantIDs.V), id)
	}
}

// Subscribe links the order of a checkout to its first subscription, and each line of index lines[i] to subs[i] and its period.
// It returns the lines with that; the given items stay as they are.
func (o *Order) Subscribe(subs []subscription.Subscription, lines []int, items []lineitem.Item) []lineitem.Item {
	if len(subs) == 0 {
		return items
	}
	first := &subs[0]
	o.BillingReason, o.SubscriptionID = BillingReasonSubscriptionCreate, &first.ID
	o.PeriodStart, o.PeriodEnd = &first.CurrentPeriodStart, &first.CurrentPeriodEnd
	placed := slices.Clone(items)
	for i := range subs {
		item := &placed[lines[i]]
		item.SubscriptionID, item.PeriodStart, item.PeriodEnd = &subs[i].ID, &subs[i].CurrentPeriodStart, &subs[i].CurrentPeriodEnd
	}
	return placed
}
