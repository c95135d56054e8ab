package mail

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/order"
	"github.com/tillwright/tillwright/store/person"
	"github.com/tillwright/tillwright/store/tenant"
)

// teamContent is what a letter to a team tells of, as it was, and the sales that it names, as they are now.
type teamContent struct {
	person.LetterDetail
	sales []sale
	at    string // address of this server
}

// sale is an order that a letter names, with what it is of and who bought it. Others have written both.
type sale struct {
	order       *order.Order
	name, buyer string
}

// toTeam returns what a letter to a team says. It is nil if the letter is not to be sent any more: the account is disabled, or has switched it off.
func (p *Post) toTeam(ctx context.Context, l *person.Letter) (*content, error) {
	seller, err := p.store.Tenant.GetAccount(ctx, *l.AccountID)
	if err != nil {
		return nil, err
	}
	if seller.DisabledAt != nil || !seller.Writes(l.Kind) {
		return nil, nil
	}
	told := &teamContent{LetterDetail: l.Detail.V, at: p.store.PublicURL()}
	if told.sales, err = p.sales(ctx, seller.ID, told.Orders); err != nil {
		return nil, err
	}
	c, known := teamLetter(speaks(nil, seller), l.Kind, seller, told)
	if !known {
		return nil, fmt.Errorf("nobody has said what a letter of kind %q says", l.Kind)
	}
	return &c, nil
}

// sales reads the orders that a letter names. Nobody is named who was deleted since, though the order keeps who it was.
func (p *Post) sales(ctx context.Context, account string, ids []string) ([]sale, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	orders, err := p.store.Order.ByID(ctx, account, ids)
	if err != nil {
		return nil, err
	}
	var buyers []string
	for _, o := range orders {
		buyers = append(buyers, o.CustomerID)
	}
	known, err := p.store.Customer.ByID(ctx, account, buyers)
	if err != nil {
		return nil, err
	}
	var all []sale
	for _, id := range ids {
		o := orders[id]
		if o == nil {
			continue
		}
		lines, err := p.store.OrderLines(ctx, o)
		if err != nil {
			return nil, err
		}
		one := sale{order: o}
		if known[o.CustomerID] != nil {
			one.buyer = cmp.Or(core.Deref(o.BillingName), core.Deref(o.CustomerEmail))
		}
		if len(lines) > 0 {
			one.name = lines[0].Name()
		}
		all = append(all, one)
	}
	return all, nil
}

// teamLetter returns what a letter to a team says, in the language of the account. What others named stands in no subject, and nothing makes a link of it:
// see unlinked.
func teamLetter(l *locale.Locale, kind tenant.LetterKind, seller *tenant.Account, told *teamContent) (c content, known bool) {
	switch kind {
	case tenant.LetterSale:
		c = salesMade(l, told)
	case tenant.LetterSalesDaily:
		c = salesOfDay(l, told)
	case tenant.LetterFailedDaily:
		c = failedOfDay(l, seller, told)
	case tenant.LetterKeyRefused:
		c = keyRefused(l, seller, told)
	case tenant.LetterDomainFailing:
		c = domainFailing(l, told)
	case tenant.LetterWeek:
		c = weekInFigures(l, told)
	default:
		return c, false
	}
	c.spoken = l
	c.facts = append([]string{l.T("mail.team.account", "account", unlinked(nameOf(seller)))}, c.facts...)
	c.actions = append(c.actions, action{l.T("mail.team.settings"), told.at + "/app/settings/letters", l.T("mail.team.button")})
	c.closing = append(c.closing, l.T("mail.team.why"))
	return c, true
}

// counted returns how many there are of what is summed up.
func counted(sums []person.Sum) (count int64) {
	for _, s := range sums {
		count += s.Count
	}
	return count
}

