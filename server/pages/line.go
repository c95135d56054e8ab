package pages

import (
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/lineitem"
)

// describe says in a language what a line is about. A text that is not ours stays as it is.
func describe(l *locale.Locale, item *lineitem.Item) string {
	if item.Kind == lineitem.KindSetupFee {
		return l.T("line.setup_fee", "item", item.Name())
	}
	if end, ok := item.Trial(); ok {
		return l.T("line.trial", "item", item.Name(), "day", l.Day(end))
	}
	if change, ok := item.PlanChange(); ok {
		return l.T("line.plan_change", "from", change.From, "to", change.To, "day", l.Day(change.Until))
	}
	return item.Describe()
}

// Describe says what a line is about.
func (p checkoutPage) Describe(line shownLine) string { return describe(p.l, &line.Item) }
