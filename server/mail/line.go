package mail

import (
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/lineitem"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/tenant"
)

// Describe says in a language what a line is about. A text that is not ours stays as it is.
func Describe(l *locale.Locale, item *lineitem.Item) string {
	if item.Kind == lineitem.KindSetupFee {
		return l.T("line.setup_fee", "item", item.Name())
	}
	if end, ok := item.Trial(); ok {
		return l.T("line.trial", "item", item.Name(), "day", l.Day(end))
	}
	if change, ok := item.PlanChange(); ok {
		return l.T("line.plan_change", "from", priced(l, change.From, change.FromPrice), "to", priced(l, change.To, change.ToPrice), "day", l.Day(change.Until))
	}
	return item.Describe()
}

// priced returns the name of a plan, with what it costs if that is told too.
func priced(l *locale.Locale, name string, p *lineitem.PlanPrice) string {
	if p == nil {
		return name
	}
	return l.List(name, l.Money(p.Amount, p.Currency)+" "+l.Every(p.Interval, p.IntervalCount))
}

// sumsOf returns what an order is of, and what it comes to. That is its lines with what follows each, discount, taxes and total, and what
// credit paid of that. Then come, as on its receipt, what was refunded and what remains.
func sumsOf(l *locale.Locale, seller *tenant.Account, o *order.Order, bought []store.LetterLine) (sums []sum) {
	money := func(amount int64) string { return l.Money(amount, o.Currency) }
	for i := range bought {
		line := &bought[i]
		name := oneLine(Describe(l, &line.Item))
		if line.Quantity > 1 {
			name = l.Number(line.Quantity) + " × " + name
		}
		sums = append(sums, sum{name: name, amount: money(line.SubtotalAmount), note: nextOf(l, seller, line)})
	}
	if o.DiscountAmount > 0 {
		sums = append(sums, sum{name: l.T("total.discount"), amount: money(-o.DiscountAmount)})
	}
	for _, tax := range o.TaxBreakdown.V {
		name := oneLine(tax.Name) + " " + l.Percent(tax.RateBps)
		if tax.Inclusive {
			name += l.T("total.included")
		}
		sums = append(sums, sum{name: name, amount: money(tax.TaxAmount)})
	}
	sums = append(sums, sum{name: l.T("total.total"), amount: money(o.TotalAmount), isTotal: true})
	if o.BalanceApplied > 0 {
		sums = append(sums, sum{name: l.T("document.paid_credit"), amount: money(o.BalanceApplied)}, sum{name: l.T("document.paid"), amount: money(o.PaidAmount)})
	}
	if given := o.GivenBack(); given > 0 {
		sums = append(sums, sum{name: l.T("status.refunded"), amount: money(-given)}, sum{name: l.T("document.paid_after"), amount: money(o.PaidAmount + o.BalanceApplied - given)})
	}
	return sums
}

// nextOf says what is paid after a line, and when, in the words of the checkout. It is empty for nothing.
func nextOf(l *locale.Locale, seller *tenant.Account, line *store.LetterLine) string {
	next := line.Next
	if next == nil {
		return ""
	}
	return l.Next(l.Times(l.Every(line.Interval, line.IntervalCount), next.Times), l.Money(next.Amount, line.Currency), l.Day(seller.Local(next.At)), line.IsDiscounted, false)
}