// salesMade tells of sales that were made just now.
func salesMade(l *locale.Locale, told *teamContent) content {
	count := counted(told.Sums)
	c := content{
		subject: l.T("mail.sale.subject", "count", count, "amount", amounts(l, told.Sums)),
		opening: []string{l.T("mail.sale.opening", "count", count)},
		sums:    sumsOfSales(l, told),
	}
	if more := count - int64(len(told.sales)); more > 0 {
		c.opening = append(c.opening, l.T("mail.sale.more", "count", more))
	}
	c.actions = []action{{l.T("mail.sale.see"), told.at + "/app/orders", l.T("mail.sale.button")}}
	if count == 1 && len(told.sales) == 1 {
		c.actions[0].url += "/" + told.sales[0].order.ID
	}
	return c
}

// salesOfDay tells of the sales of a day.
func salesOfDay(l *locale.Locale, told *teamContent) content {
	says := l.T("mail.sales_daily.subject", "count", counted(told.Sums), "day", dayOf(l, told.Day))
	c := content{
		subject: says,
		opening: []string{says},
		sums:    sumsOfSales(l, told),
		actions: []action{{l.T("mail.sale.see"), told.at + "/app/orders", l.T("mail.sale.button")}},
	}
	if named := int64(len(told.sales)); named > 0 && named < counted(told.Sums) {
		c.opening = append(c.opening, l.T("mail.sales_daily.largest"))
	}
	return c
}

// failedOfDay tells of what could not be charged on a day.
func failedOfDay(l *locale.Locale, seller *tenant.Account, told *teamContent) content {
	count := counted(told.Sums)
	c := content{
		subject: l.T("mail.failed_daily.subject", "count", count, "day", dayOf(l, told.Day)),
		opening: []string{l.T("mail.failed_daily.opening")},
		actions: []action{{l.T("mail.failed_daily.see"), told.at + "/app/invoices?status=past_due", l.T("mail.failed_daily.button")}},
	}
	if told.HasMore {
		c.subject = l.T("mail.failed_daily.subject_more", "count", count, "day", dayOf(l, told.Day))
		c.opening = append(c.opening, l.T("mail.failed_daily.some", "count", count))
	}
	if told.Next != nil {
		c.facts = append(c.facts, l.T("mail.failed_daily.retried", "count", told.Retried, "day", date(l, seller, *told.Next)))
	}
	if ended := count - told.Retried; ended > 0 {
		c.facts = append(c.facts, l.T("mail.failed_daily.ended", "count", ended))
	}
	for _, s := range told.Sums {
		c.sums = append(c.sums, sum{name: l.T("mail.failed_daily.sum"), amount: l.Money(s.Amount, s.Currency), isTotal: true})
	}
	return c
}

// keyRefused says what to do about a key that the payment provider refuses.
func keyRefused(l *locale.Locale, seller *tenant.Account, told *teamContent) content {
	c := content{
		subject: l.T("mail.key_refused.subject"),
		opening: []string{l.T("mail.key_refused.opening")},
		actions: []action{{l.T("mail.key_refused.see"), told.at + "/app/settings/payments", l.T("mail.key_refused.button")}},
	}
	if told.Since != nil {
		c.facts = []string{l.T("mail.key_refused.since", "day", date(l, seller, *told.Since))}
	}
	return c
}

// domainFailing says which records a domain needs. The names and values of these are ours, or those of the seller's own domain.
func domainFailing(l *locale.Locale, told *teamContent) content {
	if len(told.Domains) > 0 {
		return domainsFailing(l, told)
	}
	c := content{
		subject: l.T("mail.domain_failing.subject"),
		opening: []string{l.T("mail.domain_failing.opening")},
		facts:   []string{l.T("mail.domain_failing.domain", "domain", oneLine(told.Host)), l.T("mail.domain_failing.reason", "reason", unlinkedSentence(told.Reason))},
		actions: []action{{l.T("mail.domain_failing.see"), told.at + "/app/sites/" + told.Site + "/domain", l.T("mail.domain_failing.button")}},
		closing: []string{l.T("mail.domain_failing.records")},
	}
	for _, r := range told.Records {
		c.items = append(c.items, item{name: l.T("mail.domain_failing.record", "type", r.Type, "name", r.Name), value: r.Value})
	}
	return c
}

// domainsFailing names some domains, and counts the others. Which records each of them needs stands on the page of its site.
func domainsFailing(l *locale.Locale, told *teamContent) content {
	named := append([]person.FailingDomain{{Host: told.Host, Reason: told.Reason}}, told.Domains...)
	c := content{
		subject: l.T("mail.domain_failing.subject_many", "count", int64(len(named))+told.Unnamed),
		opening: []string{l.T("mail.domain_failing.opening_many")},
		actions: []action{{l.T("mail.domain_failing.see_many"), told.at + "/app/sites", l.T("mail.domain_failing.button_many")}},
	}
	for _, d := range named {
		c.items = append(c.items, item{name: oneLine(d.Host), value: unlinkedSentence(d.Reason)})
	}
	if told.Unnamed > 0 {
		c.opening = append(c.opening, l.T("mail.domain_failing.more", "count", told.Unnamed))
	}
	return c
}

// weekInFigures compares a week with the one before.
func weekInFigures(l *locale.Locale, told *teamContent) content {
	now, before := told.Week, told.WeekBefore
	line := func(name, is, was string) sum {
		return sum{name: name, amount: l.T("mail.week.compared", "now", is, "before", was)}
	}
	counts := func(name string, is, was int64) sum { return line(name, l.Number(is), l.Number(was)) }
	money := func(name string, is, was []person.Sum) sum { return line(name, amounts(l, is), amounts(l, was)) }
	return content{
		subject: l.T("mail.week.subject", "day", dayOf(l, told.Day)),
		opening: []string{l.T("mail.week.opening")},
		sums: []sum{
			counts(l.T("mail.week.sales"), counted(now.Sales), counted(before.Sales)), money(l.T("mail.week.revenue"), now.Sales, before.Sales),
			money(l.T("mail.week.refunds"), now.Refunds, before.Refunds), line(l.T("mail.week.customers"), customersOf(l, now), customersOf(l, before)),
			counts(l.T("mail.week.started"), now.Started, before.Started), counts(l.T("mail.week.ended"), now.Ended, before.Ended),
		},
		actions: []action{{l.T("mail.week.see"), told.at + "/app/analytics", l.T("mail.week.button")}},
	}
}

// customersOf writes how many new customers a week had, or that there were as many as are counted at least.
func customersOf(l *locale.Locale, w *person.Week) string {
	if w.Customers >= store.CustomersOfWeek {
		return l.Number(w.Customers) + "+"
	}
	return l.Number(w.Customers)
}

// unlinkedSentence writes what was found of a domain so that no mail program makes a link of it: strangers may have written a part.
func unlinkedSentence(text string) string {
	return strings.ReplaceAll(linking.Replace(strings.TrimSuffix(oneLine(text), ".")), "[.] ", ". ")
}

// sumsOfSales returns the sales that a letter names, and what all come to in each currency.
func sumsOfSales(l *locale.Locale, told *teamContent) (sums []sum) {
	for _, s := range told.sales {
		one := sum{name: l.T("mail.sale.of", "number", orderNumber(s.order), "product", unlinked(s.name)), amount: l.Money(s.order.TotalAmount, s.order.Currency)}
		if s.buyer != "" {
			one.note = l.T("mail.sale.buyer", "buyer", unlinked(s.buyer))
		}
		sums = append(sums, one)
	}
	for _, s := range told.Sums {
		sums = append(sums, sum{name: l.T("total.total"), amount: l.Money(s.Amount, s.Currency), isTotal: true})
	}
	return sums
}

// amounts writes sums of several currencies.
func amounts(l *locale.Locale, sums []person.Sum) (text string) {
	if len(sums) == 0 {
		return l.Number(0)
	}
	for i, s := range sums {
		if i > 0 {
			text += ", "
		}
		text += l.Money(s.Amount, s.Currency)
	}
	return text
}

// dayOf writes a day such as 2026-11-28.
func dayOf(l *locale.Locale, day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil { // it was written by Format
		return day
	}
	return l.Day(at)
}
